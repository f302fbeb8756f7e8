"""The shell services: a command line runs in a real shell, over the old protocol or the one with an exit status."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import anyio

from ..guest.shell import direct, direct_words, end, in_shell, on_terminal, plain_words, started_by
from .transport import Stream, StreamClosed

if TYPE_CHECKING:
    from .adb_device import AdbDevice

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN, WINDOW_SIZE = range(6)
_FRAME = struct.Struct("<BI")


def frame(kind: int, data: bytes) -> bytes:
    """One frame of the shell protocol."""
    return _FRAME.pack(kind, len(data)) + data


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


async def serve(device: AdbDevice, stream: Stream, destination: bytes) -> None:
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
        with anyio.CancelScope() as scope:
            stream.ended = scope.cancel
            if not stream.closed:
                await _run(device, pipe, line, terminal, raw=not cooked)
        stream.ended = None
    else:
        await _run(device, pipe, line, terminal, raw=not cooked)


async def _run(device: AdbDevice, pipe: _Pipe, line: bytes, terminal: bool, *, raw: bool) -> None:
    cut = await device.faults.strike_line(line.decode("utf-8", "replace"))
    if cut is not None:
        await pipe.out(cut)
        return
    words = direct_words(device, line) if not terminal else None
    if words is not None:
        await pipe.exit(await direct(device, pipe, words[0], words[1:]))
    elif terminal:
        await pipe.exit(await on_terminal(device, pipe, line, raw=raw))
    else:
        await pipe.exit(await in_shell(device, pipe, line, merged=not pipe.framed))


async def abb(device: AdbDevice, stream: Stream, destination: bytes) -> None:
    """Serves `abb:` and `abb_exec:`: a service call by its words, with NUL between."""
    name, _, words = destination.partition(b":")
    args = words.decode("utf-8", "replace").split("\0")
    device.journal.add("abb", args=args)
    await stream.accept()
    pipe = _Pipe(stream, name == b"abb")
    await pipe.exit(await direct(device, pipe, "cmd", args))


__all__ = ["abb", "end", "frame", "plain_words", "serve", "started_by"]
