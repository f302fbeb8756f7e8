"""Input arrives as it was meant: how long and how fast, in which field, or it is refused; judged by the device."""

from __future__ import annotations

import re
from typing import Any

import anyio
import pytest

from anydevice_harmonyos.hdc import ShellDone
from anydevice_harmonyos.touch import HarmonyosTouch, bend
from anydevice_lab.harmonyos import Lab
from anydevice_schemas import Point
from anydevice_schemas.errors import CallTimeout, DeviceNotReady, InvalidArgument, Unsupported, UpstreamUnavailable

from .rig import Rig, lines, reach

pytestmark = pytest.mark.anyio


async def asked(lab: Lab, key: str, program: str) -> list[str]:
    """Calls of a program that were made on a device, without our own words around."""
    return [found for line in await lines(lab, key) for found in re.findall(rf"{program} [^;&)\n]+", line)]


# --- fingers ---


async def test_the_last_number_of_a_swipe_is_a_speed_made_of_the_way_and_the_time(lab: Lab, phone: str) -> None:
    touch = HarmonyosTouch(reach(lab, phone))
    await touch.swipe(Point(100, 600), Point(100, 300), seconds=0.5)
    [call] = await asked(lab, phone, "uitest uiInput swipe")
    *_, y1, _, y2, speed = map(int, call.split()[3:])
    assert speed == round((y1 - y2) / 0.5)


async def test_what_is_too_slow_for_a_speed_takes_the_time_it_was_given(lab: Lab, phone: str) -> None:
    touch = HarmonyosTouch(reach(lab, phone))
    await touch.swipe(Point(100, 310), Point(100, 300), seconds=0.6)
    assert await asked(lab, phone, "uitest uiInput swipe") == []
    [call] = await asked(lab, phone, "uinput -T")
    assert call.split()[-1] == "600"


async def test_a_long_press_lasts_as_long_as_asked(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "gestures")
    await router.do("longpress", device=phone, target="Hold me", durationMs=1500)
    [call] = await asked(lab, phone, "uinput -T -d")
    assert "-i 1500" in call


async def test_places_at_the_edge_are_moved_inside_and_places_outside_are_refused(lab: Lab, phone: str) -> None:
    touch = HarmonyosTouch(reach(lab, phone))
    await touch.tap(Point(0, 0))
    [call] = await asked(lab, phone, "uitest uiInput click")
    assert call.split()[-2:] == ["1", "1"], "the program refuses what is 0"
    for point in (Point(-20, 100), Point(100, 5000)):
        with pytest.raises(InvalidArgument):
            await touch.tap(point)
    assert len(await asked(lab, phone, "uitest uiInput click")) == 1, "it would say No Error, and nothing would happen"


async def test_a_drag_rests_before_it_moves(lab: Lab, phone: str) -> None:
    acted = await HarmonyosTouch(reach(lab, phone)).drag(Point(100, 300), Point(200, 500), hold=0.7, seconds=0.6)
    [call] = await asked(lab, phone, "uinput -T -g")
    assert call.split()[-2:] == ["700", "1300"]
    assert acted.data == {"heldMs": 700, "movedMs": 600}


def test_only_straight_paths_are_told_as_straight() -> None:
    assert bend([Point(0, 0), Point(5, 0), Point(10, 0)]) == 0
    assert bend([Point(0, 0), Point(5, 5), Point(10, 0)]) == 0.5


async def test_fingers_that_would_have_to_go_round_or_are_too_many_are_refused(lab: Lab, phone: str) -> None:
    touch = HarmonyosTouch(reach(lab, phone))
    round_ = [Point(100, 100), Point(150, 150), Point(100, 200)]
    for fingers in ([round_, round_], [[Point(1, 1), Point(2, 2)]] * 4):
        with pytest.raises(Unsupported):
            await touch.multi_touch(fingers, seconds=0.3)


# --- whether it arrives ---


