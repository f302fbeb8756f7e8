"""What a fake device keeps: files, trash, gallery, packages, forwarded ports; and a journal of what was done."""

from __future__ import annotations

import itertools
import posixpath
import shutil
import tempfile
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anydevice_schemas.errors import PathNotFound

from ..driver import FileInfo, Forward
from ..kit.finding import matcher

HOME = "/storage"
TRASH = "/storage/.trash"
FOLDERS = ("/", HOME, TRASH, "/storage/Pictures", "/storage/Documents")
PORTS = itertools.count(42_000)

_times = itertools.count(1_800_000_000)


@dataclass
class FakeFile:
    """A file of a fake device."""

    data: bytes
    tags: tuple[str, ...] = ()
    changed: float = field(default_factory=lambda: float(next(_times)))


class FakeDisk:
    """The files of one device, and what else stays on it.

    Attributes:
        files: By absolute path.
        folders: Paths of folders.
        gallery: Names of the pictures and videos in it.
        packages: Names of installed apps, by id.
        place: Folder of this host with the folders of its apps, once somebody asked for one.
        forwards: Ports that are forwarded, with whether this driver did it.
        running: Command lines of the shell that have not ended.
        journal: Everything that was done: `(what, details)`.
    """

    def __init__(self) -> None:
        self.files: dict[str, FakeFile] = {"/storage/Documents/welcome.txt": FakeFile(b"Welcome\n")}
        self.folders = set(FOLDERS)
        self.gallery: dict[str, bytes] = {}
        self.packages: dict[str, str] = {}
        self.place = ""
        self.forwards: dict[Forward, bool] = {}
        self.running: list[str] = []
        self.journal: list[tuple[str, Any]] = []

    def read(self, path: str) -> FakeFile:
        """A file.

        Raises:
            PathNotFound: There is none of this path.
        """
        found = self.files.get(posixpath.normpath(path))
        if found is None:
            raise PathNotFound("The device has no such file.", path=path)
        return found

    def write(self, path: str, data: bytes) -> None:
        """A file comes into being, or is replaced.

        Raises:
            PathNotFound: Its folder does not exist, or is a file.
        """
        path = posixpath.normpath(path)
        if posixpath.dirname(path) not in self.folders or path in self.folders:
            raise PathNotFound("The device has no folder it could go into.", path=path)
        self.files[path] = FakeFile(data)

    def erase(self) -> None:
        """As on the first day."""
        fresh = FakeDisk()
        self.files, self.folders, self.gallery, self.packages = (
            fresh.files, fresh.folders, fresh.gallery, fresh.packages,
        )  # fmt: skip
        self.journal.append(("erase", None))

    def container(self, app: str, kind: str) -> str:
        """A real folder of this host for an app; gone with the device."""
        if not self.place:
            self.place = tempfile.mkdtemp(prefix="anydevice-fake-")
            weakref.finalize(self, shutil.rmtree, self.place, True)
        folder = Path(self.place, app, kind)
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)

    def below(self, folder: str) -> list[str]:
        """Paths of all files below a folder."""
        prefix = posixpath.normpath(folder).rstrip("/") + "/"
        return sorted(path for path in self.files if path.startswith(prefix))

    def has(self, path: str) -> bool:
        """Whether there is a file or folder of this path."""
        path = posixpath.normpath(path)
        return path in self.files or path in self.folders

    def put_away(self, path: str) -> str:
        """Moves a file or folder into the trash, under a name that is free there; where it lies now.

        Raises:
            PathNotFound: There is none of this path.
        """
        path = posixpath.normpath(path)
        if not self.has(path):
            raise PathNotFound("The device has no such file.", path=path)
        name = posixpath.basename(path)
        names = itertools.chain([name], (f"{name}.{number}" for number in itertools.count(2)))
        target = next(f"{TRASH}/{one}" for one in names if not self.has(f"{TRASH}/{one}"))
        for old in [*self.below(path), *([path] if path in self.files else [])]:
            self.files[target + old[len(path) :]] = self.files.pop(old)
        for folder in [f for f in self.folders if f == path or f.startswith(path + "/")]:
            self.folders.remove(folder)
            self.folders.add(target + folder[len(path) :])
        return target

    def search(self, name: str, under: str, hidden: bool) -> list[FileInfo]:
        """Files and folders by name, newest first.

        Raises:
            PathNotFound: `under` is no folder.
        """
        under = posixpath.normpath(under)
        if under not in self.folders:
            raise PathNotFound("The device has no such folder.", path=under)
        fits, prefix = matcher(name), under.rstrip("/") + "/"
        found = [
            FileInfo(path, len(file.data), file.changed, False, file.tags)
            for path, file in self.files.items()
            if path.startswith(prefix) and fits(posixpath.basename(path))
        ]
        found += [
            FileInfo(path, None, None, True)
            for path in self.folders
            if path.startswith(prefix) and fits(posixpath.basename(path))
        ]
        shown = [one for one in found if hidden or "/." not in one.path[len(under) :]]
        return sorted(shown, key=lambda one: (-(one.changed or 0), one.path))

    def clean(self) -> None:
        """Takes away what a holder added to be taken away."""
        self.forwards = {forward: ours for forward, ours in self.forwards.items() if not ours}
