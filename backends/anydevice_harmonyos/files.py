"""Files of the device, folders included, through the server's own copying.

hdc reads a line of words, so a path may hold what it takes for the end of one. On both sides files therefore go by
plain names of ours: a link to the caller's file here, and there a temporary file that is moved into place.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from anydevice.driver import Acted, Files
from anydevice_schemas.errors import (
    ActionUnverified,
    CallTimeout,
    InvalidArgument,
    PathNotFound,
    Refused,
)

from .hdc import quote
from .reach import Reach

MOST: Final = 20_000
"""Files of one folder that are copied."""
FOLDER: Final = 3
"""Status with which our lines say that there is a folder of a name."""
_PLAIN = re.compile(r"/[A-Za-z0-9_./+-]+", re.ASCII)


class HarmonyosFiles(Files):
    """See `Files`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def push(self, source: str, target: str, *, deadline: float) -> Acted:
        """See `Files.push`; sizes are read back.

        Raises:
            PathNotFound: The source does not exist, or the device has no folder it could go into.
            InvalidArgument: A folder of the device has the name that a file would get.
            Refused: The device could not write it, or the folder has too many files.
            ActionUnverified: It has another size on the device.
        """
        pairs = await anyio.to_thread.run_sync(_walk, Path(source), target)
        total = 0
        async with _within(deadline), _workplace() as folder:
            await self._reach.tidy()
            await self._folders([posixpath.dirname(target)], make=False)
            if await anyio.Path(source).is_dir():
                await self._folders([target, *sorted({posixpath.dirname(path) for _, path in pairs})], make=True)
            elif (await self._reach.hdc.shell(f"test -d {quote(target)}")).status == 0:
                raise _a_folder(target)
            for file, path in pairs:
                total += await self._send(file, path, folder, deadline)
        return Acted("hdc-file", verified=True, data={"files": len(pairs), "bytes": total})

    async def pull(self, source: str, target: str, *, deadline: float) -> Acted:
        """See `Files.pull`.

        Raises:
            PathNotFound: There is no such file on the device.
            Refused: The device could not read it, or the folder has too many files.
        """
        async with _within(deadline), _workplace() as folder:
            await self._reach.tidy()
            if not await self._is_folder(source):
                size = await self._receive(source, Path(target), folder, deadline)
                return Acted("hdc-file", verified=True, data={"files": 1, "bytes": size})
            root = quote(source)
            # Ended by a zero each: a name may hold the end of a line.
            listed = await self._reach.several(*(f"cd {root} && find . -type {kind} -print0" for kind in "df"))
            folders, files = ([row[2:] for row in text.split("\0") if row.startswith("./")] for text in listed)
            if len(files) > MOST:
                raise Refused(
                    "The folder has too many files.", reason=f"more than {MOST}", alternative="Pull parts of it."
                )
            safe = [name for name in (*folders, *files) if ".." not in name.split("/")]
            await anyio.to_thread.run_sync(_make, Path(target), [name for name in folders if name in safe])
            total = 0
            for name in files:
                if name in safe:
                    total += await self._receive(posixpath.join(source, name), Path(target, name), folder, deadline)
        return Acted("hdc-file", verified=True, data={"files": len(files), "bytes": total})

    # --- inside ---

    async def _is_folder(self, path: str) -> bool:
        done = await self._reach.hdc.shell(f'p={quote(path)}; test -d "$p" && exit {FOLDER}; test -e "$p"')
        if done.status not in (0, FOLDER):
            raise PathNotFound("The device has no such file.", path=path)
        return done.status == FOLDER

    async def _folders(self, folders: list[str], *, make: bool) -> None:
        words = " ".join(quote(folder or "/") for folder in folders)
        done = await self._reach.hdc.shell(f"mkdir -p {words}" if make else f"test -d {words}")
        if done.status == 0:
            return
        if make:
            raise Refused(
                "The device could not make the folder.",
                reason="mkdir",
                alternative="Use a folder the shell may write, such as /data/local/tmp.",
                said=done.text[-500:],
            )
        raise PathNotFound("There is no such folder on the device.", path=folders[0])

    async def _send(self, file: Path, path: str, folder: Path, deadline: float) -> int:
        link = folder / "link"
        await anyio.to_thread.run_sync(_link, link, file)
        size = (await anyio.to_thread.run_sync(file.stat)).st_size
        passing = self._reach.temporary(".part")
        name = quote(path)
        moved = False
        try:
            await self._reach.hdc.send(str(link), passing, deadline=deadline)
            # `mv` would put it into a folder of that name, under the name it has in passing.
            line = f"test -d {name} && exit {FOLDER}; mv -f {quote(passing)} {name} && stat -c %s {name}"
            done = await self._reach.hdc.shell(line, deadline=30.0)
            moved = done.status == 0
        finally:
            if not moved:
                await self._reach.away(passing)
        if done.status == FOLDER:
            raise _a_folder(path)
        if not moved:
            raise Refused(
                "The device could not write the file.",
                reason="mv",
                alternative="Use a folder the shell may write, such as /data/local/tmp.",
                said=done.text[-500:],
            )
        if done.text.strip() != str(size):
            raise ActionUnverified("The file is not whole on the device.", expected=size, actual=done.text.strip()[:40])
        return size

    async def _receive(self, path: str, target: Path, folder: Path, deadline: float) -> int:
        passing, plain = "", path
        if not _PLAIN.fullmatch(path):
            plain = passing = self._reach.temporary(".part")
            done = await self._reach.hdc.shell(f"cp {quote(path)} {quote(passing)}", deadline=deadline)
            if done.status != 0:
                raise _unread(done.text)
        here = folder / "file"
        try:
            size = (await self._reach.hdc.shell(f"stat -c %s {quote(plain)}")).text.strip()
            await self._reach.hdc.receive(plain, str(here), deadline=deadline)
            found = (await anyio.to_thread.run_sync(here.stat)).st_size
            if str(found) != size:
                raise ActionUnverified("The file did not come whole.", expected=size[:40], actual=found)
            await anyio.to_thread.run_sync(shutil.move, here, target)
        finally:
            if passing:
                await self._reach.away(passing)
        return found


