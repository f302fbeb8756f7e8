"""Failures that users of other tools reported, each with the right answer; judged by what the lab's device saw."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import anyio
import pytest
from PIL import Image as Pictures

from anydevice_lab.android import Lab
from anydevice_schemas import Answer

from .rig import PRACTICE, Rig, eventually, rig

pytestmark = pytest.mark.anyio
NASTY = "x'; touch /sdcard/pwned; echo $(touch /sdcard/pwned) `touch /sdcard/pwned` \"; rm -rf /sdcard/keep; '"

NASTY_URL = (
    "practice:///?screen=home&x=';touch${IFS}/sdcard/pwned;$(touch${IFS}/sdcard/pwned)`touch${IFS}/sdcard/pwned`'"
)


async def programs(lab: Lab, serial: str, *names: str) -> list[list[str]]:
    """The starts of some programs of the device: their words."""
    entries = await lab.journal(serial, "program")
    return [[entry["name"], *entry["args"]] for entry in entries if entry["name"] in names]


async def root(lab: Lab, serial: str) -> Path:
    """The device's files."""
    (found,) = [device["root"] for device in await lab.devices() if device["serial"] == serial]
    return Path(found)


def reason(answer: Answer) -> Any:
    assert answer.error is not None
    return answer.error.details.get("reason")


# --- 1: screens that never rest ---


