"""Mutants of the cases about acting on one element."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from faults import nodes_told, operation

from anydevice.commands import _aim, _effect
from anydevice.elements import describe, match
from anydevice.elements.diff import TreeDiff
from anydevice.testing import ReferenceBackend
from anydevice.testing.practice import PracticeApp
from anydevice.testing.screen import FakeElement
from anydevice_schemas import Node, Point
from anydevice_schemas.errors import CallTimeout

from . import Mutant


def acts_on_another_device(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every action lands on the second phone."""
    backend.fault.redirect = "phone-2"


def acts_though_disabled(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver hides that an element is disabled."""

    def change(node: Node, element: FakeElement) -> None:
        node.states = node.states - {"disabled"}

    nodes_told(backend, monkeypatch, change)


def acts_on_what_is_covered(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The probe makes no hit test."""

    async def probe(sound: Any, self: Any, key: str, **more: Any) -> Any:
        return replace(await sound(self, key, **more), cover=None, cover_key=None)

    operation(monkeypatch, "elements.probe", probe)


def brings_nothing_on_screen(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Revealing an element is answered and not done."""
    backend.fault.swallow.add("elements.reveal")


def taps_in_pixels(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Points are taken for pixels of a screen with two pixels a point."""

    async def tap(sound: Any, self: Any, point: Point, **more: Any) -> Any:
        return await sound(self, Point(point.x / 2, point.y / 2), **more)

    operation(monkeypatch, "touch.tap", tap)


def taps_once(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The count of a tap is dropped."""

    async def tap(sound: Any, self: Any, point: Point, **more: Any) -> Any:
        return await sound(self, point)

    operation(monkeypatch, "touch.tap", tap)


def probes_from_memory(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe of a switch answers what the first probe of it saw."""
    seen: dict[str, Any] = {}

    async def probe(sound: Any, self: Any, key: str, **more: Any) -> Any:
        found = await sound(self, key, **more)
        return seen.setdefault(key, found) if found.node.role == "switch" else found

    operation(monkeypatch, "elements.probe", probe)


def verifies_every_press(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver says of everything it did that it was seen to work."""

    async def activate(sound: Any, self: Any, key: str) -> Any:
        return replace(await sound(self, key), verified=True)

    operation(monkeypatch, "elements.activate", activate)


def sees_no_change(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two looks never differ."""
    monkeypatch.setattr(_effect, "diff", lambda before, after: TreeDiff())


def names_nothing_near(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is only said to be missing."""
    sound = match.not_found

    def not_found(tree: Any, query: Any) -> Any:
        error = sound(tree, query)
        error.details["nearest_matches"] = []
        return error

    monkeypatch.setattr(match, "not_found", not_found)


def suggests_what_is_ambiguous(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suggested query is the name, whatever else has it."""
    monkeypatch.setattr(describe, "query_for", lambda folded, index: f'label="{folded.tree.nodes[index].name}"')


def never_waits(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An element that is not there at once is not there."""

    async def patiently(ctx: Any, attempt: Any, timeout: float) -> Any:
        return await attempt()

    monkeypatch.setattr(_aim, "patiently", patiently)


def waits_as_it_likes(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the caller says, an element is waited for three seconds and a bit."""
    sound = _aim.patiently

    async def patiently(ctx: Any, attempt: Any, timeout: float) -> Any:
        return await sound(ctx, attempt, max(timeout, 3.2))

    monkeypatch.setattr(_aim, "patiently", patiently)


def waits_for_rest(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver acts only once nothing moves, and gives up where something always does."""

    async def activate(sound: Any, self: Any, key: str) -> Any:
        if self.model.screen_id == "busy":
            raise CallTimeout("The screen does not come to rest.", after=0.1)
        return await sound(self, key)

    operation(monkeypatch, "elements.activate", activate)


def presses_the_label(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a container that has a label inside, the label is pressed, which does nothing by itself."""
    sound = PracticeApp.activate

    def activate(self: PracticeApp, element: FakeElement) -> None:
        inside = [other for other in self.elements if other.parent is element]
        if inside:
            self.report("press", inside[0].identifier)
        else:
            sound(self, element)

    monkeypatch.setattr(PracticeApp, "activate", activate)


MUTANTS: dict[str, Mutant] = {
    "press.reaches-the-named-device": acts_on_another_device,
    "press.refuses-disabled": acts_though_disabled,
    "press.refuses-covered": acts_on_what_is_covered,
    "press.brings-the-element-on-screen": brings_nothing_on_screen,
    "press.lands-on-the-point": taps_in_pixels,
    "press.presses-as-often-as-asked": taps_once,
    "press.verifies-a-toggle": probes_from_memory,
    "press.claims-nothing-it-cannot-see": verifies_every_press,
    "press.tells-what-changed": sees_no_change,
    "press.missing-names-what-is-near": names_nothing_near,
    "press.suggestions-work": suggests_what_is_ambiguous,
    "press.waits-for-a-late-element": never_waits,
    "press.gives-up-when-told": waits_as_it_likes,
    "press.works-on-a-screen-that-never-rests": waits_for_rest,
    "press.label-inside-presses-the-container": presses_the_label,
}