async def test_a_dark_screen_refuses_input_which_the_device_would_call_no_error(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.open(phone)
    await lab.set(phone, awake=False)
    await lab.heard(clear=True)
    with pytest.raises(DeviceNotReady) as told:
        await HarmonyosTouch(reach(lab, phone)).tap(Point(100, 100))
    assert "wakeup" in told.value.hint
    assert await lab.journal(phone, "tap") == []
    await router.do("key", device=phone, chord="wakeup")
    assert (await lab.state(phone))["awake"]


async def test_a_refusal_of_the_program_is_no_success(lab: Lab, phone: str) -> None:
    device = reach(lab, phone)
    with pytest.raises(UpstreamUnavailable):
        await device.input("uitest uiInput keyEvent Recent")
    with pytest.raises(InvalidArgument):
        await device.input("uitest uiInput click 0 100")
    with pytest.raises(InvalidArgument):
        await device.input("uinput -T -d -5 10 -u -5 10")


async def test_calls_of_the_automation_program_never_overlap(lab: Lab, phone: str) -> None:
    device = reach(lab, phone)
    running = most = 0
    real = device.hdc.shell

    async def counted(command: str, **more: Any) -> ShellDone:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            return await real(command, **more)
        finally:
            running -= 1

    device.hdc.shell = counted  # type: ignore[method-assign]
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(device.uitest, "uitest --version")
    assert most == 1


async def test_the_wait_in_the_queue_counts_into_the_deadline(lab: Lab, phone: str) -> None:
    device = reach(lab, phone)
    await lab.fault(phone, "hang", match="uitest --version", times=1)
    async with anyio.create_task_group() as group:
        group.start_soon(device.uitest, "uitest --version")
        while not device.slot.queue.locked():
            await anyio.sleep(0.01)
        with pytest.raises(CallTimeout) as told:
            await device.uitest("uitest --version", deadline=0.2)
        assert "busy" in told.value.message
        group.cancel_scope.cancel()
    assert (await device.uitest("uitest --version")).status == 0


# --- text ---


@pytest.mark.parametrize(
    "text", ["two words", 'it\'s "quoted" $HOME `id` \\ %s', "漢字かな", "-x", "a;b && c|d", "  edges  ", "naïve"]
)
async def test_any_text_is_typed_whole_and_what_was_there_is_gone(lab: Lab, router: Rig, phone: str, text: str) -> None:
    await router.open(phone, "form")
    await router.do("fill", device=phone, target="Name", text="what was there before")
    answer = await router.do("fill", device=phone, target="Name", text=text)
    assert answer.verified
    assert (await router.do("get", device=phone, target="id=form.name")).data["text"] == text


async def test_lines_and_long_text_are_typed_in_pieces_none_of_which_is_cut(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    text = "first line\nsecond\n" + "x" * 1200
    await router.do("fill", device=phone, target="Notes", text=text)
    assert (await router.do("get", device=phone, target="id=form.notes")).data["text"] == text


async def test_the_keys_of_the_keyboard_on_the_screen_are_never_taken_for_the_apps_own(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.open(phone, "form")
    await router.do("press", device=phone, target="Name")
    assert (await lab.state(phone))["keyboard"]
    answer = await router.do("press", device=phone, target="Delete", expect="ambiguous_element")
    assert answer.error is not None and answer.error.details["matches"] == 2, "the app has two, the keyboard another"


async def test_text_that_lost_characters_on_the_way_is_no_success(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await lab.fault(phone, "text_lost")
    answer = await router.do("fill", device=phone, target="Name", text="abcdef", expect="action_unverified")
    assert answer.error is not None and answer.error.details["actual"] == "ace"


async def test_an_older_build_types_where_the_focus_is_and_nowhere_else(lab: Lab, router: Rig) -> None:
    (old,) = await lab.start("old-phone")
    await router.open(old, "form")
    answer = await router.do("fill", device=old, target="Name", text="two words")
    assert answer.verified
    assert await asked(lab, old, "uitest uiInput inputText")
    await router.open(old, "home")
    await router.do("type", device=old, text="x", expect="action_unverified")
    await lab.stop(old)


async def test_a_key_that_is_none_is_refused_before_anything_is_sent(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await lab.heard(clear=True)
    await router.do("key", device=phone, chord="ctrl+nonsense", expect="invalid_argument")
    assert not await asked(lab, phone, "uitest uiInput keyEvent")


async def test_the_recent_apps_are_shown_by_a_finger_and_seen(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    answer = await router.do("app-switcher", device=phone)
    assert answer.verified
    assert not await asked(lab, phone, "uitest uiInput keyEvent Recent")
    await router.do("home", device=phone)


async def test_an_input_that_is_swallowed_is_not_called_seen(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await lab.fault(phone, "input_ignored")
    answer = await router.do("press", device=phone, target="Wi-Fi")
    assert not answer.verified
    await router.do("fill", device=phone, target="Name", text="x", expect="action_unverified")


# --- a remote control ---


async def test_several_presses_go_in_one_call_and_are_as_many(lab: Lab, router: Rig) -> None:
    (tv,) = await lab.start("tv")
    await router.open(tv, "list")
    await lab.heard(clear=True)
    await lab.journal(tv, clear=True)
    await router.do("tv-remote", device=tv, button="down", count=5)
    pressed = [entry["code"] for entry in await lab.journal(tv, "key")]
    assert pressed == [2013] * 5
    assert len(await asked(lab, tv, "uinput -K")) == 1
    await router.do("tv-remote", device=tv, button="select", durationMs=700)
    assert any("-i 700" in call for call in await asked(lab, tv, "uinput -K"))
    await lab.stop(tv)
