"""Mutants of the cases about what must stay secret, and about text of the screen."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from anydevice import reply
from anydevice.driver import Acted
from anydevice.testing import ReferenceBackend, driver
from anydevice.testing.practice import PracticeApp
from anydevice.testing.screen import FakeElement
from anydevice_schemas import Answer
from anydevice_schemas.errors import AnydeviceError, DialogOpen

from . import Mutant


def tells_nodes(change: Any) -> Mutant:
    """Elements are told otherwise: `change(node, element)`."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        original = PracticeApp.node

        def node(self: PracticeApp, element: FakeElement, parent: int = 0) -> Any:
            return change(original(self, element, parent), element)

        monkeypatch.setattr(PracticeApp, "node", node)

    return mutant


def as_a_plain_field(node: Any, element: FakeElement) -> Any:
    """A secure field is told as a plain one, empty."""
    return replace(node, secure=False, value="" if element.secure else node.value)


def with_what_it_holds(node: Any, element: FakeElement) -> Any:
    """What a secure field holds is its value."""
    return replace(node, secure=False, value=element.value) if element.secure else node


def repeats_what_it_was_given(part: str, method: str) -> Mutant:
    """The driver's report of an action holds the text it was given."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        kind = getattr(driver, part)
        original = getattr(kind, method)

        async def act(self: Any, *arguments: Any, **named: Any) -> Acted:
            acted = await original(self, *arguments, **named)
            return replace(acted, data={**acted.data, "arguments": list(arguments)})

        monkeypatch.setattr(kind, method, act)

    return mutant


def writes_down_everything(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay lines hold the arguments as they were given."""
    monkeypatch.setattr(reply, "redacted", dict)


def advises_with(*details: str) -> Mutant:
    """Hints say what details say."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        original = reply.refusal

        def refusal(trail: reply.Trail, error: AnydeviceError) -> Answer:
            said = [json.dumps(error.details[name], ensure_ascii=False) for name in details if name in error.details]
            error.hint = " ".join([error.hint, *said])
            return original(trail, error)

        monkeypatch.setattr(reply, "refusal", refusal)

    return mutant


def says_the_dialog_aloud(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal's message is the dialog's text."""
    original = driver.FakeDriver.enter

    async def enter(self: Any, operation: str, *, page: bool = True) -> bool:
        try:
            return await original(self, operation, page=page)
        except DialogOpen as error:
            raise DialogOpen(f"A dialog asks: {error.details['text']}", **error.details) from None

    monkeypatch.setattr(driver.FakeDriver, "enter", enter)


MUTANTS: dict[str, Mutant] = {
    "secrets.a-secure-field-is-flagged": tells_nodes(as_a_plain_field),
    "secrets.what-a-secure-field-holds-is-never-read": tells_nodes(with_what_it_holds),
    "secrets.a-filled-in-password-stays-secret": repeats_what_it_was_given("_Elements", "set_text"),
    "secrets.a-typed-password-stays-secret": repeats_what_it_was_given("_Keys", "type_text"),
    "secrets.typed-text-is-not-written-down": writes_down_everything,
    "secrets.screen-text-is-never-advice": advises_with("candidates", "on_screen", "nearest_matches"),
    "secrets.names-of-elements-stay-in-details": advises_with("cover", "nearest_matches"),
    "secrets.a-dialogs-text-stays-in-details": says_the_dialog_aloud,
}
