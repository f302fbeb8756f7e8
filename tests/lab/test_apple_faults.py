"""Programs of the Apple lab that hang, are slow, leave children behind or lie; and the lab's own command."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import anyio
import httpx2
import pytest

from anydevice.kit import processes
from anydevice_lab.apple import KINDS, Lab, LabFailed
from anydevice_lab.apple.faults import KNOWN
from anydevice_lab.apple.judged import DEVICES, lab

from .adb import eventually
from .apple import PRACTICE, RUNNER, Mac

pytestmark = pytest.mark.anyio
PROGRAM = str(Path(sys.executable).parent / "anydevice")


def _group(leader: int) -> list[int]:
    """Processes of a group, from the table of processes."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


async def test_a_call_that_hangs_does_not_end_by_sigterm(mac: Mac, udid: str) -> None:
    await mac.lab.fault(udid, "hang", match="simctl ui")
    async with mac.running("xcrun", "simctl", "ui", udid, "appearance") as (child, _):
        await eventually(lambda: _called(mac, "ui"))

        async def deaf() -> bool:
            status = Path(f"/proc/{child.pid}/status").read_text()
            ignored = int(re.search(r"SigIgn:\s+(\w+)", status)[1], 16)  # type: ignore[index]
            return bool(ignored & 1 << (signal.SIGTERM - 1))

        await eventually(deaf)
        child.process.send_signal(signal.SIGTERM)
        # Another call on the same device goes on meanwhile.
        assert await mac.done("pbpaste", udid) == ""
        assert child.code is None
        os.killpg(child.pid, signal.SIGKILL)
        with anyio.fail_after(20):
            assert await child.wait() != 0


async def _called(mac: Mac, word: str) -> bool:
    return any(word in entry["args"] for entry in await mac.lab.journal("mac", "program"))


async def test_a_call_can_leave_a_child_behind_that_holds_its_streams(mac: Mac, udid: str) -> None:
    await mac.lab.fault(udid, "leak", match="simctl ui", seconds=60, times=1)
    async with mac.running("xcrun", "simctl", "ui", udid, "appearance") as (child, _):
        with anyio.fail_after(20):
            assert await child.wait() == 0
        left = _group(child.pid)
        assert len(left) == 1  # who waits for the end of its output waits for this one
        await processes.stop(child, grace=0.5)

        async def ended() -> bool:
            return not _group(child.pid)

        await eventually(ended)


async def test_a_call_can_be_slow_or_be_answered_with_something_else(mac: Mac, udid: str) -> None:
    await mac.lab.fault("mac", "slow", match="simctl list", seconds=0.5, times=1)
    began = time.monotonic()
    await mac.done("list", "devices")
    assert time.monotonic() - began >= 0.5
    await mac.lab.fault("mac", "answer", match="simctl list", code=1, text="{", stderr="Connection lost\n", times=1)
    result = await mac.sim("list", "-j")
    assert (result.code, result.text, result.complaint) == (1, "{", "Connection lost\n")
    assert json.loads(await mac.done("list", "-j"))["devices"]


async def test_simctl_waits_for_a_first_launch_that_nobody_makes(mac: Mac, udid: str) -> None:
    await mac.lab.fault("mac", "first_launch")
    async with mac.running("xcrun", "simctl", "list", "-j") as (child, _):
        await eventually(lambda: _called(mac, "list"))
        assert (await mac.sim("help")).code == 0
        assert (await mac.run("xcodebuild", "-checkFirstLaunchStatus")).code == 69
        assert child.code is None
    assert (await mac.run("xcodebuild", "-runFirstLaunch")).code == 0
    assert (await mac.run("xcodebuild", "-checkFirstLaunchStatus")).code == 0
    assert json.loads(await mac.done("list", "-j"))["devices"]


async def test_a_boot_and_a_shutdown_can_take_long_or_for_ever(mac: Mac) -> None:
    one = (await mac.lab.start("iphone-off"))[0]
    await mac.lab.fault(one, "boot_stuck", times=1)
    async with mac.running("xcrun", "simctl", "bootstatus", one, "-b") as (child, _):

        async def booting() -> bool:
            return await mac.state(one) == "Booting"

        await eventually(booting)
        await anyio.sleep(0.5)  # longer than a boot of the lab takes
        assert child.code is None and await mac.state(one) == "Booting"
    await mac.lab.stop(one)
    other = (await mac.lab.start("iphone"))[0]
    await mac.lab.fault(other, "shutdown_slow", seconds=0.6, times=1)
    began = time.monotonic()
    await mac.done("shutdown", other)
    assert time.monotonic() - began >= 0.6
    await mac.lab.fault(other, "boot_slow", seconds=0.6, times=1)
    began = time.monotonic()
    await mac.done("bootstatus", other, "-b")
    assert time.monotonic() - began >= 0.6
    await mac.lab.stop(other)


async def test_a_device_that_is_switched_off_takes_its_agent_and_apps_along(mac: Mac) -> None:
    one = (await mac.lab.start("iphone"))[0]
    wda = await mac.wda(one)
    await wda.begin()
    pid = (await mac.done("launch", one, PRACTICE)).split(": ")[1].strip()
    await mac.done("shutdown", one)
    assert not Path("/proc", pid).exists()
    with pytest.raises(OSError, match=r"."):
        await wda.ask("GET", "/status")
    await mac.done("bootstatus", one, "-b")
    state = await mac.lab.state(one)
    assert state["front"] == "com.apple.springboard" and RUNNER not in state["running"]
    await mac.lab.stop(one)


