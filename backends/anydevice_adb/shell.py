"""shell_v2: a command on the device with its output, errors and status apart.

Frames in both directions: one byte of kind, four bytes of length (little endian), data. Kinds: 0 stdin, 1 stdout,
2 stderr, 3 exit status (one byte), 4 end of stdin. An end without the exit frame is a lost transport, never status 0.
(Android's `packages/modules/adb/shell_protocol.h`.)
"""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio

from .wire import Closed, Connection

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)
MOST = 32 << 20
"""Bytes kept of each output, unless told otherwise."""
_HEAD = struct.Struct("<BI")
_PIECE = 64 << 10
_LONGEST = 64 << 20
"""A frame longer than this is no frame."""


@dataclass(slots=True, frozen=True)
class ShellDone:
    """A command that ran to its end.

    Attributes:
        status: Exit status. Android's programs often say 0 for what failed: judge by the text as well.
        stdout, stderr: As they came. Untrusted.
        cut: Bytes of both that were dropped because there were too many.
    """

    status: int
    stdout: bytes
    stderr: bytes
    cut: int = 0

    @property
    def text(self) -> str:
        """stdout as text; what is no UTF-8 is replaced."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        """stderr as text; what is no UTF-8 is replaced."""
        return self.stderr.decode("utf-8", "replace")

    @property
    def both(self) -> str:
        """stdout and stderr one after the other: Android's programs complain on either."""
        return self.text + self.complaint


def frame(kind: int, data: bytes = b"") -> bytes:
    """One frame."""
    return _HEAD.pack(kind, len(data)) + data


async def frames(connection: Connection) -> AsyncIterator[tuple[int, bytes]]:
    """The frames of a connection, until it ends.

    Raises:
        Closed: It ends in the middle of one, or what comes is none.
    """
    buffer = bytearray()
    while True:
        at = 0
        while len(buffer) - at >= _HEAD.size:
            kind, length = _HEAD.unpack_from(buffer, at)
            if length > _LONGEST:
                raise Closed
            if len(buffer) - at - _HEAD.size < length:
                break
            at += _HEAD.size
            yield kind, bytes(buffer[at : at + length])
            at += length
        del buffer[:at]
        chunk = await connection.receive()
        if not chunk:
            if buffer:
                raise Closed
            return
        buffer += chunk


async def run(connection: Connection, stdin: bytes | AsyncIterator[bytes] | None = None, most: int = MOST) -> ShellDone:
    """Reads a command that was started to its end, feeding it `stdin` meanwhile.

    Raises:
        Closed: The transport was lost before the command ended.
    """
    if stdin is None:
        return await _collect(connection, most)
    done: ShellDone | None = None
    async with anyio.create_task_group() as group:

        async def feed() -> None:
            try:
                await _feed(connection, stdin)
            except Closed:
                return  # the command ended without reading it all; what it said is still to be read

        group.start_soon(feed)
        done = await _collect(connection, most)
        group.cancel_scope.cancel()
    assert done is not None
    return done


async def _collect(connection: Connection, most: int) -> ShellDone:
    out, err = bytearray(), bytearray()
    cut = 0
    async for kind, data in frames(connection):
        if kind == EXIT:
            return ShellDone(data[0] if data else 255, bytes(out), bytes(err), cut)
        kept = out if kind == STDOUT else err if kind == STDERR else None
        if kept is not None:
            room = most - len(kept)
            kept += data[:room]
            cut += max(0, len(data) - room)
    raise Closed


async def _feed(connection: Connection, stdin: bytes | AsyncIterator[bytes]) -> None:
    if isinstance(stdin, bytes):
        for at in range(0, len(stdin), _PIECE):
            await connection.send(frame(STDIN, stdin[at : at + _PIECE]))
    else:
        async for piece in stdin:
            for at in range(0, len(piece), _PIECE):
                await connection.send(frame(STDIN, piece[at : at + _PIECE]))
    await connection.send(frame(CLOSE_STDIN))


class ShellStream:
    """A command that goes on. Leaving the context it came from ends it on the device.

    Attributes:
        status: Its exit status, once it ended.
        complaint: The end of what it wrote to stderr. Untrusted.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._frames = frames(connection)
        self.status: int | None = None
        self.complaint = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Pieces of stdout as they come, until the command ends.

        Raises:
            Closed: The transport was lost.
        """
        async for kind, data in self._frames:
            if kind == STDOUT:
                yield data
            elif kind == STDERR:
                self.complaint = (self.complaint + data)[-16384:]
            elif kind == EXIT:
                self.status = data[0] if data else 255
                return
        raise Closed

    async def send(self, data: bytes) -> None:
        """Writes to its stdin.

        Raises:
            Closed: The transport was lost.
        """
        await self._connection.send(frame(STDIN, data))

    def close(self) -> None:
        """Ends it on the device."""
        self._connection.close()