@asynccontextmanager
async def _workplace() -> AsyncIterator[Path]:
    """A folder of this host with a plain name."""
    folder = Path(await anyio.to_thread.run_sync(tempfile.mkdtemp, None, "anydevice-"))
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


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


def _link(link: Path, file: Path) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(file.resolve())


def _make(root: Path, folders: list[str]) -> None:
    root.mkdir()
    for name in sorted(folders):
        (root / name).mkdir(parents=True, exist_ok=True)


def _walk(source: Path, target: str) -> list[tuple[Path, str]]:
    """Files to copy and their paths on the device. Links that lead out of a folder are left out."""
    if source.is_file():
        return [(source, target)]
    if not source.is_dir():
        raise PathNotFound("The file does not exist.", path=source.name)
    found: list[tuple[Path, str]] = []
    for file in sorted(source.rglob("*")):
        if file.is_symlink() or not file.is_file():
            continue
        if len(found) >= MOST:
            raise Refused("The folder has too many files.", reason=f"more than {MOST}", alternative="Push parts of it.")
        found.append((file, posixpath.join(target, file.relative_to(source).as_posix())))
    return found


def _a_folder(path: str) -> InvalidArgument:
    return InvalidArgument(
        "A folder of this name is there.",
        param="devicePath",
        expected="a path with / at its end, to put the file into that folder",
        path=path,
    )


def _unread(said: str) -> Refused:
    return Refused(
        "The device could not read the file.",
        reason="cp",
        alternative="Pull a file the shell may read.",
        said=said[-500:],
    )
