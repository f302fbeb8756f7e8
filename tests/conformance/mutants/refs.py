"""Mutants of the cases about refs."""

from __future__ import annotations

from typing import Any

import pytest
from faults import nodes_told

from anydevice.commands import look
from anydevice.elements import refs
from anydevice.elements.refs import RefRegistry
from anydevice.sessions import Sessions
from anydevice.testing import ReferenceBackend
from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import Node, Tree
from anydevice_schemas.errors import StaleRef

from . import Mutant


def knows_elements_by_what_they_say(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's handle of a status holds what the status says."""

    def change(node: Node, element: FakeElement) -> None:
        if node.role == "status":
            node.key = f"{node.key}={node.value}"

    nodes_told(backend, monkeypatch, change)


def knows_elements_by_their_id(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's handle is the identifier: what is re-created passes for what it replaced."""
    monkeypatch.setattr(FakeElement, "renew", lambda self: None)


def knows_elements_by_their_place(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's handle is a place in the tree, and no screen is told from another."""

    def by_key(self: FakeScreen, key: str) -> FakeElement:
        place = int(key[1:]) if key[1:].isdigit() else len(self.elements)
        if place < len(self.elements):
            return self.elements[place]
        raise StaleRef("The element is gone.", ref=key, reason="gone", nearest_matches=[])

    monkeypatch.setattr(FakeScreen, "by_key", by_key)
    for screen in backend.screens.values():

        def node(element: FakeElement, parent: int = 0, screen: Any = screen, sound: Any = screen.node) -> Node:
            told: Node = sound(element, parent)
            told.key = f"p{screen.elements.index(element)}"
            return told

        def tree(scope: Any, sound: Any = screen.tree) -> Tree:
            told: Tree = sound(scope)
            told.generation = "the only one"
            return told

        monkeypatch.setattr(screen, "node", node)
        monkeypatch.setattr(screen, "tree", tree)


def reads_from_memory(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a ref named when it was last read is told when it is gone."""
    sound, seen = look.look_up, {}

    async def look_up(ctx: Any, text: str, timeout: float) -> Any:
        try:
            node, tree = await sound(ctx, text, timeout)
        except StaleRef:
            if text not in seen:
                raise
            return seen[text]
        seen[node.ref] = node, tree
        return node, tree

    monkeypatch.setattr(look, "look_up", look_up)


def lets_any_number_be_a_ref(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ref that was never issued is taken for the latest one."""
    sound = RefRegistry._known

    def known(self: RefRegistry, ref: str) -> Any:
        number = refs._number(ref)
        return sound(self, ref if number in self._entries else f"@e{max(self._entries, default=number)}")

    monkeypatch.setattr(RefRegistry, "_known", known)


def keeps_one_book_for_all_sessions(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """All sessions share their refs."""
    book, sound = RefRegistry(), Sessions._new

    def new(self: Sessions, *args: Any) -> Any:
        session = sound(self, *args)
        session.refs = book
        return session

    monkeypatch.setattr(Sessions, "_new", new)


def counts_anew_on_every_screen(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refs begin with @e1 again when the screen changes."""
    sound = RefRegistry.stamp

    def stamp(self: RefRegistry, tree: Tree, *, device: str = "") -> Tree:
        if (device, tree.generation) != self._at:
            self.__init__()  # type: ignore[misc]
        return sound(self, tree, device=device)

    monkeypatch.setattr(RefRegistry, "stamp", stamp)


MUTANTS: dict[str, Mutant] = {
    "refs.stay-the-same": knows_elements_by_what_they_say,
    "refs.re-created-is-stale": knows_elements_by_their_id,
    "refs.of-an-earlier-screen-are-stale": knows_elements_by_their_place,
    "refs.reads-refuse-stale-refs": reads_from_memory,
    "refs.never-issued-are-refused": lets_any_number_be_a_ref,
    "refs.of-another-session-are-refused": keeps_one_book_for_all_sessions,
    "refs.are-never-used-again": counts_anew_on_every_screen,
}
