"""Files of the device, as its shell sees them: what adb copies elsewhere than into /tmp is in a place of its own."""

from __future__ import annotations

import posixpath
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from anydevice.driver import Acted, Files
from anydevice_adb import quote
from anydevice_schemas.errors import (
    ActionUnverified,
    CallTimeout,
    InvalidArgument,
    PathNotFound,
    Refused,
)

from .reach import Reach

SHARED: Final = "/tmp"
FOLDER: Final = 93
"""Status with which our line says that there is a folder of a name; none of `cp`."""
MOST: Final = 20_000
"""Files of one folder that are copied."""


class VegaFiles(Files):
    """See `Files`. Everything passes through a folder in /tmp, which is the same for adb and for the shell."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def push(self, source: str, target: str, *, deadline: float) -> Acted:
        """See `Files.push`; sizes are read back.

        Raises:
            PathNotFound: The source does not exist, or no folder of the device could hold it.
            InvalidArgument: A folder of the device has the name that the file would get.
            Refused: The device could not write it, or the folder has too many files.
            ActionUnverified: Something of it is not whole on the device.
        """
        pairs = await anyio.to_thread.run_sync(_walk, Path(source))
        folder = Path(source).is_dir()  # noqa: ASYNC240 - one stat
        async with self._staging(deadline) as stage:
            sizes = [
                await self._reach.adb.push(file, posixpath.join(stage, "it", inner).rstrip("/"), deadline=deadline)
                for file, inner in pairs
            ]
            onto = f"test -d {quote(target)} && exit {FOLDER};"  # `cp` would put it in there, by a name of ours
            copy = f"mkdir -p {quote(target)} && cp -R {stage}/it/. {quote(target)}/"
            done = await self._reach.sh(copy if folder else f"{onto} cp {stage}/it {quote(target)}", deadline=deadline)
            if done.status == FOLDER and not folder:
                raise InvalidArgument(
                    "A folder of this name is there.",
                    param="devicePath",
                    expected="a path with / at its end, to put the file into that folder",
                    path=target,
                )
            if done.status != 0:
                if "No such file" in done.both:
                    raise PathNotFound("There is no folder of the device that it could go into.", path=target)
                raise Refused(
                    "The device could not write it.",
                    reason="cp",
                    alternative="Use a path in /tmp.",
                    said=done.both[-500:],
                )
            there = [posixpath.join(target, inner).rstrip("/") if folder else target for _, inner in pairs]
            await self._whole(there, sizes, deadline)
        return Acted("sync", verified=True, data={"files": len(pairs), "bytes": sum(sizes)})

    async def pull(self, source: str, target: str, *, deadline: float) -> Acted:
        """See `Files.pull`.

        Raises:
            PathNotFound: There is no such file on the device.
            Refused: The device could not read it, or the folder has too many files.
        """
        kind = await self._reach.sh(
            f"if [ -d {quote(source)} ]; then echo folder; elif [ -e {quote(source)} ]; then echo file; fi"
        )
        if not kind.text.strip():
            raise PathNotFound("There is no such file on the device.", path=source)
        async with self._staging(deadline) as stage:
            done = await self._reach.sh(f"cp -R {quote(source)} {stage}/it", deadline=deadline)
            if done.status != 0:
                raise Refused(
                    "The device could not read it.", reason="cp", alternative="See details.", said=done.both[-500:]
                )
            if kind.text.strip() == "file":
                size = await self._reach.adb.pull(f"{stage}/it", Path(target), deadline=deadline)
                return Acted("sync", verified=True, data={"files": 1, "bytes": size})
            count = [0, 0]
            await self._folder(f"{stage}/it", Path(target), deadline, count)
        return Acted("sync", verified=True, data={"files": count[0], "bytes": count[1]})

    async def _folder(self, source: str, target: Path, deadline: float, count: list[int]) -> None:
        await anyio.to_thread.run_sync(target.mkdir)
        for entry in await self._reach.adb.list(source):
            if entry.name in (".", "..") or "/" in entry.name or entry.link:
                continue
            inner = posixpath.join(source, entry.name)
            if entry.folder:
                await self._folder(inner, target / entry.name, deadline, count)
                continue
            if count[0] >= MOST:
                raise _too_many()
            count[1] += await self._reach.adb.pull(inner, target / entry.name, deadline=deadline)
            count[0] += 1

    async def _whole(self, paths: list[str], sizes: list[int], deadline: float) -> None:
        """Sees by the shell that files are as long as they were sent.

        Raises:
            ActionUnverified: One is not.
        """
        for at in range(0, len(paths), 100):
            part = paths[at : at + 100]
            done = await self._reach.sh("; ".join(f"wc -c < {quote(path)}" for path in part), deadline=deadline)
            told = [int(word) for word in done.text.split() if word.isdigit()]
            if told != sizes[at : at + 100]:
                raise ActionUnverified(
                    "What was copied is not whole on the device.", expected=sizes[at : at + 100][:5], actual=told[:5]
                )

    @asynccontextmanager
    async def _staging(self, deadline: float) -> AsyncIterator[str]:
        """A folder for one copy, gone with it; all of it within the deadline."""
        stage = f"{SHARED}/anydevice-{secrets.token_hex(6)}"
        try:
            with anyio.fail_after(deadline):
                await self._reach.tidy()
                await self._reach.run("mkdir", "-p", stage, deadline=5.0)
                yield stage
        except TimeoutError:
            raise CallTimeout("The files were not copied in time.", after=deadline, waiting_for="files") from None
        finally:
            await self._reach.away(stage)


def _walk(source: Path) -> list[tuple[Path, str]]:
    """Files to copy, and their places in the folder; links that lead out of it are left out."""
    if source.is_file():
        return [(source, "")]
    if not source.is_dir():
        raise PathNotFound("The file does not exist.", path=source.name)
    files = [file for file in sorted(source.rglob("*")) if file.is_file() and not file.is_symlink()]
    if len(files) > MOST:
        raise _too_many()
    return [(file, file.relative_to(source).as_posix()) for file in files]


def _too_many() -> Refused:
    return Refused("The folder has too many files.", reason=f"more than {MOST}", alternative="Copy parts of it.")
