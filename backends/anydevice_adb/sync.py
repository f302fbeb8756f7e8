"""The sync protocol: files of the device, over one connection.

Requests are four letters, a length (little endian) and an argument. Newer devices have second versions of three of them
(64-bit sizes, real error numbers), told by the features `stat_v2` and `ls_v2`. (Android's
`packages/modules/adb/file_sync_protocol.h` and `SYNC.TXT`.)
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from .wire import Closed, Connection, Failure

PIECE = 64 << 10
"""Bytes of one piece of a file; the most the protocol allows."""
LONGEST_PATH = 1024
_HEAD = struct.Struct("<4sI")
_STAT1 = struct.Struct("<III")
_STAT2 = struct.Struct("<IQQIIIIQqqq")
_LONGEST_NAME = 4096


@dataclass(slots=True, frozen=True)
class Entry:
    """A file of the device.

    Attributes:
        name: Its name in its folder; the path asked for, where one file was asked for.
        mode: As of `stat`.
        size: Bytes. Of a device without `stat_v2` only the lower 32 bits.
        changed: Seconds since the epoch.
    """

    name: str
    mode: int
    size: int
    changed: float

    @property
    def folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.mode)

    @property
    def link(self) -> bool:
        """Whether it is a symbolic link."""
        return stat.S_ISLNK(self.mode)


class Sync:
    """A conversation in the sync protocol. Not for two tasks at once."""

    def __init__(self, connection: Connection, features: frozenset[str]) -> None:
        self._connection = connection
        self._features = features

    async def stat(self, path: str) -> Entry:
        """What a path is; links are followed where the device can.

        Raises:
            FileNotFoundError, PermissionError, OSError: As the device says; one without `stat_v2` cannot tell why.
            Closed: The transport was lost.
        """
        if "stat_v2" in self._features:
            await self._ask(b"STA2", path)
            await self._reply(b"STA2")
            code, _dev, _ino, mode, _nlink, _uid, _gid, size, _atime, mtime, _ctime = _STAT2.unpack(
                await self._connection.exactly(_STAT2.size)
            )
            if code:
                raise _os_error(code, path)
            return Entry(path, mode, size, float(mtime))
        await self._ask(b"STAT", path)
        await self._reply(b"STAT")
        mode, size, mtime = _STAT1.unpack(await self._connection.exactly(_STAT1.size))
        if not mode:
            raise _os_error(errno.ENOENT, path)
        return Entry(path, mode, size, float(mtime))

    async def list(self, path: str) -> list[Entry]:
        """The entries of a folder, without `.` and `..`; empty for one that cannot be read (the protocol says no more).

        Raises:
            Closed: The transport was lost.
        """
        new = "ls_v2" in self._features
        await self._ask(b"LIS2" if new else b"LIST", path)
        body = _STAT2 if new else _STAT1
        found: list[Entry] = []
        while True:
            word = await self._connection.exactly(4)
            fields = body.unpack(await self._connection.exactly(body.size))
            (length,) = struct.unpack("<I", await self._connection.exactly(4))
            if word == b"DONE":
                return found
            if word != (b"DNT2" if new else b"DENT") or length > _LONGEST_NAME:
                raise Closed
            name = (await self._connection.exactly(length)).decode("utf-8", "surrogateescape")
            if new:
                code, mode, size, mtime = fields[0], fields[3], fields[7], fields[9]
                if code:
                    continue
            else:
                mode, size, mtime = fields
            if name not in (".", ".."):
                found.append(Entry(name, mode, size, float(mtime)))

    async def send(self, path: str, pieces: AsyncIterator[bytes], *, mode: int = 0o644, changed: float = 0.0) -> int:
        """Writes a file of the device; returns its bytes. What was there is replaced; missing folders are made.

        Raises:
            Failure: The device could not write it, with its words.
            Closed: The transport was lost.
        """
        await self._ask(b"SEND", f"{path},{stat.S_IFREG | mode}")
        total = 0
        try:
            async for piece in pieces:
                for at in range(0, len(piece), PIECE):
                    part = piece[at : at + PIECE]
                    await self._connection.send(_HEAD.pack(b"DATA", len(part)) + part)
                    total += len(part)
            await self._connection.send(_HEAD.pack(b"DONE", int(changed) & 0xFFFFFFFF))
        except Closed:
            # A device that cannot write may say so and close before it has read everything.
            await self._verdict()
            raise
        await self._verdict()
        return total

    async def receive(self, path: str, write: Callable[[bytes], Awaitable[None]], most: int | None = None) -> int:
        """Reads a file of the device, piece by piece; returns its bytes.

        Raises:
            Failure: The device could not read it, with its words.
            OverflowError: It has more than `most` bytes.
            Closed: The transport was lost.
        """
        await self._ask(b"RECV", path)
        total = 0
        while True:
            word, length = _HEAD.unpack(await self._connection.exactly(_HEAD.size))
            if word == b"DONE":
                return total
            if word == b"FAIL":
                raise Failure((await self._connection.exactly(length)).decode("utf-8", "replace"))
            if word != b"DATA" or length > PIECE:
                raise Closed
            total += length
            if most is not None and total > most:
                raise OverflowError
            await write(await self._connection.exactly(length))

    async def _ask(self, word: bytes, argument: str) -> None:
        try:
            raw = argument.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise Failure("path holds half a character") from None
        if b"\0" in raw:  # the device would take what is before it for the whole
            raise Failure("path holds a NUL character")
        if len(raw) > LONGEST_PATH:
            raise Failure("path too long")
        await self._connection.send(_HEAD.pack(word, len(raw)) + raw)

    async def _reply(self, word: bytes) -> None:
        if await self._connection.exactly(4) != word:
            raise Closed

    async def _verdict(self) -> None:
        word, length = _HEAD.unpack(await self._connection.exactly(_HEAD.size))
        if word == b"FAIL":
            raise Failure((await self._connection.exactly(length)).decode("utf-8", "replace"))
        if word != b"OKAY":
            raise Closed


_ERRNO = {1: errno.EPERM, 2: errno.ENOENT, 12: errno.ENOMEM, 13: errno.EACCES, 17: errno.EEXIST, 20: errno.ENOTDIR,
          21: errno.EISDIR, 22: errno.EINVAL, 28: errno.ENOSPC, 30: errno.EROFS, 36: errno.ENAMETOOLONG,
          40: errno.ELOOP}  # fmt: skip
"""Numbers of errors on the wire (Linux's, whatever this host is)."""


def _os_error(code: int, path: str) -> OSError:
    here = _ERRNO.get(code, errno.EIO)
    return OSError(here, os.strerror(here), path)
