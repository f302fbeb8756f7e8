"""A lab device behind each real adb program there is: shell, files, installs, ports."""

from __future__ import annotations

import os
import re
import shlex
import socket
import struct
import subprocess
import zlib
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from anydevice.kit import processes
from anydevice_lab.android import Lab, write_apk

from . import check_device
from .adb import Adb, eventually

pytestmark = pytest.mark.anyio
HOSTILE = [
    "it's", "$HOME", "`id`", "a\nb", "a\tb", "👍 päivä", "*?[x]", "-n", "%s", "", "#x", "!x", 'say "hi"', "a;b",
    "a&b|c", "<x>", "back\\slash", "/sdcard/x y", "~", "{a,b}", "a  b", " lead", "foo; rm -rf /sdcard",
]  # fmt: skip


@pytest.fixture(scope="module")
async def device(each_lab: Lab) -> Adb:
    return Adb(each_lab, (await each_lab.start("phone"))[0])


async def test_it_is_listed_as_what_it_is(device: Adb) -> None:
    rows = (await device.run("devices", "-l")).text
    assert re.search(rf"^{re.escape(device.serial)}\s+device .*model:Pixel_8 device:shiba", rows, re.MULTILINE)


async def test_status_stdout_and_stderr_are_apart(device: Adb) -> None:
    result = await device.run("shell", "echo out; echo err >&2; exit 3")
    assert (result.code, result.text, result.complaint) == (3, "out\n", "err\n")


async def test_a_program_that_does_not_exist_is_127(device: Adb) -> None:
    result = await device.run("shell", "nosuchprogram")
    assert result.code == 127
    assert "not found" in result.complaint


async def test_stdin_reaches_a_command(device: Adb) -> None:
    assert await device.shell("cat", stdin=b"one\ntwo\n") == "one\ntwo\n"


@pytest.mark.parametrize("text", HOSTILE)
async def test_quoted_text_arrives_byte_for_byte(device: Adb, text: str) -> None:
    assert (await device.run("shell", f"printf %s {shlex.quote(text)}")).stdout == text.encode()


async def test_quoted_text_reaches_programs_of_the_device_byte_for_byte(device: Adb) -> None:
    await device.lab.journal(device.serial, clear=True)
    for text in HOSTILE:
        await device.shell(f"log -t hostile {shlex.quote(text)}")
    heard = [entry["args"][2] for entry in await device.lab.journal(device.serial, "program") if entry["name"] == "log"]
    assert heard == HOSTILE


async def test_a_plain_call_is_the_same_with_and_without_a_shell_between(device: Adb) -> None:
    lines = ["getprop ro.product.model", "wm size", "input tap 1 2", "settings get system 'no such'", "pm path nope"]
    answers = []
    for direct in (True, False):
        await device.lab.set(device.serial, direct=direct)
        answers.append([(r.code, r.stdout, r.stderr) for r in [await device.run("shell", line) for line in lines]])
    await device.lab.set(device.serial, direct=True)
    assert answers[0] == answers[1]


async def test_a_terminal_has_line_ends_and_an_echo(device: Adb) -> None:
    result = await device.run("shell", "-t", "-t", "echo hi; tty")
    assert result.text.startswith("hi\r\n/dev/")


async def test_the_device_has_paths_of_its_own(device: Adb) -> None:
    said = await device.shell(
        "echo one > /sdcard/f; cd /data/local/tmp; pwd; ls -d /sdcard/f; cat /storage/emulated/0/f"
    )
    assert said == "/data/local/tmp\n/sdcard/f\none\n"


async def test_a_picture_comes_whole_through_exec_out(device: Adb) -> None:
    data = (await device.run("exec-out", "screencap -p")).stdout
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert data.endswith(b"IEND" + struct.pack(">I", zlib.crc32(b"IEND")))
    assert struct.unpack(">II", data[16:24]) == (1080, 2400)


