"""What a device has not is refused with the reason why, before anything is sent to it."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice_lab.android import Lab

from .rig import Rig

pytestmark = pytest.mark.anyio


async def refused(lab: Lab, router: Rig, serial: str, command: str, **arguments: Any) -> dict[str, str]:
    """What is missing, and why."""
    await router.devices()  # whose devices they are is asked of new ones
    await lab.journal(serial, clear=True)
    answer = await router.do(command, device=serial, expect="unsupported", **arguments)
    assert answer.error is not None
    lines = [entry["line"] for entry in await lab.journal(serial, "shell")]
    assert not [line for line in lines if "getprop" not in line], "something was sent"
    missing: dict[str, str] = answer.error.details["missing"]
    return missing


@pytest.mark.parametrize("action", ["start", "status", "stop"])
async def test_sound_is_refused_where_android_is_too_old_to_tell_it(lab: Lab, router: Rig, action: str) -> None:
    (old,) = await lab.start("old-phone")
    try:
        (why,) = (await refused(lab, router, old, "audio", action=action)).values()
        assert "Android 9" in why
    finally:
        await lab.stop(old)


async def test_a_phone_has_no_remote_control_and_no_switch(lab: Lab, router: Rig, phone: str) -> None:
    (why,) = (await refused(lab, router, phone, "tv-remote", button="down")).values()
    assert "Only a TV" in why
    (why,) = (await refused(lab, router, phone, "shutdown")).values()
    assert "emulators" in why


async def test_a_television_is_not_touched_turned_or_flown(lab: Lab, router: Rig) -> None:
    (tv,) = await lab.start("tv")
    try:
        whys = await refused(lab, router, tv, "gesture", kind="pinch", scale=2.0)
        assert all("remote control" in why for why in whys.values())
        (why,) = (await refused(lab, router, tv, "orientation", value="landscape-left")).values()
        assert "turned" in why
        for area, value, word in (("airplane", "on", "no such mode"), ("status-bar", "demo", "status bar")):
            (why,) = (await refused(lab, router, tv, "settings", area=area, value=value)).values()
            assert word in why
    finally:
        await lab.stop(tv)
