"""States and names of lab devices, as an adb server lists them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from anydevice.kit import processes
from anydevice_lab.android import Lab, write_apk

from .adb import ADBS, Adb, eventually

pytestmark = pytest.mark.anyio


async def listed(lab: Lab) -> dict[str, str]:
    """State of each device by its serial."""
    text = (await Adb(lab, "-").run("devices")).text
    return dict(re.findall(r"^(\S+)\t(.+)$", text, re.MULTILINE))


async def test_a_device_nobody_approved_is_unauthorized_until_somebody_does(each_lab: Lab) -> None:
    serial = (await each_lab.start("unauthorized"))[0]
    assert (await listed(each_lab))[serial] == "unauthorized"
    device = Adb(each_lab, serial)
    assert "unauthorized" in (await device.run("shell", "true")).complaint
    await each_lab.approve(serial)

    async def ready() -> bool:
        return (await listed(each_lab)).get(serial) == "device"

    await eventually(ready)
    assert "Pixel 8" in await device.shell("getprop ro.product.model")


async def test_a_device_that_never_answers_is_offline(each_lab: Lab) -> None:
    serial = (await each_lab.start("offline"))[0]
    assert (await listed(each_lab))[serial] == "offline"
    assert "offline" in (await Adb(each_lab, serial).run("shell", "true")).complaint


async def test_an_emulator_has_a_console_with_its_name(each_lab: Lab) -> None:
    serial = (await each_lab.start("emulator"))[0]
    assert re.fullmatch(r"emulator-\d+", serial)
    device = Adb(each_lab, serial)
    assert (await device.shell("getprop ro.boot.qemu.avd_name")).strip() == "Pixel_8_API_35"
    assert (await device.run("emu", "avd", "name")).text.split() == ["Pixel_8_API_35", "OK"]
    port = int(serial.removeprefix("emulator-"))
    async with await anyio.connect_tcp("127.0.0.1", port) as console:
        token = Path(each_lab.home, ".emulator_console_auth_token").read_bytes()
        await console.send(b"avd name\nauth " + token + b"\nnonsense\navd name\nquit\n")
        text = b""
        try:
            while True:
                text += await console.receive()
        except anyio.EndOfStream:
            pass
    assert b"Authentication required" in text
    assert text.count(b"KO: unknown command, try 'help'\r\n") == 2
    assert text.endswith(b"Pixel_8_API_35\r\nOK\r\n")


async def test_a_locked_console_wants_its_token(lab: Lab) -> None:
    serial = (await lab.start("locked-emulator"))[0]
    assert "Pixel_8" not in (await Adb(lab, serial).run("emu", "avd", "name")).text
    async with await anyio.connect_tcp("127.0.0.1", int(serial.removeprefix("emulator-"))) as console:
        await console.send(b"avd name\nauth wrong\nauth a1b2c3d4e5f6\navd name\nquit\n")
        text = b""
        try:
            while True:
                text += await console.receive()
        except anyio.EndOfStream:
            pass
    assert b"Authentication required" in text
    assert b"KO: unknown command" in text and b"KO: authentication token does not match" in text
    assert text.endswith(b"Pixel_8_API_35\r\nOK\r\n")


async def test_two_of_one_name_are_told_apart_by_serial(lab: Lab) -> None:
    one, two = await lab.start("tablet", "tablet")
    assert one != two
    numbers = {(await Adb(lab, serial).shell("getprop ro.serialno")).strip() for serial in (one, two)}
    assert len(numbers) == 2


async def test_fields_of_a_kind_can_differ(lab: Lab) -> None:
    serial = (await lab.start({"name": "phone", "model": "Odd Phone", "api": 34, "features": ["a.b"]}))[0]
    device = Adb(lab, serial)
    assert (await device.shell("getprop ro.build.version.sdk")).strip() == "34"
    assert "model:Odd_Phone" in (await device.run("devices", "-l")).text
    assert await device.shell("pm list features") == "feature:a.b\n"


async def test_a_reboot_comes_back_as_new(lab: Lab) -> None:
    serial = (await lab.start("phone"))[0]
    device = Adb(lab, serial)
    await device.open("home")
    await lab.set(serial, reboot_seconds=0.3)
    await device.run("shell", "reboot")

    async def back() -> bool:
        return (await listed(lab)).get(serial) == "device" and "launcher" in (await lab.state(serial))["front"]

    await eventually(back)


@pytest.mark.parametrize("adb", ADBS)
async def test_states_that_need_a_cable_are_listed_by_a_server_that_only_lists(lab: Lab, adb: str) -> None:
    rows = (
        "????????????           no permissions (user in plugdev group; are your udev rules wrong?); "
        "see [http://developer.android.com/tools/device.html] usb:1-4 transport_id:2\n"
        "0A0000000000EX         recovery usb:1-5 transport_id:3\n"
    )
    port = await lab.fake_server(rows)
    result = await processes.run(
        [adb, "devices", "-l"], deadline=30, env={"HOME": lab.home, "ANDROID_ADB_SERVER_PORT": str(port)}
    )
    assert rows in result.text


async def test_nobody_else_gets_in(lab: Lab) -> None:
    """A device gives a shell of this host: only the lab's own server may have it."""
    serial = (await lab.start("phone"))[0]
    async with Lab() as other:
        stranger = Adb(other, serial)
        await stranger.run("connect", serial)

        async def refused() -> bool:
            return (await listed(other)).get(serial) == "unauthorized"

        await eventually(refused)
        assert (await stranger.run("shell", "id")).code != 0
    assert (await Adb(lab, serial).run("shell", "true")).code == 0


