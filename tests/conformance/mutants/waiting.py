"""Mutants of the cases about waiting."""

from __future__ import annotations

import itertools
import time
from copy import deepcopy
from typing import Any

import anyio
import pytest
from faults import operation, trees_told, without

from anydevice.commands import waiting
from anydevice.context import Context
from anydevice.driver import App, TreeScope
from anydevice.testing import ReferenceBackend
from anydevice_schemas import Rect, Tree

from . import Mutant


def tells_no_toasts(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Toasts are drawn by another process, and no tree has them."""
    trees_told(backend, monkeypatch, lambda tree, scope: without(tree, lambda n: n.identifier == "alerts.toasted"))


def keeps_a_tree_too_long(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree is told again for ten seconds, unless something was pressed since."""
    for screen in backend.screens.values():
        kept: dict[Any, tuple[float, int, Tree]] = {}

        def tree(scope: TreeScope, screen: Any = screen, kept: Any = kept, sound: Any = screen.tree) -> Tree:
            inputs = (screen.screen_id, len(screen.journal))
            at, had, told = kept.get(scope, (0.0, None, None))
            if told is None or had != inputs or time.monotonic() - at > 10:
                kept[scope] = (time.monotonic(), inputs, sound(scope))
            return deepcopy(kept[scope][2])

        monkeypatch.setattr(screen, "tree", tree)


def loses_what_moves(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A progress bar is in the first look at it and in every second one after that."""
    looks = itertools.count()

    def change(tree: Tree, scope: TreeScope) -> Tree | None:
        bars = [node for node in tree.nodes if node.role == "progressbar"]
        return without(tree, lambda n: n.role == "progressbar") if bars and next(looks) % 4 == 3 else None

    trees_told(backend, monkeypatch, change)


def trembles(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places are measured anew with every look, and differ by a point."""
    looks = itertools.count()

    def change(tree: Tree, scope: TreeScope) -> None:
        shift = float(next(looks) % 2)
        for node in tree.nodes[1:]:
            if node.rect is not None:
                node.rect = Rect(node.rect.x, node.rect.y + shift, node.rect.width, node.rect.height)

    trees_told(backend, monkeypatch, change)


def stops_what_moves(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver tells what moves as it was when the screen opened."""

    def change(tree: Tree, scope: TreeScope) -> None:
        for node in tree.nodes:
            if node.identifier == "busy.clock":
                node.value = "0"

    trees_told(backend, monkeypatch, change)


def says_only_that_time_is_up(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait in vain tells nothing of what is near."""
    monkeypatch.setattr(waiting, "nearest_names", lambda tree, text: [])


def looks_late(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every condition is given time before it is looked at for the first time."""
    sound = waiting._until

    async def until(ctx: Any, check: Any, timeout: float, what: str) -> Any:
        await anyio.sleep(min(timeout, 2.8))
        return await sound(ctx, check, timeout, what)

    monkeypatch.setattr(waiting, "_until", until)


def is_in_a_hurry(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause is longer than a twentieth of a second."""

    async def pause(self: Context, seconds: float) -> None:
        await anyio.sleep(min(seconds, 0.05))

    monkeypatch.setattr(Context, "pause", pause)


def lists_what_ran_once(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An app that ran once is told to run for good."""
    ran: dict[str, App] = {}

    async def apps(sound: Any, self: Any) -> list[App]:
        told = await sound(self)
        ran.update({app.id: app for app in told if app.running})
        return [*(app for app in told if app.id not in ran), *ran.values()]

    operation(monkeypatch, "apps.list", apps)


MUTANTS: dict[str, Mutant] = {
    "waiting.until-a-text-shows": tells_no_toasts,
    "waiting.until-an-element-is-there": keeps_a_tree_too_long,
    "waiting.until-an-element-is-gone": loses_what_moves,
    "waiting.until-at-rest": trembles,
    "waiting.never-at-rest-is-told": stops_what_moves,
    "waiting.in-vain-tells-what-is-there": says_only_that_time_is_up,
    "waiting.what-is-there-already-ends-it": looks_late,
    "waiting.a-time-is-kept": is_in_a_hurry,
    "waiting.until-an-app-is-gone-and-until-it-runs": lists_what_ran_once,
}
