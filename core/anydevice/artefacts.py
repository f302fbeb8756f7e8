"""Files that calls made: names chosen here, one folder, nothing overwritten, bounded in number and size."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from anydevice_schemas import Artefact
from anydevice_schemas.errors import PathNotFound

from .settings import private_folder

SCHEME = "anydevice://artefacts/"
_NAME = re.compile(r"^[a-z0-9][a-z0-9-]{0,80}\.[a-z0-9]{1,8}$")
_SUFFIX = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "text/html": "html",
    "text/plain": "txt",
    "application/json": "json",
}


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
        clean = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:40] or "file"
        name = f"{clean}-{secrets.token_hex(6)}.{_SUFFIX.get(mime, 'bin')}"
        path = self.folder / name
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        self._trim()
        return Artefact(name=name, uri=SCHEME + name, mime=mime, size=len(data), path=str(path))

    def read(self, name: str, *, limit: int = 32 * 1024 * 1024) -> bytes:
        """The bytes of an artefact by its name or URI.

        Raises:
            PathNotFound: No artefact has this name.
        """
        name = name.removeprefix(SCHEME)
        path = self.folder / name
        if not _NAME.match(name) or not path.is_file() or path.is_symlink():
            raise PathNotFound("No artefact has this name.", path=name)
        with path.open("rb") as file:
            return file.read(limit)

    def _trim(self) -> None:
        files = [entry for entry in os.scandir(self.folder) if entry.is_file(follow_symlinks=False)]
        if len(files) <= self.keep:
            return
        files.sort(key=lambda entry: entry.stat().st_mtime_ns)
        for entry in files[: len(files) - self.keep]:
            Path(entry.path).unlink(missing_ok=True)
