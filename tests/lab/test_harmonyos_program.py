"""The lab's programs `hdc` and `Emulator`: what they print beside captures, and how they mislead."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice_lab.harmonyos import Lab, write_hap

from . import check_hdc
from .adb import eventually
from .harmony import FIXTURES, Device, ask, emulator, hdc, sample

pytestmark = pytest.mark.anyio

EMULATORS = (
    {"name": "Pura 90"},
    {"name": "Silent", "silent": True},
    {"name": "Liar", "exit": 1, "seconds": 0.1},
    {"name": "By hand", "connects": False, "seconds": 0.1},
)


@pytest.fixture(scope="module")
async def harmony() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def phone(harmony: Lab) -> Device:
    return Device(harmony, (await harmony.start("phone"))[0])


def captured() -> list[tuple[list[str], bytes, bytes, str]]:
    """Runs of the real program: its words, stdout, stderr and status."""
    found = []
    for block in (FIXTURES / "hdc_cli_real_3.2.0f.txt").read_bytes().decode().split("$ hdc ")[1:]:
        head, _, body = block.partition("\n")
        parts = {name: re.findall(rf"^\[{name}\] (.*)$", body, re.MULTILINE) for name in ("stdout", "stderr", "rc")}
        out, err = ("".join(line + "\n" for line in parts[name]).encode() for name in ("stdout", "stderr"))
        found.append((head.split(), out, err, parts["rc"][0]))
    return found


async def test_without_a_device_it_prints_what_the_real_one_did() -> None:
    runs = captured()
    assert len(runs) > 5
    async with Lab() as lab:
        for words, out, err, status in runs:
            result = await hdc(lab, *words)
            assert (result.stdout, result.complaint.encode(), str(result.code)) == (out, err, status), words
        # captured, too: an empty long list is one odd row
        assert (await hdc(lab, "list", "targets", "-v")).stdout == b"[Empty]\r\thdc\n"


async def test_every_failure_ends_with_0_and_stands_on_stdout(phone: Device) -> None:
    for words in (["-t", "nope", "shell", "ls"], ["nonsense"], ["-t", phone.serial, "file", "recv", "/nope", "/tmp/x"]):
        result = await hdc(phone.lab, *words)
        assert result.code == 0 and re.match(r"\[Fail\]|Unknown operation command", result.text), (words, result.text)


async def test_words_of_a_shell_are_joined_and_the_status_is_lost(phone: Device) -> None:
    result = await hdc(phone.lab, "-t", phone.serial, "shell", "echo", "a  b;", "exit", "7")
    assert (result.code, result.text) == (0, "a b\n")


async def test_where_nobody_listens_it_begins_a_server_which_has_no_devices(phone: Device) -> None:
    spare = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = spare.extra(anyio.abc.SocketAttribute.local_port)
    await spare.aclose()
    result = await hdc(phone.lab, "-s", f"127.0.0.1:{port}", "list", "targets")
    assert (result.code, result.text.strip()) == (0, "[Empty]")
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        assert b"OHOS HDC" in await stream.receive()
    by_variable = await hdc(phone.lab, "list", "targets", OHOS_HDC_SERVER_PORT=str(port))
    assert by_variable.text.strip() == "[Empty]"


async def test_a_server_on_another_host_is_not_begun(phone: Device) -> None:
    result = await hdc(phone.lab, "-s", "192.0.2.77:8711", "list", "targets")
    assert (result.code, result.text, result.complaint) == (0, "", "Connect server failed\n")


async def test_nobody_reaches_the_port_that_is_everybodys(phone: Device) -> None:
    result = await hdc(phone.lab, "-s", "8710", "list", "targets")
    assert (result.code, result.text, result.complaint) == (0, "", "Connect server failed\n")


async def test_it_reads_and_writes_the_files_of_a_transfer_itself(phone: Device, tmp_path: Path) -> None:
    sent, got = tmp_path / "with space.bin", tmp_path / "got.bin"
    sent.write_bytes(bytes(range(256)) * 700)
    done = await hdc(phone.lab, "-t", phone.serial, "file", "send", str(sent), "/data/local/tmp/s.bin")
    expected = sample("file_and_install.txt", "hdc file send")
    assert re.sub(r"[\d.]+", "N", done.text).strip() == re.sub(r"[\d.]+", "N", expected).strip()
    done = await hdc(phone.lab, "-t", phone.serial, "file", "recv", "/data/local/tmp/s.bin", str(got))
    assert done.text.startswith("FileTransfer finish") and got.read_bytes() == sent.read_bytes()
    missing = await hdc(phone.lab, "-t", phone.serial, "file", "send", str(tmp_path / "none"), "/data/local/tmp/x")
    assert missing.text.startswith("[Fail]Error opening file: no such file or directory, path:")


async def test_a_refused_package_ends_in_the_same_words_as_one_that_is_taken(phone: Device, tmp_path: Path) -> None:
    good = write_hap(tmp_path / "entry-default-signed.hap", "com.example.shop")
    bad = write_hap(tmp_path / "entry-default-unsigned.hap", "com.example.bad", signed=False)
    for path, title in ((good, "hdc install ok"), (bad, "hdc install refused")):
        result = await hdc(phone.lab, "-t", phone.serial, "install", "-r", str(path))
        expected = sample("file_and_install.txt", title).replace("/home/dev", str(tmp_path))
        assert (result.code, result.text.replace("\r", "").strip()) == (0, expected.strip())
    installed = (await phone.lab.state(phone.serial))["packages"]
    assert "com.example.shop" in installed and "com.example.bad" not in installed
    result = await hdc(phone.lab, "-t", phone.serial, "uninstall", "com.example.shop")
    assert result.text.replace("\r", "").strip() == sample("file_and_install.txt", "hdc uninstall ok").strip()
    result = await hdc(phone.lab, "-t", phone.serial, "uninstall", "com.example.shop;id")
    assert "Incorrect package name or option" in result.text and result.text.endswith("AppMod finish\r\n")


async def test_a_server_of_another_version_is_told(phone: Device) -> None:
    await phone.lab.server(number="Ver: 3.1.0e")
    try:
        said = (await hdc(phone.lab, "checkserver")).text
        assert said == "Client version:Ver: 3.2.0f, server version:Ver: 3.1.0e\n"
    finally:
        await phone.lab.server(number="Ver: 3.2.0f")


async def test_a_silent_lab_is_begun_by_start() -> None:
    async with Lab(serving=False) as lab:
        await lab.start("phone")
        with pytest.raises(OSError):
            await anyio.connect_tcp("127.0.0.1", lab.port)
        assert (await hdc(lab, "start")).code == 0
        assert len((await ask(lab, "", "list targets")).decode().split()) == 1
        assert "Kill server finish" in (await hdc(lab, "kill")).text
        with pytest.raises(OSError):
            await anyio.connect_tcp("127.0.0.1", lab.port)


async def test_everything_holds_that_must_hold_on_a_real_device_too(phone: Device) -> None:
    """The script for a real device behind a real hdc; here with the program that stands for it."""
    await phone.lab.ask("log", serial=phone.serial, text="something")
    assert await check_hdc.check(phone.lab.hdc, phone.serial, phone.lab.environment) == []
    await phone.lab.fault(phone.serial, "answer", match="^uitest --version", text="none\n")
    await phone.lab.fault(phone.serial, "screen_cut")
    await phone.lab.fault(phone.serial, "screen_empty")
    try:
        found = await check_hdc.check(phone.lab.hdc, phone.serial, phone.lab.environment)
    finally:
        await phone.lab.clear(phone.serial)
    assert [line.partition(":")[0] for line in found] == ["refusals", "picture"]


# --- the Emulator manager ---


@pytest.fixture(scope="module")
async def manager() -> AsyncIterator[Lab]:
    async with Lab() as running:
        await running.emulators(*EMULATORS)
        yield running


async def keys(lab: Lab) -> list[str]:
    """Keys of what is connected."""
    return [row for row in (await ask(lab, "", "list targets")).decode().split() if row != "[Empty]"]


async def test_its_list_has_the_captured_fields_as_texts_and_prose_before(manager: Lab) -> None:
    text = (await emulator(manager, "-list", "-details")).text
    noise, _, rows = text.partition("[")
    assert noise.startswith("Config file not found: ")
    told = json.loads("[" + rows)
    assert told[0] == json.loads(sample("emulator_list_details.txt"))[0]
    assert (await emulator(manager, "-list")).text.split("\n")[0] == "Pura 90"


async def test_an_emulator_comes_up_under_a_key_that_has_nothing_of_its_name(manager: Lab) -> None:
    assert (await emulator(manager, "-start", "Pura 90")).code == 0

    async def up() -> list[str]:
        return await keys(manager)

    [key] = await eventually(up)
    assert key == "127.0.0.1:5555"
    device = Device(manager, key)
    assert (await device.shell("param get const.product.name")).strip() == "emulator"

    async def shown() -> bool:
        return "1320x2856" in await device.shell("hidumper -s RenderService -a screen")

    assert "render resolution=0x0" in await device.shell("hidumper -s RenderService -a screen") or await shown()
    await eventually(shown)
    assert json.loads((await emulator(manager, "-list", "-details")).text.partition("\n")[2])[0]["isRunning"] == "true"
    said = (await emulator(manager, "-instance", "Pura 90", "-rotation", "left")).text
    assert said == "Scenario simulation success.\n"
    assert (await manager.state(key))["rotation"] == 3
    await emulator(manager, "-stop", "Pura 90")

    async def gone() -> bool:
        return not await keys(manager)

    await eventually(gone)


async def test_its_status_says_nothing_either_way(manager: Lab) -> None:
    assert (await emulator(manager, "-start", "Silent")).code == 0
    assert (await emulator(manager, "-start", "Liar")).code == 1

    async def up() -> list[str]:
        return await keys(manager)

    assert len(await eventually(up)) == 1, "the one that left with 1 is up, the one that left with 0 is not"
    await emulator(manager, "-stop", "Liar")
    assert (await emulator(manager, "-start", "Nobody")).code == 0


async def test_one_may_have_to_be_connected_by_hand(manager: Lab) -> None:
    await emulator(manager, "-start", "By hand")
    running = [row["serial"] for row in await manager.devices()]

    async def there() -> list[str]:
        return [row["serial"] for row in await manager.devices() if row["serial"] not in running]

    [key] = await eventually(there) if not running else [running[-1]]
    assert key not in await keys(manager)
    assert (await ask(manager, "", f"tconn {key}")).decode() == "Connect OK\r\n"
    assert (await ask(manager, "", f"tconn {key}")).decode() == "[Info]Target is connected, repeat operation\r\n"
    assert key in await keys(manager)
    await emulator(manager, "-stop", "By hand")
