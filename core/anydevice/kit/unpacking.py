"""Archives somebody else made: looked at whole before anything of them is used, and unpacked inside of one folder.

    kind = check(path)                    refuses members that lead outside, and more than can be meant
    top = unpack(path, folder)            the one thing in it

Packages of apps are archives too: those are checked, and handed on as they are. Blocks; call it in a worker thread, and
set `stop` when nobody waits any more: it then ends with a `TimeoutError`.
"""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Event
from typing import Literal

from anydevice_schemas.errors import AnydeviceError, InvalidArgument, Refused

MEMBERS = 50_000
"""Members an archive may have."""
BYTES = 8 * 1024**3
"""Bytes all of them may have together."""
CHUNK = 1 << 20
UNPACKED = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""Names of archives that only wrap what is meant."""
_ASIDE = frozenset({"__MACOSX"})
"""Folders an archiver adds for itself."""

Kind = Literal["zip", "tar"]


@dataclass(slots=True, frozen=True)
class Member:
    """One member: its name, its size in bytes, where it leads if it is a link, and what is wrong with its kind."""

    name: str
    size: int
    link: str | None = None
    fault: str = ""


def kind_of(path: Path) -> Kind | None:
    """What kind of archive a file is, by its bytes; None for none.

    Raises:
        InvalidArgument: It begins as one, and is cut off.
    """
    if path.is_dir():
        return None
    if zipfile.is_zipfile(path):
        return "zip"
    try:
        return "tar" if tarfile.is_tarfile(path) else None
    except Exception as error:  # as below
        raise _broken(error) from error


def wraps(path: Path) -> bool:
    """Whether a file is an archive that only wraps what is meant, by its name and its bytes."""
    return path.name.lower().endswith(UNPACKED) and kind_of(path) is not None


def check(path: Path, stop: Event | None = None) -> Kind | None:
    """Looks at every member of an archive; None where the file is none.

    Raises:
        Refused: A member leads outside of it, is named twice, is no file, folder or link; or there is too much.
        InvalidArgument: It is broken.
    """
    kind = kind_of(path)
    if kind is None:
        return None
    count = size = 0
    names: set[str] = set()
    try:
        for member in _zipped(path) if kind == "zip" else _tarred(path):
            _go_on(stop)
            count += 1
            size += member.size
            if member.fault:
                raise _refused(member.fault, count)
            name = str(PurePosixPath(member.name))
            if count > MEMBERS or size > BYTES:
                raise _refused("more than can be meant", count)
            if name in names and member.size:
                raise _refused("a member named twice", count)
            names.add(name)
            if _leads_out(member.name) or (member.link is not None and _links_out(member)):
                raise _refused("a member that leads outside of it", count)
    except (AnydeviceError, TimeoutError):
        raise
    except Exception as error:  # whatever reading what somebody else made runs into
        raise _broken(error) from error
    return kind


def unpack(path: Path, folder: Path, stop: Event | None = None) -> Path:
    """Unpacks an archive that was checked into an empty folder; returns the one file or folder at its top.

    Raises:
        InvalidArgument: It is broken, or has nothing or several things at its top.
        Refused: Links in it, one over the other, lead outside.
    """
    try:
        if kind_of(path) == "zip":
            _unzip(path, folder, stop)
        else:
            with tarfile.open(path) as archive:
                for info in archive:
                    _go_on(stop)
                    archive.extract(info, folder, filter="data")
    except (AnydeviceError, TimeoutError):
        raise
    except Exception as error:  # whatever reading what somebody else made runs into
        raise _broken(error) from error
    _contained(folder)
    tops = sorted(one.name for one in folder.iterdir() if one.name not in _ASIDE and not one.name.startswith("."))
    if len(tops) != 1:
        raise InvalidArgument(
            "The archive does not hold exactly one thing.",
            param="source",
            expected="an archive with one app in it",
            found=len(tops),
        )
    return folder / tops[0]


def _zipped(path: Path) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            fault = "a member with a password" if info.flag_bits & 1 else ""
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
                fault = "a member that is no file"
            link = None
            if stat.S_ISLNK(mode) and not fault:
                link = archive.read(info).decode("utf-8", "replace") if info.file_size < 4096 else "/"
            yield Member(info.filename, info.file_size, link, fault)


def _tarred(path: Path) -> Iterator[Member]:
    with tarfile.open(path) as archive:
        for info in archive:
            known = info.isreg() or info.isdir() or info.issym() or info.islnk()
            link = info.linkname if info.issym() else None
            if info.islnk():  # named from the top of the archive, not from where it is
                link = os.path.relpath(info.linkname, os.path.dirname(info.name) or ".")
            yield Member(info.name, info.size if info.isreg() else 0, link, "" if known else "a member that is no file")


def _leads_out(name: str) -> bool:
    plain = name.replace("\\", "/")
    drive = len(plain) > 1 and plain[1] == ":"
    return not plain or plain.startswith("/") or drive or "\0" in plain or ".." in plain.split("/")


def _links_out(member: Member) -> bool:
    link = (member.link or "").replace("\\", "/")
    if not link or link.startswith("/") or "\0" in link:
        return True
    where = os.path.normpath(os.path.join(os.path.dirname(member.name), link))
    return where == ".." or where.startswith("../")


def _go_on(stop: Event | None) -> None:
    if stop is not None and stop.is_set():
        raise TimeoutError


def _unzip(path: Path, folder: Path, stop: Event | None) -> None:
    links: list[tuple[Path, str]] = []
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            if stat.S_ISLNK(mode):
                links.append((folder / info.filename, archive.read(info).decode()))
                continue
            made = folder / info.filename.replace("\\", "/")
            if info.is_dir():
                made.mkdir(parents=True, exist_ok=True)
                continue
            made.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as source, made.open("xb") as target:
                while chunk := source.read(CHUNK):
                    _go_on(stop)
                    target.write(chunk)
            made.chmod(0o700 if mode & 0o100 else 0o600)
    for place, where in links:  # last, so that nothing is written through one
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(where)


def _contained(folder: Path) -> None:
    top = os.path.realpath(folder)
    for inside, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(inside, name)
            if os.path.islink(path) and not os.path.realpath(path).startswith(top + os.sep):
                raise _refused("links that lead outside of it")


def _refused(reason: str, member: int | None = None) -> Refused:
    # By number: its name is somebody else's text, and the details of a refusal are read as ours.
    return Refused("The archive is not used.", reason=reason, alternative="an archive made anew", member=member)


def _broken(error: Exception) -> InvalidArgument:
    return InvalidArgument(
        "The archive is broken.", param="source", expected="a whole archive", reason=type(error).__name__
    )
