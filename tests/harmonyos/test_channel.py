"""The client of the hdc server: a typed verdict for each command, whatever the server, the device or the wire does."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from anydevice_harmonyos.hdc import HdcDevice, HdcServer, program
from anydevice_lab.harmonyos import Lab
from anydevice_schemas.errors import (
    CallTimeout,
    ConnectionLost,
    DeviceNotReady,
    DeviceOffline,
    DeviceUnauthorized,
    MachineUnreachable,
    PathNotFound,
    ToolMissing,
    UpstreamUnavailable,
)

from .rig import eventually, hdc, lines

pytestmark = pytest.mark.anyio
FIXTURES = Path(__file__).parents[1] / "fixtures" / "harmonyos"
REFUSALS = [
    ("establishing", DeviceNotReady),
    ("session_dead", DeviceOffline),
    ("daemon", DeviceOffline),
]


# --- commands and their status ---


@pytest.mark.parametrize("status", [0, 1, 7, 127, 255])
async def test_the_status_of_a_command_comes_back_though_hdc_has_none(lab: Lab, phone: str, status: int) -> None:
    done = await hdc(lab, phone).shell(f"echo one; echo two >&2; exit {status}")
    assert (done.status, done.text) == (status, "one\ntwo\n")


async def test_what_a_program_prints_is_never_taken_for_a_refusal_of_the_server(lab: Lab, phone: str) -> None:
    for said in ("[Fail]Not match target founded, check connect-key please", "error: x", "[Fail][E001005] Device", ""):
        done = await hdc(lab, phone).shell(f"printf '%s\\n' '{said}'")
        assert (done.status, done.text) == (0, said + "\n")


@pytest.mark.parametrize("word", ["a b", "'", '"', "$HOME `id`", "a\nb", "*", "-x", "é漢字🙂", "a;b|c&d", "\\", ""])
async def test_any_word_reaches_the_program_as_it_is(lab: Lab, phone: str, word: str) -> None:
    from anydevice_harmonyos.hdc import line

    done = await hdc(lab, phone).shell(line("printf", "<%s>", word))
    assert done.text == f"<{word}>"


async def test_a_large_output_is_whole_and_a_larger_one_keeps_its_end_and_tells_the_cut(lab: Lab, phone: str) -> None:
    line = "i=0; while [ $i -lt 3000 ]; do echo row-$i-0123456789012345678901234567890123456789; i=$((i+1)); done"
    whole = await hdc(lab, phone).shell(line, deadline=30.0)
    assert (whole.cut, len(whole.text.splitlines())) == (0, 3000)
    part = await hdc(lab, phone).shell(line, deadline=30.0, most=10_000)
    assert part.status == 0 and part.cut > 0
    assert whole.text.endswith(part.text) and part.text


async def test_calls_run_side_by_side_and_none_has_the_answer_of_another(lab: Lab, phone: str) -> None:
    found: dict[int, str] = {}

    async def one(number: int) -> None:
        found[number] = (await hdc(lab, phone).shell(f"echo {number}", deadline=30.0)).text

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(one, number)
    assert found == {number: f"{number}\n" for number in range(8)}


# --- the server refuses ---


@pytest.mark.parametrize(("fault", "error"), REFUSALS)
async def test_a_refusal_has_a_type_also_when_it_comes_before_the_command_could_be_sent(
    lab: Lab, phone: str, fault: str, error: type[Exception]
) -> None:
    await lab.fault(phone, fault)
    with pytest.raises(error):
        await hdc(lab, phone).shell("true")


async def test_a_key_nobody_has_is_a_device_that_is_offline(lab: Lab, phone: str) -> None:
    with pytest.raises(DeviceOffline) as told:
        await hdc(lab, "NOBODY").shell("true")
    assert told.value.details["fix"]


async def test_a_device_that_does_not_trust_this_host_says_what_to_do(lab: Lab, phone: str) -> None:
    (stranger,) = await lab.start("unauthorized")
    with pytest.raises(DeviceUnauthorized) as told:
        await hdc(lab, stranger).shell("true")
    assert "trust" in told.value.details["fix"]
    await lab.stop(stranger)


async def test_a_server_that_greets_with_its_version_is_spoken_with(lab: Lab, phone: str) -> None:
    await lab.server(version=True)
    try:
        assert (await hdc(lab, phone).shell("echo hi")).text == "hi\n"
    finally:
        await lab.server(version=False)


# --- the wire breaks ---


async def test_a_command_that_never_answers_ends_with_the_deadline(lab: Lab, phone: str) -> None:
    await lab.fault(phone, "hang", match="echo never")
    began = time.monotonic()
    with pytest.raises(CallTimeout):
        await hdc(lab, phone).shell("echo never", deadline=0.3)
    assert time.monotonic() - began < 15
    assert (await hdc(lab, phone).shell("echo next")).text == "next\n"


async def test_a_frame_that_breaks_off_is_a_lost_connection(lab: Lab, phone: str) -> None:
    await lab.fault(phone, "disconnect", match="echo half", times=1)
    with pytest.raises(ConnectionLost):
        await hdc(lab, phone).shell("echo half")


async def test_an_answer_that_ends_before_its_status_is_no_success(lab: Lab, phone: str) -> None:
    await lab.fault(phone, "cut", match="echo part", text="part\n", times=1)
    with pytest.raises(ConnectionLost) as told:
        await hdc(lab, phone).shell("echo part")
    assert told.value.details["said"] == "part\n"


async def test_a_call_that_is_cancelled_ends_its_command_on_the_device(lab: Lab, phone: str) -> None:
    with anyio.move_on_after(0.5):
        await hdc(lab, phone).shell("sleep 61", deadline=60.0)

    async def gone() -> bool:
        return not await lab.ask("process", serial=phone)

    await eventually(gone)


async def test_no_server_is_told_with_what_to_do_and_is_not_a_device_that_is_gone(lab: Lab) -> None:
    server = HdcServer("127.0.0.1", _unused())
    with pytest.raises(UpstreamUnavailable) as told:
        await server.rows()
    assert told.value.details["enable_hint"] == "Run hdc start."


@pytest.mark.parametrize(
    "greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff\xff\xff\xff", b"\0\0\0\x2cADB" + bytes(41)]
)
async def test_another_program_at_the_port_is_told_from_a_server(greeting: bytes) -> None:
    async with _listening(greeting) as port:
        with pytest.raises(UpstreamUnavailable) as told:
            await HdcServer("127.0.0.1", port).rows()
    assert "OHOS_HDC_SERVER_PORT" in told.value.details["enable_hint"]


async def test_a_server_that_accepts_and_says_nothing_does_not_hold_a_caller(lab: Lab, phone: str) -> None:
    await lab.server_fault("mute")
    try:
        with pytest.raises(CallTimeout):
            await HdcServer("127.0.0.1", lab.port).rows(deadline=0.3)
    finally:
        await lab.server_fault("none")
    assert await HdcServer("127.0.0.1", lab.port).rows()


async def test_what_the_client_sends_is_what_the_captured_one_sent() -> None:
    golden = json.loads((FIXTURES / "hdc_channel_frames.json").read_text())
    hello = bytes.fromhex(golden["server_hello_hex"])
    heard: list[bytes] = []

    async def serve(stream: SocketStream) -> None:
        async with stream:
            await stream.send(len(hello).to_bytes(4, "big") + hello)
            reader = BufferedByteReceiveStream(stream)
            for _ in range(2):
                size = int.from_bytes(await reader.receive_exactly(4), "big")
                heard.append(await reader.receive_exactly(size))

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        server = HdcServer("127.0.0.1", int(listener.extra(anyio.abc.SocketAttribute.local_port)))
        assert await server.ask("list targets -v", key="127.0.0.1:5555") == ""
        group.cancel_scope.cancel()
    assert heard[0].hex() == golden["client_reply_hex_key_127.0.0.1:5555"]
    assert heard[1].decode() in golden["commands_seen"]


async def test_a_program_that_prints_nothing_but_on_stderr_has_reached_no_server(tmp_path: Path) -> None:
    """As the real one does: its help, and `Connect server failed`, both with status 0."""
    path = tmp_path / "hdc"
    for said in ((FIXTURES / "hdc_help_3.2.0f.txt").read_text(), "Connect server failed\n"):
        (tmp_path / "said").write_text(said)
        path.write_text(f"#!/bin/sh\ncat {tmp_path}/said >&2\n")
        path.chmod(0o755)
        with pytest.raises(UpstreamUnavailable):
            await program.run(str(path), ["list", "targets"], port=_unused(), deadline=20.0)


# --- files ---


async def test_files_go_and_come_by_names_with_spaces(lab: Lab, phone: str, tmp_path: Path) -> None:
    source, target = tmp_path / "a b.bin", tmp_path / "c d.bin"
    source.write_bytes(os.urandom(100_000))
    device = hdc(lab, phone)
    sent = await device.send(str(source), "/data/local/tmp/x.bin", deadline=20.0)
    assert (sent.ok, sent.size) == (True, 100_000)
    await device.receive("/data/local/tmp/x.bin", str(target), deadline=20.0)
    assert target.read_bytes() == source.read_bytes()


async def test_a_file_that_is_not_there_is_told_whichever_side_it_is_on(lab: Lab, phone: str, tmp_path: Path) -> None:
    device = hdc(lab, phone)
    with pytest.raises(PathNotFound):
        await device.receive("/data/local/tmp/nope", str(tmp_path / "x"), deadline=10.0)
    with pytest.raises(PathNotFound):
        await device.send(str(tmp_path / "nope"), "/data/local/tmp/x", deadline=10.0)


# --- a server on another host, through the program hdc ---


async def test_a_server_elsewhere_has_files_carried_by_the_program_and_commands_by_the_channel(
    lab: Lab, phone: str, tmp_path: Path
) -> None:
    source = tmp_path / "there.txt"
    source.write_bytes(b"over the sea")
    async with _elsewhere(lab) as server:
        assert not server.here
        device = HdcDevice(server, phone, {}, _program(tmp_path, server, lab))
        assert (await device.shell("echo hi")).text == "hi\n"
        await lab.heard(clear=True)
        await device.send(str(source), "/data/local/tmp/there.txt", deadline=30.0)
        assert any("remote -cwd" in line for line in await lines(lab, phone)), "the program carries the bytes itself"
        await device.receive("/data/local/tmp/there.txt", str(tmp_path / "back.txt"), deadline=30.0)
        with pytest.raises(PathNotFound):
            await device.receive("/data/local/tmp/nope", str(tmp_path / "nope"), deadline=30.0)
    assert (tmp_path / "back.txt").read_bytes() == b"over the sea"


async def test_a_server_elsewhere_that_is_silent_is_a_machine_that_cannot_be_reached(lab: Lab) -> None:
    with pytest.raises(MachineUnreachable):
        await HdcServer("127.0.0.2", _unused()).rows()
    with pytest.raises(MachineUnreachable):
        await program.run(lab.hdc, ["-s", f"127.0.0.2:{_unused()}", "list", "targets"], port=_unused(), deadline=20.0)


async def test_without_the_program_nothing_is_carried_and_that_is_said(lab: Lab, phone: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    async with _elsewhere(lab) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", str(tmp_path))
            with pytest.raises(ToolMissing):
                await HdcDevice(server, phone).send(str(tmp_path / "x"), "/data/local/tmp/x", deadline=10.0)


# --- where hdc is ---


def test_hdc_is_found_where_the_kits_put_it_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    places = {
        "HDC_SDK_PATH": tmp_path / "sdk" / "hdc",
        "DEVECO_SDK_HOME": tmp_path / "deveco" / "default" / "openharmony" / "toolchains" / "hdc",
        "HARMONYOS_COMMAND_LINE_TOOLS": tmp_path / "clt" / "sdk" / "default" / "openharmony" / "toolchains" / "hdc",
        "OHOS_SDK_NATIVE": tmp_path / "ohos" / "toolchains" / "hdc",
        "": tmp_path / "bin" / "hdc",
    }
    said = {
        "HDC_SDK_PATH": str(tmp_path / "sdk"), "DEVECO_SDK_HOME": str(tmp_path / "deveco"),
        "HARMONYOS_COMMAND_LINE_TOOLS": str(tmp_path / "clt"), "OHOS_SDK_NATIVE": str(tmp_path / "ohos" / "native"),
    }  # fmt: skip
    assert program.find(said) is None
    for name, path in reversed(places.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        assert program.find(said) == str(path), name
    assert program.find(said, str(places["OHOS_SDK_NATIVE"])) == str(places["OHOS_SDK_NATIVE"]), "a setting goes first"
    places["HDC_SDK_PATH"].chmod(0o644)
    assert program.find(said) == str(places["DEVECO_SDK_HOME"]), "what cannot be run is none"


@pytest.mark.parametrize("port", ["", "no such value \u2603", "\u00b2", "0", "70000", "-1", "1e3"])
def test_a_port_that_cannot_be_one_leads_to_the_server_of_the_settings_and_to_no_other(port: str) -> None:
    server = HdcServer.of({"OHOS_HDC_SERVER_PORT": port}, "127.0.0.1:41234")
    assert (server.host, server.port) == ("127.0.0.1", 41234)
    assert HdcServer.of({"OHOS_HDC_SERVER_PORT": "41235"}, "10.0.0.1:41234") == HdcServer("127.0.0.1", 41235)


def _program(folder: Path, server: HdcServer, lab: Lab) -> str:
    """An `hdc` that takes the server of the lab for one on another host, and no other for it."""
    path = folder / "far" / "hdc"
    path.parent.mkdir()
    path.write_text(
        f'#!/bin/sh\n[ "$1 $2" = "-s {server.address}" ] || exit 9\nshift 2\n'
        f'exec {lab.hdc} -s 127.0.0.1:{lab.port} "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


def _unused() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def _listening(greeting: bytes) -> AsyncIterator[int]:
    """Something else than an hdc server, which says this."""

    async def serve(stream: SocketStream) -> None:
        async with stream:
            await stream.send(greeting)
            await anyio.sleep(5)

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        yield int(listener.extra(anyio.abc.SocketAttribute.local_port))
        group.cancel_scope.cancel()


@asynccontextmanager
async def _elsewhere(lab: Lab) -> AsyncIterator[HdcServer]:
    """The lab's server at an address that is not this host's own as clients see it."""

    async def serve(stream: SocketStream) -> None:
        async def pass_on(source: SocketStream, target: SocketStream) -> None:
            try:
                async for data in source:
                    await target.send(data)
                await target.send_eof()
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                await anyio.aclose_forcefully(target)

        async with stream, await anyio.connect_tcp("127.0.0.1", lab.port) as inner, anyio.create_task_group() as both:
            both.start_soon(pass_on, stream, inner)
            both.start_soon(pass_on, inner, stream)

    async with await anyio.create_tcp_listener(local_host="127.0.0.2") as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        yield HdcServer("127.0.0.2", int(listener.extra(anyio.abc.SocketAttribute.local_port)))
        group.cancel_scope.cancel()
