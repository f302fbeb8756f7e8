"""Apps on a lab simulator and what surrounds them, as `xcrun simctl` has it; property lists through `plutil`."""

from __future__ import annotations

import json
import plistlib
from pathlib import Path

import anyio
import pytest

from anydevice_lab.apple import write_bundle

from .adb import Reports, eventually
from .apple import PRACTICE, Mac

pytestmark = pytest.mark.anyio


async def _apps(mac: Mac, udid: str) -> dict[str, dict[str, object]]:
    plist = (await mac.sim("listapps", udid)).stdout
    made = await mac.run("plutil", "-convert", "json", "-o", "-", "-", stdin=plist)
    assert made.code == 0, made.complaint
    found: dict[str, dict[str, object]] = json.loads(made.text)
    return found


async def test_apps_are_listed_in_the_old_style_that_only_plutil_reads(mac: Mac, udid: str) -> None:
    plist = (await mac.sim("listapps", udid)).stdout
    with pytest.raises(plistlib.InvalidFileException):
        plistlib.loads(plist)
    apps = await _apps(mac, udid)
    practice = apps[PRACTICE]
    assert practice["ApplicationType"] == "User" and practice["CFBundleIdentifier"] == PRACTICE
    assert str(practice["DataContainer"]).startswith("file:///") and practice["GroupContainers"] == {}
    assert apps["com.apple.Preferences"]["ApplicationType"] == "System"
    assert "com.apple.springboard" not in apps


async def test_plutil_reads_every_style_and_writes_json_and_xml(mac: Mac, tmp_path: Path) -> None:
    value = {"text": 'a "b" \\ ünï\n', "list": ["1", "2"], "inner": {"x-y": "z"}}
    for form in (plistlib.FMT_XML, plistlib.FMT_BINARY):
        (tmp_path / "a.plist").write_bytes(plistlib.dumps(value, fmt=form))
        made = await mac.run("plutil", "-convert", "json", "-o", "-", "--", "a.plist", cwd=tmp_path)
        assert json.loads(made.text) == value
    old = b'{ text = "a \\"b\\" \\\\ \\U00fcn\\U00ef"; list = ( 1, 2 ); inner = { "x-y" = z; }; }'
    made = await mac.run("plutil", "-convert", "xml1", "-o", "b.plist", "-", stdin=old, cwd=tmp_path)
    assert made.code == 0
    read = plistlib.loads((tmp_path / "b.plist").read_bytes())
    assert read == {"text": 'a "b" \\ üní'.replace("í", "ï"), "list": ["1", "2"], "inner": {"x-y": "z"}}
    for broken in (b"{ a = ", b"{ a b }", b"\xff\xfe"):
        assert (await mac.run("plutil", "-convert", "json", "-o", "-", "-", stdin=broken)).code == 1
    assert (await mac.run("plutil", "-convert", "json", "-o", "-", "absent")).code == 1


async def test_an_app_is_installed_launched_ended_and_taken_away(mac: Mac, udid: str, tmp_path: Path) -> None:
    app = write_bundle(tmp_path / "Sample.app", "com.example.sample", "Sample", version="2.1", schemes=["sample"])
    await mac.done("install", udid, str(app))
    assert (await _apps(mac, udid))["com.example.sample"]["CFBundleVersion"] == "2.1"
    said = await mac.done("launch", udid, "com.example.sample", "-x", "--y", SIMCTL_CHILD_MODE="test", OTHER="no")
    bundle, pid = said.removesuffix("\n").split(": ")
    assert bundle == "com.example.sample" and Path("/proc", pid).exists()  # a process of the Mac's own
    launched = (await mac.lab.journal(udid, "launch"))[-1]
    assert (launched["bundle"], launched["arguments"]) == ("com.example.sample", ["-x", "--y"])
    # Launched once more it comes to the front as it is; told so it is begun anew.
    assert (await mac.done("launch", udid, "com.example.sample")).endswith(f": {pid}\n")
    again = await mac.done("launch", "--terminate-running-process", udid, "com.example.sample")
    assert not again.endswith(f": {pid}\n") and not Path("/proc", pid).exists()
    await mac.done("openurl", udid, "sample://a?b=c")
    assert (await mac.lab.journal(udid, "url"))[-1]["url"] == "sample://a?b=c"
    await mac.done("terminate", udid, "com.example.sample")
    assert (await mac.sim("terminate", udid, "com.example.sample")).code == 3
    await mac.done("uninstall", udid, "com.example.sample")
    assert "com.example.sample" not in await _apps(mac, udid)
    assert (await mac.sim("openurl", udid, "sample://a")).code != 0


async def test_an_install_can_fail_for_a_reason_of_its_own(mac: Mac, udid: str, tmp_path: Path) -> None:
    write_bundle(tmp_path / "Sample.app", "com.example.sample", "Sample")
    await mac.lab.fault(udid, "install_fails", text="This app is not built for this device.", code=11, times=1)
    result = await mac.sim("install", udid, "Sample.app", cwd=tmp_path)
    assert result.code == 11 and "not built for this device" in result.complaint
    assert "com.example.sample" not in await _apps(mac, udid)


