"""Mutants of the cases about files between caller and device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anydevice import paths
from anydevice.commands import transfer
from anydevice.driver import Acted
from anydevice.testing import ReferenceBackend, storing
from anydevice_schemas.errors import PathNotFound

from . import Mutant


def treats_bytes_as_text(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line ends are made those of the host."""
    sound = storing.FakeFiles.pull

    async def pull(self: Any, source: str, target: str, *, deadline: float) -> Acted:
        acted = await sound(self, source, target, deadline=deadline)
        path = Path(target)
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
        return acted

    monkeypatch.setattr(storing.FakeFiles, "pull", pull)


def takes_any_path(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths of the host are used as they are given."""
    monkeypatch.setattr(paths._Folders, "allows", lambda self, path, *, reads: True)


def makes_an_empty_file(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the device does not have comes as a file with nothing in it."""
    sound = storing.FakeFiles.pull

    async def pull(self: Any, source: str, target: str, *, deadline: float) -> Acted:
        try:
            return await sound(self, source, target, deadline=deadline)
        except PathNotFound:
            Path(target).touch()
            return Acted("pull")

    monkeypatch.setattr(storing.FakeFiles, "pull", pull)


def goes_by_the_name(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is a picture when its name says so."""
    monkeypatch.setattr(transfer, "_medium", lambda path: "image/png" if path.suffix == ".png" else None)


MUTANTS: dict[str, Mutant] = {
    "transfer.bytes-arrive-as-they-were": treats_bytes_as_text,
    "transfer.paths-keep-to-the-callers-folders": takes_any_path,
    "transfer.what-is-not-there-is-told": makes_an_empty_file,
    "transfer.media-are-pictures-and-videos": goes_by_the_name,
}
