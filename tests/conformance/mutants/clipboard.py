"""Mutants of the cases about the clipboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from anydevice.driver import Acted, Clip, ClipKind
from anydevice.testing import ReferenceBackend
from anydevice.testing.desk import FakeClipboard, FakeDesk
from anydevice.testing.driver import blank_png

from . import Mutant


def keeps_plain_text_only(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading gives what fits into Latin-1."""
    sound = FakeDesk.read

    def read(self: FakeDesk, kind: ClipKind | None) -> Clip:
        clip = sound(self, kind)
        text = clip.text.encode("latin-1", "replace").decode("latin-1") if clip.text is not None else None
        return Clip(clip.kinds, text=text, image=clip.image, files=clip.files)

    monkeypatch.setattr(FakeDesk, "read", read)


def keeps_one_for_itself(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text is kept beside the clipboard that apps paste from."""
    kept: dict[int, Clip] = {}

    def write(self: FakeDesk, kind: ClipKind, content: Any) -> Acted:
        kept[id(self)] = Clip(frozenset({kind}), **{kind: content})  # type: ignore[arg-type]
        return Acted("clipboard", verified=True)

    monkeypatch.setattr(FakeDesk, "write", write)
    monkeypatch.setattr(FakeDesk, "read", lambda self, kind: kept.get(id(self), Clip()))


def is_one_for_all(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """All devices share the clipboard of the host."""
    clip = Clip()

    def write(self: FakeDesk, kind: ClipKind, content: Any) -> Acted:
        nonlocal clip
        clip = Clip(frozenset({kind}), **{kind: content})  # type: ignore[arg-type]
        for screen in backend.screens.values():
            screen.desk.clip = clip
        return Acted("clipboard", verified=True)

    monkeypatch.setattr(FakeDesk, "write", write)


def gives_another_picture(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture is read as a small one."""

    async def write(self: FakeClipboard, png: bytes) -> Acted:
        return self.desk.write("image", blank_png(10, 10))

    monkeypatch.setattr(FakeClipboard, "write_image", write)


def sorts_files(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are put in the order of their names."""

    async def write(self: FakeClipboard, paths: Sequence[str]) -> Acted:
        return self.desk.write("files", sorted(paths))

    monkeypatch.setattr(FakeClipboard, "write_files", write)


MUTANTS: dict[str, Mutant] = {
    "clipboard.text-comes-back": keeps_plain_text_only,
    "clipboard.apps-paste-what-was-written": keeps_one_for_itself,
    "clipboard.is-the-devices-own": is_one_for_all,
    "clipboard.pictures-come-back": gives_another_picture,
    "clipboard.files-come-back": sorts_files,
}
