"""Files of a desktop, which are files of this host: the trash, tags, search by name."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Final, NoReturn

import anyio.to_thread

from anydevice.driver import Acted, FileInfo, FileList, Files
from anydevice.kit import finding
from anydevice_schemas.errors import PathNotFound, PermissionMissing, Refused, Unsupported

from . import trash
from .seats import Seat

TAGS: Final = "user.xdg.tags"
"""Extended attribute in which file managers keep tags, with commas between them."""


class LinuxFiles(Files):
    """Files as the desktop's programs see them."""

    def __init__(self, reach: Callable[[], Seat], *, own_home: bool) -> None:
        """`own_home`: the desktop has a home of its own, which is not the user's."""
        self._reach, self._own_home = reach, own_home

    async def home(self) -> str | None:
        """See `Files.home`."""
        return self._home() if self._own_home else None

    async def trash(self, path: str) -> Acted:
        """See `Files.trash`. What lies in a virtual desktop's home goes into its trash, the rest into the user's."""
        home = self._home()

        def work() -> Acted:
            whose = home
            if self._own_home and not path.startswith(os.path.realpath(home) + "/"):
                whose = str(Path.home())
            before = os.lstat(path)
            target = trash.put(path, trash.data_home_of(whose))
            return Acted("trash", verified=trash.seen_moved(path, target, before), data={"trashed": target})

        try:
            return await anyio.to_thread.run_sync(work)
        except FileNotFoundError:
            raise PathNotFound("There is no such file.", path=os.path.basename(path)) from None

    async def tags(self, path: str) -> Sequence[str]:
        """See `Files.tags`."""
        return await anyio.to_thread.run_sync(_tags, path, abandon_on_cancel=True)

    async def set_tags(self, path: str, tags: Sequence[str]) -> Acted:
        """See `Files.set_tags`."""
        await anyio.to_thread.run_sync(_set_tags, path, tags)
        return Acted("xattr")

    async def search(
        self, name: str, *, under: str | None = None, most: int = 100, hidden: bool = False, deadline: float = 10.0
    ) -> FileList:
        """See `Files.search`: a walk through the folders."""
        folder = under or self._home()
        if not await anyio.Path(folder).is_dir():
            raise PathNotFound("There is no such folder.", path=folder)
        stop = Event()
        try:
            found, cut = await anyio.to_thread.run_sync(
                lambda: finding.find(folder, name, most=most, hidden=hidden, seconds=deadline, stop=stop),
                abandon_on_cancel=True,
            )
        finally:
            stop.set()
        return FileList([FileInfo(one.path, one.size, one.changed, one.folder) for one in found], cut)

    def _home(self) -> str:
        seat = self._reach()
        return seat.env.get("HOME", seat.cwd)


def _tags(path: str) -> list[str]:
    try:
        raw = os.getxattr(path, TAGS)
    except OSError as error:
        if error.errno == errno.ENODATA:
            return []
        _refuse(error, path)
    return [tag for part in raw.decode("utf-8", "replace").split(",") if (tag := part.strip())]


def _set_tags(path: str, tags: Sequence[str]) -> None:
    try:
        if tags:
            os.setxattr(path, TAGS, ",".join(tags).encode())
        else:
            os.removexattr(path, TAGS)
    except OSError as error:
        if error.errno != errno.ENODATA:  # it had none
            _refuse(error, path)


def _refuse(error: OSError, path: str) -> NoReturn:
    if error.errno == errno.ENOENT:
        raise PathNotFound("There is no such file.", path=os.path.basename(path)) from None
    if error.errno in (errno.ENOTSUP, errno.EOPNOTSUPP):
        raise Unsupported(
            "The disk this file is on keeps no tags.",
            hint="Use a file on a disk with extended attributes, such as ext4, XFS or Btrfs.",
            operation="files.tags",
            alternatives=[],
        ) from error
    if error.errno in (errno.EPERM, errno.EACCES, errno.EROFS):
        raise PermissionMissing(
            "The tags of this file may not be read or changed.",
            permission="write",
            fix="Let the daemon's user write the file.",
        ) from error
    raise Refused(
        "The tags cannot be kept with this file.",
        reason=type(error).__name__ if error.errno is None else errno.errorcode.get(error.errno, "error"),
        alternative="fewer or shorter tags",
    ) from error
