"""Mutants of the cases about keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anydevice.driver import Acted
from anydevice.testing import ReferenceBackend, driver, keyboard, practice
from anydevice.testing.keyboard import Typing
from anydevice.testing.screen import FakeElement
from anydevice_schemas.errors import InvalidArgument

from . import Mutant


def sends(chords: Callable[[str], list[str]]) -> Mutant:
    """Other keys are pressed than the one that is asked for."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        async def press(self: Any, chord: str) -> Acted:
            keyboard.chord_of(chord)
            await self.driver.enter("keys.press")
            for other in chords(chord):
                self.model.key(other)
            return self.driver.after("keys")  # type: ignore[no-any-return]

        monkeypatch.setattr(driver._Keys, "press", press)

    return mutant


def takes_the_focus_away(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The field loses the focus before the key comes."""
    original = practice.PracticeApp.key

    def key(self: practice.PracticeApp, chord: str) -> None:
        self.focus = None
        original(self, chord)

    monkeypatch.setattr(practice.PracticeApp, "key", key)


def primary_is_alt(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The modifier of ordinary shortcuts is taken for another."""
    monkeypatch.setitem(keyboard._SAME, "primary", "alt")


def reads_one_spelling(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of keys are read in lower case only."""

    def chord_of(text: str) -> str:
        if text != text.lower():
            raise InvalidArgument("This is no key.", param="chord", expected="a key")
        return keyboard.chord_of(text)

    monkeypatch.setattr(driver, "chord_of", chord_of)


def once_in_a_row() -> Mutant:
    """A key that was pressed just now is not pressed again."""
    last = [""]

    def chords(chord: str) -> list[str]:
        again, last[0] = last[0] == chord, chord
        return [] if again else [chord]

    return sends(chords)


def takes_any_word(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is no key is pressed all the same."""
    monkeypatch.setattr(driver, "chord_of", str)
    monkeypatch.setattr(practice, "chord_of", str)


def backspace_takes_all(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backspace empties the field."""
    original = Typing.key

    def key(self: Typing, field: FakeElement | None, chord: str) -> None:
        if chord == "backspace" and field is not None:
            field.write("")
        else:
            original(self, field, chord)

    monkeypatch.setattr(Typing, "key", key)


def selects_nothing(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Select-all is heard and selects nothing."""
    original = Typing.key
    monkeypatch.setattr(
        Typing, "key", lambda self, field, chord: None if chord.endswith("+a") else original(self, field, chord)
    )


MUTANTS: dict[str, Mutant] = {
    "keys.enter-reaches-the-app": sends(lambda chord: [chord, chord]),
    "keys.go-to-what-has-the-focus": takes_the_focus_away,
    "keys.arrows-reach-the-app": sends(lambda chord: [{"up": "down", "down": "up"}.get(chord, chord)]),
    "keys.tab-and-escape-reach-the-app": sends(lambda chord: [] if chord == "escape" else [chord]),
    "keys.chords-reach-the-app": sends(lambda chord: [chord.rpartition("+")[2]]),
    "keys.primary-is-the-modifier-of-the-platform": primary_is_alt,
    "keys.names-are-read-as-people-write-them": reads_one_spelling,
    "keys.count-is-how-often": once_in_a_row(),
    "keys.what-is-no-key-is-refused": takes_any_word,
    "keys.backspace-takes-one-character": backspace_takes_all,
    "keys.select-all-and-replace": selects_nothing,
}
