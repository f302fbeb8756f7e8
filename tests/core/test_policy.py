"""Confirmation: one-shot, bound, and valid only once a person said yes."""

from __future__ import annotations

import pytest

from anydevice.policy import TOKEN_SECONDS, TOKENS_MOST, Policy
from anydevice.testing import FakeClock, caller
from anydevice_schemas import Command, Confirm, Device
from anydevice_schemas.errors import ConfirmationInvalid, ConfirmationRequired, Refused

ERASE = Command(
    name="erase",
    summary="Deletes everything.",
    effect="destroy",
    scope="device",
    confirm=[Confirm(kinds=["simulator"], because="deletes everything on the device")],
)
SIMULATOR = Device(
    id="s1",
    name="S",
    platform="p",
    backend="b",
    device_target="mobile",
    device_class="phone",
    kind="simulator",
    state="ready",
)
ME = caller("me")


def asked(policy: Policy, **arguments: object) -> str:
    with pytest.raises(ConfirmationRequired) as caught:
        policy.permit(ERASE, arguments, ME, SIMULATOR, None)
    return str(caught.value.details["token"])


def test_a_token_works_once_after_a_person_approved_it() -> None:
    policy = Policy(FakeClock())
    token = asked(policy, deep=True)
    with pytest.raises(ConfirmationInvalid, match="Nobody has approved"):
        policy.permit(ERASE, {"deep": True}, ME, SIMULATOR, token)
    assert policy.approve(token)["command"] == "erase"
    assert policy.permit(ERASE, {"deep": True}, ME, SIMULATOR, token) is None
    with pytest.raises(ConfirmationInvalid):
        policy.permit(ERASE, {"deep": True}, ME, SIMULATOR, token)


def test_a_person_is_shown_what_is_approved_on_one_line_and_without_secrets() -> None:
    policy = Policy(FakeClock())
    token = asked(policy, path="thesis.doc\n\x1b[2Kharmless.txt", text="my password")
    (shown,) = policy.pending()
    assert policy.approve(token)["what"] == shown["what"]
    assert "thesis.doc" in shown["what"] and shown["what"].endswith("on b:s1") and shown["what"].isprintable()
    assert "my password" not in shown["what"]
    long = policy.approve(asked(policy, path="x" * 5000))["what"]
    assert len(long) < 600 and long.endswith("on b:s1")


@pytest.mark.parametrize("change", ["arguments", "device", "principal", "command"])
def test_a_token_is_bound_to_its_call(change: str) -> None:
    policy = Policy(FakeClock())
    token = asked(policy, deep=True)
    policy.approve(token)
    arguments: dict[str, object] = {"deep": change != "arguments"}
    device = SIMULATOR.model_copy(update={"id": "s2"}) if change == "device" else SIMULATOR
    who = caller("me", principal="uid:other") if change == "principal" else ME
    command = ERASE.model_copy(update={"name": "wipe"}) if change == "command" else ERASE
    with pytest.raises(ConfirmationInvalid, match="another call"):
        policy.permit(command, arguments, who, device, token)
    assert policy.permit(ERASE, {"deep": True}, ME, SIMULATOR, token) is None, "a wrong use does not burn it"


def test_a_token_runs_out() -> None:
    clock = FakeClock()
    policy = Policy(clock)
    token = asked(policy)
    policy.approve(token)
    clock.advance(TOKEN_SECONDS + 1)
    with pytest.raises(ConfirmationInvalid):
        policy.permit(ERASE, {}, ME, SIMULATOR, token)
    with pytest.raises(ConfirmationInvalid):
        policy.approve(token)


def test_confirmation_depends_on_the_kind_of_device() -> None:
    policy = Policy(FakeClock())
    real = SIMULATOR.model_copy(update={"kind": "device"})
    assert policy.permit(ERASE, {}, ME, real, None) is None


def test_a_server_that_trusts_its_callers_says_so_in_the_answer() -> None:
    policy = Policy(FakeClock(), confirm="caller")
    token = asked(policy)
    notice = policy.permit(ERASE, {}, ME, SIMULATOR, token)
    assert notice is not None and "caller" in notice


def test_raw_commands_need_profile_full() -> None:
    shell = Command(name="shell", summary="Runs a line.", effect="mutate", scope="device", profile="full")
    with pytest.raises(Refused):
        Policy(FakeClock()).permit(shell, {}, ME, SIMULATOR, None)
    assert Policy(FakeClock(), profile="full").permit(shell, {}, ME, SIMULATOR, None) is None


def test_a_token_of_other_letters_than_ours_is_unknown_and_nothing_worse() -> None:
    policy = Policy(FakeClock())
    asked(policy)
    for token in ("é", "\ud800", "", "x" * 10_000):
        with pytest.raises(ConfirmationInvalid, match="cannot be used"):
            policy.approve(token)


def test_who_asks_again_and_again_keeps_so_many_tokens_and_none_that_was_approved_is_lost() -> None:
    policy = Policy(FakeClock())
    first = asked(policy, path="a")
    policy.approve(first)
    for number in range(TOKENS_MOST + 20):
        asked(policy, path=str(number))
    assert len(policy.pending()) == TOKENS_MOST - 1
    assert policy.approve(first)["command"] == "erase"