async def test_three_megabytes_go_there_and_back(device: Adb, tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    (tmp_path / "sent").write_bytes(data)
    assert (await device.run("push", str(tmp_path / "sent"), "/sdcard/Download/sent")).code == 0
    assert (await device.run("pull", "/sdcard/Download/sent", str(tmp_path / "back"))).code == 0
    assert (tmp_path / "back").read_bytes() == data
    rows = (await device.run("ls", "/sdcard/Download")).text
    assert re.search(rf"{3_000_000:08x} \w+ sent$", rows, re.MULTILINE)


async def test_folders_go_there_and_back(device: Adb, tmp_path: Path) -> None:
    (tmp_path / "tree" / "in").mkdir(parents=True)
    (tmp_path / "tree" / "in" / "päivä.txt").write_text("x")
    assert (await device.run("push", str(tmp_path / "tree"), "/sdcard/")).code == 0
    assert (await device.run("pull", "/sdcard/tree", str(tmp_path / "back"))).code == 0
    assert (tmp_path / "back" / "in" / "päivä.txt").read_text() == "x"


async def test_a_push_that_cannot_be_says_why(device: Adb, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x" * 200_000)
    await device.shell("mkdir -p /sdcard/full")
    await device.lab.fault(device.serial, "push", match="/full/", text="couldn't create file: No space left on device")
    result = await device.run("push", str(tmp_path / "f"), "/sdcard/full/f")
    await device.lab.clear(device.serial)
    assert result.code == 1
    assert "No space left on device" in result.text + result.complaint


async def test_a_pull_of_nothing_says_so(device: Adb, tmp_path: Path) -> None:
    result = await device.run("pull", "/sdcard/nothing", str(tmp_path / "x"))
    assert result.code == 1
    assert re.search("does not exist|No such file", result.text + result.complaint)


async def test_a_streamed_install_and_what_keeps_it_from_working(device: Adb, tmp_path: Path) -> None:
    name = "com.example.lab"
    good = write_apk(tmp_path / "good.apk", name, version=3, label="Example", size=100_000)
    result = await device.run("install", str(good))
    assert (result.code, "Success" in result.text) == (0, True)
    assert "package:com.example.lab\n" in await device.shell("pm list packages -3")
    for path, reason in (
        (write_apk(tmp_path / "old.apk", name, version=2), "INSTALL_FAILED_VERSION_DOWNGRADE"),
        (write_apk(tmp_path / "other.apk", name, version=4, signer="x"), "INSTALL_FAILED_UPDATE_INCOMPATIBLE"),
        (write_apk(tmp_path / "test.apk", "com.example.t", test_only=True), "INSTALL_FAILED_TEST_ONLY"),
    ):
        result = await device.run("install", str(path))
        assert result.code == 1
        assert reason in result.text + result.complaint
    (tmp_path / "no.apk").write_bytes(b"no package at all")
    assert "INSTALL_PARSE_FAILED_NOT_APK" in (await device.run("install", str(tmp_path / "no.apk"))).complaint
    assert "Success" in (await device.run("uninstall", "com.example.lab")).text
    assert "com.example.lab" not in await device.shell("pm list packages")


async def test_a_package_in_parts_is_installed_whole(device: Adb, tmp_path: Path) -> None:
    parts = [write_apk(tmp_path / f"{name}.apk", "com.example.parts") for name in ("base", "split_en")]
    result = await device.run("install-multiple", *map(str, parts))
    assert (result.code, "Success" in result.text) == (0, True)
    assert "com.example.parts" in await device.shell("pm path com.example.parts")


async def test_ports_are_forwarded_to_what_listens_on_the_device(device: Adb) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        target = server.getsockname()[1]
        port = int((await device.run("forward", "tcp:0", f"tcp:{target}")).text)
        assert f"tcp:{port} tcp:{target}" in (await device.run("forward", "--list")).text

        def talk() -> bytes:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
                far, _ = server.accept()
                far.settimeout(20)
                with far:
                    client.sendall(b"hello")
                    got = far.recv(5)
                    far.sendall(got[::-1])
                    return client.recv(5)

        assert await anyio.to_thread.run_sync(talk) == b"olleh"
    assert (await device.run("forward", "--remove", f"tcp:{port}")).code == 0


async def test_the_devices_own_port_reaches_this_host_in_reverse(device: Adb) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        target = server.getsockname()[1]

        def answer() -> bytes:
            far, _ = server.accept()
            far.settimeout(20)
            with far:
                got = far.recv(5)
                far.sendall(b"from the host")
                return got

        assert (await device.run("reverse", "tcp:8081", f"tcp:{target}")).code == 0
        assert f"tcp:8081 tcp:{target}" in (await device.run("reverse", "--list")).text
        heard: list[bytes] = []
        async with anyio.create_task_group() as group:

            async def take() -> None:
                heard.append(await anyio.to_thread.run_sync(answer))

            group.start_soon(take)
            said = await device.shell("echo hello | nc localhost 8081")
        assert (heard, said) == ([b"hello"], "from the host")
    port = int((await device.run("reverse", "tcp:0", "tcp:9")).text)
    assert f"tcp:{port} tcp:9" in (await device.run("reverse", "--list")).text
    assert (await device.run("reverse", "--remove", "tcp:8081")).code == 0
    assert "not found" in (await device.run("reverse", "--remove", "tcp:8081")).complaint
    assert (await device.run("reverse", "--remove-all")).code == 0
    assert (await device.run("reverse", "--list")).text.strip() == ""


async def test_the_log_is_read_filtered_and_followed(device: Adb) -> None:
    await device.shell("log -p e -t Mine first; log -t Other second")
    text = (await device.run("logcat", "-d")).text
    assert re.search(r"^\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} +\d+ +\d+ E Mine +: first$", text, re.MULTILINE)
    assert "second" not in (await device.run("logcat", "-d", "-s", "Mine:V")).text
    assert (await device.run("shell", "logcat -c; logcat -d")).text == ""
    argv = [device.lab.adb, "-s", device.serial, "shell", "logcat -s Mine:V -v brief"]
    child = await processes.start(argv, env={**os.environ, **device.lab.environment}, stdout=subprocess.PIPE)
    assert child.process.stdout is not None
    try:
        with anyio.fail_after(20):
            for word in (b"third", b"fourth"):
                await device.shell(f"log -t Mine {word.decode()}")
                got = b""
                while word not in got:
                    got += await child.process.stdout.receive()
    finally:
        await processes.stop(child)


async def test_what_a_production_build_refuses_is_refused(device: Adb) -> None:
    assert "cannot run as root in production builds" in (await device.run("root")).text
    assert (await device.run("shell", "cmd nosuchservice")).code == 20


@pytest.mark.parametrize("line", ["sleep 300", "echo up; sleep 300 | cat", "logcat", "trap '' HUP; echo up; sleep 300"])
async def test_closing_the_stream_ends_the_process_on_the_device(device: Adb, line: str) -> None:
    async def running() -> list[int]:
        return [int(pid) for pid in await device.lab.ask("process", serial=device.serial)]

    with anyio.move_on_after(1.5):
        await device.run("shell", line + "; true")

    async def ended() -> bool:
        return not await running()

    await eventually(ended)


async def test_a_command_that_runs_can_be_interrupted_by_its_name(device: Adb) -> None:
    async with anyio.create_task_group() as group:
        results = []

        async def record() -> None:
            results.append(await device.run("shell", "screenrecord /sdcard/a.mp4"))

        group.start_soon(record)

        async def recording() -> bool:
            return (await device.run("shell", "pidof screenrecord")).code == 0

        await eventually(recording)
        await device.shell("pkill -INT screenrecord")
    assert results[0].code == 0
    assert b"moov" in (await device.run("exec-out", "cat /sdcard/a.mp4")).stdout


async def test_a_recorder_that_was_killed_leaves_half_a_film(device: Adb) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(device.run, "shell", "screenrecord /sdcard/b.mp4")

        async def recording() -> bool:
            return (await device.run("shell", "ls /sdcard/b.mp4")).code == 0

        await eventually(recording)
        group.cancel_scope.cancel()

    async def ended() -> bool:
        return (await device.run("shell", "pidof screenrecord")).code == 1

    await eventually(ended)
    data = (await device.run("exec-out", "cat /sdcard/b.mp4")).stdout
    assert b"mdat" in data
    assert b"moov" not in data


async def test_signals_reach_processes_of_the_device_only(device: Adb) -> None:
    result = await device.run("shell", f"kill -9 {os.getpid()}")
    assert (result.code, "Operation not permitted" in result.complaint) == (1, True)
    assert (await device.run("shell", "sleep 300 & kill $!; wait $!")).code == 128 + 15


async def test_what_a_command_left_running_goes_on_until_it_is_ended(device: Adb) -> None:
    pid = (await device.shell("sleep 300 >/dev/null 2>&1 </dev/null & echo $!")).strip()
    assert (await device.run("shell", f"kill -0 {pid}")).code == 0
    await device.shell(f"kill -9 {pid}")

    async def ended() -> bool:
        return (await device.run("shell", f"kill -0 {pid}")).code == 1

    await eventually(ended)


async def test_the_checks_for_any_device_hold_here_too(device: Adb) -> None:
    problems = await check_device.check(device.lab.adb, device.serial, dict(device.lab.environment))
    assert problems == []


async def test_a_picture_without_p_is_pixels(device: Adb) -> None:
    data = (await device.run("exec-out", "screencap")).stdout
    assert struct.unpack("<4I", data[:16]) == (1080, 2400, 1, 1)
    assert len(data) > 16 + 4_000_000  # what the test's own reader keeps; the rest is dropped there


async def test_a_file_is_in_the_media_index_once_it_was_scanned(device: Adb, tmp_path: Path) -> None:
    (tmp_path / "a'b.png").write_bytes(b"x")
    await device.run("push", str(tmp_path / "a'b.png"), "/sdcard/Pictures/")
    where = shlex.quote("_data LIKE '%/a''b.png'")
    query = f"content query --uri content://media/external/images/media --projection _data --where {where}"
    assert await device.shell(query) == "No result found.\n"
    url = shlex.quote("file:///sdcard/Pictures/a'b.png")
    await device.shell(f"am broadcast -a android.intent.action.MEDIA_SCANNER_SCAN_FILE -d {url}")
    assert await device.shell(query) == "Row: 0 _data=/storage/emulated/0/Pictures/a'b.png\n"
    assert await device.shell(query.replace("images", "audio")) == "No result found.\n"
