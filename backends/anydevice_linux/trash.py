"""The trash, as the freedesktop.org Trash specification 1.0 has it: things are moved on their own disk, never copied.

What lies on the disk of a home goes into that home's trash, anything else into that of its own disk (`.Trash` that an
administrator made, else `.Trash-UID`). First the note that says where it was, so that a name is never taken twice; then
the move. Everything here blocks for a moment.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from anydevice_schemas.errors import PathNotFound, PermissionMissing, Refused

NAME_MOST: Final = 240
"""Bytes of a name in the trash; the note's is ten longer."""
_CLOSED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(slots=True, frozen=True)
class Trash:
    """One trash.

    Attributes:
        folder: Where it is.
        top: Folder that notes are relative to; None in a home, where they are absolute.
    """

    folder: str
    top: str | None = None


def put(path: str, data_home: str) -> str:
    """Moves something into the trash; returns where it lies now.

    Args:
        path: What to move; its folder resolved, a link at its end stays one.
        data_home: Data folder of the home whose trash is to be used, where that is on the same disk.

    Raises:
        PathNotFound: There is nothing.
        PermissionMissing: It may not be moved from where it is.
        Refused: Its disk has no trash, or it is a disk, or (part of) a trash, itself.
    """
    try:
        before = os.lstat(path)
    except OSError:
        raise PathNotFound("There is no such file.", path=os.path.basename(path)) from None
    trash = _trash_of(path, before.st_dev, data_home)
    inside = os.path.realpath(trash.folder)
    if path == inside or path.startswith(inside + "/") or inside.startswith(path + "/"):
        raise Refused("This is the trash itself, or lies in it.", reason="in the trash", alternative="another file")
    target, note = _reserve(path, trash)
    try:
        os.rename(path, target)
    except OSError as error:
        os.unlink(note)
        if error.errno in _CLOSED:
            raise PermissionMissing(
                "This may not be moved from where it is.",
                permission="write",
                fix="Let the daemon's user write the folder it is in.",
            ) from error
        if error.errno == errno.ENOENT:
            raise PathNotFound("There is no such file.", path=os.path.basename(path)) from None
        raise _no_trash(type(error).__name__) from error
    return target


def seen_moved(path: str, target: str, before: os.stat_result) -> bool:
    """Whether the very thing that was at one path is at the other, and gone from the first."""
    try:
        after = os.lstat(target)
    except OSError:
        return False
    return (after.st_dev, after.st_ino) == (before.st_dev, before.st_ino) and not os.path.lexists(path)


def _trash_of(path: str, disk: int, data_home: str) -> Trash:
    """The trash something belongs into, made if need be.

    Raises:
        Refused: There is none on its disk.
    """
    if os.lstat(os.path.dirname(path)).st_dev != disk:
        raise Refused("This is a disk of its own.", reason="a mount point", alternative="what is in it")
    if os.stat(_existing(data_home)).st_dev == disk:
        return _made(Trash(os.path.join(data_home, "Trash")))
    top = os.path.dirname(path)
    while top != "/" and os.lstat(os.path.dirname(top)).st_dev == disk:
        top = os.path.dirname(top)
    shared = os.path.join(top, ".Trash")
    if _is_shared(shared):
        try:
            return _made(Trash(os.path.join(shared, str(os.getuid())), top))
        except Refused:
            pass  # the specification has the other one for this
    return _made(Trash(os.path.join(top, f".Trash-{os.getuid()}"), top))


def _is_shared(folder: str) -> bool:
    """Whether an administrator made it for everybody: a folder, no link, with the sticky bit."""
    try:
        mode = os.lstat(folder).st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and bool(mode & stat.S_ISVTX)


def _made(trash: Trash) -> Trash:
    try:
        os.makedirs(trash.folder, mode=0o700, exist_ok=True)
        status = os.lstat(trash.folder)
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
            parts = [os.path.join(trash.folder, part) for part in ("files", "info")]
            for part in parts:
                os.makedirs(part, mode=0o700, exist_ok=True)
            if not any(os.path.islink(part) for part in parts):  # one would lead anywhere
                return trash
    except OSError as error:
        raise _no_trash(type(error).__name__) from error
    raise _no_trash("it belongs to somebody else, or is a link")


def _no_trash(why: str) -> Refused:
    return Refused(
        "There is no trash on the disk of this file, and nothing is deleted for good.",
        reason=why,
        alternative="a person moves the file",
    )


def _existing(path: str) -> str:
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def _reserve(path: str, trash: Trash) -> tuple[str, str]:
    """A name in the trash that nobody else has, with the note that says where the thing was."""
    was = os.path.relpath(path, trash.top) if trash.top is not None else path
    now = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime())
    text = f"[Trash Info]\nPath={quote(os.fsencode(was), safe='/')}\nDeletionDate={now}\n"
    for name in _names(os.path.basename(path)):
        note, target = (os.path.join(trash.folder, *part) for part in (("info", f"{name}.trashinfo"), ("files", name)))
        try:
            handle = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        except OSError as error:
            raise _no_trash(type(error).__name__) from error
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        if not os.path.lexists(target):  # one without a note is somebody's too
            return target, note
        os.unlink(note)
    raise AssertionError("names never end")


def _names(name: str) -> Iterator[str]:
    raw = os.fsencode(name)
    stem, suffix = os.path.splitext(name)
    if len(raw) <= NAME_MOST:
        yield name
        for number in range(2, 100):
            yield f"{stem}.{number}{suffix}"
    while True:
        yield f"{os.fsdecode(raw[: NAME_MOST - 20])}.{secrets.token_hex(4)}"


def data_home_of(home: str) -> str:
    """Data folder of the user this process belongs to, or of another home."""
    own = str(Path.home())
    return (os.environ.get("XDG_DATA_HOME") if home == own else None) or os.path.join(home, ".local", "share")