async def test_faults_are_known_by_name_and_strike_so_many_times(mac: Mac, udid: str) -> None:
    with pytest.raises(LabFailed, match="there is no fault nonsense"):
        await mac.lab.fault(udid, "nonsense")
    await mac.lab.fault(udid, "answer", match="pbpaste", text="x", times=2)
    assert [await mac.done("pbpaste", udid) for _ in range(3)] == ["x", "x", ""]
    with pytest.raises(LabFailed):
        await mac.lab.state("nobody")
    assert all(KNOWN.values())


async def test_every_fault_is_asked_for_somewhere() -> None:
    room = Path(sys.modules["anydevice_lab.apple"].__file__ or "").parent
    text = "".join(path.read_text() for path in room.rglob("*.py") if path.name != "faults.py")
    text += "".join(line for line in (room / "faults.py").read_text().splitlines(True) if "active(" in line)
    assert [name for name in KNOWN if f'active("{name}"' not in text] == []


async def test_programs_beside_xcode_need_not_be_there(mac: Mac) -> None:
    await mac.lab.mac(without=["axe", "idb"])
    try:
        assert not {"axe", "idb"} & {path.name for path in Path(mac.lab.bin).iterdir()}
        assert (await mac.run("xcrun", "--version")).code == 0
    finally:
        await mac.lab.mac(without=[])
    assert (await mac.run("axe", "--version")).text == "1.8.0\n"
    with pytest.raises(LabFailed, match="there are no programs nonsense"):
        await mac.lab.mac(without=["nonsense"])


async def test_nothing_is_left_of_a_lab_that_has_ended(tmp_path: Path) -> None:
    async with Lab() as running:
        mac = Mac(running)
        one = (await running.start("iphone"))[0]
        port = (await mac.wda(one)).port
        pid = (await mac.done("launch", one, PRACTICE)).split(": ")[1].strip()
        home = Path(running.home)
    assert not home.exists() and not Path("/proc", pid).exists()
    with pytest.raises(OSError, match=r"."):
        await anyio.connect_tcp("127.0.0.1", port)


def test_the_lab_that_the_suite_judges_has_two_of_each_class_and_leads_the_backend_there() -> None:
    assert sorted(set(DEVICES)) == ["appletv", "ipad", "iphone"] and len(DEVICES) == 6
    with lab() as told:
        assert os.access(told["settings"]["xcrun"], os.X_OK)
        assert Path(told["settings"]["wda"], "Info.plist").is_file()


async def test_the_command_starts_devices_and_says_how_to_reach_them() -> None:
    listed = await processes.run([PROGRAM, "lab", "apple", "--list"], deadline=60)
    assert listed.code == 0 and set(KINDS) == {line.split()[0] for line in listed.text.splitlines()}
    assert (await processes.run([PROGRAM, "lab", "apple", "fridge"], deadline=60)).code == 2
    argv = [PROGRAM, "lab", "apple", "iphone:2", "appletv", "--json"]
    async with await anyio.open_process(argv, start_new_session=True) as child:
        assert child.stdout is not None
        told = b""
        try:
            with anyio.fail_after(60):
                while not told.endswith(b"}\n"):
                    told += await child.stdout.receive()
            data = json.loads(told)["data"]
            assert [row["kind"] for row in data["devices"]] == ["iphone", "iphone", "appletv"]
            result = await processes.run(
                ["xcrun", "simctl", "list", "devices"], deadline=30, env={**os.environ, **data["environment"]}
            )
            assert all(row["serial"] in result.text for row in data["devices"])
        finally:
            child.send_signal(signal.SIGINT)
            with anyio.fail_after(30):
                await child.wait()
    assert not Path(data["home"]).exists()


async def test_the_command_ends_and_says_so_where_the_process_of_the_devices_is_gone() -> None:
    argv = [PROGRAM, "lab", "apple", "iphone", "--json"]
    async with await anyio.open_process(argv, start_new_session=True) as child:
        assert child.stdout is not None
        told, said = b"", b""
        try:
            with anyio.fail_after(60):
                while not told.endswith(b"}\n"):
                    told += await child.stdout.receive()
                (devices,) = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
                os.kill(int(devices), signal.SIGKILL)
                async for piece in child.stdout:
                    said += piece
                assert await child.wait() == 1
            assert b"the lab ended (status -9)" in said
        finally:
            if child.returncode is None:
                child.kill()


async def test_without_pillow_pictures_are_refused_by_name_and_the_lab_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "PIL").mkdir()
    (tmp_path / "PIL" / "__init__.py").write_text("raise ImportError('none here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    async with Lab() as bare:
        (udid,) = await bare.start("iphone")
        port = await bare.agent(udid)
        for _ in range(2):
            async with httpx2.AsyncClient(trust_env=False) as client:
                answer = await client.get(f"http://127.0.0.1:{port}/screenshot")
                assert answer.json()["value"]["error"] == "unable to capture screen"
                assert "anydevice[apple]" in answer.json()["value"]["message"]
            shot = await anyio.run_process(
                [bare.xcrun, "simctl", "io", udid, "screenshot", str(tmp_path / "a.png")], check=False
            )
            assert shot.returncode == 1 and b"anydevice[apple]" in shot.stderr
