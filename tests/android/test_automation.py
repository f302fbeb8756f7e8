"""What goes through the automation server only: two fingers at once, and the clipboard where the shell has none."""

from __future__ import annotations

from math import cos, radians, sin

import pytest

from anydevice.driver import Driver, Environment
from anydevice_android.fingers import BEND, bend
from anydevice_lab.android import Lab
from anydevice_schemas import Point
from anydevice_schemas.errors import Unsupported, UpstreamUnavailable

from .rig import Rig

pytestmark = pytest.mark.anyio


async def driver_of(rig: Rig, serial: str) -> Driver:
    """The driver the router uses."""
    await rig.devices()
    env = Environment(variables=rig.environment)
    listed = await rig.router.services.backends.listed(env)
    return await rig.router.services.connections.get(listed.by_key(f"android:{serial}"), env)


def arc(middle: Point, reach: float, first: float, turn: float, steps: int = 12) -> list[Point]:
    """Places on a circle, from an angle on by `turn` degrees."""
    angles = [radians(first + turn * step / steps) for step in range(steps + 1)]
    return [Point(middle.x + reach * cos(angle), middle.y + reach * sin(angle)) for angle in angles]


def test_a_turn_of_ninety_degrees_is_as_much_as_a_straight_line_can_stand_for() -> None:
    middle = Point(100, 100)
    assert bend([Point(0, 0), Point(5, 0), Point(10, 0)]) == 0
    assert bend(arc(middle, 50, 0, 90)) < BEND < bend(arc(middle, 50, 0, 120))
    assert bend(arc(middle, 50, 0, 360)) > BEND


async def test_two_fingers_reach_the_device_as_one_gesture(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone, "gestures")
    driver = await driver_of(quick, phone)
    assert driver.has("touch.multi_touch")
    middle = Point(200, 400)
    acted = await driver.touch.multi_touch(  # type: ignore[attr-defined]
        [arc(middle, 50, 180, 60), arc(middle, 50, 0, 60)], seconds=0.2
    )
    assert acted.method == "automation"
    (fingers,) = await lab.journal(phone, "fingers")
    assert (fingers["count"], fingers["seconds"]) == (2, 0.2)


async def test_what_two_straight_fingers_cannot_do_is_refused(lab: Lab, quick: Rig, phone: str) -> None:
    driver = await driver_of(quick, phone)
    middle = Point(200, 400)
    for paths in ([arc(middle, 50, 0, 60)] * 3, [arc(middle, 50, 0, 180), arc(middle, 50, 180, 180)], [[middle]]):
        with pytest.raises(Unsupported):
            await driver.touch.multi_touch(paths, seconds=0.2)  # type: ignore[attr-defined]
    assert await lab.journal(phone, "fingers") == []


async def test_without_the_server_two_fingers_are_unavailable_with_the_way_to_have_them(
    router: Rig, phone: str
) -> None:
    driver = await driver_of(router, phone)
    assert not driver.has("touch.multi_touch")
    assert "automation = true" in driver.unavailable()["touch.multi_touch"]
    with pytest.raises(Unsupported):
        await driver.touch.multi_touch([[Point(1, 1)], [Point(2, 2)]], seconds=0.1)  # type: ignore[attr-defined]


async def test_a_slot_that_somebody_holds_is_named(lab: Lab, quick: Rig, phone: str) -> None:
    driver = await driver_of(quick, phone)
    await lab.fault(phone, "registered")
    with pytest.raises(UpstreamUnavailable) as caught:
        await driver.touch.multi_touch([[Point(1, 1), Point(9, 9)]] * 2, seconds=0.1)  # type: ignore[attr-defined]
    assert caught.value.details["reason"] == "slot_taken"


async def test_the_clipboard_goes_through_the_server_where_the_shell_has_none(lab: Lab, quick: Rig, phone: str) -> None:
    answer = await quick.do("clipboard", device=phone, action="write", text="Grüße 🎉")
    assert answer.verified is True
    assert (await lab.state(phone))["clipboard"] == "Grüße 🎉"
    assert (await quick.do("clipboard", device=phone, action="read")).data["text"] == "Grüße 🎉"


async def test_a_read_that_android_denies_is_no_empty_clipboard(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.do("clipboard", device=phone, action="write", text="secret")
    await lab.fault(phone, "clipboard_denied")
    await quick.do("clipboard", device=phone, action="read", expect="permission_missing")


async def test_the_server_ends_and_frees_the_slot_when_the_device_is_given_back(
    lab: Lab, quick: Rig, phone: str
) -> None:
    driver = await driver_of(quick, phone)
    await driver.touch.multi_touch([[Point(1, 1), Point(90, 90)]] * 2, seconds=0.05)  # type: ignore[attr-defined]
    await driver.clean()
    assert [entry["running"] for entry in await lab.journal(phone, "u2")] == [True, False]
