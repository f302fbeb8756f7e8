"""Mutants of the cases about reading a screen."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import pytest
from faults import nodes_told, operation, states_lost, trees_told, without

from anydevice.commands import look
from anydevice.driver import TreeScope
from anydevice.elements import match
from anydevice.testing import ReferenceBackend
from anydevice.testing.screen import FakeElement
from anydevice_schemas import Node, Point, Tree
from anydevice_schemas.practice import SECRET

from . import Mutant


def speaks_its_own_language(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state of the platform's own slips through."""

    def change(tree: Tree, scope: TreeScope) -> None:
        for node in tree.nodes:
            if node.identifier == "gestures.zone":
                node.states = node.states | {"long-clickable"}

    trees_told(backend, monkeypatch, change)


def forgets_the_last(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last button of the home screen is left out, and nothing is said of it."""
    trees_told(backend, monkeypatch, lambda tree, scope: without(tree, lambda n: n.identifier == "home.media"))


def tells_all_as_viewport(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The viewport is all there is."""
    for screen in backend.screens.values():

        def tree(scope: TreeScope, sound: Any = screen.tree) -> Any:
            return sound(replace(scope, mode="full") if scope.mode == "viewport" else scope)

        monkeypatch.setattr(screen, "tree", tree)


def tells_all_as_interactive(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is something one can act on."""
    for screen in backend.screens.values():

        def tree(scope: TreeScope, sound: Any = screen.tree) -> Any:
            return sound(replace(scope, mode="full") if scope.mode == "interactive" else scope)

        monkeypatch.setattr(screen, "tree", tree)


def reads_the_whole_screen(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where to start reading is not heeded."""
    for screen in backend.screens.values():

        def tree(scope: TreeScope, sound: Any = screen.tree) -> Any:
            return sound(replace(scope, root=None))

        monkeypatch.setattr(screen, "tree", tree)


def cuts_without_a_word(*reasons: str) -> Mutant:
    """A mutant that cuts, and does not count what it cut."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        def change(tree: Tree, scope: TreeScope) -> None:
            tree.omitted = {word: count for word, count in tree.omitted.items() if word not in reasons}
            if not tree.omitted.keys() - {"offscreen"}:
                tree.quality = "complete"

        trees_told(backend, monkeypatch, change)

    return mutant


def goes_as_deep_as_it_likes(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cap on depth is not heeded."""
    for screen in backend.screens.values():

        def tree(scope: TreeScope, sound: Any = screen.tree) -> Any:
            return sound(replace(scope, max_depth=64))

        monkeypatch.setattr(screen, "tree", tree)


def gets_what_a_look_carries(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """get answers what the tree it looked at carries of a text."""

    async def whole(ctx: Any, node: Node) -> tuple[Node, list[str]]:
        return node, []

    monkeypatch.setattr(look, "_whole", whole)


def lists_all_there_are(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is listed is all there is: the matches beyond the limit are not counted."""
    found = look.find

    def find(tree: Tree, query: Any) -> list[int]:
        return found(tree, query)[:1]

    monkeypatch.setattr(look, "find", find)


def reads_names_for_values(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of an element is what it is called."""
    monkeypatch.setattr(look, "_said", lambda node: node.name)


def forgets_the_bar_on_top(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hit test counts from below a bar that is not there."""

    async def at(sound: Any, self: Any, point: Point) -> Any:
        return await sound(self, Point(point.x, point.y - 48))

    operation(monkeypatch, "elements.at", at)


def tells_nothing_off_screen(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is told is told to be on screen."""
    trees_told(backend, monkeypatch, states_lost("offscreen"))


def tells_a_secret(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secure field is told by the name it has and what it holds."""

    def change(node: Node, element: FakeElement) -> None:
        if element.identifier == "states.secret":
            node.name = f"{node.name}, {SECRET}"

    nodes_told(backend, monkeypatch, change)


def knows_no_emoji(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Characters beyond the first plane come out as dots."""

    def change(node: Node, element: FakeElement) -> None:
        node.name = "".join("." if ord(char) > 0xFFFF else char for char in node.name)

    nodes_told(backend, monkeypatch, change)


def shows_text_as_it_is(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be seen is written as what cannot be seen."""
    render = importlib.import_module("anydevice.elements.render")
    monkeypatch.setattr(render, "quoted", lambda text, limit=80: f'"{text[:limit]}"')


def tells_screen_text_in_the_message(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of an error asks whether the nearest element was meant."""
    sound = match.not_found

    def not_found(tree: Tree, query: Any) -> Any:
        error = sound(tree, query)
        near = error.details["nearest_matches"]
        return type(error)(f"Did you mean {near[0]['name'] if near else 'nothing'}?", **error.details)

    monkeypatch.setattr(match, "not_found", not_found)


def asks_by_touching(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is at a point is found out by a tap."""

    async def at(sound: Any, self: Any, point: Point) -> Any:
        self.model.press_at(point)
        return await sound(self, point)

    operation(monkeypatch, "elements.at", at)


MUTANTS: dict[str, Mutant] = {
    "reading.snapshot-is-sound": speaks_its_own_language,
    "reading.nothing-on-screen-is-left-out": forgets_the_last,
    "reading.viewport-is-what-is-on-screen": tells_all_as_viewport,
    "reading.interactive-is-what-one-can-act-on": tells_all_as_interactive,
    "reading.scope-is-kept": reads_the_whole_screen,
    "reading.node-cap-is-told": cuts_without_a_word("nodes"),
    "reading.depth-cap-is-told": goes_as_deep_as_it_likes,
    "reading.cut-text-is-told": cuts_without_a_word("text"),
    "reading.get-tells-a-cut": gets_what_a_look_carries,
    "reading.find-lists-the-matches": lists_all_there_are,
    "reading.get-reads-one-element": reads_names_for_values,
    "reading.get-says-where": forgets_the_bar_on_top,
    "reading.is-answers": tells_nothing_off_screen,
    "reading.secure-stays-unread": tells_a_secret,
    "reading.any-script-is-kept": knows_no_emoji,
    "reading.unseen-characters-are-shown": shows_text_as_it_is,
    "reading.screen-text-is-data": tells_screen_text_in_the_message,
    "reading.changes-nothing": asks_by_touching,
}
