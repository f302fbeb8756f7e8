"""Mutants of the cases about on-screen keyboard, remote control and notifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from anydevice.commands import remote
from anydevice.driver import Acted
from anydevice.testing import ReferenceBackend, driver, upkeep

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
    "push.arrives-whole-and-once": pushes(lambda app, payload: (app, {"aps": payload.get("aps", {})})),
    "push.to-nobody-is-refused": pushes(lambda app, payload: ("dev.anydevice.practice", payload)),
}