async def test_a_screen_that_never_rests_is_asked_once_and_can_still_be_seen(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await lab.fault(phone, "idle", seconds=0.2)
    await lab.journal(phone, clear=True)
    for _ in range(3):
        answer = await router.do("snapshot", device=phone, expect="device_not_ready")
        assert reason(answer) == "snapshot_busy"
        assert answer.error is not None and "screenshot" in answer.error.hint
        evidence = router.router.services.artefacts.read(answer.error.details["screenshot"])
        assert evidence.startswith(b"\x89PNG")
    assert len(await programs(lab, phone, "uiautomator")) == 1
    assert (await router.do("screenshot", device=phone)).artefacts
    await lab.clear(phone)
    await router.open(phone)
    assert (await router.do("snapshot", device=phone)).data["quality"] == "complete"


async def test_input_that_needs_no_tree_reaches_a_screen_that_never_rests(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    field = (await router.do("find", device=phone, query="Name")).data["matches"][0]
    x, y, wide, high = field["rect"]
    place = {"x": x + wide / 2, "y": y + high / 2}
    await lab.fault(phone, "idle", seconds=0.2)
    answers = [
        await router.do("press", device=phone, **place),
        await router.do("type", device=phone, text="Ada"),
        await router.do("key", device=phone, chord="backspace"),
        await router.do("type", device=phone, text="am"),
        await router.do("gesture", device=phone, kind="swipe", direction="down"),
    ]
    for answer in answers:
        assert answer.verified is False and [notice["kind"] for notice in answer.notices] == ["not_read"]
    await lab.clear(phone)
    await router.do("open", device=phone, app=PRACTICE)  # after that it may be read again
    assert (await router.do("get", device=phone, target="Name", what="attrs")).data["element"]["value"] == "Adam"
    await lab.fault(phone, "idle", seconds=0.2)
    answer = await router.do("fill", device=phone, text="Eve", **place)
    assert answer.verified is False
    await lab.clear(phone)
    await router.do("open", device=phone, app=PRACTICE)
    assert (await router.do("get", device=phone, target="Name", what="attrs")).data["element"]["value"] == "Eve"


async def test_going_to_recent_apps_from_a_home_screen_that_never_rests_is_not_called_failed(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.do("home", device=phone)
    await lab.fault(phone, "idle", seconds=0.2)
    assert (await router.do("app-switcher", device=phone)).verified is False


# --- 2: trees of what was there before ---


async def test_a_tree_of_another_app_than_the_one_in_front_is_called_stale(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await router.do("shell", device=phone, commandLine="input keyevent 3")
    await lab.fault(phone, "stale")
    await router.open(phone)
    assert (await router.do("snapshot", device=phone)).data["quality"] == "stale"
    await lab.clear(phone)
    assert (await router.do("snapshot", device=phone)).data["quality"] == "complete"


async def test_a_stale_tree_that_is_right_the_second_time_is_not_told(lab: Lab, router: Rig, phone: str) -> None:
    await router.do("shell", device=phone, commandLine="input keyevent 3")
    await lab.fault(phone, "stale", times=1)
    launched = await router.do("shell", device=phone, commandLine=f"am start -W -n {PRACTICE}/.MainActivity")
    assert "Status: ok" in launched.data["stdout"]
    await lab.journal(phone, clear=True)
    assert (await router.do("snapshot", device=phone)).data["quality"] == "complete"
    assert len(await programs(lab, phone, "uiautomator")) == 2


# --- 3: nothing but the system's own windows ---


async def test_a_tree_of_the_system_alone_is_looked_at_twice_and_called_degraded(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.open(phone)
    await lab.fault(phone, "system_only")
    await lab.journal(phone, clear=True)
    assert (await router.do("snapshot", device=phone)).data["quality"] in ("degraded", "stale")
    assert len(await programs(lab, phone, "uiautomator")) >= 2


@pytest.mark.parametrize("fault", ["u2_system_only", "u2_stale"])
async def test_what_the_server_sees_wrongly_is_asked_of_the_devices_own_program_before_it_is_told(
    lab: Lab, quick: Rig, phone: str, fault: str
) -> None:
    await quick.do("home", device=phone)
    await lab.fault(phone, fault)
    await quick.open(phone)
    await lab.journal(phone, clear=True)
    answer = await quick.do("snapshot", device=phone)
    assert answer.data["quality"] == "complete" and "Increment" in answer.data["text"]
    assert len(await programs(lab, phone, "uiautomator")) == 1
    assert [entry["running"] for entry in await lab.journal(phone, "u2")][-1:] in ([], [False]), "it holds the slot"


# --- 4: somebody else holds the automation slot ---


@pytest.mark.parametrize("fault", ["registered", "killed"])
async def test_a_slot_that_somebody_holds_has_a_code_of_its_own(lab: Lab, router: Rig, phone: str, fault: str) -> None:
    await router.open(phone)
    await lab.fault(phone, fault)
    answer = await router.do("snapshot", device=phone, expect="upstream_unavailable")
    assert reason(answer) == "slot_taken"
    assert (
        answer.error is not None
        and answer.error.retryable
        and "End the other client" in answer.error.details["enable_hint"]
    )
    await lab.clear(phone)
    await router.do("snapshot", device=phone)


async def test_our_own_server_lets_go_of_the_slot_with_its_connection(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone)
    await quick.do("snapshot", device=phone)
    assert [entry["running"] for entry in await lab.journal(phone, "u2")] == [True]
    await quick.router.services.connections.drop(f"android:{phone}")
    assert [entry["running"] for entry in await lab.journal(phone, "u2")] == [True, False]


# --- 5: foldables ---


async def test_a_foldable_gives_the_panel_that_is_on(lab: Lab, router: Rig) -> None:
    serial = (await lab.start("foldable"))[0]
    await router.open(serial)
    answer = await router.do("screenshot", device=serial)
    data = Path(answer.artefacts[0].path or "").read_bytes()
    with Pictures.open(io.BytesIO(data)) as picture:
        assert picture.size == (1080, 2424)
        assert len(picture.convert("L").getcolors(1 << 16) or []) > 1, "the dark panel"


async def test_half_a_picture_is_an_error_and_no_picture(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    for fault in ("screencap_cut", "screencap_fails"):
        await lab.fault(phone, fault)
        answer = await router.do("screenshot", device=phone, expect="upstream_unavailable")
        assert not answer.artefacts
        await lab.clear(phone)


# --- 6: text that is not ASCII ---


async def test_text_that_keys_cannot_type_is_refused_whole(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await lab.journal(phone, clear=True)
    answer = await router.do("fill", device=phone, target="Name", text="Ada Grüße 🎉", expect="invalid_argument")
    assert answer.error is not None and "automation" in answer.error.details["expected"]
    assert [words for words in await programs(lab, phone, "input") if "text" in words] == []


async def test_text_that_keys_cannot_type_goes_through_the_server_exactly(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone, "form")
    answer = await quick.do("fill", device=phone, target="Name", text="Grüße, naïve café")
    assert answer.verified is True
    assert (await quick.do("get", device=phone, target="Name", what="attrs")).data["element"][
        "value"
    ] == "Grüße, naïve café"


async def test_text_that_gets_lost_on_its_way_is_not_called_typed(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await lab.fault(phone, "text_lost")
    await router.do("fill", device=phone, target="Name", text="Ada Lovelace", expect="action_unverified")


@pytest.mark.parametrize("text", ["100%s it's $HOME", 'a"b\\c`id`', "-n --x", "a & b; c | d > e"])
async def test_any_ascii_is_typed_as_it_is(lab: Lab, router: Rig, phone: str, text: str) -> None:
    await router.open(phone, "form")
    await router.do("fill", device=phone, target="Name", text=text)
    assert (await router.do("get", device=phone, target="Name", what="attrs")).data["element"]["value"] == text


# --- 7: no focus, or a wrong one ---


async def test_a_focus_that_is_nowhere_for_a_moment_is_waited_for(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await lab.fault(phone, "null_focus", times=3)
    answer = await router.do("appstate", device=phone)
    assert PRACTICE in str(answer.data)


async def test_builds_without_a_current_focus_are_read_by_what_they_have(lab: Lab, router: Rig) -> None:
    serial = (await lab.start({"name": "phone", "api": 34, "release": "14"}))[0]
    await lab.fault(serial, "no_current_focus")
    await router.open(serial)
    assert PRACTICE in str((await router.do("appstate", device=serial)).data)


# --- 8: clipboards that look empty ---


async def test_a_clipboard_the_shell_has_not_is_unsupported_and_one_it_may_not_read_is_denied(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.do("clipboard", device=phone, action="read", expect="unsupported")
    await router.do("clipboard", device=phone, action="write", text="x", expect="unsupported")
    await lab.fault(phone, "clipboard")
    assert (await router.do("clipboard", device=phone, action="write", text="it's 5")).verified is True
    assert (await lab.state(phone))["clipboard"] == "it's 5"
    assert (await router.do("clipboard", device=phone, action="read")).data["text"] == "it's 5"
    await lab.fault(phone, "clipboard_denied")
    await router.do("clipboard", device=phone, action="read", expect="permission_missing")


# --- 9: airplane mode that changes nothing ---


async def test_airplane_mode_is_switched_where_it_works_and_read_back(lab: Lab, router: Rig, phone: str) -> None:
    await lab.journal(phone, clear=True)
    assert (await router.do("settings", device=phone, area="airplane", value="on")).verified is True
    assert ["cmd", "connectivity", "airplane-mode", "enable"] in await programs(lab, phone, "cmd")
    assert not [words for words in await programs(lab, phone, "am") if "broadcast" in words]
    await router.do("settings", device=phone, area="airplane", value="off")
    await lab.fault(phone, "settings_ignored", match="airplane")
    await router.do("settings", device=phone, area="airplane", value="on", expect="action_unverified")
    await lab.clear(phone)
    await lab.fault(phone, "connectivity_absent")
    await router.do("settings", device=phone, area="airplane", value="on", expect="unsupported")


# --- 10: budgets eaten by slow questions; shell text from callers ---


async def test_no_command_asks_the_slow_question(lab: Lab, router: Rig, phone: str) -> None:
    await lab.fault(phone, "slow", match="activity top", seconds=60)
    await router.open(phone)
    await router.do("press", device=phone, target="Increment")
    await router.do("wait", device=phone, text="Count", timeoutMs=5000)
    asked = [words for words in await programs(lab, phone, "dumpsys") if words[1:3] == ["activity", "top"]]
    assert asked == []


async def test_text_of_a_caller_never_becomes_a_command(lab: Lab, router: Rig, phone: str) -> None:
    files = await root(lab, phone)
    keep = files / "sdcard" / "keep"
    keep.parent.mkdir(exist_ok=True)
    keep.write_text("here")
    await router.open(phone, "form")
    await router.do("fill", device=phone, target="Name", text=NASTY)
    assert (await router.do("get", device=phone, target="Name", what="attrs")).data["element"]["value"] == NASTY
    await router.do("open", device=phone, app=NASTY[:200], expect="app_not_found")
    await router.do("close", device=phone, app="foo; rm -rf /sdcard", expect="app_not_found")
    await router.do("open", device=phone, url=NASTY_URL)
    await router.do("find", device=phone, query=NASTY, timeoutMs=0, expect="element_not_found")
    assert keep.read_text() == "here"
    assert list(files.rglob("pwned*")) == []


async def test_a_dump_that_was_left_unfinished_keeps_nobody_from_the_next(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    for _ in range(3):
        await lab.fault(phone, "idle", seconds=30)
        async with anyio.create_task_group() as group:

            async def look() -> None:
                await router.answer("snapshot", device=phone)

            async def begun() -> bool:
                return bool(await lab.journal(phone, "dump", clear=True))

            group.start_soon(look)
            await eventually(begun)
            group.cancel_scope.cancel()
        await lab.clear(phone)
        assert (await router.do("snapshot", device=phone)).data["quality"] == "complete"


async def test_two_programs_that_look_at_once_are_told_apart_from_a_screen_that_cannot_be_read(
    lab: Lab, router: Rig, phone: str, tmp_path: Path
) -> None:
    await router.open(phone)
    await lab.fault(phone, "idle", seconds=2, times=1)
    async with rig(lab, tmp_path / "other") as other, anyio.create_task_group() as group:
        await other.devices()

        async def look() -> None:
            answer = await router.do("snapshot", device=phone, expect="device_not_ready")
            assert reason(answer) == "snapshot_busy"

        async def begun() -> bool:
            return bool(await lab.journal(phone, "dump", clear=True))

        group.start_soon(look)
        await eventually(begun)
        answer = await other.do("snapshot", device=phone, expect="upstream_unavailable")
        assert reason(answer) == "slot_taken" and answer.error is not None and answer.error.retryable
