"""Everything that goes wrong on a lab device when it is asked to, as the real adb program sees it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import anyio
import pytest

from anydevice_lab.android import Lab, LabFailed

from .adb import PRACTICE, Adb, Reports, eventually

pytestmark = pytest.mark.anyio


async def test_a_screen_that_never_rests_has_no_dump_and_the_old_file_stays(phone: Adb) -> None:
    await phone.open("home")
    await phone.shell("uiautomator dump")
    await phone.open("busy")
    await phone.lab.set(phone.serial, idle_seconds=0.3)
    result = await phone.run("shell", "uiautomator dump")
    assert (result.code, result.text) == (0, "ERROR: could not get idle state.\n")
    assert "home.count" in await phone.shell("cat /sdcard/window_dump.xml")
    await phone.open("home")


async def test_ways_in_which_a_dump_fails(phone: Adb) -> None:
    await phone.open("home")
    for name, code, out, err in (
        ("idle", 0, "ERROR: could not get idle state.\n", ""),
        ("null_root", 0, "", "ERROR: null root node returned by UiTestAutomationBridge.\n"),
        ("killed", 137, "", ""),
    ):
        await phone.lab.fault(phone.serial, name, times=1, seconds=0.1)
        result = await phone.run("shell", "uiautomator dump /dev/tty")
        assert (result.code, result.text, result.complaint) == (code, out, err), name
    await phone.lab.fault(phone.serial, "registered", times=1)
    result = await phone.run("shell", "uiautomator dump /dev/tty")
    assert (result.code, "already registered!" in result.complaint) == (1, True)
    assert "<hierarchy" in await phone.shell("uiautomator dump /dev/tty")


async def test_a_stale_dump_shows_what_was(phone: Adb) -> None:
    await phone.open("home")
    await phone.lab.fault(phone.serial, "stale")
    await phone.open("form")
    assert "home.count" in await phone.shell("uiautomator dump /dev/tty")
    await phone.lab.clear(phone.serial, "stale")
    assert "form.name" in await phone.shell("uiautomator dump /dev/tty")


async def test_a_dump_of_the_system_alone(phone: Adb) -> None:
    await phone.open("home")
    await phone.lab.fault(phone.serial, "system_only")
    assert {node["package"] for node in await phone.nodes()} == {"com.android.systemui"}


async def test_the_trailer_is_glued_to_the_tree(phone: Adb) -> None:
    text = await phone.shell("uiautomator dump /dev/tty")
    assert text.endswith("</hierarchy>UI hierchary dumped to: /dev/tty\n")


async def test_emoji_are_dots_in_a_dump(phone: Adb) -> None:
    await phone.open("text")
    texts = [node["text"] for node in await phone.nodes()]
    assert "Grüße, naïve café" in texts and "設定を開く" in texts
    assert any(re.fullmatch(r"\.\.\u200d\.\.\u200d\.\. flag \.{4}", text) for text in texts)


async def test_no_focus_for_a_while_when_an_app_starts(phone: Adb) -> None:
    await phone.lab.fault(phone.serial, "null_focus", times=1)
    assert "mCurrentFocus=null" in await phone.shell("dumpsys window displays")
    assert "mCurrentFocus=Window{" in await phone.shell("dumpsys window displays")


async def test_text_that_is_not_ascii_is_an_exception(phone: Adb) -> None:
    result = await phone.run("shell", "input text 'Grüße'")
    assert result.code == 255
    assert "NullPointerException: Attempt to get length of null array" in result.complaint


async def test_the_broadcast_of_airplane_mode_is_denied_and_its_flag_does_nothing(phone: Adb) -> None:
    result = await phone.run("shell", "am broadcast -a android.intent.action.AIRPLANE_MODE --ez state true")
    assert "Permission Denial: not allowed to send broadcast" in result.complaint
    await phone.shell("cmd connectivity airplane-mode enable")
    assert await phone.shell("cmd connectivity airplane-mode; settings get global airplane_mode_on") == "enabled\n1\n"
    await phone.shell("cmd connectivity airplane-mode disable")


async def test_settings_that_are_taken_and_change_nothing(phone: Adb) -> None:
    await phone.lab.fault(phone.serial, "settings_ignored")
    await phone.shell("svc wifi disable; cmd connectivity airplane-mode enable; settings put system font_scale 2")
    assert await phone.shell("settings get global wifi_on; cmd connectivity airplane-mode") == "1\ndisabled\n"
    assert await phone.shell("settings get system font_scale; settings get system nosuch") == "1.0\nnull\n"


async def test_there_is_no_clipboard_for_the_shell_unless_the_build_has_one(phone: Adb) -> None:
    assert "No shell command implementation." in (await phone.run("shell", "cmd clipboard get text")).complaint
    await phone.lab.fault(phone.serial, "clipboard")
    await phone.shell("cmd clipboard set text 'two words'")
    assert await phone.shell("cmd clipboard get text") == "two words\n"
    await phone.lab.fault(phone.serial, "clipboard_denied")
    assert await phone.shell("cmd clipboard get text") == "\n"


async def test_what_starting_an_activity_says_when_it_fails(phone: Adb) -> None:
    said = (await phone.run("shell", "am start -W -n com.nope/.X")).text
    assert "Error type 3\nError: Activity class {com.nope/com.nope.X} does not exist." in said
    await phone.lab.fault(phone.serial, "open_denied", times=1)
    assert "Permission Denial" in (await phone.run("shell", f"am start -W -n {PRACTICE}/.MainActivity")).text
    assert "** No activities found to run" in (await phone.run("shell", "monkey -p com.nope 1")).text


async def test_installs_fail_with_the_code_that_is_asked_for(phone: Adb) -> None:
    await phone.lab.fault(
        phone.serial, "install", times=1, text="INSTALL_FAILED_USER_RESTRICTED: Install canceled by user"
    )
    result = await phone.run("shell", "cmd package install -S 3", stdin=b"abc")
    assert (result.code, result.text) == (1, "Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]\n")


async def test_a_recorder_without_its_codec(phone: Adb) -> None:
    result = await phone.run("shell", "screenrecord --size 1201x1920 /sdcard/x.mp4")
    assert "unable to configure video/avc codec at 1201x1920 (err=-1010)" in result.complaint


async def test_a_picture_that_is_cut_has_no_end(phone: Adb) -> None:
    await phone.lab.fault(phone.serial, "screencap_cut", times=1)
    data = (await phone.run("exec-out", "screencap -p")).stdout
    assert data.startswith(b"\x89PNG") and b"IEND" not in data


async def test_a_pull_that_ends_in_the_middle_fails(phone: Adb, tmp_path: Path) -> None:
    await phone.shell("head -c 300000 /dev/zero > /sdcard/half")
    await phone.lab.fault(phone.serial, "pull_cut", match="half", times=1)
    assert (await phone.run("pull", "/sdcard/half", str(tmp_path / "half"))).code != 0


async def test_slow_hung_cut_and_lost_command_lines(phone: Adb) -> None:
    await phone.lab.fault(phone.serial, "slow", match="getprop ro.serialno", seconds=0.7, times=1)
    began = time.monotonic()
    await phone.shell("getprop ro.serialno")
    assert time.monotonic() - began >= 0.7
    await phone.lab.fault(phone.serial, "hang", match="wm size", times=1)
    with anyio.move_on_after(1) as scope:
        await phone.run("shell", "wm size")
    assert scope.cancelled_caught
    await phone.lab.fault(phone.serial, "cut", match="getprop", text="half of", times=1)
    result = await phone.run("shell", "getprop")
    assert (result.text, result.code != 0) == ("half of", True)
    await phone.lab.fault(phone.serial, "disconnect", match="pm list", times=1)
    assert (await phone.run("shell", "pm list packages")).code != 0

    async def back() -> bool:
        return (await phone.run("shell", "true")).code == 0

    await eventually(back)


async def test_any_answer_can_be_put_in_a_programs_mouth(phone: Adb) -> None:
    await phone.lab.fault(phone.serial, "answer", match="^wm size", text="odd\n", stderr="worse\n", code=9, times=1)
    result = await phone.run("shell", "wm size")
    assert (result.code, result.text, result.complaint) == (9, "odd\n", "worse\n")


async def test_input_that_does_nothing_and_text_that_is_lost(phone: Adb, reports: Reports) -> None:
    await phone.open("form", reports.url)
    await phone.lab.fault(phone.serial, "input_ignored", match="tap", times=1)
    await phone.tap("form.name")
    assert not (await phone.lab.state(phone.serial))["keyboard"]
    await phone.tap("form.name")
    await phone.lab.fault(phone.serial, "text_lost", times=1)
    await phone.shell("input text abcdef")
    assert (await reports.heard("fill"))["value"] == "ace"


async def test_a_frozen_app_takes_its_input_later(phone: Adb, reports: Reports) -> None:
    await phone.open("busy", reports.url)
    place = 63 + round((8 + 3 * 48 + 20) * 2.625)
    other = 63 + round((8 + 48 + 20) * 2.625)
    await phone.shell(f"input tap 540 {place} & sleep 0.5; input tap 540 {other}; wait")
    assert (await reports.heard("press"))["id"] in ("busy.pause", "busy.press")
    assert (await reports.heard("press", 2))["id"] == "busy.press"


async def test_there_is_no_fault_of_a_name_nobody_knows(phone: Adb) -> None:
    with pytest.raises(LabFailed, match="there is no fault nosuch"):
        await phone.lab.fault(phone.serial, "nosuch")


async def test_a_foldable_warns_before_its_picture_and_has_a_dark_display(lab: Lab) -> None:
    fold = Adb(lab, (await lab.start("foldable"))[0])
    data = (await fold.run("exec-out", "screencap -p")).stdout
    assert data.startswith(b"[Warning] Multiple displays were found")
    assert data[data.index(b"\x89PNG") :].endswith(b"IEND\xaeB`\x82")
    ids = re.findall(r"Display (\d+) \(HWC", await fold.shell("dumpsys SurfaceFlinger --display-id"))
    assert ids == ["4619827677550801152", "4619827677550801153"]
    picture = (await fold.run("exec-out", f"screencap -p -d {ids[1]}")).stdout
    assert (int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")) == (2076, 2152)
    assert (await fold.run("shell", "screencap -p -d 5")).code == 1
    focus = re.findall(r"mCurrentFocus=(.*)", await fold.shell("dumpsys window displays"))
    assert focus[0] == "null" and focus[-1].startswith("Window{")
    await lab.stop(fold.serial)


async def test_newer_builds_tell_the_focus_with_the_displays_only(lab: Lab, phone: Adb) -> None:
    old = Adb(lab, (await lab.start("old-phone"))[0])
    assert "mCurrentFocus=Window{" in await old.shell("dumpsys window windows")
    assert "AppWindowToken{" in await old.shell("dumpsys window displays")
    assert "mCurrentFocus" not in await phone.shell("dumpsys window windows")
    assert "mCurrentFocus=Window{" in await phone.shell("dumpsys window displays")
    assert "mCurrentFocus=Window{" in await phone.shell("dumpsys window")
