"""Mutants of the cases about long lists."""

from __future__ import annotations

from typing import Any

import pytest
from faults import operation, trees_told, without

from anydevice.commands import _aim, move
from anydevice.driver import TreeScope
from anydevice.elements import find
from anydevice.testing import ReferenceBackend, practice
from anydevice.testing.practice import PracticeApp
from anydevice.testing.screen import FakeScreen
from anydevice_schemas import Point, Tree
from anydevice_schemas.errors import CallTimeout

from . import Mutant


def swipes_the_other_way(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrolling down is taken for a finger that goes down."""

    async def swipe(sound: Any, self: Any, start: Point, end: Point, **more: Any) -> Any:
        return await sound(self, end, start, **more)

    operation(monkeypatch, "touch.swipe", swipe)


def stops_half_way(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing scrolls further than a few screens."""
    sound = FakeScreen.scroll

    def scroll(self: FakeScreen, dy: float) -> None:
        sound(self, min(dy, 3000 - self.offset))

    monkeypatch.setattr(FakeScreen, "scroll", scroll)
    monkeypatch.setattr(PracticeApp, "content_height", property(lambda self: 3000 + self.height))


def tells_rows_that_are_not_there(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row of the list is told, also those that do not exist."""
    monkeypatch.setattr(practice, "NEAR_ROWS", practice.SCREENS["list"].rows)


def tells_the_first_rows_for_ever(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that were read first are the rows there are."""

    def change(tree: Tree, scope: TreeScope) -> Tree:
        return without(tree, lambda n: n.identifier.startswith("row.") and int(n.identifier[4:]) > 60)

    trees_told(backend, monkeypatch, change)


def takes_the_first_that_is_there(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several, the one that is on screen is taken."""
    sound = _aim.one

    def one(tree: Tree, query: Any) -> int:
        found = [i for i in find(tree, query) if "offscreen" not in tree.nodes[i].states]
        return found[0] if found else sound(tree, query)

    monkeypatch.setattr(_aim, "one", one)


def uses_rows_again(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list puts new rows into the views of old ones, and the driver's handle is the view."""
    sound = PracticeApp._fill_rows

    def fill_rows(self: PracticeApp) -> None:
        sound(self)
        for element in self.elements:
            if element.identifier.startswith("row."):
                element.key = f"view{int(element.identifier[4:]) % practice.NEAR_ROWS}"

    monkeypatch.setattr(PracticeApp, "_fill_rows", fill_rows)


def always_moved(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scroll that was sent has moved something."""
    sound = move._Scroller.step

    async def step(self: Any, *args: Any) -> Any:
        await sound(self, *args)
        return move._Shift(True, [0.0, 0.0])

    monkeypatch.setattr(move._Scroller, "step", step)


def gives_up_without_a_word(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrolling in vain is only said to have taken too long."""
    monkeypatch.setattr(move, "not_found", lambda tree, query: CallTimeout("It took too long.", after=1.0))


def pins_what_it_reveals(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was revealed once is told to be on screen for ever, and scrolls no more."""

    async def reveal(sound: Any, self: Any, key: str) -> Any:
        self.model.by_key(key).fixed = True
        return await sound(self, key)

    operation(monkeypatch, "elements.reveal", reveal)


MUTANTS: dict[str, Mutant] = {
    "lists.scroll-goes-that-way": swipes_the_other_way,
    "lists.scroll-to-the-edge": stops_half_way,
    "lists.a-row-that-is-not-there-yet": tells_rows_that_are_not_there,
    "lists.until-finds-what-is-far": tells_the_first_rows_for_ever,
    "lists.a-twin-off-screen-is-told": takes_the_first_that_is_there,
    "lists.a-row-that-left-is-stale": uses_rows_again,
    "lists.nothing-moved-is-told": always_moved,
    "lists.until-ends": gives_up_without_a_word,
    "lists.reveals-what-is-named": pins_what_it_reveals,
}
