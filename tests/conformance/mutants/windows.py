"""Mutants of the cases about windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from faults import trees_told

from anydevice.driver import Acted, TreeScope, Window
from anydevice.testing import ReferenceBackend
from anydevice.testing.desk import FakeDesk, FakeWindows
from anydevice_schemas import Point, Rect, Tree

from . import Mutant


def tells_the_client_area(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows are told without what lies in their first hundred points."""
    sound = FakeDesk.told

    def told(self: FakeDesk, window: Any) -> Window:
        had = sound(self, window)
        rect = had.rect
        return replace(had, rect=Rect(rect.x, rect.y + 400, rect.width, rect.height))

    monkeypatch.setattr(FakeDesk, "told", told)


def moves_the_frame_alone(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements are told from the corner of their window."""

    def change(tree: Tree, scope: TreeScope) -> None:
        root = tree.nodes[0].rect
        for node in tree.nodes[1:]:
            if node.rect is not None and root is not None:
                node.rect = Rect(node.rect.x - root.x, node.rect.y - root.y, node.rect.width, node.rect.height)

    trees_told(backend, monkeypatch, change)


def sizes_the_inside(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is given to what is inside of the border."""

    async def resize(self: FakeWindows, id: str, width: float, height: float) -> Window:
        return self.desk.do("resize", id, width=width + 12, height=height + 30)

    monkeypatch.setattr(FakeWindows, "resize", resize)


def minimizes_by_word_alone(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A minimized window stays on the screen."""
    monkeypatch.setattr(FakeDesk, "away", False)


def forgets_where_it_was(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that is no longer maximized is put into the corner."""

    async def unmaximize(self: FakeWindows, id: str) -> Window:
        self.desk.do("unmaximize", id)
        return self.desk.do("move", id, to=Point(0, 0))

    monkeypatch.setattr(FakeWindows, "unmaximize", unmaximize)


def raises_without_the_keyboard(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that was raised does not get the keys."""
    for screen in backend.screens.values():

        def press(chord: str, screen: Any = screen, sound: Any = screen.key) -> None:
            if not screen.did("window.bring_up"):
                sound(chord)

        monkeypatch.setattr(screen, "key", press)


def hides_instead_of_closing(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that is closed is only left out of the list."""
    gone: set[str] = set()
    told = FakeWindows.list

    async def close(self: FakeWindows, id: str) -> Acted:
        gone.add(id)
        return Acted("close", verified=True)

    async def list(self: FakeWindows) -> Sequence[Window]:
        return [one for one in await told(self) if one.id not in gone]

    monkeypatch.setattr(FakeWindows, "close", close)
    monkeypatch.setattr(FakeWindows, "list", list)


def takes_the_active_one_instead(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id that nobody has is taken for the active window."""
    sound = FakeDesk.window

    def window(self: FakeDesk, id: str) -> Any:
        known = [one.id for one in self.shown]
        return sound(self, id if id in known else known[0])

    monkeypatch.setattr(FakeDesk, "window", window)


def reads_the_app_for_any_window(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever window is asked for, the whole desktop is read."""
    sound = FakeDesk.tree
    monkeypatch.setattr(FakeDesk, "tree", lambda self, scope: sound(self, replace(scope, window=None)))


MUTANTS: dict[str, Mutant] = {
    "windows.the-apps-window-is-told": tells_the_client_area,
    "windows.moved-with-what-is-in-it": moves_the_frame_alone,
    "windows.resized-as-asked": sizes_the_inside,
    "windows.minimized-and-brought-back": minimizes_by_word_alone,
    "windows.maximized-and-back": forgets_where_it_was,
    "windows.raised-takes-the-keyboard": raises_without_the_keyboard,
    "windows.closed-is-gone": hides_instead_of_closing,
    "windows.one-that-is-not-there-is-told": takes_the_active_one_instead,
    "windows.read-one-by-one": reads_the_app_for_any_window,
}
