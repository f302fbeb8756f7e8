"""Mutants of the cases about apps that never rest, freeze and die."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import anyio
import pytest

from anydevice import lanes
from anydevice.commands import _effect
from anydevice.context import Context
from anydevice.driver import Acted, OpenRequest, TreeScope
from anydevice.testing import ReferenceBackend, driver
from anydevice.testing.practice import PracticeApp

from . import Mutant


def reads_each_screen_once(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver reads a screen once and answers from that."""
    original, kept = driver._Screen.tree, {}

    async def tree(self: Any, scope: TreeScope) -> Any:
        where = (self.driver.device.id, self.model.location, scope)
        if where not in kept:
            kept[where] = await original(self, scope)
        return kept[where]

    monkeypatch.setattr(driver._Screen, "tree", tree)


def cannot_be_cancelled(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver waits for the app whatever becomes of the call."""
    original = PracticeApp.ready

    async def ready(self: PracticeApp) -> None:
        with anyio.CancelScope(shield=True):
            await original(self)

    monkeypatch.setattr(PracticeApp, "ready", ready)


def forgets_what_was_done(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Core takes an action whose effect it could not read for one that was never sent."""

    async def look(self: _effect.Watch) -> Any:
        return await _effect._look(self.ctx, self.scope)

    monkeypatch.setattr(_effect.Watch, "_look", look)
    monkeypatch.setattr(Context, "out_of_time", lambda self, after=None: self.timed_out(self.sent, after))


def one_lane_for_all(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every device waits for every other."""
    monkeypatch.setattr(lanes, "lane_keys", lambda device: ("all",))


def lives_on(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver answers a dead app from what it remembers of it."""
    monkeypatch.setattr(PracticeApp, "crashed", property(lambda self: False, lambda self, value: None), raising=False)


def stays_dead(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has crashed is not started again."""
    original = PracticeApp.open

    def open_(self: PracticeApp, request: OpenRequest) -> None:
        crashed = self.crashed
        original(self, request)
        self.crashed = crashed

    monkeypatch.setattr(PracticeApp, "open", open_)


def keeps_the_lane(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that was cancelled does not give its lane back."""
    leave, release = lanes.LaneTurn.__aexit__, lanes.LaneTurn._release
    cancelled: list[lanes.LaneTurn] = []

    async def aexit(
        self: lanes.LaneTurn, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not issubclass(kind, Exception):
            cancelled.append(self)
        await leave(self, kind, error, trace)

    monkeypatch.setattr(lanes.LaneTurn, "__aexit__", aexit)
    monkeypatch.setattr(lanes.LaneTurn, "_release", lambda self: None if self in cancelled else release(self))


def types_to_the_end(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typing goes on after the call is over."""
    original = driver._Keys.type_text

    async def type_text(self: Any, text: str, *, delay: float = 0.0) -> Acted:
        with anyio.CancelScope(shield=True):
            return await original(self, text, delay=delay)

    monkeypatch.setattr(driver._Keys, "type_text", type_text)


MUTANTS: dict[str, Mutant] = {
    "faults.a-screen-that-never-rests-is-read": reads_each_screen_once,
    "faults.a-frozen-app-holds-no-call": cannot_be_cancelled,
    "faults.a-done-press-is-never-told-as-not-done": forgets_what_was_done,
    "faults.a-frozen-app-holds-no-other-device": one_lane_for_all,
    "faults.a-crash-is-told": lives_on,
    "faults.open-starts-a-crashed-app-again": stays_dead,
    "faults.a-cancelled-call-frees-the-device": keeps_the_lane,
    "faults.cancelled-typing-stops-on-the-device": types_to_the_end,
}
