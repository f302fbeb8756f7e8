"""Keys by name: what the protocol needs to know of each (US layout; W3C UI Events key and code values)."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from anydevice_schemas.errors import InvalidArgument

ALT, CTRL, META, SHIFT = 1, 2, 4, 8
"""Modifier bits of the protocol."""


@dataclass(slots=True, frozen=True)
class Key:
    """One key.

    Attributes:
        key, code: W3C names.
        number: Windows virtual key code, which pages see as `keyCode`.
        text: What it types; None where it types nothing.
        shift: Whether it needs Shift.
        location: 0 standard, 1 left, 2 right, 3 number pad.
    """

    key: str
    code: str
    number: int
    text: str | None = None
    shift: bool = False
    location: int = 0


MODIFIERS: dict[str, tuple[int, Key]] = {
    "alt": (ALT, Key("Alt", "AltLeft", 18, location=1)),
    "ctrl": (CTRL, Key("Control", "ControlLeft", 17, location=1)),
    "meta": (META, Key("Meta", "MetaLeft", 91, location=1)),
    "shift": (SHIFT, Key("Shift", "ShiftLeft", 16, location=1)),
}
PRIMARY = "meta" if sys.platform == "darwin" else "ctrl"
"""The modifier of ordinary shortcuts on this host."""
_MODIFIER_WORDS = {
    "option": "alt", "opt": "alt", "control": "ctrl", "cmd": "meta", "command": "meta", "super": "meta",
    "win": "meta", "primary": PRIMARY,
}  # fmt: skip

_NAMED: dict[str, Key] = {
    "enter": Key("Enter", "Enter", 13, "\r"),
    "tab": Key("Tab", "Tab", 9),
    "space": Key(" ", "Space", 32, " "),
    "backspace": Key("Backspace", "Backspace", 8),
    "delete": Key("Delete", "Delete", 46),
    "escape": Key("Escape", "Escape", 27),
    "insert": Key("Insert", "Insert", 45),
    "home": Key("Home", "Home", 36),
    "end": Key("End", "End", 35),
    "pageup": Key("PageUp", "PageUp", 33),
    "pagedown": Key("PageDown", "PageDown", 34),
    "left": Key("ArrowLeft", "ArrowLeft", 37),
    "up": Key("ArrowUp", "ArrowUp", 38),
    "right": Key("ArrowRight", "ArrowRight", 39),
    "down": Key("ArrowDown", "ArrowDown", 40),
    "capslock": Key("CapsLock", "CapsLock", 20),
    "contextmenu": Key("ContextMenu", "ContextMenu", 93),
    "printscreen": Key("PrintScreen", "PrintScreen", 44),
    "pause": Key("Pause", "Pause", 19),
    **{f"f{number}": Key(f"F{number}", f"F{number}", 111 + number) for number in range(1, 25)},
}
_SAME = {
    "return": "enter", "esc": "escape", "del": "delete", "ins": "insert", "arrowleft": "left", "arrowright": "right",
    "arrowup": "up", "arrowdown": "down", "pgup": "pageup", "pgdn": "pagedown", "spacebar": "space", "plus": "+",
    "minus": "-", "menu": "contextmenu",
}  # fmt: skip

# Each printing key: code, virtual key code, without and with Shift.
_PRINTING: tuple[tuple[str, int, str, str], ...] = (
    *((f"Key{letter}", ord(letter), letter.lower(), letter) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    *((f"Digit{digit}", ord(digit), digit, shifted) for digit, shifted in zip("0123456789", ")!@#$%^&*(", strict=True)),
    ("Backquote", 192, "`", "~"),
    ("Minus", 189, "-", "_"),
    ("Equal", 187, "=", "+"),
    ("BracketLeft", 219, "[", "{"),
    ("BracketRight", 221, "]", "}"),
    ("Backslash", 220, "\\", "|"),
    ("Semicolon", 186, ";", ":"),
    ("Quote", 222, "'", '"'),
    ("Comma", 188, ",", "<"),
    ("Period", 190, ".", ">"),
    ("Slash", 191, "/", "?"),
)
_CHARACTERS: dict[str, Key] = {" ": _NAMED["space"], "\n": _NAMED["enter"], "\t": _NAMED["tab"]}
for _code, _number, _plain, _shifted in _PRINTING:
    _CHARACTERS[_plain] = Key(_plain, _code, _number, _plain)
    _CHARACTERS[_shifted] = Key(_shifted, _code, _number, _shifted, shift=True)


def key_of(character: str) -> Key | None:
    """The key that types a character, or None where no key of the layout does."""
    return _CHARACTERS.get(character)


def parse_chord(chord: str) -> tuple[list[str], Key]:
    """Modifiers (in order) and the key of a chord such as `ctrl+shift+p`, `enter`, `+`.

    Raises:
        InvalidArgument: It names no key, or something else than modifiers before the last.
    """
    words = _words(chord.strip())
    modifiers: list[str] = []
    for word in words[:-1]:
        name = _MODIFIER_WORDS.get(word.lower(), word.lower())
        if name not in MODIFIERS:
            raise _no_key(chord, "modifiers (ctrl, alt, shift, meta, primary) before the last key")
        if name not in modifiers:
            modifiers.append(name)
    last = words[-1] if words else ""
    lower = last.lower()
    lower = _SAME.get(lower, lower)
    lower = _MODIFIER_WORDS.get(lower, lower)
    key = _NAMED.get(lower) or (MODIFIERS[lower][1] if lower in MODIFIERS else None)
    if key is None:
        single = last if len(last) == 1 else lower
        key = _CHARACTERS.get(single if not modifiers else single.lower())
    if key is None:
        raise _no_key(chord, "a key such as enter, escape, f5, a, or a chord such as ctrl+shift+p")
    if key.shift and "shift" not in modifiers:
        modifiers.append("shift")
    elif "shift" in modifiers and key.text is not None and len(key.text) == 1:
        key = _shifted_form(key)
    return modifiers, key


def _shifted_form(key: Key) -> Key:
    for code, number, _, shifted in _PRINTING:
        if code == key.code:
            return Key(shifted, code, number, shifted, shift=True)
    return key


def _words(chord: str) -> list[str]:
    if chord == "+":
        return ["+"]
    if chord.endswith("++"):
        return [*chord[:-2].split("+"), "+"]
    return [word.strip() for word in chord.split("+")]


def _no_key(chord: str, expected: str) -> InvalidArgument:
    return InvalidArgument("This is no key or chord.", param="chord", expected=expected, given=chord[:64])