async def test_an_app_that_is_installed_over_another_keeps_its_data_and_ends(mac: Mac, udid: str) -> None:
    await mac.done("launch", udid, PRACTICE)
    before = (await mac.done("get_app_container", udid, PRACTICE, "data")).strip()
    Path(before, "Documents", "kept").write_text("x")
    await mac.done("install", udid, str(Path(mac.lab.home, "Practice.app")))
    assert PRACTICE not in (await mac.lab.state(udid))["running"]
    after = (await mac.done("get_app_container", udid, PRACTICE, "data")).strip()
    assert after == before and Path(after, "Documents", "kept").exists()
    assert (await mac.done("get_app_container", udid, PRACTICE)).strip().endswith("/Practice.app")
    assert (await mac.done("get_app_container", udid, PRACTICE, "groups")) == ""


async def test_the_practice_app_reports_what_it_was_started_with(mac: Mac, udid: str, reports: Reports) -> None:
    await mac.done("launch", udid, PRACTICE, "--screen", "form", "--witness", reports.url)
    assert (await reports.heard("ready"))["value"] == "form"
    await mac.done("openurl", udid, "practice://item/7")
    assert (await reports.heard("link"))["value"] == "practice://item/7"
    await mac.done("terminate", udid, PRACTICE)


async def test_the_system_can_ask_whether_an_address_may_be_opened(mac: Mac, udid: str) -> None:
    await mac.lab.journal(udid, clear=True)
    await mac.lab.fault(udid, "open_asks", times=1)
    await mac.done("openurl", udid, "practice://item/7")
    assert (await mac.lab.state(udid))["system_alert"] is True
    assert not await mac.lab.journal(udid, "url")
    wda = await mac.wda(udid)
    await wda.begin(respectSystemAlerts=True)
    await wda.post("/alert/accept", name="Open")
    assert (await mac.lab.journal(udid, "url"))[-1]["url"] == "practice://item/7"
    assert (await mac.lab.state(udid))["front"] == PRACTICE


async def test_the_system_takes_web_addresses_itself(mac: Mac, udid: str) -> None:
    await mac.done("openurl", udid, "https://example.com/x?y=1&z=2")
    assert (await mac.lab.state(udid))["front"] == "com.apple.mobilesafari"
    assert (await mac.sim("openurl", udid, "no-scheme")).code != 0


async def test_permissions_are_kept_and_a_change_ends_the_app(mac: Mac, udid: str) -> None:
    await mac.done("launch", udid, PRACTICE)
    await mac.done("privacy", udid, "grant", "photos", PRACTICE)
    state = await mac.lab.state(udid)
    assert state["granted"] == {PRACTICE: {"photos": True}} and PRACTICE not in state["running"]
    await mac.done("privacy", udid, "revoke", "all", PRACTICE)
    granted = (await mac.lab.state(udid))["granted"][PRACTICE]
    assert granted["photos"] is False and granted["contacts-limited"] is False and "camera" not in granted
    await mac.done("privacy", udid, "reset", "all", PRACTICE)
    assert (await mac.lab.state(udid))["granted"] == {}
    assert (await mac.sim("privacy", udid, "allow", "photos", PRACTICE)).code == 22
    assert (await mac.sim("privacy", udid, "grant", "photos")).code == 22


async def test_a_push_arrives_by_file_and_by_stdin_or_is_refused(
    mac: Mac, udid: str, reports: Reports, tmp_path: Path
) -> None:
    await mac.done("launch", udid, PRACTICE, "--screen", "home", "--witness", reports.url)
    payload = {"aps": {"alert": "Hello"}, "Simulator Target Bundle": PRACTICE}
    said = await mac.done("push", udid, PRACTICE, "-", stdin=json.dumps({"aps": {"badge": 3}}).encode())
    assert said == f"Notification sent to '{PRACTICE}'\n"
    assert (await reports.heard("push"))["value"] == {"aps": {"badge": 3}}
    (tmp_path / "p.apns").write_text(json.dumps(payload))
    await mac.done("push", udid, str(tmp_path / "p.apns"))
    assert (await reports.heard("push", 2))["value"]["aps"] == {"alert": "Hello"}
    for wrong in (b"no json", b"[]", b'{"alert": 1}', json.dumps({"aps": "x" * 5000}).encode()):
        refused = await mac.sim("push", udid, PRACTICE, "-", stdin=wrong)
        # The status is the code modulo 256, which is nought for some of them.
        assert refused.complaint.startswith("An error was encountered") and not refused.text
    assert (await mac.sim("push", udid, PRACTICE, str(tmp_path / "absent"))).code != 0
    assert len(await mac.lab.journal(udid, "push")) == 2


