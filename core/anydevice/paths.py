"""Paths of the host that a caller gives: only below folders it may use, links followed before that is judged.

    path = await paths.readable(ctx, args.path)      a file that is there
    path = await paths.writable(ctx, args.path)      a place that is free yet, in a folder that is there
    path = await paths.movable(ctx, args.path)       something that is there; a link is itself, not what it leads to
    word = await paths.told(ctx, path)               how an answer names it; never absolute over MCP

A caller may use its working directory, the folders of `policy.roots`, and read what calls made
(`anydevice://artefacts/NAME`); on a device with a folder of its own on this host (`home`), written `~`, that one too.
Everything else of anydevice's own folder is closed, wherever it lies. Whether something exists is only told inside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import anyio.to_thread

from anydevice_schemas.errors import AnydeviceError, InvalidArgument, PathNotFound, PathRefused

from .artefacts import SCHEME
from .context import Context

T = TypeVar("T")
Kind = Literal["file", "folder", "any"]
NEAR = frozenset({"cli", "python", "test"})
"""Transports whose callers are on this host and may be told absolute paths."""
OTHER = "Name a file or a folder; devices, pipes and sockets are never read."
RIGHTS = "Let the daemon's user have it, or give another path."
INSIDE = "Name something in it."
FEWER = "Name a folder with less in it."
WITHOUT = "Take what details.path names out of the folder, then repeat the call."


async def readable(ctx: Context, text: str, *, kind: Kind = "file", home: str | None = None) -> Path:
    """The real path of something that is there and may be read.

    Args:
        text: As the caller gave it: relative to its working directory, absolute, or an artefact's URI.
        kind: What it has to be; `any` is a file or a folder, never a device, pipe or socket.
        home: Folder of the device on this host, which `~` then means.

    Raises:
        PathRefused: It lies outside of the caller's folders, or cannot be read.
        PathNotFound: There is nothing, or something of another kind.
        InvalidArgument: It is no path.
    """
    return await _judged(ctx, home, lambda folders: folders.readable(text, kind))


async def writable(ctx: Context, text: str, *, home: str | None = None) -> Path:
    """The real path of a place where nothing is yet, in a folder that is there.

    Args, Raises: As `readable`; `PathRefused` also where something is there already.
    """
    return await _judged(ctx, home, lambda folders: folders.writable(text))


async def movable(ctx: Context, text: str, *, home: str | None = None) -> Path:
    """The path of something that is there, its folder resolved; a link at its end stays a link.

    Args, Raises: As `readable`; `PathRefused` also for a folder that is one of the caller's whole.
    """
    return await _judged(ctx, home, lambda folders: folders.movable(text))


async def within(ctx: Context, path: Path, *, most: int = 100_000, home: str | None = None) -> None:
    """Sees to it that there are only files and folders below a folder, and nothing that leads out of the caller's.

    Raises:
        PathRefused: A link leads out, something is a pipe, socket or device, or there is more than `most`.
    """
    await _judged(ctx, home, lambda folders: folders.closed(path, most))


async def told(ctx: Context, path: str | Path, *, home: str | None = None) -> str:
    """How an answer names a path: as the caller could give it again, and never absolute over MCP."""
    return (await told_all(ctx, [path], home=home))[0]


async def told_all(ctx: Context, given: Sequence[str | Path], *, home: str | None = None) -> list[str]:
    """`told` for several paths at once."""
    return await _judged(ctx, home, lambda folders: [folders.told(str(path)) for path in given])


async def _judged(ctx: Context, home: str | None, judge: Callable[[_Folders], T]) -> T:
    settings, caller = ctx.services.settings, ctx.caller

    def work() -> T:
        return judge(
            _Folders(
                cwd=_real(caller.cwd) if caller.cwd else None,
                roots=tuple(_real(os.path.expanduser(root)) for root in settings.roots),
                home=_real(home) if home else None,
                own=_real(settings.home),
                own_is=_identity(settings.home),
                artefacts=_real(settings.artefact_dir),
                near=caller.transport in NEAR,
            )
        )

    # A folder on a file server that is gone may hang; then only its thread does.
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _real(path: str | os.PathLike[str]) -> str:
    return os.path.realpath(path)


def _identity(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Which file or folder something is to its disk; None where there is nothing."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def below(path: str, folder: str) -> bool:
    """Whether a real path is a real folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@dataclass(slots=True, frozen=True)
