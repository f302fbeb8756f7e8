"""focus: the element that is named gets the keyboard, and it is seen to have it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from anydevice.commands import focusing
from anydevice.testing import FakeBackend, FakeElement, FakeScreen, call, fake_router
from anydevice_schemas import Answer, Rect

pytestmark = pytest.mark.anyio


class Phone:
    """A router with one phone, and short calls on it."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    @property
    def screen(self) -> FakeScreen:
        return self.backend.screen("phone")

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, device="phone", **arguments))
        return answer

    async def refused(self, **arguments: Any) -> dict[str, Any]:
        answer = await self("focus", timeoutMs=0, **arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, **answer.error.details}


@pytest.fixture
async def phone(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Phone]:
    monkeypatch.setattr(focusing, "SETTLE", 0.3)  # a fake phone does at once what it ever does
    async with fake_router(FakeBackend(["phone", "other"])) as (router, backend):
        yield Phone(router, backend)
        assert backend.screen("other").focus is None, "the other device was touched"


async def test_focus_gives_the_keyboard_and_presses_nothing(phone: Phone) -> None:
    answer = await phone("focus", target="Name")
    assert (answer.verified, answer.data["element"]["name"]) == (True, "Name")
    assert phone.screen.focus is phone.screen.named("Name")
    assert phone.screen.journal == []
    again = await phone("focus", target=answer.data["element"]["ref"])
    assert again.verified is True
    await phone("type", text="typed")
    assert phone.screen.text("Name") == "typed"


@pytest.mark.parametrize("lacks", [[], ["elements.probe"], ["keys.focused"]])
async def test_focus_that_was_said_and_did_not_happen_is_unverified(phone: Phone, lacks: list[str]) -> None:
    phone.backend.down.update(dict.fromkeys(lacks, "not here"))
    phone.screen.focus = phone.screen.named("Letters")
    phone.backend.fault.swallow.add("elements.focus")
    refused = await phone.refused(target="Name")
    assert (refused["code"], refused["expected"]) == ("action_unverified", "focused")
    if not lacks:
        assert refused["actual"]["focused"]["name"] == "Letters"


async def test_what_cannot_be_focused_is_refused_before_anything_is_done(phone: Phone) -> None:
    assert (await phone.refused(target="Submit"))["code"] == "element_disabled"
    assert (await phone.refused(target="Delete"))["code"] == "ambiguous_element"
    assert (await phone.refused(target="No such"))["code"] == "element_not_found"
    assert phone.screen.focus is None


async def test_what_is_off_screen_is_brought_there(phone: Phone) -> None:
    phone.screen.add(FakeElement("textbox", "Far", Rect(20, 3000, 200, 40), value=""))
    assert (await phone("focus", target="Far")).verified is True
    assert phone.screen.offset > 0


async def test_a_device_without_focus_refuses_by_type(phone: Phone) -> None:
    phone.backend.down |= {"elements.focus": "touch only", "remote.press": "has none"}
    refused = await phone.refused(target="Name")
    missing = {"elements.focus": "touch only", "remote.press": "has none"}
    assert (refused["code"], refused["missing"]) == ("unsupported", missing)
