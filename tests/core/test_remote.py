"""keyboard, tv-remote, push: judged by what the device's model received."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.commands import remote as rooms
from anydevice.testing import FakeBackend, FakeScreen, call, fake_router
from anydevice_schemas import Answer

pytestmark = pytest.mark.anyio
APP = "dev.anydevice.practice"


class Phone:
    """A router with one phone that has an on-screen keyboard, and short calls on it."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    @property
    def screen(self) -> FakeScreen:
        return self.backend.screen("fake-1")

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, device="fake-1", **arguments))
        return answer

    async def refused(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, "hint": answer.error.hint, **answer.error.details}


@pytest.fixture
async def phone(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(rooms, "GONE", 0.2)
    backend = FakeBackend(["fake-1", "other"])
    async with fake_router(backend) as (router, _):
        yield Phone(router, backend)
        assert backend.screen("other").journal == [], "the other device was touched"
        assert backend.screen("other").upkeep.pushed == []


# --- keyboard ---


async def test_the_keyboard_comes_with_a_field_and_goes_when_dismissed(phone: Phone) -> None:
    assert (await phone("keyboard")).data == {"shown": False}
    assert (await phone("keyboard", action="dismiss")).data == {"shown": False, "already": True}
    await phone("press", target="Name")
    assert (await phone("keyboard")).data["shown"] is True
    answer = await phone("keyboard", action="dismiss")
    assert (answer.verified, answer.data["shown"]) == (True, False)
    assert phone.screen.focus is None


async def test_a_keyboard_that_stays_is_no_success(phone: Phone) -> None:
    await phone("press", target="Name")
    phone.backend.fault.swallow.add("keys.dismiss")
    assert (await phone.refused("keyboard", action="dismiss"))["code"] == "action_unverified"


async def test_a_key_reaches_a_keyboard_that_is_shown_only(phone: Phone) -> None:
    refused = await phone.refused("keyboard", action="press", key="enter")
    assert refused["code"] == "action_unverified" and "key" in refused["hint"]
    assert phone.screen.did("key") == []
    await phone("press", target="Name")
    answer = await phone("keyboard", action="press", key="enter")
    assert (answer.ok, answer.verified, answer.data["shown"]) == (True, False, True)
    assert [entry[2]["chord"] for entry in phone.screen.did("key")] == ["enter"]


async def test_a_key_goes_with_press_only(phone: Phone) -> None:
    for arguments in ({"action": "press"}, {"key": "enter"}, {"action": "dismiss", "key": "enter"}, {"key": "x"}):
        assert (await phone.refused("keyboard", **arguments))["code"] == "invalid_argument", arguments


# --- tv-remote ---


async def test_arrows_move_the_focus_and_select_presses_it(phone: Phone) -> None:
    answer = await phone("tv-remote", button="down")
    assert answer.verified is False and answer.data["changed"] is True
    assert phone.screen.focus is not None and phone.screen.focus.name == "Increment"
    assert (await phone("is", predicate="focused", target="Increment")).data["result"] is True
    await phone("tv-remote", button="select", count=3)
    assert phone.screen.text("Count") == "3"
    await phone("tv-remote", button="up", durationMs=50)
    assert phone.screen.upkeep.buttons == [("down", 0.0), *[("select", 0.0)] * 3, ("up", 0.05)]


async def test_a_button_the_remote_has_not_is_refused(phone: Phone) -> None:
    assert (await phone.refused("tv-remote", button="power"))["param"] == "button"
    assert (await phone.refused("tv-remote", button="eject"))["code"] == "invalid_argument"
    assert (await phone.refused("tv-remote", button="up", count=2, durationMs=10))["param"] == "count"
    assert phone.screen.upkeep.buttons == []


async def test_pressing_again_stops_at_a_dialog(phone: Phone) -> None:
    screen = phone.screen
    await phone("tv-remote", button="down")
    assert screen.focus is not None
    screen.focus.on_press = lambda: setattr(screen, "dialog", ("alert", "Stop", ("OK",)))
    answer = await phone("tv-remote", button="select", count=5)
    assert answer.data["pressed"] == 1 and answer.data["happened"][0]["kind"] == "dialog"


# --- push ---


async def test_a_notification_arrives_whole_and_unverified(phone: Phone) -> None:
    payload = {"aps": {"alert": "Grüße 👩‍👩‍👧"}, "n": [1, None]}
    answer = await phone("push", app=APP, payload=payload)
    assert (answer.ok, answer.verified, answer.data["app"]) == (True, False, APP)
    assert phone.screen.upkeep.pushed == [(APP, payload)]


async def test_the_session_has_an_app_to_push_to(phone: Phone) -> None:
    assert (await phone.refused("push", payload={}))["param"] == "app"
    await phone("open", url="https://example.org/")
    assert (await phone.refused("push", payload={}))["param"] == "app"
    await phone("open", app="practice")
    assert (await phone("push", payload={"a": 1})).ok
    assert phone.screen.upkeep.pushed == [("practice", {"a": 1})]


async def test_payloads_over_the_limit_are_refused_whole(phone: Phone) -> None:
    fits = {"t": "x" * (4096 - len('{"t":""}'))}
    assert (await phone("push", app=APP, payload=fits)).data["bytes"] == 4096
    refused = await phone.refused("push", app=APP, payload={"t": fits["t"] + "x"})
    assert (refused["code"], refused["param"]) == ("invalid_argument", "payload")
    assert (await phone.refused("push", app="nobody", payload={}))["code"] == "app_not_found"
    assert len(phone.screen.upkeep.pushed) == 1
