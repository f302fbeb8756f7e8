"""Mutants of the cases about dialogs."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.driver import Acted, Dialog
from anydevice.testing import ReferenceBackend, driver
from anydevice.testing.practice import PracticeApp
from anydevice_schemas.errors import DialogOpen

from . import Mutant

LOOKS = 2
"""How often core looks at the screen after an action, before it answers."""


def says_nothing_of_it(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An action that opens a dialog tells nothing, and the screen is read behind it until the answer is given."""
    original = driver.FakeDriver.enter
    behind: dict[int, int] = {}

    def after(self: Any, method: str, **data: Any) -> Acted:
        behind[id(self)] = LOOKS
        return Acted(method, (), data=data)

    async def enter(self: Any, operation: str, *, page: bool = True) -> bool:
        if operation == "screen.tree" and behind.get(id(self), 0) > 0:
            behind[id(self)] -= 1
            page = False
        return await original(self, operation, page=page)

    monkeypatch.setattr(driver.FakeDriver, "after", after)
    monkeypatch.setattr(driver.FakeDriver, "enter", enter)


def reads_behind_it(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The screen behind a dialog is read as if there were none."""
    original = driver.FakeDriver.enter

    async def enter(self: Any, operation: str, *, page: bool = True) -> bool:
        return await original(self, operation, page=page and operation != "screen.tree")

    monkeypatch.setattr(driver.FakeDriver, "enter", enter)


def describes(change: Any) -> Mutant:
    """The open dialog is described otherwise: `change(dialog or None)` is what `get` answers."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        original = driver._Alerts.get

        async def get(self: Any) -> Dialog | None:
            return change(await original(self))  # type: ignore[no-any-return]

        monkeypatch.setattr(driver._Alerts, "get", get)

    return mutant


def takes_text(takes: bool) -> Mutant:
    """Every dialog is said to take text, or none is."""
    return describes(lambda d: None if d is None else Dialog(d.kind, d.text, d.buttons, takes))


def answers(change: Any) -> Mutant:
    """Dialogs are answered otherwise: `change(how, text)` is what reaches the app; None = nothing does."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        original = PracticeApp.answer

        def answer(self: PracticeApp, how: str, text: str | None) -> None:
            changed = change(how, text)
            if changed is not None:
                original(self, *changed)

        monkeypatch.setattr(PracticeApp, "answer", answer)

    return mutant


def stays_blocked(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dialog that was answered goes on to block everything else."""
    original = driver.FakeDriver.enter

    async def enter(self: Any, operation: str, *, page: bool = True) -> bool:
        done = await original(self, operation, page=page)
        if page and self.model.did("alert.accept"):
            raise DialogOpen("A dialog is open.", kind="alert", text="", buttons=[])
        return done

    monkeypatch.setattr(driver.FakeDriver, "enter", enter)


def app_state_says_nothing(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The foreground is told without the dialog that blocks it."""
    original = PracticeApp.state
    monkeypatch.setattr(PracticeApp, "state", lambda self: {k: v for k, v in original(self).items() if k != "dialog"})


GHOST = Dialog("alert", "", ("OK",))
OTHER_WAY = {"accept": "dismiss", "dismiss": "accept"}

MUTANTS: dict[str, Mutant] = {
    "alerts.opening-is-told": says_nothing_of_it,
    "alerts.every-other-command-is-refused": reads_behind_it,
    "alerts.is-read": takes_text(False),
    "alerts.none-is-open": describes(lambda dialog: dialog or GHOST),
    "alerts.an-alert-is-accepted": answers(lambda how, text: None),
    "alerts.a-question-is-answered-yes": answers(lambda how, text: (OTHER_WAY[how], text)),
    "alerts.a-question-is-answered-no": answers(lambda how, text: ("accept", text)),
    "alerts.text-goes-into-a-prompt": answers(lambda how, text: (how, None)),
    "alerts.text-for-a-dialog-that-takes-none-is-refused": takes_text(True),
    "alerts.answering-none-is-unverified": describes(lambda dialog: dialog or GHOST),
    "alerts.the-app-is-free-again": stays_blocked,
    "alerts.app-state-tells-it": app_state_says_nothing,
}
