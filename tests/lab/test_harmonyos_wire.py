"""The hdc channel of the lab, held against the captured frames, byte by byte."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice_lab.harmonyos import Lab, write_hap

from .adb import eventually
from .harmony import FIXTURES, Device, ask, connected, sample

pytestmark = pytest.mark.anyio

GOLDEN = json.loads((FIXTURES / "hdc_channel_frames.json").read_text())
NOBODY = b"[Fail]Not match target founded, check connect-key please\r\n"
CHOOSE = b"[Fail]ExecuteCommand need connect-key? please confirm a device by help info\r\n"
OURS = "com.x.y"


@pytest.fixture(scope="module")
async def harmony() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def one_phone(harmony: Lab) -> Device:
    return Device(harmony, (await harmony.start("phone"))[0])


@pytest.fixture
async def phone(one_phone: Device) -> AsyncIterator[Device]:
    """The only device at the start of each test; without faults."""
    yield one_phone
    await one_phone.lab.clear(one_phone.serial)
    for row in await one_phone.lab.devices():
        if row["serial"] != one_phone.serial:
            await one_phone.lab.stop(row["serial"])
    await one_phone.lab.server_fault("none")


async def test_the_greeting_is_the_captured_one_save_for_its_number(phone: Device) -> None:
    captured = bytes.fromhex(GOLDEN["server_hello_hex"])
    async with connected(phone.lab) as wire:
        first = await wire.frame()
    async with connected(phone.lab) as wire:
        second = await wire.frame()
    assert first is not None and second is not None
    assert len(first) == len(captured) == GOLDEN["client_reply_len"]
    assert first[:12] == captured[:12] and first[16:] == captured[16:]
    assert first[12:16] != second[12:16], "each channel has a number of its own"


async def test_the_captured_answer_of_a_client_is_taken_for_a_key(phone: Device) -> None:
    [serial] = await phone.lab.start({"name": "emulator", "key": "127.0.0.1:5555"})
    async with connected(phone.lab) as wire:
        await wire.frame()
        await wire.send(bytes.fromhex(GOLDEN["client_reply_hex_key_127.0.0.1:5555"]))
        await wire.send(b"shell echo hi\0")
        assert await wire.rest() == b"hi\n"
    assert serial == "127.0.0.1:5555"


async def test_every_captured_command_is_known_with_and_without_its_end(phone: Device) -> None:
    """Those of the server itself take no key. What has an end of its own kind is tried elsewhere."""
    for command in GOLDEN["commands_seen"]:
        if command.startswith(("target boot", "file", "install", "tconn", "hilog")):
            continue
        key = "" if command.startswith(("list", "fport ls", "checkserver")) else phone.serial
        for line in (command, command.rstrip("\0")):
            said = await ask(phone.lab, key, line)
            assert b"Unknown command" not in said and not said.startswith(NOBODY[:10]), (line, said)
    await ask(phone.lab, "", "fport rm tcp:1000 tcp:8012")
    assert await ask(phone.lab, "", "nonsense") == b"[Fail]Unknown command...\r\n"


async def test_a_key_that_leads_nowhere_is_refused_before_any_command(phone: Device) -> None:
    async with connected(phone.lab) as wire:
        await wire.hello("nope")
        assert await wire.rest() == NOBODY


async def test_any_is_the_only_device_there_is(phone: Device) -> None:
    assert await ask(phone.lab, "any", "shell echo one") == b"one\n"
    await phone.lab.start("tv")
    assert await ask(phone.lab, "any", "shell echo one") == CHOOSE
    assert await ask(phone.lab, "", "shell echo one") == CHOOSE


async def test_an_unauthorised_or_offline_device_is_listed_and_does_not_count_as_the_only_one(phone: Device) -> None:
    [waits, away] = await phone.lab.start("unauthorized", "offline")
    rows = (await ask(phone.lab, "", "list targets")).decode().splitlines()
    assert sorted(rows) == sorted([phone.serial, f"{waits}\tUnauthorized"])
    rows = (await ask(phone.lab, "", "list targets -v")).decode().splitlines()
    assert f"{away}\t\tUSB\tOffline\tunknown..." in rows
    assert await ask(phone.lab, away, "shell id") == b"[Fail][E001005] Device not found or connected\r\n"
    assert (await ask(phone.lab, waits, "shell id")).startswith(b"[Fail][E000002]:The device unauthorized.\r\n")


async def test_lists_have_the_captured_columns(phone: Device) -> None:
    [first] = await phone.lab.start({"name": "emulator", "key": "127.0.0.1:5555"})
    captured = [line.split("\t")[:-1] for line in sample("list_targets_v.txt").splitlines()]
    rows = [line.split("\t") for line in (await ask(phone.lab, "", "list targets -v")).decode().splitlines()]
    assert rows[0] == captured[0]
    assert rows[1][1:4] == captured[1][1:4] and rows[1][0] == phone.serial
    assert (await ask(phone.lab, "", "list targets")).decode() == f"{first}\n{phone.serial}\n"


async def test_alive_keeps_a_channel_open_for_the_list(phone: Device) -> None:
    async with connected(phone.lab) as wire:
        await wire.hello("")
        await wire.send(b"alive")
        for _ in range(3):
            await wire.send(b"list targets")
            assert await wire.frame() == f"{phone.serial}\n".encode()
        [tv] = await phone.lab.start("tv")
        await wire.send(b"list targets")
        assert await wire.frame() == f"{tv}\n{phone.serial}\n".encode()


async def test_a_server_of_another_build_greets_with_its_version(phone: Device) -> None:
    await phone.lab.server(version=True, number="Ver: 3.1.0e")
    try:
        async with connected(phone.lab) as wire:
            greeting = await wire.hello(phone.serial)
            await wire.send(b"shell echo hi")
            assert await wire.rest() == b"hi\n"
        assert (len(greeting), greeting[44:].rstrip(b"\0")) == (108, b"Ver: 3.1.0e")
        assert await ask(phone.lab, "", "checkserver") == struct.pack("<H", 13) + b"Ver: 3.1.0e"
    finally:
        await phone.lab.server(version=False, number="Ver: 3.2.0f")


async def test_an_old_server_says_some_things_otherwise(phone: Device, tmp_path: Path) -> None:
    package = write_hap(tmp_path / "a.hap", "com.example.old")
    await phone.shell("echo text > /data/local/tmp/old.txt")
    await phone.lab.server(number="Ver: 2.0.0a")
    try:
        rows = await ask(phone.lab, "", "list targets -v")
        assert rows.decode() == f"{phone.serial}\t\tUSB\tConnected\tlocalhost\thdc\n"
        assert f"path:{package}, queuesize:0, msg:install bundle successfully." in await phone.ask(f"install {package}")
        assert "path:, queuesize:0, msg:uninstall bundle successfully." in await phone.ask("uninstall com.example.old")
        first, second = (await phone.ask(f"file recv /data/local/tmp/old.txt {tmp_path}/b")).splitlines()
        assert first.endswith("] HdcFile::TransferSummary success") and second.startswith("FileTransfer finish")
    finally:
        await phone.lab.server(number="Ver: 3.2.0f")


async def test_a_shell_gives_both_outputs_in_one_and_no_status(phone: Device) -> None:
    said = await ask(phone.lab, phone.serial, "shell echo out; echo err >&2; exit 3")
    assert said == b"out\nerr\n"
    assert await phone.run("(exit 3)") == (3, "")


async def test_a_shell_has_no_stdin(phone: Device) -> None:
    assert await ask(phone.lab, phone.serial, "shell cat; echo end") == b"end\n"


async def test_a_client_that_leaves_ends_its_command(phone: Device) -> None:
    async with connected(phone.lab) as wire:
        await wire.hello(phone.serial)
        await wire.send(b"shell echo up; sleep 600")
        assert await wire.frame() == b"up\n"
        assert await phone.lab.ask("process", serial=phone.serial)

    async def ended() -> bool:
        return not await phone.lab.ask("process", serial=phone.serial)

    await eventually(ended)


async def test_a_log_never_ends_by_itself(phone: Device) -> None:
    await phone.lab.ask("log", serial=phone.serial, text="before")
    async with connected(phone.lab) as wire:
        await wire.hello(phone.serial)
        await wire.send(b"hilog")
        assert b"before" in (await wire.frame() or b"")
        await phone.lab.ask("log", serial=phone.serial, text="after")
        assert b"after" in (await wire.frame() or b"")


# --- files, read and written by the client ---

INIT, CHECK, BEGIN, DATA, FINISH = 3000, 3001, 3002, 3003, 3004


def varint(value: int) -> bytes:
    """A number as protocol buffers write it."""
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def told(size: int, path: str, name: str) -> bytes:
    """What is told of a file before its data."""
    texts = b"".join(varint(n << 3 | 2) + varint(len(t)) + t.encode() for n, t in ((5, path), (6, name)))
    return (varint(1 << 3) + varint(size) if size else b"") + texts


def piece(index: int, data: bytes) -> bytes:
    """One frame of data: a head in 64 bytes, then the data."""
    head = b"".join(varint(n << 3) + varint(v) for n, v in ((1, index), (3, len(data)), (4, len(data))) if v)
    return struct.pack("<H", DATA) + head.ljust(64, b"\0") + data


async def test_a_client_sends_a_file_in_frames(phone: Device) -> None:
    data = os.urandom(130_000)
    async with connected(phone.lab) as wire:
        await wire.hello(phone.serial)
        await wire.send(b'file send remote -cwd "/cwd/" /abs/local /data/local/tmp/sent.bin\0')
        first = await wire.frame()
        assert first is not None and struct.unpack("<H", first[:2]) == (INIT,)
        assert first[2:] == b'-cwd "/cwd/" /abs/local /data/local/tmp/sent.bin'
        await wire.send(struct.pack("<H", CHECK) + told(len(data), "/data/local/tmp/sent.bin", "local"))
        assert await wire.frame() == struct.pack("<H", BEGIN)
        for index in range(0, len(data), 49_152):
            await wire.send(piece(index, data[index : index + 49_152]))
        assert await wire.frame() == struct.pack("<H", FINISH) + b"\1"
        await wire.send(struct.pack("<H", FINISH) + b"\0")
        said = (await wire.frame() or b"").decode()
        assert said.startswith(f"FileTransfer finish, Size:{len(data)}, File count = 1, time:") and "\r\n" in said
    assert (await phone.journal("push"))[-1]["size"] == len(data)
    status, digest = await phone.run("cksum /data/local/tmp/sent.bin")
    assert (status, digest.split()[1]) == (0, str(len(data)))


async def test_a_client_gets_a_file_in_frames(phone: Device) -> None:
    await phone.shell("printf 'a file' > /data/local/tmp/got.txt")
    async with connected(phone.lab) as wire:
        await wire.hello(phone.serial)
        await wire.send(b'file recv remote -cwd "/cwd/" /data/local/tmp/got.txt /abs/local\0')
        check = await wire.frame()
        assert check is not None and struct.unpack("<H", check[:2]) == (CHECK,) and b"got.txt" in check
        await wire.send(struct.pack("<H", BEGIN))
        data = await wire.frame()
        assert data is not None and struct.unpack("<H", data[:2]) == (DATA,) and data[66:] == b"a file"
        await wire.send(struct.pack("<H", FINISH) + b"\1")
        assert await wire.frame() == struct.pack("<H", FINISH) + b"\0"


async def test_a_file_that_is_missing_is_told_in_the_captured_words(phone: Device) -> None:
    said = await ask(phone.lab, phone.serial, "file recv /data/local/tmp/nope /tmp/never")
    expected = sample("file_and_install.txt", "hdc file recv of a missing path").strip()
    assert said.decode() == expected + "\r\n"


# --- forwards ---


async def test_a_forward_carries_bytes_and_is_listed_in_the_captured_words(phone: Device) -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    there = listener.extra(anyio.abc.SocketAttribute.local_port)
    spare = await anyio.create_tcp_listener(local_host="127.0.0.1")
    here = spare.extra(anyio.abc.SocketAttribute.local_port)
    await spare.aclose()

    async def echo(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.send((await stream.receive()).upper())

    made, row, gone = sample("file_and_install.txt", "hdc fport tcp:7913").splitlines()[:3]
    rule = f"tcp:{here} tcp:{there}"
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve, echo)
        assert (await phone.ask(f"fport {rule}")).strip() == made
        async with await anyio.connect_tcp("127.0.0.1", here) as stream:
            await stream.send(b"abc")
            assert await stream.receive() == b"ABC"
        listed = (await ask(phone.lab, "", "fport ls")).decode().strip()
        assert listed == row.replace("FMR0000000000001", phone.serial).replace("tcp:7913 tcp:7912", rule)
        assert (await phone.ask(f"fport {rule}")).startswith("[Fail]")
        said = (await ask(phone.lab, "", f"fport rm {rule}")).decode().strip()
        assert said == gone.replace("tcp:7913 tcp:7912", rule)
        assert (await ask(phone.lab, "", "fport ls")) == b"[Empty]\r\n"
        with pytest.raises(OSError):
            await anyio.connect_tcp("127.0.0.1", here)
        said = (await ask(phone.lab, "", f"fport rm {rule}")).decode()
        assert said.startswith("[Fail]Remove forward ruler failed, ruler is not exist")
        group.cancel_scope.cancel()
    await listener.aclose()


# --- what goes wrong ---


async def test_a_server_that_is_another_program_or_mute_or_closes_at_once(phone: Device) -> None:
    lab = phone.lab
    await lab.server_fault("wrong", times=1)
    async with connected(lab) as wire:
        with anyio.move_on_after(10):
            assert (await wire.stream.receive()).startswith(b"HTTP/1.1 400")
    await lab.server_fault("refuse", times=1)
    async with connected(lab) as wire:
        assert await wire.frame() is None
    await lab.server_fault("mute", times=1)
    async with connected(lab) as wire:
        with anyio.move_on_after(0.2) as waited:
            await wire.frame()
        assert waited.cancelled_caught


async def test_a_command_hangs_is_cut_or_ends_in_the_middle_of_a_frame(phone: Device) -> None:
    await phone.lab.fault(phone.serial, "disconnect", match="echo", times=1)
    async with connected(phone.lab) as wire:
        await wire.hello(phone.serial)
        await wire.send(b"shell echo hi")
        data = await wire.stream.receive()
        assert struct.unpack(">I", data[:4])[0] > len(data) - 4
        assert await wire.frame() is None
    await phone.lab.fault(phone.serial, "cut", match="echo", text="half of", times=1)
    assert await phone.ask("shell echo hi") == "half of"
    await phone.lab.fault(phone.serial, "hang", match="echo", times=1)
    async with connected(phone.lab) as wire:
        await wire.hello(phone.serial)
        await wire.send(b"shell echo hi")
        with anyio.move_on_after(0.2) as waited:
            await wire.frame()
        assert waited.cancelled_caught
    assert await phone.ask("shell echo hi") == "hi\n", "the next command is answered"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("session_dead", "[Fail]Bind tartget session is dead\r\n"),
        ("establishing", "[Fail][E000004]:The communication channel is being established.\r\n"),
        ("daemon", "[Fail][E002106] Failed to communicate with daemon\r\n"),
    ],
)
async def test_a_session_that_is_broken_is_told(phone: Device, fault: str, said: str) -> None:
    await phone.lab.fault(phone.serial, fault, times=1)
    assert (await phone.ask("shell echo hi")).startswith(said)
    assert await phone.ask("shell echo hi") == "hi\n"


async def test_what_comes_late_comes_after_everything_else(phone: Device) -> None:
    await phone.lab.fault(phone.serial, "late", match="echo", text="[Fail]late", times=1)
    assert await phone.ask("shell echo hi") == "hi\n[Fail]late\r\n"


async def test_a_server_that_ends_loses_its_forwards_and_comes_back_on_its_port(phone: Device) -> None:
    spare = await anyio.create_tcp_listener(local_host="127.0.0.1")
    here = spare.extra(anyio.abc.SocketAttribute.local_port)
    await spare.aclose()
    assert "OK" in await phone.ask(f"fport tcp:{here} tcp:1")
    await phone.lab.server(up=False)
    with pytest.raises(OSError):
        await anyio.connect_tcp("127.0.0.1", phone.lab.port)
    await phone.lab.server(up=True)
    assert await ask(phone.lab, "", "fport ls") == b"[Empty]\r\n"
    assert await phone.ask("shell echo hi") == "hi\n"