class _Folders:
    """The folders of one call, links resolved. Its methods block for a moment.

    Attributes:
        cwd: Of the caller; None where it has none.
        roots: Of the configuration.
        home: Of the device on this host.
        own, artefacts: anydevice's folder, and the one in it that callers may read.
        own_is: Which folder that is to the disk, whatever it is called: some disks know several spellings of a name.
        near: The caller may be told absolute paths.
    """

    cwd: str | None
    roots: tuple[str, ...]
    home: str | None
    own: str
    own_is: tuple[int, int] | None
    artefacts: str
    near: bool

    @property
    def open(self) -> list[str]:
        """Folders that may be used whole. A program started at `/` did not choose that folder: it opens nothing."""
        given = [self.home, self.cwd if self.cwd != "/" else None, *self.roots]
        return list(dict.fromkeys(folder for folder in given if folder is not None))

    @property
    def start(self) -> str | None:
        """Where relative paths begin."""
        return self.cwd or next(iter(self.roots), None)

    def allows(self, path: str, *, reads: bool) -> bool:
        """Whether a real path may be used."""
        if self.home is not None and below(path, self.home):
            return True
        if self._in_own(path):
            return reads and path != self.artefacts and below(path, self.artefacts)
        return any(below(path, folder) for folder in self.open)

    def _in_own(self, path: str) -> bool:
        """Whether a real path lies in anydevice's folder, or is it."""
        if below(path, self.own):
            return True
        while self.own_is is not None and path != os.path.dirname(path):
            if _identity(path) == self.own_is:
                return True
            path = os.path.dirname(path)
        return False

    # --- what is asked ---

    def readable(self, text: str, kind: Kind) -> Path:
        path = self._allowed(text, _real(self._absolute(text)), reads=True)
        mode = _mode(text, path, follow=True)
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise self._refusal(text, "This is no file and no folder.", "not a file", hint=OTHER)
        if kind != "any" and stat.S_ISDIR(mode) != (kind == "folder"):
            other = "This is a folder, not a file." if kind == "file" else "This is a file, not a folder."
            raise PathNotFound(other, path=text, expected=kind)
        if not os.access(path, os.R_OK | (os.X_OK if stat.S_ISDIR(mode) else 0)):
            raise self._refusal(text, "This cannot be read.", "no permission", hint=RIGHTS)
        return Path(path)

    def writable(self, text: str) -> Path:
        folder, name = self._parted(text)
        self._allowed(text, folder, reads=False)
        if not os.path.isdir(folder):
            raise PathNotFound("The folder it should go into does not exist.", path=text)
        path = os.path.join(folder, name)
        if self._in_own(path) and not (self.home and below(path, self.home)):
            raise self._refusal(text, "This lies in anydevice's own folder.", "not yours")
        if os.path.lexists(path):
            raise self._refusal(text, "Something is there already.", "exists", hint="Give a name that is free yet.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise self._refusal(text, "Nothing can be written there.", "no permission", hint=RIGHTS)
        return Path(path)

    def movable(self, text: str) -> Path:
        folder, name = self._parted(text)
        path = os.path.join(folder, name)
        self._allowed(text, folder, reads=False)
        if any(below(whole, path) for whole in (*self.open, self.own)):
            raise self._refusal(text, "This is a whole folder of yours, or holds one.", "a root", hint=INSIDE)
        _mode(text, path, follow=False)
        return Path(path)

    def closed(self, top: Path, most: int) -> None:
        count = 0
        for folder, folders, files in os.walk(top):
            for name in (*folders, *files):
                count += 1
                path = os.path.join(folder, name)
                if count > most:
                    message = f"There are more than {most} files in it."
                    raise self._refusal(self.told(str(top)), message, "too many", hint=FEWER)
                mode = os.lstat(path).st_mode
                if stat.S_ISLNK(mode):
                    if not self.allows(_real(path), reads=True):
                        message = "A link in it leads out of your folders."
                        raise self._refusal(self.told(path), message, "link", hint=WITHOUT)
                elif not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    message = "Something in it is no file and no folder."
                    raise self._refusal(self.told(path), message, "not a file", hint=WITHOUT)

    def told(self, path: str) -> str:
        if below(path, self.artefacts) and path != self.artefacts:
            return SCHEME + os.path.relpath(path, self.artefacts)
        for folder, word in ((self.home, "~"), (self.cwd, ".")):
            if folder is not None and folder != "/" and below(path, folder):
                rest = os.path.relpath(path, folder)
                return word if rest == "." else rest if word == "." else f"{word}/{rest}"
        if self.near:
            return path
        if self.start is not None and self.start != "/" and any(below(path, root) for root in self.roots):
            return os.path.relpath(path, self.start)
        return "…/" + "/".join(Path(path).parts[-2:]).lstrip("/")

    # --- inside ---

    def _absolute(self, text: str) -> str:
        if not text or "\0" in text:
            raise InvalidArgument("This is no path.", param="path", expected="a path")
        try:
            os.fsencode(text)
        except UnicodeEncodeError:
            raise InvalidArgument("This is no path.", param="path", expected="a path") from None
        if text.startswith(SCHEME):
            name = text.removeprefix(SCHEME)
            if "/" in name or name in ("", ".", ".."):
                raise PathNotFound("No artefact has this name.", path=text)
            return os.path.join(self.artefacts, name)
        if text == "~" or text.startswith("~/"):
            if self.home is None:
                hint = "Give a path relative to your working directory."
                raise self._refusal(text, "This device has no folder of its own here.", "~ means nothing", hint=hint)
            return os.path.join(self.home, text[2:])
        if os.path.isabs(text):
            return text
        if self.start is None:
            raise self._refusal(text, "A caller without a working directory has no relative paths.", "relative")
        return os.path.join(self.start, text)

    def _parted(self, text: str) -> tuple[str, str]:
        """The real folder something is in, and its own name."""
        whole = self._absolute(text).rstrip("/")
        folder, name = os.path.split(whole)
        if name in ("", ".", ".."):  # these name a folder from inside
            folder, name = os.path.split(_real(whole or "/"))
        return _real(folder), name

    def _allowed(self, text: str, path: str, *, reads: bool) -> str:
        if not self.allows(path, reads=reads):
            raise self._refusal(text, "This path lies outside of your folders.", "outside")
        return path

    def _refusal(self, text: str, message: str, reason: str, *, hint: str | None = None) -> AnydeviceError:
        roots = [self.told(folder) for folder in self.open]
        if hint is None and not roots:
            hint = "Call from a working directory, or have a person add a folder to policy.roots."
        return PathRefused(message, hint=hint, path=text, roots=roots, reason=reason)


def _mode(text: str, path: str, *, follow: bool) -> int:
    """Kind and rights of what is there.

    Raises:
        PathNotFound: Nothing is.
        PathRefused: It is not told.
    """
    try:
        return os.stat(path, follow_symlinks=follow).st_mode
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM):
            raise PathRefused(
                "This cannot be looked at.", path=text, roots=[], reason="no permission", hint=RIGHTS
            ) from None
        raise PathNotFound("There is nothing of this name.", path=text) from None