async def test_media_are_files_of_known_kinds(mac: Mac, udid: str, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"12345")
    (tmp_path / "b.exe").write_bytes(b"")
    await mac.done("addmedia", udid, str(tmp_path / "a.png"))
    assert [entry["name"] for entry in await mac.lab.journal(udid, "media")] == ["a.png"]
    for wrong in ("b.exe", "absent.png"):
        refused = await mac.sim("addmedia", udid, str(tmp_path / wrong))
        assert refused.complaint.startswith("An error was encountered")
    assert (await mac.sim("addmedia", udid)).code == 22


async def test_the_clipboard_is_text_in_and_out(mac: Mac, udid: str) -> None:
    text = "Grüße, 設定\nzwei Zeilen 💥"
    await mac.done("pbcopy", udid, stdin=text.encode())
    assert await mac.done("pbpaste", udid) == text
    other = (await mac.lab.start("ipad"))[0]
    await mac.done("pbsync", udid, other)
    assert await mac.done("pbpaste", other) == text
    await mac.lab.stop(other)


async def test_looks_place_and_status_bar_are_told_and_set(mac: Mac, udid: str) -> None:
    assert await mac.done("ui", udid, "appearance") == "light\n"
    await mac.done("ui", udid, "appearance", "dark")
    await mac.done("ui", udid, "content_size", "accessibility-large")
    await mac.done("ui", udid, "increase_contrast", "enabled")
    assert await mac.done("ui", udid, "appearance") == "dark\n"
    assert (await mac.lab.state(udid))["appearance"] == {
        "appearance": "dark", "content_size": "accessibility-large", "increase_contrast": "enabled",
    }  # fmt: skip
    await mac.done("location", udid, "set", "52.52,-13.405")
    assert (await mac.lab.state(udid))["location"] == [52.52, -13.405]
    await mac.done("location", udid, "clear")
    assert (await mac.lab.state(udid))["location"] is None
    for wrong in ("52.52", "99,0", "52.52, 13.4", "a,b"):
        assert (await mac.sim("location", udid, "set", wrong)).code == 22
    await mac.done("status_bar", udid, "override", "--time", "9:41", "--dataNetwork", "5g-uc")
    assert (await mac.lab.state(udid))["status_bar"] == {"time": "9:41", "dataNetwork": "5g-uc"}
    assert (await mac.sim("status_bar", udid, "override", "--dataNetwork", "6g")).code == 22
    await mac.done("status_bar", udid, "clear")
    assert (await mac.lab.state(udid))["status_bar"] == {}


async def test_the_log_is_shown_and_streamed_as_json_lines(mac: Mac, udid: str) -> None:
    await mac.lab.ask("log", serial=udid, text="an old line", process="Sample", pid=7)
    shown = await mac.done("spawn", udid, "log", "show", "--style", "ndjson", "--last", "5m")
    rows = [json.loads(line) for line in shown.splitlines()]
    assert rows[-1] == {"count": len(rows) - 1, "finished": 1}
    line = next(row for row in rows if row.get("eventMessage") == "an old line")
    assert line["processID"] == 7 and line["processImagePath"].endswith("/Sample")
    predicate = 'process == "Sample" AND eventMessage CONTAINS[c] "NEW"'
    words = ("xcrun", "simctl", "spawn", udid, "log", "stream", "--style", "ndjson", "--predicate", predicate)
    async with mac.running(*words) as (child, _):
        assert child.process.stdout is not None
        seen = await child.process.stdout.receive()  # the note on the filter: it listens now
        await mac.lab.ask("log", serial=udid, text="nothing", process="Sample", pid=7)
        await mac.lab.ask("log", serial=udid, text="a new line", process="Sample", pid=7)
        with anyio.fail_after(20):
            while b"\n{" not in seen or not seen.endswith(b"\n"):
                seen += await child.process.stdout.receive()
    note, *lines = seen.decode().splitlines()
    assert note == f'Filtering the log data using "{predicate}"'
    assert [json.loads(line)["eventMessage"] for line in lines] == ["a new line"]
    assert (await mac.sim("spawn", udid, "log", "stream", "--predicate", "process ==")).code == 64


async def test_other_programs_of_the_device(mac: Mac, udid: str) -> None:
    await mac.done("launch", udid, PRACTICE)
    pid = (await mac.done("launch", udid, PRACTICE)).split(": ")[1].strip()
    services = await mac.done("spawn", udid, "launchctl", "list")
    assert any(row.split("\t")[0] == pid and PRACTICE in row for row in services.splitlines())
    assert (await mac.sim("spawn", udid, "no-such-program")).code == 2
    assert await mac.done("getenv", udid, "SIMULATOR_UDID") == f"{udid}\n"


async def test_a_crash_leaves_a_report_in_the_log_and_the_home_screen(mac: Mac, udid: str) -> None:
    await mac.done("launch", "--terminate-running-process", udid, PRACTICE, "--screen", "no-such-screen")

    async def crashed() -> bool:
        return bool(await mac.lab.journal(udid, "crash"))

    await eventually(crashed)
    state = await mac.lab.state(udid)
    assert state["front"] == "com.apple.springboard" and PRACTICE not in state["running"]
    assert "Saved crash report for Practice" in await mac.done("spawn", udid, "log", "show", "--style", "compact")
