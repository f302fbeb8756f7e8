"""Files that calls made: names chosen here, one folder, nothing overwritten, bounded in number and size."""

from __future__ import annotations

import os
import re
import secrets
import time
from pathlib import Path

from anydevice_schemas import Artefact
from anydevice_schemas.errors import PathNotFound, Refused

from .settings import private_folder

SCHEME = "anydevice://artefacts/"
_NAME = re.compile(r"^[a-z0-9][a-z0-9-]{0,80}\.[a-z0-9]{1,8}$")
_SUFFIX = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "text/html": "html",
    "text/plain": "txt",
    "application/json": "json",
    "video/mp4": "mp4",
    "video/quicktime": "mov",
    "video/webm": "webm",
    "video/x-matroska": "mkv",
}
_UNFINISHED = re.compile(r"^[a-z0-9][a-z0-9-]{0,80}$")
UNFINISHED = "unfinished"
"""Folder of files that are being made."""
UNFINISHED_KEEP = 7 * 86_400.0
"""Seconds a file nobody ever asked for is kept there."""


class Artefacts:
    """The folder of artefacts.

    Args:
        folder: Created with mode 0700 on first use.
        keep: How many files are kept; the oldest go first.
    """

    def __init__(self, folder: Path, *, keep: int = 500) -> None:
        self.folder = folder
        self.keep = keep

    def save(self, data: bytes, mime: str, *, stem: str) -> Artefact:
        """Writes a new file and returns its name and place. Blocking but small; call it in a worker thread."""
        private_folder(self.folder)
        name = f"{_unused(stem)}.{_SUFFIX.get(mime, 'bin')}"
        path = self.folder / name
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        self._trim()
        return Artefact(name=name, uri=SCHEME + name, mime=mime, size=len(data), path=str(path))

    def reserve(self, stem: str) -> Path:
        """Where a program may make a file that becomes an artefact: a path without a suffix, which the program adds.

        Its name, with the suffix of what it turns out to be, is the name of the artefact. Blocking but small.
        """
        folder = self.folder / UNFINISHED
        private_folder(self.folder)
        private_folder(folder)
        oldest = time.time() - UNFINISHED_KEEP
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < oldest:
                Path(entry.path).unlink(missing_ok=True)
        return folder / _unused(stem)

    def adopt(self, path: Path, mime: str) -> Artefact:
        """Makes an artefact of a finished file at a reserved place, by moving it. Blocking but small.

        Raises:
            PathNotFound: There is no such file, or it is none at a reserved place.
        """
        ours = path.parent == self.folder / UNFINISHED and _UNFINISHED.match(path.stem)
        if not ours or path.is_symlink() or not path.is_file():
            raise PathNotFound("The file that was to be kept is not there.", path=path.name)
        name = f"{path.stem}.{_SUFFIX.get(mime, 'bin')}"
        os.chmod(path, 0o600)
        size = path.stat().st_size
        os.utime(path)
        os.replace(path, self.folder / name)
        self._trim()
        return Artefact(name=name, uri=SCHEME + name, mime=mime, size=size, path=str(self.folder / name))

    def left(self, stem: str) -> Path | None:
        """The file that was made at a reserved place and adopted by nobody; None where there is none. Blocking."""
        folder = self.folder / UNFINISHED
        if not _UNFINISHED.match(stem) or not folder.is_dir():
            return None
        found = [path for path in folder.glob(f"{stem}.*") if path.stem == stem and path.is_file()]
        return found[0] if len(found) == 1 and not found[0].is_symlink() else None

    def read(self, name: str, *, limit: int = 32 * 1024 * 1024) -> bytes:
        """The bytes of an artefact by its name or URI.

        Raises:
            PathNotFound: No artefact has this name.
            Refused: It has more than `limit` bytes.
        """
        name = name.removeprefix(SCHEME)
        path = self.folder / name
        if not _NAME.match(name) or not path.is_file() or path.is_symlink():
            raise PathNotFound("No artefact has this name.", path=name)
        with path.open("rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise Refused(
                "The file is too large to be handed over whole.",
                reason=f"it has more than {limit} bytes",
                alternative="Read it from the folder artefacts of the daemon's home.",
            )
        return data

    def _trim(self) -> None:
        files = [entry for entry in os.scandir(self.folder) if entry.is_file(follow_symlinks=False)]
        if len(files) <= self.keep:
            return
        files.sort(key=lambda entry: entry.stat().st_mtime_ns)
        for entry in files[: len(files) - self.keep]:
            Path(entry.path).unlink(missing_ok=True)


def _unused(stem: str) -> str:
    """A name nobody can guess, and no other file has."""
    clean = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:40] or "file"
    return f"{clean}-{secrets.token_hex(6)}"
