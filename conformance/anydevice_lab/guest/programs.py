"""A device's own programs: small files on the shell's PATH that hand everything to the device and wait.

Each is the same script under another name. It sends working directory and arguments over a unix socket, and with them
its own stdin, stdout and stderr; so whatever the shell did to those (pipes, files, redirections) holds, and the exit
status is the program's. A program a shell starts takes about the time of a bare interpreter start.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import Process, UNIXSocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from ..handset.journal import Journal
from .files import Files

KILLED = 137
"""Exit status of a program that was ended by SIGKILL, as a shell tells it."""
NOT_FOUND = 127
SHEBANG_MOST = 100
"""Characters of an interpreter's path that every kernel takes in the first line of a script."""
PIECE = 4096
"""Bytes that a pipe that is ready takes without blocking."""

Write = Callable[[bytes], Awaitable[None]]
Read = Callable[[], Awaitable[bytes]]


class Faulty(Protocol):
    """What a device does wrong on request, as far as command lines are concerned."""

    async def strike_line(self, line: str) -> bytes | None:
        """What happens to a whole command line before it runs: bytes with which it ends, or None."""

    async def strike(self, call: Invocation[Any]) -> int | None:
        """What happens to one program before it runs: its exit status, or None."""


class Guest(Protocol):
    """A device that runs command lines.

    Attributes:
        files: Its files.
        commands: Its programs by name.
        running: Programs of its own that run, by process id.
        processes: Processes of its shell.
        shell: The host's shell that runs its command lines.
        direct: Plain calls of its own programs go without a shell.
        journal, faults: What it heard, and what it does wrong.
    """

    running: dict[int, Invocation[Any]]
    processes: set[Process]
    shell: str
    direct: bool
    journal: Journal

    @property
    def files(self) -> Files:
        """Its files."""

    @property
    def commands(self) -> Mapping[str, Callable[[Any], Awaitable[int]]]:
        """Its programs by name."""

    @property
    def faults(self) -> Faulty:
        """What it does wrong."""

    @property
    def environment(self) -> dict[str, str]:
        """What a process of its shell has in its environment."""


GuestT = TypeVar("GuestT", bound=Guest)


class Invocation(Generic[GuestT]):
    """One start of a program of the device.

    Attributes:
        device: On which it runs.
        name, args: What was called, as the device sees it (paths are the device's).
        folder: Working directory, a path of the device.
        classpath: `CLASSPATH` of its environment.
        pid, virtual: Process id, and whether there is no process of this host behind it.
        interrupted: Set when it gets SIGINT.
        ended: Cancels it; for signals that end a process.
    """

    def __init__(self, device: GuestT, name: str, args: list[str], *, out: Write, err: Write, read: Read) -> None:
        self.device, self.name, self.args = device, name, args
        self.folder, self.classpath = "/", ""
        self.pid, self.virtual = 0, False
        self.interrupted = anyio.Event()
        self.ended: anyio.CancelScope | None = None
        self._out, self._err, self._read = out, err, read

    async def out(self, text: str | bytes) -> None:
        """Writes to stdout."""
        await self._out(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)

    async def err(self, text: str | bytes) -> None:
        """Writes to stderr."""
        await self._err(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)

    async def read(self) -> bytes:
        """The next piece of stdin; empty at its end."""
        return await self._read()

    def path(self, path: str) -> Path:
        """Where a path argument is on this host."""
        return self.device.files.host(path if path.startswith("/") else f"{self.folder}/{path}")


def install(folder: Path, names: Iterable[str]) -> None:
    """Writes the programs: one script, a link for every name."""
    folder.mkdir(parents=True, exist_ok=True)
    interpreter = getattr(sys, "_base_executable", None) or sys.executable
    if len(interpreter) > SHEBANG_MOST or " " in interpreter:
        short = folder / ".python"
        short.symlink_to(interpreter)
        interpreter = str(short)
    script = folder / ".program"
    script.write_text(f"#!{interpreter} -ISE\n" + files(__package__).joinpath("client.txt").read_text())
    script.chmod(0o755)
    for name in names:
        os.link(script, folder / name)


