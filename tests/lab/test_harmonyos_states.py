"""States of HarmonyOS lab devices: not allowed, away, attached twice, rebooted; faults; the lab's command."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice.kit import processes
from anydevice_lab.harmonyos import KINDS, Lab, LabFailed, write_hap
from anydevice_lab.harmonyos.faults import KNOWN

from .adb import eventually
from .harmony import PRACTICE, Device, ask

pytestmark = pytest.mark.anyio

PROGRAM = str(Path(sys.executable).parent / "anydevice")


@pytest.fixture(scope="module")
async def harmony() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def one_phone(harmony: Lab) -> Device:
    device = Device(harmony, (await harmony.start("phone"))[0])
    await harmony.set(device.serial, reboot_seconds=0.2)
    return device


@pytest.fixture
async def phone(one_phone: Device) -> AsyncIterator[Device]:
    """A phone without faults; it is the same for all tests of a module."""
    yield one_phone
    await one_phone.lab.clear(one_phone.serial)


async def rows(lab: Lab) -> dict[str, list[str]]:
    """The long list: connection and state by key."""
    text = (await ask(lab, "", "list targets -v")).decode()
    return {line.split("\t")[0]: line.split("\t")[2:4] for line in text.splitlines()}


async def test_a_person_allows_the_server(harmony: Lab) -> None:
    [key] = await harmony.start("unauthorized")
    device = Device(harmony, key)
    for refusal, number in (("asks", "E000002"), ("denied", "E000003"), ("keys", "E000010"), ("old", "E000001")):
        await harmony.set(key, refusal=refusal)
        assert (await device.ask("shell id")).startswith(f"[Fail][{number}]:")
    assert (await rows(harmony))[key] == ["USB", "Unauthorized"]
    await harmony.approve(key)
    assert await device.ask("shell echo in") == "in\n"
    assert (await rows(harmony))[key] == ["USB", "Connected"]
    await harmony.stop(key)


async def test_a_serial_port_is_noise_in_the_long_list_alone(harmony: Lab) -> None:
    [port, ready] = await harmony.start("serial-port", "ready")
    assert (await rows(harmony))[port] == ["UART", "Ready"]
    assert (await rows(harmony))[ready] == ["USB", "Ready"]
    assert port.startswith("/dev/ttyS")
    short = (await ask(harmony, "", "list targets")).decode()
    assert port not in short and ready not in short
    for key in (port, ready):
        assert (await ask(harmony, key, "shell id")).startswith(b"[Fail]")
        await harmony.stop(key)


async def test_a_reboot_takes_it_away_and_ends_what_ran(phone: Device) -> None:
    await phone.open("form")
    assert await phone.ask("target boot") == ""
    seen: set[str] = set()

    async def back() -> bool:
        seen.add((await rows(phone.lab))[phone.serial][1])
        return (await phone.ask("shell echo up")) == "up\n" and "Offline" in seen

    await eventually(back)
    assert (await phone.run(f"pidof {PRACTICE}"))[0] == 1
    assert (await phone.lab.state(phone.serial))["front"].startswith("com.ohos.sceneboard")


async def test_a_phone_can_be_attached_by_cable_and_network_at_once(phone: Device) -> None:
    assert await phone.ask("tmode port 5555") == "Set device run mode successful.\r\n"
    told = next(row for row in await phone.lab.devices() if row["serial"] == phone.serial)
    key = f"{told['address']}:5555"

    async def listens() -> bool:
        return b"OK" in await ask(phone.lab, "", f"tconn {key}")

    await eventually(listens)
    found = await rows(phone.lab)
    assert (found[key], found[phone.serial]) == (["TCP", "Connected"], ["USB", "Connected"])
    serial = "shell param get ohos.boot.sn"
    assert await ask(phone.lab, key, serial) == (await phone.ask(serial)).encode()
    assert (await ask(phone.lab, "any", "shell id")).startswith(b"[Fail]ExecuteCommand need connect-key?")
    await ask(phone.lab, "", f"tconn {key} -remove")
    assert key not in await rows(phone.lab)
    for words, said in (("tmode", "Error input parameter"), ("tmode port 99999", "Incorrect port range")):
        assert await phone.ask(words) == f"[Fail]{said}\r\n"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("192.0.2.200:5555", "[Fail]Connect failed"),
        ("nowhere:1", "[Fail][E001104]:IP address incorrect"),
        ("192.0.2.1:x", "[Fail]Port incorrect"),
        ("192.0.2.1:0", "[Fail]IP:Port incorrect"),
    ],
)
async def test_addresses_that_lead_nowhere(harmony: Lab, address: str, said: str) -> None:
    assert (await ask(harmony, "", f"tconn {address}")).decode() == f"{said}\r\n"
    if said == "[Fail]Connect failed":
        assert (await rows(harmony))[address] == ["TCP", "Offline"], "it stays in the long list"
        assert (await ask(harmony, address, "shell id")).startswith(b"[Fail][E001005]")
        await harmony.server(forget=address)


async def test_a_device_that_goes_takes_its_row_along(harmony: Lab) -> None:
    [key] = await harmony.start("tablet")
    assert key in await rows(harmony)
    await harmony.stop(key)
    assert key not in await rows(harmony)
    assert (await ask(harmony, key, "shell id")).startswith(b"[Fail]Not match target founded")


async def test_a_fault_there_is_not_is_refused_and_all_have_words(phone: Device) -> None:
    with pytest.raises(LabFailed, match="there is no fault"):
        await phone.lab.fault(phone.serial, "nonsense")
    assert all(KNOWN.values())


async def test_programs_lie_or_fail_on_request(phone: Device, tmp_path: Path) -> None:
    lab, serial = phone.lab, phone.serial
    await lab.fault(serial, "answer", match="^param get x", text="made up\n", stderr="", code=3)
    assert await phone.run("param get x") == (3, "made up\n")
    await phone.open("form")
    x, y = await phone.middle("form.name")
    await lab.fault(serial, "input_ignored", times=1)
    assert await phone.shell(f"uitest uiInput click {x} {y}") == "No Error\n"
    assert not (await lab.state(serial))["keyboard"]
    await phone.tap("form.name")
    await lab.fault(serial, "text_lost", times=1)
    await phone.shell("uitest uiInput text abcdef")
    assert (await phone.node("form.name"))["text"] == "ace"
    await lab.fault(serial, "close_ignored", times=1)
    assert "successfully" in await phone.shell(f"aa force-stop {PRACTICE}")
    assert await phone.shell(f"pidof {PRACTICE}")
    await lab.fault(serial, "power_ignored", times=1)
    await phone.shell("power-shell suspend")
    assert (await lab.state(serial))["awake"]
    await lab.fault(serial, "posture_ignored", times=1)
    await phone.shell("hidumper -s 4607 -a -motion,1")
    assert (await lab.state(serial))["rotation"] == 0
    hap = write_hap(tmp_path / "a.hap", "com.example.fault")
    await lab.fault(serial, "install", times=1)
    assert "insufficient disk memory" in await phone.ask(f"install {hap}")
    assert "successfully" in await phone.ask(f"install {hap}")


async def test_abilities_start_late_or_die(phone: Device) -> None:
    await phone.shell(f"aa force-stop {PRACTICE}")
    await phone.lab.fault(phone.serial, "open_slow", seconds=0.4, times=1)
    await phone.shell(f"aa start -a EntryAbility -b {PRACTICE}")
    assert not (await phone.lab.state(phone.serial))["practice"]

    async def front() -> bool:
        return bool((await phone.lab.state(phone.serial))["practice"])

    await eventually(front)
    await phone.shell(f"aa force-stop {PRACTICE}")
    await phone.lab.fault(phone.serial, "open_crashes", times=1)
    assert "successfully" in await phone.shell(f"aa start -a EntryAbility -b {PRACTICE}")
    assert (await phone.run(f"pidof {PRACTICE}"))[0] == 1


async def test_files_are_cut_or_cannot_be_opened_on_request(phone: Device, tmp_path: Path) -> None:
    source, target = tmp_path / "a.bin", tmp_path / "b.bin"
    source.write_bytes(bytes(1000))
    await phone.lab.fault(phone.serial, "channel_failed", match="x.bin", times=1)
    said = await phone.ask(f"file send {source} /data/local/tmp/x.bin")
    assert said == "[Fail]Error opening file: no space left on device, path:/data/local/tmp/x.bin\r\n"
    assert "FileTransfer finish" in await phone.ask(f"file send {source} /data/local/tmp/x.bin")
    await phone.lab.fault(phone.serial, "recv_cut", times=1)
    said = await phone.ask(f"file recv /data/local/tmp/x.bin {target}")
    assert said.startswith("[Fail]Transfer Stop at:500/1000(Bytes)") and len(target.read_bytes()) == 500


async def test_nothing_goes_on_after_the_lab() -> None:
    async with Lab() as lab:
        device = Device(lab, (await lab.start("phone"))[0])
        text = await device.shell("sleep 987 > /dev/null 2>&1 & echo $!")
        pid = int(text.split()[0])
        assert Path(f"/proc/{pid}").exists()
        port, folder = lab.port, Path(lab.folder)

    async def gone() -> bool:
        return not Path(f"/proc/{pid}").exists() and not folder.exists()

    await eventually(gone)
    with pytest.raises(OSError):
        await anyio.connect_tcp("127.0.0.1", port)


async def test_the_lab_is_started_by_its_command() -> None:
    argv = [PROGRAM, "lab", "harmonyos", "phone", "tv", "--json"]
    child = await processes.start(argv, stdout=-1)
    try:
        assert child.process.stdout is not None
        text = b""
        async for data in child.process.stdout:
            text += data
            if b"\n" in text:
                break
        told = json.loads(text)["data"]
        assert {row["kind"] for row in told["devices"]} == {"phone", "tv"}
        env = {"PATH": "/usr/bin:/bin", **told["environment"]}
        listed = await processes.run([told["hdc"], "list", "targets"], deadline=30, env=env)
        assert sorted(listed.text.split()) == sorted(row["serial"] for row in told["devices"])
    finally:
        await processes.stop(child)


async def test_its_kinds_are_listed() -> None:
    result = await processes.run([PROGRAM, "lab", "harmonyos", "--list"], deadline=60)
    assert [line.split()[0] for line in result.text.splitlines()] == list(KINDS)
