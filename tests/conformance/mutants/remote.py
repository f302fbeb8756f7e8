"""Mutants of the cases about on-screen keyboard, remote control and notifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from anydevice.commands import _paging, _steer, remote, text
from anydevice.context import Context
from anydevice.driver import Acted, Remote
from anydevice.testing import ReferenceBackend, driver, upkeep
from anydevice.testing.screen import FakeScreen
from anydevice_schemas import Node

from . import Mutant


def says_it_is_shown(shown: bool) -> Mutant:
    """The keyboard is said to be shown always, or never."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        async def keyboard_state(self: driver._Keys) -> Mapping[str, Any]:
            return {"shown": shown}

        monkeypatch.setattr(driver._Keys, "keyboard_state", keyboard_state)

    return mutant


def stays(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keyboard does not go."""
    backend.fault.swallow.add("keys.dismiss")
    monkeypatch.setattr(remote, "GONE", 0.05)


def without(button: str) -> Mutant:
    """A button of the remote control does nothing."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        sound = upkeep.FakeRemote.press

        async def press(self: upkeep.FakeRemote, pressed: str, *, seconds: float = 0.0) -> Acted:
            return Acted("remote") if pressed == button else await sound(self, pressed, seconds=seconds)

        monkeypatch.setattr(upkeep.FakeRemote, "press", press)

    return mutant


def goes_one_too_far(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The focus is brought past the field."""

    async def steer(ctx: Context, node: Node, *, inside: bool = False) -> int:
        presses = await sound(ctx, node, inside=inside)
        await ctx.use(Remote).press("down")
        return presses + 1

    sound = text.steer
    monkeypatch.setattr(text, "steer", steer)


def is_content_with_anything(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has the focus is taken for the element."""
    monkeypatch.setattr(_steer, "_reached", lambda *_: True)


def arrows_press(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An arrow presses what it leads to."""
    sound = upkeep.FakeRemote._carry_out

    def carry_out(self: upkeep.FakeRemote, model: FakeScreen, button: str, seconds: float = 0.0) -> None:
        sound(self, model, button, seconds)
        if button == "down" and model.focus is not None:
            model.activate(model.focus)

    monkeypatch.setattr(upkeep.FakeRemote, "_carry_out", carry_out)


def holds_briefly(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Select is pressed, and not held."""

    async def hold(self: upkeep.FakeRemote, button: str, *, seconds: float) -> Acted:
        return await self.press(button)

    monkeypatch.setattr(upkeep.FakeRemote, "hold", hold)


def miscounts(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several presses are one too few."""
    sound = upkeep.FakeRemote.repeat

    async def repeat(self: upkeep.FakeRemote, button: str, *, count: int) -> Acted:
        return await sound(self, button, count=count - 1)

    monkeypatch.setattr(upkeep.FakeRemote, "repeat", repeat)


def presses_every_arrow(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has the focus gets every arrow."""
    monkeypatch.setattr(_paging, "keeps", lambda *_: True)


def pushes(change: Any) -> Mutant:
    """Notifications arrive otherwise: `change(app, payload)` is what is delivered."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        sound = upkeep.FakeNotifications.push

        async def push(self: upkeep.FakeNotifications, app: str, payload: Mapping[str, Any]) -> Acted:
            return await sound(self, *change(app, payload))

        monkeypatch.setattr(upkeep.FakeNotifications, "push", push)

    return mutant


MUTANTS: dict[str, Mutant] = {
    "keyboard.comes-with-a-field": says_it_is_shown(False),
    "keyboard.dismiss-takes-it-away": stays,
    "keyboard.press-needs-a-keyboard": says_it_is_shown(True),
    "remote.down-and-select-press-a-button": without("select"),
    "remote.back-leads-to-the-screen-before": without("back"),
    "remote.type-goes-to-the-named-field": goes_one_too_far,
    "remote.what-no-arrow-leads-to-is-refused": is_content_with_anything,
    "remote.scrolling-brings-the-focus-along": arrows_press,
    "remote.a-long-press-holds-what-is-named": holds_briefly,
    "remote.several-presses-are-as-many": miscounts,
    "remote.arrows-leave-values-alone": presses_every_arrow,
    "push.arrives-whole-and-once": pushes(lambda app, payload: (app, {"aps": payload.get("aps", {})})),
    "push.to-nobody-is-refused": pushes(lambda app, payload: ("dev.anydevice.practice", payload)),
}
