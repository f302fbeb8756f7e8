"""The `vega` program of the lab: what it lists, what it does, how it misleads, and what it leaves behind."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice.kit import processes
from anydevice_lab.vega import Lab, write_vpkg

from .adb import eventually
from .vega import PRACTICE, Tv, vega

pytestmark = pytest.mark.anyio

FIXTURES = Path(__file__).parents[1] / "fixtures" / "vega"
MAIN = f"{PRACTICE}.main"
SWITCHES = ("delay", "hang", "leak", "noise", "stray", "lost", "offline", "boot")


@pytest.fixture(scope="module")
async def vegas() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def one(vegas: Lab) -> Tv:
    return Tv(vegas, (await vegas.start("vvd"))[0])


@pytest.fixture
async def tv(one: Tv) -> AsyncIterator[Tv]:
    """A virtual device, alone; it is the same for all tests of a module."""
    yield one
    await one.lab.tool(**dict.fromkeys(SWITCHES))
    if one.serial in [row["serial"] for row in await one.lab.devices()]:
        await one.lab.clear(one.serial)


async def _pid(lab: Lab) -> int:
    """Process id of the virtual device, from the process table; 0 = there is none."""
    table = (await processes.run(["ps", "-A", "-ww", "-o", "pid=,command="], deadline=10)).text
    ours = [line.split() for line in table.splitlines() if lab.home in line and "/vega-virtual-device " in line]
    return int(ours[0][0]) if ours else 0


async def test_one_device_is_listed_as_the_program_lists_it(tv: Tv) -> None:
    said = (await vega(tv.lab, "device", "list")).text
    name = (await tv.lab.devices())[0]["hostname"]
    expected = (FIXTURES / "device_list.txt").read_text().replace("amazon-0123456789abcdef", name)
    assert said.strip() == expected.strip()
    info = json.loads((await vega(tv.lab, "device", "info", "-d", "VirtualDevice")).text)
    sample = json.loads((FIXTURES / "device_info_vvd.json").read_text())
    assert info.keys() == sample.keys() and info["hostname"] == name and info["simulated"] is True
    version = (await vega(tv.lab, "--version")).text
    assert version.splitlines() == (FIXTURES / "version_and_start.txt").read_text().splitlines()[:2]


async def test_a_device_goes_by_its_name_and_its_serial_but_not_by_its_host_name(tv: Tv) -> None:
    name = (await tv.lab.devices())[0]["hostname"]
    for word in ("VirtualDevice", tv.serial):
        assert (await vega(tv.lab, "device", "is-connected", "-d", word)).code == 0
    assert (await vega(tv.lab, "device", "is-connected", "-d", name)).code != 0
    assert (await vega(tv.lab, "device", "is-connected")).code == 0


async def test_a_stray_connection_lists_the_device_twice_and_makes_calls_ambiguous(tv: Tv) -> None:
    address = f"127.0.0.1:{int(tv.serial.partition('-')[2]) + 1}"
    try:
        await tv.adb("connect", address)

        async def twice() -> bool:
            return f"{address} : " in (await vega(tv.lab, "device", "list")).text

        await eventually(twice)
        rows = (await vega(tv.lab, "device", "list")).text.splitlines()[1:]
        assert [row.split(" : ")[0] for row in rows] == [address, tv.serial]
        assert len({row.split(" : ")[1] for row in rows}) == 1
        refused = await vega(tv.lab, "device", "running-apps")
        assert refused.code != 0 and "Too many devices connected" in refused.complaint
        assert json.loads((await vega(tv.lab, "device", "info")).text)["os"] == "unknown"
    finally:
        await tv.adb("disconnect", address)

    async def once() -> bool:
        return "VirtualDevice" in (await vega(tv.lab, "device", "list")).text

    await eventually(once)


async def test_an_app_that_crashes_at_once_was_launched_all_the_same(tv: Tv) -> None:
    await tv.lab.fault(tv.serial, "crash_launch", match=PRACTICE, times=1)
    assert (await vega(tv.lab, "device", "launch-app", "-a", MAIN)).code == 0

    async def gone() -> bool:
        return PRACTICE not in (await vega(tv.lab, "device", "running-apps")).text.split()

    await eventually(gone)
    assert (await vega(tv.lab, "device", "launch-app", "-a", MAIN)).code == 0
    assert PRACTICE in (await vega(tv.lab, "device", "running-apps")).text.split()
    assert (await vega(tv.lab, "device", "terminate-app", "-a", PRACTICE)).code == 0
    assert (await vega(tv.lab, "device", "launch-app", "-a", "com.example.none.main")).code != 0


async def test_an_install_that_fails_in_its_second_phase_leaves_with_nought(tv: Tv, tmp_path: Path) -> None:
    write_vpkg(tmp_path / "app.vpkg", "com.example.app")
    argv = ("device", "install-app", "-p", "app.vpkg")
    done = await vega(tv.lab, *argv, cwd=str(tmp_path))
    assert done.text.strip() == (FIXTURES / "install_app.txt").read_text().splitlines()[1]
    await tv.lab.fault(tv.serial, "install", match="com.example.app", times=1)
    failed = await vega(tv.lab, *argv, cwd=str(tmp_path))
    assert failed.code == 0 and "...success" in failed.text and "...failed" in failed.text
    assert (await vega(tv.lab, "device", "uninstall-app", "-a", "com.example.app")).code == 0
    assert "com.example.app" not in (await vega(tv.lab, "device", "installed-apps")).text


async def test_a_command_line_runs_on_the_device_with_its_exit_status(tv: Tv) -> None:
    result = await vega(tv.lab, "device", "run-cmd", "-d", "VirtualDevice", "-c", "uname -n | tr a-z A-Z; exit 3")
    assert result.code == 3 and result.text.startswith("AMAZON-")


async def test_files_are_copied_there_and_back(tv: Tv, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("some data")
    assert (await vega(tv.lab, "device", "copy-to", "-s", "x", "--destination", "/tmp/x", cwd=str(tmp_path))).code == 0
    assert await tv.shell("cat /tmp/x") == "some data"
    assert (await vega(tv.lab, "device", "copy-from", "-s", "/tmp/x", "-o", "y", cwd=str(tmp_path))).code == 0
    assert (tmp_path / "y").read_text() == "some data"


async def test_words_for_the_adapter_go_through_a_shell_of_the_host(tv: Tv) -> None:
    home = (await vega(tv.lab, "exec", "vda", "-s", tv.serial, "shell", "echo $HOME")).text.strip()
    assert home == str(tv.lab.home)  # the host's, not the guest's
    where = (await vega(tv.lab, "which", "vda")).text.splitlines()
    assert len(where) > 1 and Path(where[-1]).name == "vda"
    assert tv.serial in (await processes.run([where[-1], "devices"], deadline=20)).text


async def test_the_adapter_can_find_the_device_offline(tv: Tv) -> None:
    await tv.lab.tool(offline=True)
    result = await vega(tv.lab, "exec", "vda", "devices")
    assert result.code != 0
    assert result.complaint.splitlines() == (FIXTURES / "vda_errors.txt").read_text().splitlines()


async def test_a_port_is_forwarded_and_no_longer(tv: Tv) -> None:
    words = ("--port", "38383", "--forward", "true")
    assert (await vega(tv.lab, "device", "is-port-forwarded", *words)).text.strip() == "false"
    assert (await vega(tv.lab, "device", "start-port-forward", *words)).code == 0
    assert (await vega(tv.lab, "device", "is-port-forwarded", *words)).text.strip() == "true"
    assert (await vega(tv.lab, "device", "stop-port-forward", *words)).code == 0
    assert (await vega(tv.lab, "device", "is-port-forwarded", *words)).text.strip() == "false"


async def test_status_comes_after_lines_of_a_log(tv: Tv) -> None:
    await tv.lab.tool(noise=True)
    lines = (await vega(tv.lab, "virtual-device", "status")).text.splitlines()
    assert len(lines) > 1 and not lines[0].startswith("{")
    sample = json.loads((FIXTURES / "virtual_device_status.txt").read_text().splitlines()[-1])
    told = json.loads(lines[-1])
    assert told.keys() == sample.keys() and told["process_ids"]["qemu"] == await _pid(tv.lab)


async def test_the_process_of_the_virtual_device_is_in_the_process_table_as_it_is(tv: Tv) -> None:
    table = (await processes.run(["ps", "-A", "-ww", "-o", "pid=,command="], deadline=10)).text
    line = next(line for line in table.splitlines() if tv.lab.home in line and "/vega-virtual-device " in line)
    sample = (FIXTURES / "ps_vvd.txt").read_text().split()
    words = line.split()
    assert [word for word in words[2:] if word.startswith("-")] == [word for word in sample[2:] if word.startswith("-")]
    console = int(tv.serial.partition("-")[2])
    assert words[words.index("-ports") + 1] == f"{console},{console + 1}"
    tail = "/vega/sdk/vega-sdk/main/0.24.12112/vvd/images/tv/vmtools/agent/qemu/linux-x86_64/vega-virtual-device"
    assert words[1].endswith(tail) and sample[1].endswith(tail)


async def test_a_program_that_lost_track_does_not_stop_what_its_process_still_stops(tv: Tv) -> None:
    await tv.lab.tool(lost=True)
    assert json.loads((await vega(tv.lab, "virtual-device", "status")).text)["running"] is False
    assert (await vega(tv.lab, "virtual-device", "stop")).code != 0
    pid = await _pid(tv.lab)
    assert pid
    os.kill(pid, signal.SIGTERM)

    async def unlisted() -> bool:
        return tv.serial not in (await tv.adb("devices")).text and not await tv.lab.devices()

    await eventually(unlisted)
    started = await vega(tv.lab, "virtual-device", "start", "--timeout", "20", "--no-gui")
    assert started.text.splitlines() == (FIXTURES / "version_and_start.txt").read_text().splitlines()[3:5]
    assert [row["serial"] for row in await tv.lab.devices()] == [tv.serial]
    assert await _pid(tv.lab) not in (0, pid)
    assert (await tv.shell("uname -n")).strip() == (await tv.lab.devices())[0]["hostname"]


async def test_a_stopped_device_is_gone_and_starts_again(tv: Tv) -> None:
    assert (await vega(tv.lab, "virtual-device", "stop")).code == 0
    assert await _pid(tv.lab) == 0
    assert "VirtualDevice" not in (await vega(tv.lab, "device", "list")).text
    await tv.lab.tool(boot=5)
    slow = await vega(tv.lab, "virtual-device", "start", "-t", "0.2")
    assert slow.code != 0 and not await tv.lab.devices()
    await tv.lab.tool(boot=None)
    assert (await vega(tv.lab, "virtual-device", "start")).code == 0
    assert "VirtualDevice" in (await vega(tv.lab, "device", "list")).text


async def test_a_wedged_call_leaves_children_that_the_end_of_its_group_ends(tv: Tv) -> None:
    await tv.lab.tool(hang=["device list"])
    child = await processes.start([tv.lab.program, "device", "list"], env={**os.environ, **tv.lab.environment})
    left = Path(tv.lab.home, "vega", ".lab", "children")

    async def three() -> bool:
        return left.exists() and len(left.read_text().splitlines()) >= 3

    await eventually(three)
    pids = [int(line.split()[0]) for line in left.read_text().splitlines()]
    assert [line.split()[1] for line in left.read_text().splitlines()] == ["python", "node", "vda"]
    os.kill(child.pid, signal.SIGKILL)
    await child.wait()
    assert all(_lives(pid) for pid in pids)  # who ends only the program leaves these
    await processes.stop(child, grace=0.5)

    async def ended() -> bool:
        return not any(_lives(pid) for pid in pids)

    await eventually(ended)
    left.unlink()


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state != "Z"


async def test_a_call_takes_as_long_as_it_is_told_to(tv: Tv) -> None:
    await tv.lab.tool(delay=0.6)
    began = time.monotonic()
    assert (await vega(tv.lab, "device", "list")).code == 0
    assert time.monotonic() - began >= 0.6


async def test_the_log_is_streamed_until_it_is_interrupted(tv: Tv) -> None:
    env = {**os.environ, **tv.lab.environment}
    async with await anyio.open_process([tv.lab.program, "device", "start-log-stream"], env=env) as stream:
        assert stream.stdout is not None
        await tv.lab.ask("log", serial=tv.serial, text="something new", package=PRACTICE)
        seen = b""
        with anyio.fail_after(20):
            while b"something new" not in seen:
                seen += await stream.stdout.receive()
        stream.send_signal(signal.SIGTERM)


async def test_the_console_writes_pictures_for_those_who_have_its_token(tv: Tv, tmp_path: Path) -> None:
    token = Path(tv.lab.home, ".emulator_console_auth_token").read_text()
    port = int(tv.serial.partition("-")[2])
    asked = f"screenrecord screenshot {tmp_path}\nauth {token}\nscreenrecord screenshot {tmp_path}\nquit\n"
    said = b""
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(asked.encode())
        with anyio.fail_after(20):
            try:
                while True:
                    said += await stream.receive()
            except anyio.EndOfStream:
                pass
    assert re.findall(r"^(KO|OK)", said.decode().replace("\r", ""), re.MULTILINE)[-2:] in (["KO", "OK"], ["OK", "OK"])
    pictures = list(tmp_path.glob("*.png"))
    assert len(pictures) == 1 and pictures[0].read_bytes().startswith(b"\x89PNG")