async def test_a_lab_that_ends_leaves_no_process_behind() -> None:
    async with Lab() as lab:
        serial = (await lab.start("phone"))[0]
        device = Adb(lab, serial)

        async def running() -> list[int]:
            return list(await lab.ask("process", serial=serial))

        async with anyio.create_task_group() as group:
            group.start_soon(device.run, "exec-out", "sleep 300")
            await eventually(running)
            group.cancel_scope.cancel()
        await anyio.sleep(0.5)
        pids = await running()
        pids.append(int(await device.shell("sleep 300 >/dev/null 2>&1 </dev/null & echo $!")))
        assert pids, "the older service goes on when its reader has gone, as on a real device"

    def alive() -> list[int]:
        found = []
        for pid in pids:
            try:
                os.kill(pid, 0)
                found.append(pid)
            except ProcessLookupError:
                continue
        return found

    async def gone() -> bool:
        return not alive()

    await eventually(gone)


async def test_a_build_without_the_newer_shell_protocol_has_a_terminal_in_between(lab: Lab) -> None:
    serial = (await lab.start("ancient-phone"))[0]
    device = Adb(lab, serial)
    result = await device.run("shell", "echo out; echo err >&2; exit 3")
    assert (result.code, result.text, result.complaint) == (0, "out\r\nerr\r\n", "")
    assert (await device.run("exec-out", "printf 'a\\nb'")).stdout == b"a\nb"
    assert "not found" in (await device.run("shell", "cmd package list")).text


async def test_an_interactive_shell_reads_its_lines(lab: Lab) -> None:
    device = Adb(lab, (await lab.start("phone"))[0])
    result = await device.run("shell", stdin=b"getprop ro.product.device\nexit 5\n")
    assert (result.code, result.text) == (5, "shiba\n")


async def test_a_lab_that_is_ended_by_a_signal_takes_its_server_along() -> None:
    """The server would outlive it: it is in a group of its own."""
    argv = [sys.executable, "-m", "anydevice_lab.android.host", ADBS[0]]
    child = await processes.start(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.process.stdout is not None
        line = b""
        with anyio.fail_after(60):
            while not line.endswith(b"\n"):
                line += await child.process.stdout.receive()
        port = json.loads(line)["data"]["port"]
        os.kill(child.pid, signal.SIGTERM)
        with anyio.fail_after(30):
            await child.wait()
    finally:
        await processes.stop(child)
    with pytest.raises(OSError):
        await anyio.connect_tcp("127.0.0.1", port)


@pytest.mark.parametrize("kind", ["tv", "old-phone", "ancient-phone"])
async def test_older_protocols_carry_files_and_packages_too(each_lab: Lab, tmp_path: Path, kind: str) -> None:
    serial = (await each_lab.start(kind))[0]
    device = Adb(each_lab, serial)
    data = os.urandom(300_000)
    (tmp_path / "sent").write_bytes(data)
    (tmp_path / "link").symlink_to("sent")
    assert (await device.run("push", str(tmp_path / "sent"), "/sdcard/sent")).code == 0
    assert (await device.run("pull", "/sdcard/sent", str(tmp_path / "back"))).code == 0
    assert (tmp_path / "back").read_bytes() == data
    assert re.search(r" sent$", (await device.run("ls", "/sdcard")).text, re.MULTILINE)
    path = write_apk(tmp_path / "a.apk", "com.example.older")
    result = await device.run("install", str(path))
    assert "Success" in result.text, result
    assert "package:com.example.older" in (await device.run("shell", "pm list packages")).text
    await each_lab.stop(serial)
