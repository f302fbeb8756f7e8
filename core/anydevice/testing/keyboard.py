"""The keyboard of fake devices: which keys there are, and how a chord is written."""

from __future__ import annotations

from anydevice_schemas import EDITABLE
from anydevice_schemas.errors import InvalidArgument
from anydevice_schemas.practice import KEY_WORDS

from .screen import FakeElement

MODIFIERS = ("ctrl", "alt", "shift", "meta")
_SAME = {
    "control": "ctrl", "primary": "ctrl", "option": "alt", "cmd": "meta", "command": "meta", "super": "meta",
    "return": "enter", "esc": "escape", "del": "delete", "ins": "insert", "spacebar": "space", "arrowup": "up",
    "arrowdown": "down", "arrowleft": "left", "arrowright": "right",
}  # fmt: skip


def chord_of(text: str) -> str:
    """A chord in the one form in which the practice app reports it: lower case, modifiers first and in order.

    Raises:
        InvalidArgument: It names no key, or something else than modifiers before the last.
    """
    words = ["+"] if text == "+" else [_SAME.get(word.strip(), word.strip()) for word in text.lower().split("+")]
    *held, key = words
    if not (key in KEY_WORDS or len(key) == 1) or not set(held) <= set(MODIFIERS):
        raise InvalidArgument(
            "This is no key or chord.", param="chord", expected="a key such as enter or f5, or a chord such as ctrl+k"
        )
    return "+".join([*(modifier for modifier in MODIFIERS if modifier in held), key])


class Typing:
    """What the focused field makes of keys and text: adds, deletes, replaces what is selected."""

    def __init__(self) -> None:
        self._selected: FakeElement | None = None

    def text(self, field: FakeElement | None, text: str) -> bool:
        """Text arrives: after what is there, or in place of it where all of it is selected. False: nothing takes it."""
        if field is None or not takes_keys(field):
            return False
        field.write(("" if self._selected is field else field.value or "") + text)
        self._selected = None
        return True

    def key(self, field: FakeElement | None, chord: str) -> None:
        """A chord (as `chord_of` writes it) arrives."""
        whole = field is not None and self._selected is field
        self._selected = field if chord in ("ctrl+a", "meta+a") else None
        if field is None or not takes_keys(field):
            return
        if whole and chord in ("delete", "backspace"):
            field.write("")
        elif chord == "backspace" and field.value:
            field.write(field.value[:-1])
        elif chord == "enter" and "multiline" in field.states:
            field.write((field.value or "") + "\n")


def takes_keys(field: FakeElement) -> bool:
    """Whether what is typed can change an element."""
    return field.role in EDITABLE and field.states.isdisjoint(("disabled", "readonly"))
