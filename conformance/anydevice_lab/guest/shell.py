"""Command lines of a device: each runs in a real shell of this host, or without one where it needs none.

A line that is one plain call of a program of the device (no quotes but single ones, nothing that a shell would expand)
is run without a shell between: it means the same, and spares the time two process starts take on this host.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tty
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import anyio
from anyio.abc import ByteReceiveStream, Process

from .files import Outward
from .programs import Guest, Invocation, next_pid, run, write

_WORD = re.compile(r"(?:[\w@%+:,./=-]|'[^']*')+", re.ASCII)
_PLAIN = re.compile(rf"[\w./-]+(?: +{_WORD.pattern})* *\n?", re.ASCII)
_PRELUDE = 'kill() { lab-kill "$@"; }; '
"""Process ids of the device are not all of this host: no built-in may send signals to them."""


class PipeClosed(Exception):
    """Whoever asked for the command line has gone."""


class Pipe(Protocol):
    """What whoever asked sees of a running command line."""

    async def out(self, data: bytes) -> None:
        """Takes what it prints; raises `PipeClosed` where that ends the command."""

    async def err(self, data: bytes) -> None:
        """Takes what it prints as errors."""

    async def read(self) -> bytes:
        """The next piece of stdin; empty at its end."""


def plain_words(line: str) -> list[str] | None:
    """The words of a line that needs no shell; None if it does."""
    if not _PLAIN.fullmatch(line):
        return None
    return ["".join(re.findall(r"[^']+", word)) for word in _WORD.findall(line)]


async def direct(device: Guest, pipe: Pipe, program: str, args: list[str]) -> int:
    """Runs a program of the device without a shell; returns its exit status."""
    call: Invocation[Any] = Invocation(device, program, args, out=pipe.out, err=pipe.err, read=pipe.read)
    call.pid, call.virtual = next_pid(), True
    return await run(call)


def direct_words(device: Guest, line: bytes) -> list[str] | None:
    """The words of a line that is one plain call of a program of the device; None if a shell has to read it."""
    words = plain_words(line.decode("utf-8", "surrogateescape")) if device.direct else None
    if words is None:
        return None
    words[0] = words[0].removeprefix(f"{device.files.layout.programs}/")
    return words if words[0] in device.commands else None


def _argv(device: Guest, line: bytes) -> list[bytes | str]:
    if not line:
        return [device.shell]
    return [device.shell, "-c", _PRELUDE.encode() + device.files.inward(line)]


async def in_shell(device: Guest, pipe: Pipe, line: bytes, *, merged: bool, ends: bool = False) -> int:
    """Runs a line in a shell; returns its exit status.

    Args:
        merged: Errors go where the rest goes, and the end of stdin is not passed on, as in protocols without frames.
        ends: It is passed on all the same.
    """
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
            group.start_soon(_feed, pipe, process, ends or not merged)
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


async def _feed(pipe: Pipe, process: Process, ends: bool) -> None:
    assert process.stdin is not None
    try:
        while data := await pipe.read():
            await process.stdin.send(data)
        if ends:
            await process.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError, PipeClosed):
        return  # it reads no more; its exit status says what that means


async def _drain(device: Guest, source: ByteReceiveStream, put: Callable[[bytes], Awaitable[None]]) -> None:
    outward = Outward(device.files)
    async for data in source:
        await put(outward.feed(data))
    await put(outward.rest())


async def on_terminal(device: Guest, pipe: Pipe, line: bytes, *, raw: bool) -> int:
    """Runs a line (an empty one: a shell) on a terminal; returns its exit status."""
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
    return code if code >= 0 else 128 - code


async def _type_in(pipe: Pipe, master: int) -> None:
    try:
        while data := await pipe.read():
            await write(master, data)
    except (OSError, PipeClosed):
        return


async def _read_terminal(device: Guest, pipe: Pipe, master: int) -> None:
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


def started_by(device: Guest) -> list[int]:
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
