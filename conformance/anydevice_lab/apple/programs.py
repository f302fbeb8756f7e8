"""The programs of Xcode on PATH: small files that hand everything to the lab's process and wait.

Each is one script under another name. It sends working directory, arguments and what of the environment counts over a
unix socket, and with them its own stdin, stdout and stderr; so pipes, files, signals and the exit status are real.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import UNIXSocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from ..guest.programs import read_some, write
from .model.pictures import NoPictures

if TYPE_CHECKING:
    from .world import World

PREFIXES = (b"SIMCTL_CHILD_", b"TEST_RUNNER_", b"USE_PORT", b"MJPEG_", b"DEVELOPER_DIR", b"TERM", b"DEVICECTL_")
"""Beginnings of the names in its environment that a program passes on."""
SHEBANG_MOST = 100
PIECE = 4096
"""Bytes that a pipe that is ready takes without blocking."""
LEAKED_SECONDS = 60
"""How long a child that was left behind lives at most."""

Write = Callable[[bytes], Awaitable[None]]
Read = Callable[[], Awaitable[bytes]]


class Invocation:
    """One start of a program.

    Attributes:
        world: The machine it runs on.
        name, args: What was called.
        folder: Working directory.
        environment: What counts of its environment.
        interrupted: Set when it gets SIGINT.
        gone: Called, where set, when the program was ended from outside.
    """

    def __init__(
        self, world: World, name: str, args: list[str], *, out: Write, err: Write, read: Read, say: Write
    ) -> None:
        self.world, self.name, self.args = world, name, args
        self.folder, self.environment = "/", dict[str, str]()
        self.interrupted = anyio.Event()
        self._out, self._err, self._read, self._say = out, err, read, say

    async def out(self, text: str | bytes) -> None:
        """Writes to stdout."""
        await self._out(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)

    async def err(self, text: str | bytes) -> None:
        """Writes to stderr."""
        await self._err(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)

    async def fail(self, code: int, text: str) -> int:
        """Writes to stderr; the exit status."""
        await self.err(text)
        return code

    async def read_all(self, most: int = 64 << 20) -> bytes:
        """Everything on stdin."""
        parts: list[bytes] = []
        while len(parts) * PIECE < most and (data := await self._read()):
            parts.append(data)
        return b"".join(parts)

    def path(self, path: str) -> Path:
        """Where a path argument is."""
        return Path(self.folder, path)

    async def ignore_terminate(self) -> None:
        """From now on SIGTERM does not end it."""
        await self._say(b"T\0")

    async def leak(self, seconds: int = LEAKED_SECONDS) -> None:
        """It leaves a child behind that holds its streams open and lives for so long."""
        await self._say(b"L" + bytes([min(255, max(1, seconds))]))


Program = Callable[[Invocation], Awaitable[int]]
"""Runs a program; returns its exit status."""


def install(folder: Path, socket: Path, names: Iterable[str]) -> None:
    """Writes the programs: one script, a link for every name."""
    folder.mkdir(parents=True, exist_ok=True)
    interpreter = getattr(sys, "_base_executable", None) or sys.executable
    if len(interpreter) > SHEBANG_MOST or " " in interpreter:
        short = folder / ".python"
        short.symlink_to(interpreter)
        interpreter = str(short)
    script = folder / ".program"
    text = files(__package__).joinpath("client.txt").read_text()
    text = text.replace("ADDRESS", repr(str(socket))).replace("PREFIXES", repr(PREFIXES))
    script.write_text(f"#!{interpreter} -ISE\n{text}")
    script.chmod(0o755)
    for name in names:
        os.link(script, folder / name)


def offer(folder: Path, names: Iterable[str], without: Iterable[str]) -> None:
    """Takes programs away, and puts back those that were taken before.

    Raises:
        ValueError: There is no program of such a name.
    """
    names, gone = set(names), set(without)
    if gone - names:
        raise ValueError(f"there are no programs {', '.join(sorted(gone - names))}")
    for name in names:
        if name in gone:
            (folder / name).unlink(missing_ok=True)
        elif not (folder / name).exists():
            os.link(folder / ".program", folder / name)


async def answer(world: World, stream: UNIXSocketStream, programs: dict[str, Program]) -> None:
    """Serves one start of a program, from its call to its exit status."""
    async with stream:
        try:
            head, handles = await stream.receive_fds(4, 3)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return
        try:
            if len(handles) == 3 and len(head) == 4:
                await _serve(world, stream, int.from_bytes(head, "big"), handles, programs)
        except* (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError):
            pass  # it was ended while it called
        except* Exception as problem:
            sys.stderr.write("".join(traceback.format_exception(problem)))
        finally:
            for handle in handles:
                os.close(handle)


async def _serve(
    world: World, stream: UNIXSocketStream, length: int, handles: list[int], programs: dict[str, Program]
) -> None:
    reader = BufferedByteReceiveStream(stream)
    body = await reader.receive_exactly(length)
    folder, count, *words = body.decode("utf-8", "surrogateescape").split("\0")
    facts, (name, *args) = words[: int(count)], words[int(count) :]

    async def out(data: bytes) -> None:
        await write(handles[1], data)

    async def err(data: bytes) -> None:
        await write(handles[2], data)

    async def read() -> bytes:
        return await read_some(handles[0])

    call = Invocation(world, Path(name).name, args, out=out, err=err, read=read, say=stream.send)
    call.folder = folder
    call.environment = dict(fact.split("=", 1) for fact in facts)
    code = 255
    async with anyio.create_task_group() as group:

        async def listen() -> None:
            try:
                while await reader.receive(1):
                    call.interrupted.set()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                group.cancel_scope.cancel()

        group.start_soon(listen)
        code = await _run(call, programs)
        group.cancel_scope.cancel()
    await stream.send(b"X" + bytes([code & 0xFF]))


async def _run(call: Invocation, programs: dict[str, Program]) -> int:
    call.world.journal.add("program", name=call.name, args=call.args)
    try:
        struck = await call.world.strike(call)
        return await programs[call.name](call) if struck is None else struck
    except NoPictures as lacks:
        return await call.fail(1, f"{lacks}\n")
    except BrokenPipeError:
        return 141
