"""The adb transport against a real adb server, and devices of the lab behind it."""

from __future__ import annotations

import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from anydevice_adb import AdbDevice, AdbServer, line, quote
from anydevice_adb.compat import FastClient
from anydevice_adb.wire import Closed
from anydevice_lab.android import Lab
from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    ConnectionLost,
    DeviceOffline,
    DeviceUnauthorized,
    InvalidArgument,
    MachineUnreachable,
    PathNotFound,
    Refused,
    UpstreamUnavailable,
)

pytestmark = pytest.mark.anyio
WITHIN = 20.0
MEGABYTE = bytes(range(256)) * 4096


async def eventually(holds: Callable[[], Awaitable[Any]]) -> Any:
    until = time.monotonic() + WITHIN
    while not (found := await holds()) and time.monotonic() < until:
        await anyio.sleep(0.05)
    assert found
    return found


async def nothing_runs(lab: Lab, device: AdbDevice) -> None:
    async def none() -> bool:
        return not await lab.ask("process", serial=device.serial)

    await eventually(none)


# --- commands ---


async def test_status_and_both_outputs_are_apart(phone: AdbDevice) -> None:
    done = await phone.shell("echo out; echo err >&2; exit 7")
    assert (done.status, done.stdout, done.stderr) == (7, b"out\n", b"err\n")


async def test_output_is_what_was_written_byte_by_byte(phone: AdbDevice) -> None:
    done = await phone.shell("printf 'a\\r\\n\\000\\377'")
    assert done.stdout == b"a\r\n\x00\xff"


async def test_stdin_of_a_megabyte_arrives_whole(phone: AdbDevice) -> None:
    done = await phone.shell("cat", stdin=MEGABYTE, deadline=60, most=2 << 20)
    assert (done.status, done.stdout == MEGABYTE) == (0, True)


async def test_a_command_that_does_not_read_its_stdin_ends_all_the_same(phone: AdbDevice) -> None:
    done = await phone.shell("exit 3", stdin=MEGABYTE, deadline=60)
    assert done.status == 3


async def test_more_output_than_is_kept_is_counted(phone: AdbDevice) -> None:
    done = await phone.shell("head -c 100000 /dev/zero; echo end >&2", most=1000)
    assert (len(done.stdout), done.cut, done.stderr) == (1000, 99000, b"end\n")


async def test_a_command_line_of_any_length_runs_and_leaves_nothing_behind(phone: AdbDevice) -> None:
    done = await phone.shell(f"echo {quote('x' * 200_000)} | wc -c; exit 4", deadline=60)
    assert (done.text.strip(), done.status) == ("200001", 4)
    assert [entry.name for entry in await phone.list("/data/local/tmp") if entry.name.endswith(".sh")] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "it's",
        '"$HOME" `id` $(id)',
        "a\nb\tc",
        "*?[x] !x #x",
        "-n",
        "%s",
        "foo; rm -rf /sdcard",
        "Grüße 🎉",
        "\\",
        "'",
    ],
)
async def test_a_quoted_word_reaches_the_program_as_it_is(phone: AdbDevice, text: str) -> None:
    done = await phone.shell(line("printf", "%s", text))
    assert done.stdout == text.encode()


async def test_a_word_no_command_line_can_carry_is_refused() -> None:
    for text in ("a\0b", "half \ud83d"):
        with pytest.raises(InvalidArgument):
            quote(text)


async def test_a_late_command_is_ended_on_the_device(lab: Lab, phone: AdbDevice) -> None:
    with pytest.raises(CallTimeout):
        await phone.shell("sleep 300", deadline=1.0)
    await nothing_runs(lab, phone)


async def test_a_cancelled_command_is_ended_on_the_device(lab: Lab, phone: AdbDevice) -> None:
    async def runs() -> bool:
        return bool(await lab.ask("process", serial=phone.serial))

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: phone.shell("sleep 300; echo late", deadline=200))
        await eventually(runs)
        group.cancel_scope.cancel()
    await nothing_runs(lab, phone)


async def test_a_stream_that_is_left_is_ended_on_the_device(lab: Lab, phone: AdbDevice) -> None:
    seen = b""
    async with phone.stream("while true; do echo tick; sleep 0.05; done") as stream:
        async for piece in stream:
            seen += piece
            if seen.count(b"tick") >= 3:
                break
    await nothing_runs(lab, phone)


async def test_a_stream_that_ends_by_itself_tells_its_status(phone: AdbDevice) -> None:
    async with phone.stream("echo a; echo b >&2; exit 9") as stream:
        out = b"".join([piece async for piece in stream])
    assert (out, stream.complaint, stream.status) == (b"a\n", b"b\n", 9)


