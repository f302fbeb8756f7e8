"""The ways out of an app, and a dialog or a keyboard that is in the way; judged by the device."""

from __future__ import annotations

import pytest

from .rig import PRACTICE, Rig

pytestmark = pytest.mark.anyio


async def test_home_leaves_the_app_open_behind(router: Rig, phone: str) -> None:
    await router.open(phone)
    answer = await router.do("home", device=phone)
    assert answer.verified is True
    state = await router.lab.state(phone)
    assert not state["front"].startswith(PRACTICE)
    back = await router.do("open", device=phone, app=PRACTICE)
    assert back.data["alreadyRunning"] is True


async def test_the_app_switcher_is_seen_to_open(router: Rig, phone: str) -> None:
    await router.open(phone)
    assert (await router.do("app-switcher", device=phone)).verified is True
    assert not (await router.lab.state(phone))["front"].startswith(f"{PRACTICE}/")


async def test_a_keyboard_that_hides_the_element_is_taken_away_and_told(router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await router.do("press", device=phone, target="Name")
    assert (await router.lab.state(phone))["keyboard"] is True
    answer = await router.do("press", device=phone, target="General", timeoutMs=5000)
    assert any(notice["kind"] == "keyboard_dismissed" for notice in answer.notices)
    assert (await router.lab.state(phone))["keyboard"] is False


async def test_reading_never_takes_the_keyboard_away(router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await router.do("press", device=phone, target="Name")
    await router.do("find", device=phone, query="No such thing", timeoutMs=0, expect="element_not_found")
    assert (await router.lab.state(phone))["keyboard"] is True


async def test_a_screen_that_cannot_be_read_is_shown_instead(router: Rig, phone: str) -> None:
    await router.open(phone)
    await router.lab.fault(phone, "idle", seconds=0.2)
    refused = await router.do("snapshot", device=phone, expect="device_not_ready")
    assert refused.error is not None
    picture = router.router.services.artefacts.read(refused.error.details["screenshot"])
    assert picture.startswith(b"\x89PNG") and picture.rstrip().endswith(b"IEND\xaeB`\x82")
    where = await router.lab.state(phone)
    pressed = await router.do("press", device=phone, x=200, y=150)
    assert any(notice["kind"] == "not_read" for notice in pressed.notices) and where["front"].startswith(PRACTICE)
    assert await router.lab.journal(phone, "tap")
