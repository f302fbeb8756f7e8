"""Mutants of the cases about trash, search and tags."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from anydevice.commands import filing
from anydevice.driver import Acted
from anydevice.testing import ReferenceBackend, disk, storing
from anydevice.testing.disk import TRASH, FakeDisk

from . import Mutant


def deletes_for_good(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is put away is gone."""
    sound = FakeDisk.put_away

    def put_away(self: FakeDisk, path: str) -> str:
        where = sound(self, path)
        self.files[where].data = b""
        return where

    monkeypatch.setattr(FakeDisk, "put_away", put_away)


def asks_nobody(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command does not say that it needs a person's word."""
    monkeypatch.setattr(filing.trash, "command", filing.trash.command.model_copy(update={"confirm": []}))


def takes_a_name_again(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has the same name in the trash is overwritten."""

    def put_away(self: FakeDisk, path: str) -> str:
        where = f"{TRASH}/{posixpath.basename(path)}"
        self.files[where] = self.files.pop(path)
        return where

    monkeypatch.setattr(FakeDisk, "put_away", put_away)


def minds_the_case(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names have to be written as they are."""

    def matcher(name: str, sound: Callable[[str], Callable[[str], bool]] = disk.matcher) -> Callable[[str], bool]:
        fits = sound(name)
        return lambda text: fits(text) and ("*" in name or name in text)

    monkeypatch.setattr(disk, "matcher", matcher)


def only_adds_tags(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tags are added to those that are there, whatever was asked."""
    sound = storing.FakeFiles.set_tags

    async def set_tags(self: Any, path: str, tags: Sequence[str]) -> Acted:
        return await sound(self, path, list(dict.fromkeys([*self.disk.read(path).tags, *tags])))

    monkeypatch.setattr(storing.FakeFiles, "set_tags", set_tags)


MUTANTS: dict[str, Mutant] = {
    "filing.trash-moves-and-never-deletes": deletes_for_good,
    "filing.trash-waits-for-a-person": asks_nobody,
    "filing.names-in-the-trash-are-taken-once": takes_a_name_again,
    "filing.search-finds-by-name": minds_the_case,
    "filing.tags-are-read-back": only_adds_tags,
}