async def test_an_end_without_a_status_is_a_lost_connection_and_not_success(lab: Lab, phone: AdbDevice) -> None:
    await lab.fault(phone.serial, "cut", match="half", text="half of", times=1)
    with pytest.raises(ConnectionLost):
        await phone.shell("echo half of it")
    await lab.fault(phone.serial, "cut", match="half", text="half of", times=1)
    with pytest.raises(Closed):
        async with phone.stream("echo half of it") as stream:
            _ = [piece async for piece in stream]


async def test_eight_commands_at_once_get_their_own_answers(phone: AdbDevice) -> None:
    answers: dict[int, str] = {}

    async def one(number: int) -> None:
        answers[number] = (await phone.shell(f"echo {number}; sleep 0.2; echo {number}", deadline=60)).text

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(one, number)
    assert answers == {number: f"{number}\n{number}\n" for number in range(8)}


async def test_a_device_from_before_the_newer_protocol_tells_status_and_output(lab: Lab, server: AdbServer) -> None:
    old = AdbDevice(server, (await lab.start("ancient-phone"))[0])
    assert "shell_v2" not in await old.features()
    done = await old.shell("echo out; echo err >&2; exit 7 # all of it")
    assert (done.status, done.stdout) == (7, b"out\nerr\n")
    done = await old.shell(f"echo {quote('y' * 100_000)} | wc -c", deadline=60)
    assert done.text.strip() == "100001"


# --- who cannot be reached ---


async def test_no_server_is_said_with_the_way_to_start_one() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(UpstreamUnavailable) as caught:
        await AdbServer("127.0.0.1", port).devices()
    assert caught.value.details["enable_hint"] == f"Run: adb -P {port} start-server"
    with pytest.raises(UpstreamUnavailable):
        await AdbDevice(AdbServer("127.0.0.1", port), "x").shell("true")


async def test_a_server_of_another_machine_is_unreachable_and_never_started() -> None:
    with pytest.raises(MachineUnreachable):
        await AdbServer("no-such-host.invalid", 5).devices()
    with pytest.raises(MachineUnreachable):
        await AdbServer("no-such-host.invalid", 5).start()


async def test_a_port_that_stays_silent_costs_no_more_than_the_deadline() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(CallTimeout):
            await AdbServer("127.0.0.1", silent.getsockname()[1]).devices(deadline=0.5)


async def test_something_that_is_no_adb_server_is_not_taken_for_one() -> None:
    async def other(stream: Any) -> None:
        async with stream:
            await stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve, other)
        with pytest.raises(ConnectionLost):
            await AdbServer("127.0.0.1", listener.extra(anyio.abc.SocketAttribute.local_port)).version()
        group.cancel_scope.cancel()
    await listener.aclose()


async def test_devices_that_cannot_be_driven_are_told_apart(lab: Lab, server: AdbServer) -> None:
    with pytest.raises(DeviceOffline):
        await AdbDevice(server, "no-such-device").shell("true")
    unauthorized, offline = await lab.start("unauthorized", "offline")
    states = {row.serial: row.state for row in await server.devices()}
    assert (states[unauthorized], states[offline]) == ("unauthorized", "offline")
    with pytest.raises(DeviceOffline):
        await AdbDevice(server, offline).shell("true")
    device = AdbDevice(server, unauthorized)
    with pytest.raises(DeviceUnauthorized):
        await device.shell("true")
    await lab.approve(unauthorized)

    async def works() -> bool:
        try:
            return (await device.shell("true")).status == 0
        except AnydeviceError:
            return False

    await eventually(works)


async def test_a_device_that_comes_and_goes_is_told_to_who_tracks(lab: Lab, server: AdbServer) -> None:
    async with anyio.create_task_group() as group:
        seen: list[set[str]] = []

        async def follow() -> None:
            async for rows in server.track():
                ready = {row.serial for row in rows if row.state == "device"}
                seen.append(ready)

        group.start_soon(follow)
        serial = (await lab.start("phone"))[0]

        async def came() -> bool:
            return bool(seen) and serial in seen[-1]

        async def went() -> bool:
            return serial not in seen[-1]

        await eventually(came)
        await lab.stop(serial)
        await eventually(went)
        group.cancel_scope.cancel()


# --- files ---


async def test_files_travel_both_ways_byte_by_byte(phone: AdbDevice, tmp_path: Path) -> None:
    source, back = tmp_path / "source", tmp_path / "back"
    source.write_bytes(MEGABYTE * 3)
    assert await phone.push(source, "/sdcard/Download/a file's name.bin", changed=1_700_000_000) == 3 << 20
    entry = await phone.stat("/sdcard/Download/a file's name.bin")
    assert (entry.size, entry.changed, entry.folder) == (3 << 20, 1_700_000_000, False)
    assert await phone.pull("/sdcard/Download/a file's name.bin", back) == 3 << 20
    assert back.read_bytes() == MEGABYTE * 3
    assert "a file's name.bin" in [entry.name for entry in await phone.list("/sdcard/Download")]
    assert await phone.read("/sdcard/Download/a file's name.bin", most=4 << 20) == MEGABYTE * 3
    with pytest.raises(Refused):
        await phone.read("/sdcard/Download/a file's name.bin", most=1000)


