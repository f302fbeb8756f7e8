"""Files of the device by the sync protocol, folders included, and pictures for its gallery."""

from __future__ import annotations

import posixpath
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote as url_quote

import anyio
import anyio.to_thread

from anydevice.driver import Acted, Files
from anydevice_adb import line
from anydevice_schemas.errors import ActionUnverified, CallTimeout, PathNotFound, Refused

from .reach import Reach

MEDIA = "/sdcard/Pictures"
MOST = 20_000
"""Files of one folder that are copied."""


class AndroidFiles(Files):
    """See `Files`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def push(self, source: str, target: str, *, deadline: float) -> Acted:
        """See `Files.push`; sizes are read back.

        Raises:
            PathNotFound: The source does not exist.
            Refused: The device could not write it, or the folder has too many files.
            ActionUnverified: It has another size on the device.
        """
        pairs = await anyio.to_thread.run_sync(_walk, Path(source), target)
        total = 0
        async with _within(deadline):
            for file, path, mode, changed in pairs:
                size = await self._reach.adb.push(file, path, mode=mode, changed=changed, deadline=deadline)
                found = await self._reach.adb.stat(path)
                if found.size != size & (0xFFFFFFFF if found.size <= 0xFFFFFFFF else ~0):
                    raise ActionUnverified("The file is not whole on the device.", expected=size, actual=found.size)
                total += size
        return Acted("sync", verified=True, data={"files": len(pairs), "bytes": total})

    async def pull(self, source: str, target: str, *, deadline: float) -> Acted:
        """See `Files.pull`.

        Raises:
            PathNotFound: There is no such file on the device.
            Refused: The device could not read it, or the folder has too many files.
        """
        async with _within(deadline):
            entry = await self._reach.adb.stat(source)
            count = [0, 0]
            await self._pull(source, Path(target), entry.folder, deadline, count)
        return Acted("sync", verified=True, data={"files": count[0], "bytes": count[1]})

    async def add_media(self, source: str, *, deadline: float) -> Acted:
        """See `Files.add_media`: copied into the gallery's folder, and the media index told."""
        target = posixpath.join(MEDIA, Path(source).name)
        acted = await self.push(source, target, deadline=deadline)
        await self._reach.run(
            "am",
            "broadcast",
            "-a",
            "android.intent.action.MEDIA_SCANNER_SCAN_FILE",
            "-d",
            f"file://{url_quote(target)}",
        )
        rows = await self._reach.adb.shell(
            line("content", "query", "--uri", "content://media/external/file", "--projection", "_data", "--where")
            + " " + line("_data LIKE '%/" + Path(source).name.replace("'", "''") + "'"),
        )  # fmt: skip
        # Rows end with the path; `_` and `%` of the name match more than itself.
        there = any(row.rstrip().endswith(f"/{Path(source).name}") for row in rows.text.splitlines())
        return Acted("sync", verified=True if there else None, data={**acted.data, "path": target})

    async def _pull(self, source: str, target: Path, folder: bool, deadline: float, count: list[int]) -> None:
        if not folder:
            count[1] += await self._reach.adb.pull(source, target, deadline=deadline)
            count[0] += 1
            return
        await anyio.to_thread.run_sync(target.mkdir)
        for entry in await self._reach.adb.list(source):
            if count[0] >= MOST:
                raise Refused(
                    "The folder has too many files.", reason=f"more than {MOST}", alternative="Pull parts of it."
                )
            if entry.link or "/" in entry.name or not (entry.folder or stat.S_ISREG(entry.mode)):
                continue
            await self._pull(posixpath.join(source, entry.name), target / entry.name, entry.folder, deadline, count)


@asynccontextmanager
async def _within(deadline: float) -> AsyncIterator[None]:
    """Bounds a copy of many files as a whole.

    Raises:
        CallTimeout: It did not end in time.
    """
    try:
        with anyio.fail_after(deadline):
            yield
    except TimeoutError:
        raise CallTimeout("The files were not copied in time.", after=deadline, waiting_for="files") from None


def _walk(source: Path, target: str) -> list[tuple[Path, str, int, float]]:
    """Files to copy, their paths on the device, modes and times. Links that lead out of a folder are left out."""
    if source.is_file():
        status = source.stat()
        return [(source, target, stat.S_IMODE(status.st_mode), status.st_mtime)]
    if not source.is_dir():
        raise PathNotFound("The file does not exist.", path=source.name)
    found: list[tuple[Path, str, int, float]] = []
    for file in sorted(source.rglob("*")):
        if file.is_symlink() or not file.is_file():
            continue
        if len(found) >= MOST:
            raise Refused("The folder has too many files.", reason=f"more than {MOST}", alternative="Push parts of it.")
        status = file.stat()
        path = posixpath.join(target, file.relative_to(source).as_posix())
        found.append((file, path, stat.S_IMODE(status.st_mode), status.st_mtime))
    return found
