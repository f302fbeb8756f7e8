"""The shell services: a command line runs in a real shell, over the old protocol or the one with an exit status.

A line that is one plain call of a program of the device (no quotes but single ones, nothing that a shell would expand)
is run without a shell between: it means the same, and spares the time two process starts take on this host.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import struct
import subprocess
import tty
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import ByteReceiveStream, Process

from .files import Outward
from .programs import Invocation, next_pid, run, write
from .transport import Stream, StreamClosed

if TYPE_CHECKING:
    from .device import LabDevice

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW_SIZE = range(6)
_FRAME = struct.Struct("<BI")
_WORD = re.compile(r"(?:[\w@%+:,./=-]|'[^']*')+", re.ASCII)
_PLAIN = re.compile(rf"[\w./-]+(?: +{_WORD.pattern})* *\n?", re.ASCII)
_PRELUDE = 'kill() { lab-kill "$@"; }; '
"""Process ids of the device are not all of this host: no built-in may send signals to them."""


def frame(kind: int, data: bytes) -> bytes:
    """One frame of the shell protocol."""
    return _FRAME.pack(kind, len(data)) + data


def plain_words(line: str) -> list[str] | None:
    """The words of a line that needs no shell; None if it does."""
    if not _PLAIN.fullmatch(line):
        return None
    return ["".join(re.findall(r"[^']+", word)) for word in _WORD.findall(line)]


class _Pipe:
    """What the host sees of a running command: framed with an exit status, or raw."""

    def __init__(self, stream: Stream, framed: bool) -> None:
        self.stream, self.framed = stream, framed
        self._input = b""

    async def out(self, data: bytes) -> None:
        await self._send(STDOUT, data)

    async def err(self, data: bytes) -> None:
        await self._send(STDERR, data)

    async def _send(self, kind: int, data: bytes) -> None:
        if not data:
            return
        try:
            await self.stream.send(frame(kind, data) if self.framed else data)
        except StreamClosed:
            if self.framed:
                raise
            # The old services run on when nobody listens any more, as on a real device.

    async def exit(self, code: int) -> None:
        if self.framed:
            await self.stream.send(frame(EXIT, bytes([code & 0xFF])))

    async def read(self) -> bytes:
        """The next piece of stdin; empty at its end."""
        if not self.framed:
            try:
                return await self.stream.receive()
            except StreamClosed:
                return b""
        while True:
            kind, length = _FRAME.unpack(await self.stream.exactly(_FRAME.size))
            data = await self.stream.exactly(length)
            if kind == STDIN and data:
                return data
            if kind == CLOSE_STDIN:
                return b""


async def serve(device: LabDevice, stream: Stream, destination: bytes) -> None:
    """Serves `shell[,v2][,raw|pty][,TERM=...]:LINE` and `exec:LINE`."""
    head, _, line = destination.partition(b":")
    name, *options = head.decode("ascii", "replace").split(",")
    framed = "v2" in options and "shell_v2" in device.features
    # The older protocol always has a terminal in between. For a command it is in raw mode and leaves bytes as they are,
    # save on builds that do not know the newer one.
    cooked = "pty" in options or ("raw" not in options and (not line or "shell_v2" not in device.features))
    terminal = name == "shell" and (cooked or not framed)
    device.journal.add("shell", line=line[:4096].decode("utf-8", "replace"), framed=framed, terminal=terminal)
    await stream.accept()
    pipe = _Pipe(stream, framed)
    if framed:
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                await stream.closed.wait()
                group.cancel_scope.cancel()

            group.start_soon(watch)
            await _run(device, pipe, line, terminal, raw=not cooked)
            group.cancel_scope.cancel()
    else:
        await _run(device, pipe, line, terminal, raw=not cooked)


async def _run(device: LabDevice, pipe: _Pipe, line: bytes, terminal: bool, *, raw: bool) -> None:
    cut = await device.faults.strike_line(line.decode("utf-8", "replace"))
    if cut is not None:
        await pipe.out(cut)
        return
    words = plain_words(line.decode("utf-8", "surrogateescape")) if device.direct and not terminal else None
    if words is not None and (program := words[0].removeprefix("/system/bin/")) in device.programs:
        await pipe.exit(await _direct(device, pipe, program, words[1:]))
    elif terminal:
        await _on_terminal(device, pipe, line, raw=raw)
    else:
        await pipe.exit(await _in_shell(device, pipe, line))


async def _direct(device: LabDevice, pipe: _Pipe, program: str, args: list[str]) -> int:
    call = Invocation(device, program, args, out=pipe.out, err=pipe.err, read=pipe.read)
    call.pid, call.virtual = next_pid(), True
    return await run(call)


async def abb(device: LabDevice, stream: Stream, destination: bytes) -> None:
    """Serves `abb:` and `abb_exec:`: a service call by its words, with NUL between."""
    name, _, words = destination.partition(b":")
    args = words.decode("utf-8", "replace").split("\0")
    device.journal.add("abb", args=args)
    await stream.accept()
    pipe = _Pipe(stream, name == b"abb")
    await pipe.exit(await _direct(device, pipe, "cmd", args))


def _argv(device: LabDevice, line: bytes) -> list[bytes | str]:
    if not line:
        return [device.shell]
    return [device.shell, "-c", _PRELUDE.encode() + device.files.inward(line)]


async def _in_shell(device: LabDevice, pipe: _Pipe, line: bytes) -> int:
    merged = not pipe.framed
    process = await anyio.open_process(
        _argv(device, line),
        env=device.environment,
        cwd=device.files.root,
        stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        start_new_session=True,
    )
    device.processes.add(process)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_feed, pipe, process)
            async with anyio.create_task_group() as outputs:
                assert process.stdout is not None
                outputs.start_soon(_drain, device, process.stdout, pipe.out)
                if process.stderr is not None:
                    outputs.start_soon(_drain, device, process.stderr, pipe.err)
            code = await process.wait()
            group.cancel_scope.cancel()
    except BaseException:
        await end(process)
        raise
    finally:
        device.processes.discard(process)
    with anyio.CancelScope(shield=True):
        await process.aclose()  # what it left running goes on, until the device goes
    return code if code >= 0 else 128 - code


async def _feed(pipe: _Pipe, process: Process) -> None:
    assert process.stdin is not None
    try:
        while data := await pipe.read():
            await process.stdin.send(data)
        if pipe.framed:
            await process.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError, StreamClosed):
        return  # it reads no more; its exit status says what that means


async def _drain(device: LabDevice, source: ByteReceiveStream, put: Callable[[bytes], object]) -> None:
    outward = Outward(device.files)
    async for data in source:
        await put(outward.feed(data))  # type: ignore[misc]
    await put(outward.rest())  # type: ignore[misc]


async def _on_terminal(device: LabDevice, pipe: _Pipe, line: bytes, *, raw: bool) -> None:
    master, slave = os.openpty()
    if raw:
        tty.setraw(slave)
    path = os.ttyname(slave)
    # A session leader that opens a terminal gets it as its controlling one; that is what Ctrl-C needs.
    opener = shutil.which("sh") or "/bin/sh"
    argv = [opener, "-c", 'tty=$1; shift; exec "$@" <>"$tty" >&0 2>&0', "sh", path, *_argv(device, line)]
    process = await anyio.open_process(
        argv,
        env=device.environment,
        cwd=device.files.root,
        stdin=slave,  # so that there is no moment in which nobody has the terminal open
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(slave)
    device.processes.add(process)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_type_in, pipe, master)
            await _read_terminal(device, pipe, master)
            code = await process.wait()
            group.cancel_scope.cancel()
    finally:
        await end(process)
        device.processes.discard(process)
        os.close(master)
    await pipe.exit(code if code >= 0 else 128 - code)


async def _type_in(pipe: _Pipe, master: int) -> None:
    try:
        while data := await pipe.read():
            await write(master, data)
    except (OSError, StreamClosed):
        return


async def _read_terminal(device: LabDevice, pipe: _Pipe, master: int) -> None:
    outward = Outward(device.files)
    while True:
        await anyio.wait_readable(master)
        try:
            data = os.read(master, 65536)
        except OSError:  # the last program that had it open has ended
            data = b""
        if not data:
            break
        await pipe.out(outward.feed(data))
    await pipe.out(outward.rest())


def started_by(device: LabDevice) -> list[int]:
    """Ids of all processes that the device's shell started and that still run, by their environment (Linux)."""
    mark = f"LAB_SOCKET={device.environment['LAB_SOCKET']}".encode()
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
        except OSError:
            continue  # it has ended, or is another user's
    return found


async def end(process: Process) -> None:
    """Ends the process group of a command, and reaps its leader."""
    with anyio.CancelScope(shield=True):
        for number in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
            except (ProcessLookupError, PermissionError):
                break
            with anyio.move_on_after(0.3):
                await process.wait()
        with anyio.move_on_after(2):
            await process.wait()
            await process.aclose()
