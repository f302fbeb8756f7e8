"""The file service: what `adb push`, `pull` and `ls` speak, in both of its versions."""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .transport import Stream

if TYPE_CHECKING:
    from .adb_device import AdbDevice

PIECE = 64 * 1024
_HEAD = struct.Struct("<4sI")
_STAT2 = struct.Struct("<4sIQQIIIIQqqq")
_DENT2 = struct.Struct("<4sIQQIIIIQqqqI")


async def serve(device: AdbDevice, stream: Stream, _destination: bytes) -> None:
    """Answers requests until the other side quits."""
    await stream.accept()
    session = _Session(device, stream)
    while True:
        name, length = _HEAD.unpack(await stream.exactly(_HEAD.size))
        request = name.decode("ascii", "replace")
        if request == "QUIT":
            return
        argument = (await stream.exactly(length)).decode("utf-8", "surrogateescape")
        device.journal.add("sync", request=request, path=argument)
        if not await session.answer(request, argument):
            return


class _Session:
    def __init__(self, device: AdbDevice, stream: Stream) -> None:
        self._device, self._stream = device, stream

    async def answer(self, request: str, path: str) -> bool:
        """Answers one request; False ends the session."""
        if request == "STAT":
            await self._stream.send(self._stat1(path))
        elif request in ("STA2", "LST2"):
            await self._stream.send(self._stat2(request, path))
        elif request == "LIST":
            await self._list(path, self._dent1, 20)
        elif request == "LIS2":
            await self._list(path, self._dent2, _DENT2.size)
        elif request == "SEND":
            name, _, mode = path.rpartition(",")
            await self._take(name, int(mode) if mode.isdigit() else 0o644)
        elif request == "SND2":
            _, mode = _HEAD.unpack(await self._stream.exactly(_HEAD.size))
            await self._stream.exactly(4)
            await self._take(path, mode)
        elif request == "RECV":
            await self._give(path)
        elif request == "RCV2":
            await self._stream.exactly(_HEAD.size)
            await self._give(path)
        else:
            await self._fail(f"unknown command {request}")
            return False
        return True

    async def _fail(self, text: str) -> None:
        data = text.encode()
        await self._stream.send(_HEAD.pack(b"FAIL", len(data)) + data)

    def _stat1(self, path: str) -> bytes:
        try:
            found = self._device.pushed.host(path).lstat()
        except OSError:
            return struct.pack("<4s3I", b"STAT", 0, 0, 0)
        return struct.pack("<4s3I", b"STAT", found.st_mode, found.st_size & 0xFFFFFFFF, int(found.st_mtime))

    def _stat2(self, request: str, path: str) -> bytes:
        name = request.encode()
        try:
            host = self._device.pushed.host(path)
            return _STAT2.pack(name, 0, *_facts(host.lstat() if request == "LST2" else host.stat()))
        except OSError as error:
            return _STAT2.pack(name, error.errno or errno.EIO, *(0,) * 10)

    def _dent1(self, found: os.stat_result, name: bytes) -> bytes:
        size = found.st_size & 0xFFFFFFFF
        return struct.pack("<4s4I", b"DENT", found.st_mode, size, int(found.st_mtime), len(name)) + name

    def _dent2(self, found: os.stat_result, name: bytes) -> bytes:
        return _DENT2.pack(b"DNT2", 0, *_facts(found), len(name)) + name

    async def _list(self, path: str, row: Callable[[os.stat_result, bytes], bytes], done: int) -> None:
        rows: list[bytes] = []
        try:
            with os.scandir(self._device.pushed.host(path)) as entries:
                rows = [row(entry.stat(follow_symlinks=False), os.fsencode(entry.name)) for entry in entries]
        except OSError:
            pass  # a folder that cannot be read is told as an empty one
        await self._stream.send(b"".join(rows) + b"DONE" + bytes(done - 4))

    async def _take(self, path: str, mode: int) -> None:
        """Takes a file, to its end also where it cannot be written: only then may the failure be told."""
        target = self._device.pushed.host(path)
        problem = self._device.faults.on_push(path)
        if not problem:
            problem = _prepare(target)
        handle = None
        if not problem and not stat.S_ISLNK(mode):
            try:
                handle = target.open("wb")
            except OSError as error:
                problem = f"couldn't create file: {error.strerror}"
        link = b""
        try:
            while True:
                name, length = _HEAD.unpack(await self._stream.exactly(_HEAD.size))
                if name != b"DATA":
                    break
                data = await self._stream.exactly(length)
                if handle is not None:
                    handle.write(data)
                elif stat.S_ISLNK(mode):
                    link += data
        except BaseException:
            if handle is not None:
                target.unlink(missing_ok=True)  # as adbd does with what did not come whole
            raise
        finally:
            if handle is not None:
                handle.close()
        if not problem and handle is None:
            target.unlink(missing_ok=True)
            target.symlink_to(os.fsdecode(link.rstrip(b"\0")))
        elif not problem:
            target.chmod((mode & 0o777) or 0o644)
            os.utime(target, (length, length))
        if problem:
            await self._fail(problem)
        else:
            await self._stream.send(_HEAD.pack(b"OKAY", 0))

    async def _give(self, path: str) -> None:
        try:
            handle = self._device.pushed.host(path).open("rb")
        except OSError as error:
            await self._fail(f"open failed: {error.strerror}")
            return
        with handle:
            half = self._device.faults.on_pull(path)
            while data := handle.read(PIECE):
                await self._stream.send(_HEAD.pack(b"DATA", len(data)) + data)
                if half:
                    await self._stream.aclose()
                    return
        await self._stream.send(_HEAD.pack(b"DONE", 0))


def _prepare(target: Path) -> str:
    """Makes the folders above; why that cannot be done."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"secure_mkdirs failed: {error.strerror}"
    return ""


def _facts(found: os.stat_result) -> tuple[int, ...]:
    """What version 2 tells of a file, in its order."""
    return (
        found.st_dev, found.st_ino, found.st_mode, found.st_nlink, found.st_uid, found.st_gid, found.st_size,
        int(found.st_atime), int(found.st_mtime), int(found.st_ctime),
    )  # fmt: skip
