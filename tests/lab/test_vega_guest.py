"""The guest of a Vega lab device: its programs, its files, what starts and ends apps, keys that arrive."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from anydevice_lab.vega import Lab, write_vpkg

from .adb import Reports, eventually
from .vega import PRACTICE, Tv, columns

pytestmark = pytest.mark.anyio

FIXTURES = Path(__file__).parents[1] / "fixtures" / "vega"
MAIN = f"{PRACTICE}.main"


@pytest.fixture(scope="module")
async def vegas() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def one(vegas: Lab) -> Tv:
    return Tv(vegas, (await vegas.start("stick"))[0])


@pytest.fixture
async def tv(one: Tv) -> AsyncIterator[Tv]:
    """A stick without faults; it is the same for all tests of a module."""
    yield one
    await one.lab.clear(one.serial)
    await one.lab.set(one.serial, developer=True, heeds_touch=False)
    await one.close()


async def test_it_is_no_android(tv: Tv) -> None:
    for program in ("getprop", "pm", "am", "wm", "dumpsys", "screencap", "input"):
        assert (await tv.adb("shell", f"{program} list")).code == 127, program
    assert re.fullmatch(r"amazon-[0-9a-f]{16}\n", await tv.shell("uname -n"))
    assert (await tv.shell("uname -s; uname -m; id -u")).split() == ["Linux", "armv7l", "5000"]
    listed = (await tv.adb("devices", "-l")).text
    assert tv.serial in listed and "model:" not in listed


async def test_packages_are_listed_as_the_documents_show_it(tv: Tv) -> None:
    sample = (FIXTURES / "vpm_vlcm.txt").read_text()
    listed = (await tv.shell("vpm list packages")).splitlines()
    assert listed[0] == "package ids: " and listed[0] in sample
    assert f"    {PRACTICE}" in listed and "    com.amazondeveloper.test" in sample.splitlines()
    described = await tv.shell("vpm info com.amazondeveloper.test")
    assert described.startswith("id: com.amazondeveloper.test\ntitle:Test Amazon Developer Package\n")
    assert "type: interactive" in await tv.shell("vpm info com.amazondeveloper.test.interactive")
    assert (await tv.adb("shell", "vpm info com.example.none")).code != 0


async def test_a_message_starts_a_component_and_a_message_to_nobody_is_refused(tv: Tv) -> None:
    await tv.shell(f"vmsgr send pkg://{MAIN}?screen=list")
    rows = {row["application"]: row for row in columns(await tv.shell("vlcm list"))}
    assert rows[MAIN]["state"] == "foreground" and rows[MAIN]["launch args"] == "screen=list"
    assert rows["com.amazon.keplerlauncherapp.main"]["launch args"] == "<none>"
    assert (await tv.shell(f"pidof {MAIN}")).strip() == rows[MAIN]["pid"]
    refused = await tv.adb("shell", "vmsgr send pkg://com.example.none.main")
    assert refused.code == 255 and "Failed to send message, remote error" in refused.complaint
    await tv.shell("vmsgr send os://home")
    rows = {row["application"]: row for row in columns(await tv.shell("vlcm list"))}
    assert rows[MAIN]["state"] == "background"


async def test_launching_by_the_older_program_works_and_says_that_it_is_old(tv: Tv) -> None:
    result = await tv.adb("shell", f"vlcm launch-app pkg://{MAIN}")
    assert result.code == 0 and "Please migrate to 'vmsgr send' command." in result.complaint
    assert (await tv.lab.state(tv.serial))["front"] == MAIN


async def test_an_app_is_ended_by_its_package_and_by_its_process(tv: Tv) -> None:
    for how in ("--pkg-id {id} --force", "--pid {pid}"):
        await tv.open("home")
        words = how.format(id=PRACTICE, pid=(await tv.shell(f"pidof {MAIN}")).strip())
        await tv.shell(f"vlcm terminate-app {words}")
        assert (await tv.lab.state(tv.serial))["front"] == "com.amazon.keplerlauncherapp.main"
        assert (await tv.adb("shell", f"vlcm terminate-app {words}")).code != 0


async def test_a_launch_that_crashes_reports_success_and_is_in_the_history(tv: Tv) -> None:
    await tv.lab.fault(tv.serial, "crash_launch", match=PRACTICE, seconds=0.5, times=1)
    before = (await tv.shell("vlcm crash-history")).count(PRACTICE)
    await tv.open("home")  # ends well

    async def gone() -> bool:
        return MAIN not in await tv.shell("vlcm list")

    await eventually(gone)
    assert (await tv.shell("vlcm crash-history")).count(PRACTICE) == before + 1


async def test_keys_move_the_focus_and_press_what_has_it(tv: Tv, reports: Reports) -> None:
    await tv.open("home", reports.url)
    await reports.heard("ready")
    while (await tv.lab.state(tv.serial))["focus"] != "home.increment":
        await tv.shell("inputd-cli button_press KEY_DOWN --holdDuration 1")
    for ignored in ("KEY_SELECT", "KEY_OK", "KEY_HOME"):
        await tv.shell(f"inputd-cli button_press {ignored} --holdDuration 1")
    await tv.shell("inputd-cli button_press KEY_ENTER --holdDuration 1")
    assert (await reports.heard("count"))["value"] == 1
    assert len(reports.of("press")) == 1
    await tv.shell("inputd-cli button_press KEY_HOMEPAGE")
    assert (await tv.lab.state(tv.serial))["front"] == "com.amazon.keplerlauncherapp.main"


async def test_a_key_held_long_is_a_hold(tv: Tv, reports: Reports) -> None:
    await tv.open("gestures", reports.url)
    await tv.shell("inputd-cli button_press KEY_DOWN --holdDuration 1")
    await tv.shell("inputd-cli button_press KEY_ENTER --holdDuration 600")
    assert (await reports.heard("hold"))["value"] >= 0.6


async def test_a_text_goes_to_the_focused_field_without_its_line_end(tv: Tv, reports: Reports) -> None:
    await tv.open("form", reports.url)
    await tv.shell("inputd-cli button_press KEY_DOWN --holdDuration 1; inputd-cli send_text 'Grüße, you'")
    await eventually(lambda: _is(reports, "Grüße, you"))


async def _is(reports: Reports, text: str) -> bool:
    return any(report["value"] == text for report in reports.of("fill"))


async def test_input_can_report_success_and_reach_no_app(tv: Tv, reports: Reports) -> None:
    await tv.open("form", reports.url)
    await tv.lab.fault(tv.serial, "inputd_ignored", match="KEY_DOWN", times=1)
    assert (await tv.shell("inputd-cli button_press KEY_DOWN --holdDuration 1")) == ""
    assert (await tv.lab.state(tv.serial))["focus"] == ""
    await tv.shell("inputd-cli button_press KEY_DOWN --holdDuration 1")
    assert (await tv.lab.state(tv.serial))["focus"] == "form.name"


async def test_without_developer_mode_every_command_says_the_same(tv: Tv) -> None:
    sample = (FIXTURES / "vpm_vlcm.txt").read_text()
    await tv.shell("vsm developer-mode disable")
    for command in ("get_screen_size", "button_press KEY_DOWN", "send_text x"):
        said = await tv.shell(f"inputd-cli {command}")
        assert said.strip() in sample and "No running instances" in said
    await tv.shell("vsm developer-mode enable")
    assert await tv.shell("inputd-cli get_screen_size") == "1920 x 1080\n"
    assert "1920 x 1080" in (FIXTURES / "inputd_cli.txt").read_text()
    unknown = await tv.adb("shell", "inputd-cli button_hold KEY_MENU")
    assert unknown.code != 0 and unknown.text.strip() in (FIXTURES / "inputd_cli.txt").read_text()


async def test_apps_of_a_television_ignore_fingers_unless_told_otherwise(tv: Tv, reports: Reports) -> None:
    await tv.open("home", reports.url)
    place = await tv.node("home.increment")
    middle = f"{int(place['x']) + 40} {int(place['y']) + 10}"
    await tv.shell(f"inputd-cli touch {middle}")
    assert await tv.lab.journal(tv.serial, "finger") and not reports.of("press")
    await tv.lab.set(tv.serial, heeds_touch=True)
    await tv.shell(f"inputd-cli touch {middle}")
    assert (await reports.heard("press"))["id"] == "home.increment"


async def test_what_is_pushed_is_seen_by_the_shell_below_tmp_only(tv: Tv, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\0\xff data")
    assert (await tv.adb("push", str(tmp_path / "x"), "/tmp/x")).code == 0
    assert (await tv.adb("push", str(tmp_path / "x"), "/scratch/x")).code == 0
    assert (await tv.shell("wc -c < /tmp/x")).strip() == "7"
    assert (await tv.adb("shell", "cat /scratch/x")).code != 0
    assert (await tv.adb("pull", "/scratch/x", str(tmp_path / "y"))).code == 0
    assert (tmp_path / "y").read_bytes() == b"\0\xff data"
    await tv.shell("cat > /scratch/z", stdin=b"by stdin")
    assert await tv.shell("cat /scratch/z") == "by stdin"


async def test_a_package_is_installed_and_replaced_and_uninstalled(tv: Tv, tmp_path: Path) -> None:
    write_vpkg(tmp_path / "s.vpkg", "com.example.sample", title="Sample")
    await tv.adb("push", str(tmp_path / "s.vpkg"), "/tmp/s.vpkg")
    assert await tv.shell("vpm install /tmp/s.vpkg") == "Installing/Updating 's' ...success\n"
    assert "    com.example.sample.main\n" in await tv.shell("vpm list components")
    await tv.shell("vmsgr send pkg://com.example.sample.main")
    await tv.lab.fault(tv.serial, "install", match="sample", times=1)
    said = await tv.shell("vpm install /tmp/s.vpkg --force")
    assert "...success" in said and said.rstrip().endswith("...failed")
    await tv.shell("vpm install /tmp/s.vpkg --force")
    assert "com.example.sample" not in await tv.shell("vlcm list")
    await tv.shell("vpm uninstall com.example.sample")
    assert "com.example.sample" not in await tv.shell("vpm list packages")
    assert (await tv.adb("shell", "vpm install /scratch/none.vpkg")).code != 0


async def test_the_log_has_what_the_app_writes_since_a_time(tv: Tv, reports: Reports) -> None:
    await tv.open("home", reports.url)
    await reports.heard("ready")
    since = time.time()
    await tv.open("form", reports.url)
    await reports.heard("ready", 2)
    lines = (await tv.shell(f"loggingctl log -o short_precise -S @{since:.6f} --vpkg {PRACTICE}")).splitlines()
    assert len(lines) == 1 and lines[0].endswith("practice ready")
    assert re.match(r"[A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d\.\d{6} amazon-[0-9a-f]{16} ", lines[0])
    everything = await tv.shell("journalctl --no-pager")
    assert everything.count("practice ready") >= 2


async def test_memory_and_time_of_an_app_are_in_proc(tv: Tv) -> None:
    await tv.open("home")
    pid = (await tv.shell(f"pidof {MAIN}")).strip()
    status = await tv.shell(f"cat /proc/{pid}/status")
    assert f"Pid:\t{pid}\n" in status and re.search(r"VmRSS:\t\d+ kB", status)
    fields = (await tv.shell(f"cat /proc/{pid}/stat")).rpartition(") ")[2].split()
    assert fields[0] == "S" and int(fields[11]) >= 0
    assert "MemTotal" in await tv.shell("cat /proc/meminfo")
    await tv.close()
    assert (await tv.adb("shell", f"cat /proc/{pid}/status")).code != 0


async def test_settings_are_read_and_written(tv: Tv) -> None:
    key = "com.amazon.devconf/system/accessibility/VoiceViewEnabled"
    assert await tv.shell(f"vdcm get {key}") == "false\n"
    await tv.shell(f"vdcm set {key} true")
    assert await tv.shell(f"vdcm get {key}") == "true\n"
    await tv.shell(f"vdcm set {key} false")


async def test_the_compositors_picture_works_on_a_stick_and_another_program_is_refused(tv: Tv, tmp_path: Path) -> None:
    await tv.shell("gwsi-tool-screenshooter /tmp/shot.png")
    await tv.adb("pull", "/tmp/shot.png", str(tmp_path / "shot.png"))
    assert (tmp_path / "shot.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert "Permission denied" in (await tv.adb("shell", "screenshooter")).complaint