async def answer(device: Guest, stream: UNIXSocketStream) -> None:
    """Serves one start of a program, from its call to its exit status."""
    async with stream:
        try:
            head, handles = await stream.receive_fds(4, 3)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return
        try:
            if len(handles) == 3 and len(head) == 4:
                await _serve(device, stream, int.from_bytes(head, "big"), handles)
        except* (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError):
            pass  # it was ended while it called
        except* Exception as problem:
            sys.stderr.write("".join(traceback.format_exception(problem)))
        finally:
            for handle in handles:
                os.close(handle)


async def _serve(device: Guest, stream: UNIXSocketStream, length: int, handles: list[int]) -> None:
    reader = BufferedByteReceiveStream(stream)
    body = await reader.receive_exactly(length)
    folder, classpath, name, *args = body.decode("utf-8", "surrogateescape").split("\0")

    async def out(data: bytes) -> None:
        await write(handles[1], data)

    async def err(data: bytes) -> None:
        await write(handles[2], data)

    async def read() -> bytes:
        return await read_some(handles[0])

    call = Invocation(
        device,
        Path(name).name,
        [device.files.outward_word(word) for word in args],
        out=out,
        err=err,
        read=read,
    )
    call.folder = device.files.outward_word(folder) or "/"
    call.classpath = device.files.outward_word(classpath)
    call.pid = peer(stream)
    code = 255
    async with anyio.create_task_group() as group:

        async def listen() -> None:
            try:
                while await reader.receive(1):
                    call.interrupted.set()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                group.cancel_scope.cancel()

        group.start_soon(listen)
        code = await run(call)
        group.cancel_scope.cancel()
    await stream.send(bytes([code & 0xFF]))


async def run(call: Invocation[Any]) -> int:
    """Runs a program that was called, to its end; what goes wrong inside it is told as a crash is."""
    device: Guest = call.device
    program = device.commands.get(call.name)
    if program is None:
        await call.err(f"{device.files.layout.programs}/sh: {call.name}: inaccessible or not found\n")
        return NOT_FOUND
    device.running[call.pid] = call
    device.journal.add("program", name=call.name, args=call.args)
    try:
        with anyio.CancelScope() as call.ended:
            struck = await device.faults.strike(call)
            return await program(call) if struck is None else struck
        return KILLED
    except BrokenPipeError:
        return 141
    finally:
        device.running.pop(call.pid, None)


def peer(stream: UNIXSocketStream) -> int:
    """Process id of the other side, where the system tells it; else a number no process has."""
    import socket
    import struct

    raw = stream.extra(anyio.abc.SocketAttribute.raw_socket)
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return next_pid()
    return int(struct.unpack("3i", raw.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))[0])


_pids = iter(range(5_000_000, 1 << 31))


def next_pid() -> int:
    """A process id of the device that is none of this host: higher than a system gives out."""
    return next(_pids)


async def write(handle: int, data: bytes) -> None:
    """Writes all of it to a descriptor that others may hold too, and so must stay in blocking mode.

    Raises:
        BrokenPipeError: Nobody reads it any more.
    """
    view = memoryview(data)
    if os.isatty(handle):
        # A terminal says that it is ready when it has room for less than a piece.
        while view:
            view = view[await anyio.to_thread.run_sync(os.write, handle, view[:PIECE], abandon_on_cancel=True) :]
    while view:
        await _ready(handle, anyio.wait_writable)
        view = view[os.write(handle, view[:PIECE]) :]


async def read_some(handle: int) -> bytes:
    """The next piece of a descriptor; empty at its end."""
    await _ready(handle, anyio.wait_readable)
    return os.read(handle, 65536)


async def _ready(handle: int, wait: Callable[[int], Awaitable[None]]) -> None:
    try:
        await wait(handle)
    except (PermissionError, ValueError):
        return  # a plain file, which is always ready
