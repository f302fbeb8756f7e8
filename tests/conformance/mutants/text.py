"""Mutants of the cases about text in fields."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.commands import text as text_command
from anydevice.driver import Acted
from anydevice.testing import ReferenceBackend, driver
from anydevice.testing.practice import PracticeApp
from anydevice.testing.screen import FakeElement
from anydevice_schemas.errors import InvalidArgument

from . import Mutant


def writes(change: Any) -> Mutant:
    """Text is changed on its way into a field: `change(text, element)` is what arrives; None = nothing does."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        def write(self: PracticeApp, element: FakeElement, text: str) -> None:
            changed = change(text, element)
            if changed is not None:
                element.write(changed)

        monkeypatch.setattr(PracticeApp, "write", write)

    return mutant


def behind_the_apps_back(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value is set without the app being given any input."""
    monkeypatch.setattr(PracticeApp, "write", lambda self, element, text: setattr(element, "value", text))


def tells_the_field_as_it_was(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer describes the field as it was before."""

    async def now(*_: object) -> None:
        return None

    monkeypatch.setattr(text_command, "_now", now)


def claims_it_holds_the_text(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver says that it read the text back, and never did."""
    original = driver._Elements.set_text

    async def set_text(self: Any, key: str, text: str) -> Acted:
        await original(self, key, text)
        return Acted("set-text", verified=True)

    monkeypatch.setattr(driver._Elements, "set_text", set_text)


def chooses_some_other_option(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option that is none becomes the last one."""
    original = PracticeApp._accepted

    def accepted(self: PracticeApp, spec: Any, element: FakeElement, text: str) -> str:
        if spec.options and text not in spec.options:
            return str(spec.options[-1])
        return original(self, spec, element, text)

    monkeypatch.setattr(PracticeApp, "_accepted", accepted)


def hides_that_it_is_disabled(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver does not tell that a field is disabled."""
    original = PracticeApp.node

    def node(self: PracticeApp, element: FakeElement, parent: int = 0) -> Any:
        seen = original(self, element, parent)
        seen.states = seen.states - {"disabled"}
        return seen

    monkeypatch.setattr(PracticeApp, "node", node)


def types_into_what_is_read_only(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Core does not look whether a field can be changed."""
    monkeypatch.setattr(text_command, "_refuse_unfit", lambda *_, **__: None)


def fills_buttons(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver puts text into anything."""
    monkeypatch.setattr(driver, "FIELDS", driver.FIELDS | {"button"})


def types(change: Any) -> Mutant:
    """What is typed is changed: `change(text, what is there)` is what the field then holds."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        def type_(self: PracticeApp, text: str) -> None:
            if self.focus is not None:
                self.focus.write(change(text, self.focus.value or ""))

        monkeypatch.setattr(PracticeApp, "type", type_)

    return mutant


def types_until_it_cannot(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A character that cannot be typed is noticed when it is its turn."""

    async def type_text(self: Any, text: str, *, delay: float = 0.0) -> Acted:
        await self.driver.enter("keys.type_text")
        good, _, bad = text.partition("\0")
        self.model.type(good)
        if bad:
            raise InvalidArgument("This cannot be typed.", param="text", expected="printable text")
        return self.driver.after("keys")  # type: ignore[no-any-return]

    monkeypatch.setattr(driver._Keys, "type_text", type_text)


def shows_the_beginning_only(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at one element cuts its value, and does not say so."""
    original = PracticeApp.node

    def node(self: PracticeApp, element: FakeElement, parent: int = 0) -> Any:
        seen = original(self, element, parent)
        seen.value = seen.value[:512] if seen.value is not None else None
        return seen

    monkeypatch.setattr(PracticeApp, "node", node)


def ascii_only(text: str) -> str:
    return "".join(ch for ch in text if ch.isascii())


MUTANTS: dict[str, Mutant] = {
    "text.fill-replaces-everything": writes(lambda text, element: (element.value or "") + text),
    "text.fill-with-nothing-clears": writes(lambda text, element: text or None),
    "text.fill-tells-the-field": tells_the_field_as_it_was,
    "text.the-app-acts-on-what-is-filled-in": behind_the_apps_back,
    "text.any-unicode-arrives": writes(lambda text, element: text.encode("latin-1", "replace").decode("latin-1")),
    "text.lines-stay-lines": writes(lambda text, element: text.replace("\n", " ")),
    "text.long-text-arrives-whole": writes(lambda text, element: text[:4096]),
    "text.what-a-field-drops-is-unverified": claims_it_holds_the_text,
    "text.an-option-is-chosen-by-its-label": behind_the_apps_back,
    "text.an-unknown-option-is-refused": chooses_some_other_option,
    "text.a-slider-takes-its-value": writes(lambda text, element: None if element.role == "slider" else text),
    "text.a-number-field-takes-numbers-only": claims_it_holds_the_text,
    "text.a-disabled-field-is-refused": hides_that_it_is_disabled,
    "text.a-read-only-field-is-refused": types_into_what_is_read_only,
    "text.what-takes-no-text-is-refused": fills_buttons,
    "text.type-adds-at-the-focus": types(lambda text, there: text),
    "text.type-takes-any-unicode": types(lambda text, there: there + ascii_only(text)),
    "text.what-cannot-be-typed-types-nothing": types_until_it_cannot,
    "text.typed-into-a-full-field": shows_the_beginning_only,
}