async def test_a_target_of_the_host_that_is_there_is_left_alone(phone: AdbDevice, tmp_path: Path) -> None:
    await phone.push(b"new", "/sdcard/x")
    there = tmp_path / "there"
    there.write_text("old")
    with pytest.raises(FileExistsError):
        await phone.pull("/sdcard/x", there)
    assert there.read_text() == "old"


async def test_what_is_not_there_is_said(phone: AdbDevice, tmp_path: Path) -> None:
    for asked in (
        lambda: phone.stat("/sdcard/none"),
        lambda: phone.read("/sdcard/none"),
        lambda: phone.pull("/sdcard/none", tmp_path / "none"),
        lambda: phone.push(tmp_path / "no source", "/sdcard/x"),
    ):
        with pytest.raises(PathNotFound):
            await asked()
    assert not (tmp_path / "none").exists()
    assert await phone.list("/sdcard/none") == []


async def test_why_a_push_fails_is_kept(lab: Lab, phone: AdbDevice) -> None:
    await lab.fault(phone.serial, "push", match="full", text="couldn't create file: No space left on device", times=1)
    with pytest.raises(Refused) as caught:
        await phone.push(MEGABYTE * 2, "/sdcard/full")
    assert "No space left" in caught.value.details["reason_given"]
    assert "No space" not in caught.value.message


async def test_nothing_is_left_of_a_pull_that_was_cut(lab: Lab, phone: AdbDevice, tmp_path: Path) -> None:
    await phone.push(MEGABYTE, "/sdcard/cut")
    await lab.fault(phone.serial, "pull_cut", match="cut", times=1)
    with pytest.raises(AnydeviceError):
        await phone.pull("/sdcard/cut", tmp_path / "cut")
    assert not (tmp_path / "cut").exists()


async def test_an_older_file_protocol_is_spoken_too(lab: Lab, server: AdbServer, tmp_path: Path) -> None:
    old = AdbDevice(server, (await lab.start("old-phone"))[0])
    assert "stat_v2" not in await old.features()
    await old.push(b"old", "/sdcard/old")
    assert (await old.stat("/sdcard/old")).size == 3
    assert "old" in [entry.name for entry in await old.list("/sdcard")]
    with pytest.raises(PathNotFound):
        await old.stat("/sdcard/none")


# --- ports ---


async def test_ports_lead_both_ways_and_are_taken_away(phone: AdbDevice) -> None:
    async def echo(stream: Any) -> None:
        async with stream:
            await stream.send(b"hello " + await stream.receive())

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve, echo)
        reverse = await phone.reverse("tcp:0", f"tcp:{port}")
        assert (reverse, f"tcp:{port}") in await phone.reverses()
        forward = await phone.forward("tcp:0", reverse)
        assert (forward, reverse) in await phone.forwards()
        async with await anyio.connect_tcp("127.0.0.1", int(forward.removeprefix("tcp:"))) as stream:
            await stream.send(b"there")
            assert await stream.receive() == b"hello there"
        async with await phone.open(reverse) as pipe:
            await pipe.send(b"again")
            assert await pipe.exactly(11) == b"hello again"
        await phone.unforward(forward)
        await phone.unreverse(reverse)
        assert await phone.forwards() == [] and await phone.reverses() == []
        group.cancel_scope.cancel()
    await listener.aclose()


async def test_ports_that_are_not_there_are_said(phone: AdbDevice) -> None:
    with pytest.raises(Refused):
        await phone.unforward("tcp:1")
    with pytest.raises(Refused):
        await phone.unreverse("tcp:1")
    with pytest.raises(UpstreamUnavailable):
        await phone.open("localabstract:nobody")


# --- for code that wants the interface of adbutils ---


async def test_the_private_names_of_adbutils_are_still_there(lab: Lab, phone: AdbDevice) -> None:
    def use() -> tuple[str, str, int]:
        client = FastClient("127.0.0.1", lab.port, socket_timeout=20)
        device = client.device(phone.serial)
        connection = client.make_connection()
        assert connection.conn.gettimeout() == 20
        connection.close()
        connection.close()
        text = device.shell("echo hello")
        return text, device.serial, client.server_version()

    assert await anyio.to_thread.run_sync(use) == ("hello", phone.serial, 41)
