"""Mutants of the cases about drivers themselves."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from faults import operation, trees_told

from anydevice.driver import TreeScope
from anydevice.testing import ReferenceBackend
from anydevice.testing.practice import PracticeApp
from anydevice_schemas import Point, Tree

from . import Mutant


def counts_generations(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the list is a new generation."""
    looks = itertools.count()

    def change(tree: Tree, scope: TreeScope) -> None:
        if tree.title == "List":
            tree.generation = f"{tree.generation}#{next(looks)}"

    trees_told(backend, monkeypatch, change)


def sees_through(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first element at a point is told, not the topmost."""

    async def at(sound: Any, self: Any, point: Point) -> Any:
        await sound(self, point)
        under = [e for e in self.model.elements if self.model.place(e).contains(point)]
        return self.model.node(under[0]) if under else None

    operation(monkeypatch, "elements.at", at)


def probes_without_values(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe knows what an element is, and not what it holds."""

    async def probe(sound: Any, self: Any, key: str, **more: Any) -> Any:
        found = await sound(self, key, **more)
        return replace(found, node=replace(found.node, value=None))

    operation(monkeypatch, "elements.probe", probe)


def finds_it_again_by_its_id(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Focus goes to what has the identifier of what is gone."""
    known: dict[str, str] = {}
    for screen in backend.screens.values():

        def node(element: Any, parent: int = 0, sound: Any = screen.node) -> Any:
            known[element.key] = element.identifier
            return sound(element, parent)

        monkeypatch.setattr(screen, "node", node)

    async def focus(sound: Any, self: Any, key: str) -> Any:
        same = [e for e in self.model.elements if e.identifier == known.get(key)]
        return await sound(self, same[0].key if same else key)

    operation(monkeypatch, "elements.focus", focus)


def tells_the_first_field(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The focus is said to be in the first field there is."""

    async def focused(sound: Any, self: Any) -> Any:
        await sound(self)
        return next((self.model.node(e) for e in self.model.elements if e.role == "textbox"), None)

    operation(monkeypatch, "keys.focused", focused)


def lists_by_name(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Apps are listed under the name a person sees."""

    async def listed(sound: Any, self: Any) -> Any:
        return [replace(app, id=app.name) for app in await sound(self)]

    operation(monkeypatch, "apps.list", listed)


def goes_back_too_far(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key for back is sent twice, and the second one leaves the app."""
    sound = PracticeApp.back

    def back(self: PracticeApp) -> bool:
        moved = sound(self)
        self.power_off()
        return moved

    monkeypatch.setattr(PracticeApp, "back", back)


MUTANTS: dict[str, Mutant] = {
    "drivers.trees-are-sound": counts_generations,
    "drivers.at-tells-what-is-on-top": sees_through,
    "drivers.probe-agrees-with-the-tree": probes_without_values,
    "drivers.keys-of-what-is-gone-are-refused": finds_it_again_by_its_id,
    "drivers.focused-reads-the-focus": tells_the_first_field,
    "drivers.apps-are-listed": lists_by_name,
    "drivers.back-leads-to-the-screen-before": goes_back_too_far,
}
