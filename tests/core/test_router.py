"""The path of one call: who is let in, what is refused, and that every way out is an answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio
import pytest

from anydevice.driver import Environment
from anydevice.testing import FakeBackend, FakeClock, call, caller, fake_router
from anydevice_schemas import Answer, Device, DeviceRef
from anydevice_schemas.errors import DeviceOffline

pytestmark = pytest.mark.anyio


class SeatedBackend(FakeBackend):
    """Devices that are listed to callers at the seat only."""

    async def devices(self, env: Environment) -> Sequence[Device]:
        """See `Backend`."""
        return await super().devices(env) if env.variables.get("SEAT") else []


def code(answer: Answer) -> str | None:
    return answer.error.code if answer.error is not None else None


async def test_a_press_changes_the_named_device_and_no_other() -> None:
    async with fake_router() as (router, backend):
        answer = await router.call(call("press", target="Increment", device="fake-2"))
        assert answer.ok, answer.error
        assert answer.device is not None and answer.device.id == "fake-2"
        assert backend.screen("fake-2").text("Count") == "1"
        assert backend.screen("fake-1").text("Count") == "0"
        assert answer.verified is False and answer.data["changed"] is True


async def test_without_selectors_two_usable_devices_are_ambiguous_and_each_suggestion_works() -> None:
    async with fake_router() as (router, backend):
        answer = await router.call(call("press", target="Increment"))
        assert code(answer) == "ambiguous_device"
        assert answer.error is not None
        candidates = answer.error.details["candidates"]
        assert len(candidates) == 2
        for candidate in candidates:
            again = await router.call(
                call("press", by=caller(candidate["id"]), target="Increment", **candidate["selectors"])
            )
            assert again.ok and again.device is not None and again.device.id == candidate["id"]
        assert [backend.screen(i).text("Count") for i in ("fake-1", "fake-2")] == ["1", "1"]


async def test_a_session_is_remembered_and_named_in_the_selection() -> None:
    async with fake_router() as (router, _):
        first = await router.call(call("open", url="https://example.org/", device="fake-1"))
        assert first.ok and first.session is not None
        second = await router.call(call("press", target="Increment"))
        assert second.ok and second.device is not None and second.device.id == "fake-1"
        assert second.selection is not None and second.selection.reason == "session"
        assert second.session == first.session


async def test_one_caller_with_two_devices_must_say_which() -> None:
    async with fake_router() as (router, backend):
        for device in ("fake-1", "fake-2"):
            assert (await router.call(call("open", url="https://example.org/", device=device))).ok
        answer = await router.call(call("press", target="Increment"))
        assert code(answer) == "ambiguous_device"
        assert answer.error is not None
        for candidate in answer.error.details["candidates"]:
            again = await router.call(call("press", target="Increment", **candidate["selectors"]))
            assert again.ok and again.device is not None and again.device.key == candidate["key"]
        assert backend.screen("fake-1").text("Count") == backend.screen("fake-2").text("Count") == "1"


async def test_two_callers_never_share_an_implicit_session_and_the_second_is_told_who_holds_it() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, backend):
        assert (await router.call(call("open", by=caller("one"), url="https://example.org/"))).ok
        refused = await router.call(call("press", by=caller("two"), target="Increment", device="only"))
        assert code(refused) == "lease_held"
        assert refused.error is not None and refused.error.details["expires"]
        unnamed = await router.call(call("press", by=caller("two"), target="Increment"))
        assert code(unnamed) == "device_not_found", "a held device is never chosen for somebody else"
        assert backend.screen("only").text("Count") == "0"
        assert (await router.call(call("close", by=caller("one")))).ok
        assert (await router.call(call("press", by=caller("two"), target="Increment", device="only"))).ok


async def test_reads_by_others_are_refused_as_well() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, _):
        assert (await router.call(call("open", by=caller("one"), url="https://example.org/"))).ok
        for command in ("snapshot", "screenshot", "appstate"):
            assert code(await router.call(call(command, by=caller("two"), device="only"))) == "lease_held"


async def test_an_idle_lease_is_given_again_with_a_new_fence_and_the_answer_says_so() -> None:
    clock = FakeClock()
    async with fake_router(FakeBackend(["only"]), clock=clock) as (router, _):
        assert (await router.call(call("open", url="https://example.org/"))).ok
        clock.advance(61)
        answer = await router.call(call("press", target="Increment"))
        assert answer.ok
        assert [notice["kind"] for notice in answer.notices] == ["lease_renewed"]


async def test_a_lease_that_was_taken_meanwhile_is_lease_lost_and_does_nothing() -> None:
    clock = FakeClock()
    async with fake_router(FakeBackend(["only"]), clock=clock) as (router, backend):
        assert (await router.call(call("open", by=caller("one"), url="https://example.org/"))).ok
        clock.advance(61)
        assert (await router.call(call("press", by=caller("two"), target="Increment", device="only"))).ok
        late = await router.call(call("press", by=caller("one"), target="Increment"))
        assert code(late) == "lease_lost"
        assert backend.screen("only").text("Count") == "1"


async def test_a_session_name_that_does_not_exist_is_never_some_default_device() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, backend):
        assert (await router.call(call("open", url="https://example.org/", session="checkout"))).ok
        answer = await router.call(call("press", target="Increment", session="chekout"))
        assert code(answer) == "session_not_found"
        assert answer.error is not None and answer.error.details["nearest"] == ["checkout"]
        assert backend.screen("only").text("Count") == "0"


async def test_a_named_session_is_bound_for_life() -> None:
    async with fake_router() as (router, backend):
        assert (await router.call(call("open", url="https://example.org/", session="s", device="fake-1"))).ok
        answer = await router.call(call("press", target="Increment", session="s", device="fake-2"))
        assert code(answer) == "selector_conflict"
        again = await router.call(call("open", url="https://example.org/", session="s", device="fake-2"))
        assert code(again) == "selector_conflict"
        assert backend.screen("fake-2").journal == []


async def test_a_named_session_goes_on_in_another_environment_of_its_caller() -> None:
    backend = FakeBackend(["only"])
    backend.manifest = backend.manifest.model_copy(update={"env": ["SEAT"]})
    async with fake_router(backend) as (router, _):
        for number, env in enumerate(({"SEAT": "one"}, {"SEAT": "two"}, {}, {"SEAT": ""})):
            by = caller(env=env)
            name = "press" if number else "open"
            rest = {"target": "Increment"} if number else {"url": "https://example.org/"}
            answer = await router.call(call(name, by=by, session="s", **rest))
            assert answer.ok, (env, answer.error)
        assert backend.screen("only").text("Count") == "3"


async def test_a_named_session_keeps_its_device_where_others_of_its_caller_cannot_list_it() -> None:
    backend = SeatedBackend(["only"])
    backend.manifest = backend.manifest.model_copy(update={"env": ["SEAT"]})
    async with fake_router(backend) as (router, _):
        at, away = caller(env={"SEAT": "one"}), caller(env={})
        assert code(await router.call(call("open", by=away, session="s", device="only"))) == "device_not_found"
        assert (await router.call(call("open", by=at, session="s", url="https://example.org/"))).ok
        assert (await router.call(call("press", by=away, session="s", target="Increment"))).ok
        assert backend.screen("only").text("Count") == "1"
        backend.rows.clear()  # and when it is gone, it is gone for both
        router.services.backends.forget("fake")
        await router.services.connections.drop("fake:only")
        assert code(await router.call(call("devices", by=at))) is None
        assert code(await router.call(call("press", by=away, session="s", target="Increment"))) == "device_not_found"


async def test_every_problem_of_a_call_is_told_at_once_with_the_nearest_names() -> None:
    async with fake_router() as (router, _):
        answer = await router.call(call("press", targt="x", timeoutMs="soon", responseLevel="loud", device=7))
        assert code(answer) == "invalid_argument"
        assert answer.error is not None
        problems = {problem["param"]: problem for problem in answer.error.details["errors"]}
        assert set(problems) == {"targt", "timeoutMs", "responseLevel", "device"}
        assert "target" in problems["targt"]["nearest"]
        assert "digest" in problems["responseLevel"]["expected"]
        assert "timeoutMs" in answer.error.details["accepted"]


async def test_an_unknown_command_names_the_nearest() -> None:
    async with fake_router() as (router, _):
        answer = await router.call(call("pres"))
        assert code(answer) == "unknown_command"
        assert answer.error is not None and "press" in answer.error.details["nearest"]


async def test_an_answer_of_another_device_is_never_passed_on() -> None:
    async with fake_router() as (router, backend):
        backend.fault.wrong_identity = DeviceRef(id="fake-1", name="x", platform="fake", key="fake:fake-1")
        answer = await router.call(call("press", target="Increment", device="fake-2"))
        assert code(answer) == "backend_broken"
        assert answer.error is not None
        assert answer.error.details["acted"] == "fake:fake-1" and answer.error.details["sent"] is True


async def test_a_backend_that_raises_anything_is_backend_broken_and_its_words_stay_in_details() -> None:
    async with fake_router() as (router, backend):
        backend.fault.operations["pointer.click"] = ValueError("secret page text")
        answer = await router.call(call("press", target="Increment", device="fake-1"))
        assert code(answer) == "backend_broken"
        assert answer.error is not None
        assert "secret page text" not in answer.error.message + answer.error.hint
        assert "secret page text" in answer.error.details["reason"]


async def test_an_action_without_a_reply_is_outcome_unknown_and_a_look_is_a_timeout() -> None:
    async with fake_router() as (router, backend):
        for name in ("press", "snapshot"):
            spec = router.services.catalogue.get(name)
            spec.command = spec.command.model_copy(update={"deadline": 0.3})
        backend.fault.operations["pointer.click"] = 60.0
        answer = await router.call(call("press", target="Increment", device="fake-1", timeoutMs=0))
        assert code(answer) == "outcome_unknown"
        backend.fault.operations = {"screen.tree": 60.0}
        answer = await router.call(call("snapshot", device="fake-1"))
        assert code(answer) == "timeout"
        assert answer.error is not None and answer.error.retryable


async def test_one_frozen_device_does_not_delay_another() -> None:
    async with fake_router() as (router, backend):
        done: list[str] = []

        async def run(device: str) -> None:
            await router.call(call("press", by=caller(device), target="Increment", device=device))
            done.append(device)

        driver = await router.services.connections.get(backend.rows["fake-1"], Environment())
        original = driver.pointer.click  # type: ignore[attr-defined]

        async def frozen(*args: Any, **kwargs: Any) -> Any:
            await anyio.sleep(2)
            return await original(*args, **kwargs)

        driver.pointer.click = frozen  # type: ignore[attr-defined]
        async with anyio.create_task_group() as group:
            group.start_soon(run, "fake-1")
            await anyio.sleep(0.05)
            group.start_soon(run, "fake-2")
        assert done == ["fake-2", "fake-1"]


async def test_commands_on_one_device_run_in_the_order_they_came() -> None:
    async with fake_router() as (router, backend):
        await router.call(call("open", device="fake-1"))
        backend.fault.operations["keys.press"] = 0.02
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(router.call, call("key", chord=f"f{number % 12 + 1}", device="fake-1"))
                await anyio.sleep(0.004)
        chords = [entry[2]["chord"] for entry in backend.screen("fake-1").did("key")]
        assert chords == [f"f{number % 12 + 1}" for number in range(20)]


async def test_a_cancelled_call_ends_on_the_device_and_the_lane_is_free_again() -> None:
    async with fake_router() as (router, backend):
        backend.fault.operations["pointer.click"] = 30.0
        with anyio.move_on_after(0.5) as scope:
            await router.call(call("press", target="Increment", device="fake-1"))
        assert scope.cancelled_caught
        backend.fault.operations = {}
        with anyio.fail_after(20):
            answer = await router.call(call("press", target="Increment", device="fake-1"))
        assert answer.ok and backend.screen("fake-1").text("Count") == "1"
        outcomes = [record["outcome"] for record in router.services.journal.tail]
        assert outcomes == ["cancelled", "ok"]


async def test_a_backend_that_hangs_or_fails_in_discovery_never_spoils_the_others() -> None:
    sick = FakeBackend(["ghost"], name="sick")
    sick.manifest = sick.manifest.model_copy(update={"discovery_deadline": 0.2})
    broken = FakeBackend(["x"], name="broken")
    broken.fault.fail_listing = RuntimeError("boom")
    sick.fault.hang_listing = 60
    async with fake_router(FakeBackend(["well"]), sick, broken) as (router, backend):
        with anyio.fail_after(20):
            answer = await router.call(call("devices"))
        assert [row["id"] for row in answer.data["devices"]] == ["well"]
        assert {row["backend"] for row in answer.data["missing"]} == {"sick", "broken"}
        with anyio.fail_after(20):
            assert (await router.call(call("press", target="Increment", device="well"))).ok
        assert backend.screen("well").text("Count") == "1"


async def test_a_typed_reason_of_a_backend_reaches_the_caller() -> None:
    async with fake_router() as (router, backend):
        backend.fault.operations["pointer.click"] = DeviceOffline(
            "The cable is out.", state="offline", fix="plug it in"
        )
        answer = await router.call(call("press", target="Increment", device="fake-1"))
        assert code(answer) == "device_offline"
        assert answer.error is not None and answer.error.details["fix"] == "plug it in"
        assert answer.error.device == "fake:fake-1"


async def test_a_lost_connection_is_told_once_and_the_next_call_connects_anew() -> None:
    async with fake_router() as (router, backend):
        assert (await router.call(call("press", target="Increment", device="fake-1"))).ok
        backend.pending_losses = [{"kind": "restarted", "message": "The browser was restarted."}]
        answer = await router.call(call("press", target="Increment", device="fake-1"))
        assert [notice["kind"] for notice in answer.notices] == ["restarted"]
        assert (await router.call(call("press", target="Increment", device="fake-1"))).notices == []


async def test_switches_take_effect() -> None:
    async with fake_router() as (router, _):
        plain = await router.call(call("snapshot", device="fake-1"))
        assert plain.cost is None and plain.debug is None
        full = await router.call(call("snapshot", device="fake-1", includeCost=True, debug=True, responseLevel="full"))
        assert full.cost is not None and full.cost.round_trips == 1
        assert full.debug is not None and full.debug["operations"][0]["operation"] == "screen.tree"
        assert "tree" in full.data and "tree" not in plain.data
        digest = await router.call(call("snapshot", device="fake-1", responseLevel="digest"))
        assert len(digest.data["text"]) < len(plain.data["text"])


async def test_the_audit_tells_calls_apart_but_nobody_can_guess_what_was_typed_from_it() -> None:
    marks = []
    for _ in range(2):
        async with fake_router() as (router, _backend):
            for text in ("1234", "1234", "4321"):
                await router.call(call("fill", target="Name", text=text, device="fake-1"))
            marks.append([line["arguments"] for line in router.services.journal.tail])
    for first, again, other in marks:
        assert first == again != other
    assert marks[0][0] != marks[1][0]  # a key of its own: a table of guesses is of no use


async def test_no_record_leaves_the_replay_line_out_but_not_the_audit() -> None:
    async with fake_router() as (router, _):
        await router.call(call("fill", target="Name", text="top secret", device="fake-1"))
        await router.call(call("fill", target="Name", text="other", device="fake-1", noRecord=True))
        first, second = router.services.journal.tail
        assert first["replay"]["command"] == "fill" and "replay" not in second
        assert second["outcome"] == "ok" and second["device"] == "fake:fake-1"
        assert "top secret" not in str(first)


async def test_boot_and_shutdown_need_an_explicit_device_and_end_what_ran_on_it() -> None:
    async with fake_router() as (router, backend):
        assert code(await router.call(call("boot"))) == "invalid_argument"
        backend.set_state("fake-1", "shutdown")
        router.services.backends.forget("fake")
        refused = await router.call(call("press", target="Increment", device="fake-1"))
        assert code(refused) == "device_not_ready"
        booted = await router.call(call("boot", device="fake-1"))
        assert booted.ok and booted.verified is True and booted.data["state"] == "ready"
        assert (await router.call(call("open", url="https://example.org/", device="fake-1"))).ok
        down = await router.call(call("shutdown", device="fake-1"))
        assert down.ok and down.data["state"] == "shutdown" and down.data["sessionsEnded"]
        assert backend.rows["fake-1"].state == "shutdown"


async def test_open_boots_only_the_device_it_names_and_only_when_asked() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, backend):
        backend.set_state("only", "shutdown")
        unnamed = await router.call(call("open", url="https://example.org/", boot=True))
        assert code(unnamed) == "device_not_found"
        unasked = await router.call(call("open", url="https://example.org/", device="only"))
        assert code(unasked) == "device_not_ready"
        assert backend.rows["only"].state == "shutdown"
        asked = await router.call(call("open", url="https://example.org/", device="only", boot=True))
        assert asked.ok and asked.data["booted"] is True and backend.rows["only"].state == "ready"


async def test_devices_that_share_something_are_driven_one_at_a_time() -> None:
    backend = FakeBackend([])
    backend.add("phone", shares=["focus"])
    backend.add("desk", shares=["focus"])
    async with fake_router(backend) as (router, _):
        assert (await router.call(call("open", by=caller("one"), url="https://example.org/", device="phone"))).ok
        refused = await router.call(call("press", by=caller("two"), target="Increment", device="desk"))
        assert code(refused) == "lease_held"
        assert refused.error is not None and refused.error.details["shared"] == ["focus"]


async def test_progress_reaches_whoever_listens() -> None:
    heard: list[tuple[float | None, str]] = []

    async def listen(done: float | None, message: str) -> None:
        heard.append((done, message))

    async with fake_router() as (router, _):
        steps = [{"command": "key", "arguments": {"chord": "tab", "device": "fake-1"}}] * 3
        answer = await router.call(call("batch", steps=steps), progress=listen)
        assert answer.ok
    assert [round(done or 0, 2) for done, _ in heard] == [0.0, 0.33, 0.67]


async def test_the_read_only_profile_refuses_changes_and_lets_reads_pass() -> None:
    async with fake_router(profile="read-only") as (router, backend):
        assert code(await router.call(call("press", target="Increment", device="fake-1"))) == "refused"
        assert (
            code(await router.call(call("command-run", name="press", arguments={"target": "Increment"}))) == "refused"
        )
        assert (await router.call(call("snapshot", device="fake-1"))).ok
        assert (await router.call(call("session"))).ok
        assert backend.screen("fake-1").journal == []


async def test_a_caller_without_scope_act_only_reads() -> None:
    async with fake_router() as (router, _):
        reader = caller(scopes=["read"])
        assert code(await router.call(call("press", by=reader, target="Increment", device="fake-1"))) == "refused"
        assert (await router.call(call("snapshot", by=reader, device="fake-1"))).ok


async def test_a_thousand_calls_leave_nothing_behind() -> None:
    async with fake_router() as (router, _):
        send = partial(call, "appstate", device="fake-1")
        for _ in range(1000):
            assert (await router.call(send())).ok
        assert len(router.services.sessions.all()) == 1
        assert router.services.lanes._lanes == {} and router.services.desk._pins == {}


async def test_numbers_that_are_none_are_refused() -> None:
    async with fake_router() as (router, backend):
        for value in (float("inf"), float("nan")):
            assert code(await router.call(call("press", x=value, y=1.0, device="fake-1"))) == "invalid_argument"
        assert backend.screen("fake-1").journal == []


async def test_an_open_that_opens_nothing_leaves_no_session_and_no_lease() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, _):
        for arguments in ({"url": "no scheme"}, {"url": "file:///x"}, {"app": "no.such.app"}):
            assert not (await router.call(call("open", by=caller("one"), device="only", **arguments))).ok
        assert router.services.sessions.all() == []
        assert (await router.call(call("press", by=caller("two"), target="Increment", device="only"))).ok
        assert (await router.call(call("open", by=caller("two"), url="https://example.org/", device="only"))).ok
        assert not (await router.call(call("open", by=caller("two"), url="file:///x", device="only"))).ok
        assert len(router.services.sessions.all()) == 1, "a session that was there before stays"


async def test_a_person_may_go_on_in_a_session_of_another_directory_and_an_agent_never_in_anothers() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, backend):
        here = caller("c1", transport="cli", cwd="/project")
        there = caller("c2", transport="cli", cwd="/elsewhere")
        opened = await router.call(call("open", by=here, url="https://example.org/"))
        held = await router.call(call("press", by=there, target="Increment", device="only"))
        assert code(held) == "lease_held"
        assert held.error is not None and f"session={opened.session}" in held.error.hint
        assert (await router.call(call("press", by=there, target="Increment", session=opened.session))).ok
        agent = await router.call(call("press", by=caller("agent"), target="Increment", session=opened.session))
        assert code(agent) == "session_not_found"
        assert backend.screen("only").text("Count") == "1"


async def test_what_policy_refuses_keeps_no_device_from_others() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, _):
        reader = caller("reader", scopes=["read"])
        assert code(await router.call(call("press", by=reader, target="Increment", device="only"))) == "refused"
        assert router.services.sessions.all() == [] and router.services.desk.held() == {}
        assert (await router.call(call("press", by=caller("other"), target="Increment", device="only"))).ok
        assert (await router.call(call("snapshot", by=caller("other")))).ok


async def test_arguments_nested_too_deeply_are_refused_and_the_line_of_it_is_written() -> None:
    deep: Any = "x"
    for _ in range(700):
        deep = [deep]
    async with fake_router() as (router, _):
        for arguments in ({"payload": deep, "event": "e"}, {"payload": {"a": deep}, "event": "e"}, {"nobody": deep}):
            answer = await router.call(call("trigger-app-event", device="fake-1", **arguments))
            assert answer.error is not None and answer.error.code == "invalid_argument", answer.error
            assert "nested" in answer.error.message
            assert router.services.journal.tail[-1]["outcome"] == "invalid_argument"
