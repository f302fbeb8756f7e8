"""Which keys type what on the active layout, and what chords are called."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from anydevice_schemas.errors import InvalidArgument

from .xkb import VOID, Row

SHIFT, LEVEL3 = 1, 2
"""Bits of a level: with Shift, with the third level's key (AltGr)."""
RETURN, TAB = 0xFF0D, 0xFF09
SHIFT_L, CONTROL_L, ALT_L, SUPER_L, ISO_LEVEL3_SHIFT = 0xFFE1, 0xFFE3, 0xFFE9, 0xFFEB, 0xFE03
CAPS_LOCK = 0xFFE5
LOWEST_SPARE = 95
"""Keycodes from here on are spare if they type nothing; between those below lie the keys people type with."""
MODIFIERS = {"ctrl": CONTROL_L, "alt": ALT_L, "shift": SHIFT_L, "meta": SUPER_L}
_MODIFIER_WORDS = {
    "option": "alt", "opt": "alt", "control": "ctrl", "cmd": "meta", "command": "meta", "super": "meta",
    "win": "meta", "primary": "ctrl",
}  # fmt: skip
_NAMED = {
    "enter": RETURN, "tab": TAB, "space": 0x20, "backspace": 0xFF08, "delete": 0xFFFF, "escape": 0xFF1B,
    "insert": 0xFF63, "home": 0xFF50, "end": 0xFF57, "pageup": 0xFF55, "pagedown": 0xFF56, "left": 0xFF51,
    "up": 0xFF52, "right": 0xFF53, "down": 0xFF54, "capslock": CAPS_LOCK, "contextmenu": 0xFF67,
    "printscreen": 0xFF61, "pause": 0xFF13, **{f"f{number}": 0xFFBD + number for number in range(1, 25)},
}  # fmt: skip
_SAME = {
    "return": "enter", "esc": "escape", "del": "delete", "ins": "insert", "arrowleft": "left", "arrowright": "right",
    "arrowup": "up", "arrowdown": "down", "pgup": "pageup", "pgdn": "pagedown", "spacebar": "space", "plus": "+",
    "minus": "-", "menu": "contextmenu",
}  # fmt: skip


def keysym_of(character: str) -> int:
    """The keysym of a character (X11 protocol, appendix A): Latin-1 as it is, all others from 0x1000000 on."""
    if character == "\n":
        return RETURN
    if character == "\t":
        return TAB
    point = ord(character)
    return point if point < 0x100 else 0x1000000 | point


def typable(text: str) -> str:
    """The text with one kind of line end, if all of it can be typed.

    Raises:
        InvalidArgument: It holds characters no keyboard types.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    bad = sorted({f"U+{ord(c):04X}" for c in text if c not in "\n\t" and _untypable(c)})
    if bad:
        raise InvalidArgument(
            "The text holds characters no keyboard types.",
            param="text",
            expected="text without control characters",
            characters=bad[:10],
        )
    return text


def _untypable(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or ord(character) & 0xFFFE == 0xFFFE


@dataclass(slots=True, frozen=True)
class Stroke:
    """One key, with what is held while it is pressed."""

    keycode: int
    level: int = 0


class Layout:
    """What the keys type now.

    Args:
        first: The lowest keycode.
        rows: What each key from there on types.
        group: Number of the active layout, from 0.
        modifiers: Keycodes of each of the eight modifiers.
    """

    def __init__(self, first: int, rows: Sequence[Row], group: int, modifiers: Sequence[Sequence[int]]) -> None:
        self.first = first
        self.rows = list(rows)
        self.group = group
        self.held = {code for codes in modifiers for code in codes if code}
        self._strokes: dict[int, Stroke] = {}
        self._anywhere: dict[int, Stroke] = {}
        self._shift = self.key(SHIFT_L, modifier=True)
        self._level3 = self.key(ISO_LEVEL3_SHIFT, modifier=True)
        self._read()

    def key(self, keysym: int, *, modifier: bool = False) -> int | None:
        """The keycode whose first keysym this is; `modifier` wants one that really is a modifier."""
        for number, row in enumerate(self.rows):
            if row.sym(0, 0) == keysym and (not modifier or self.first + number in self.held):
                return self.first + number
        return None

    def stroke(self, keysym: int) -> Stroke | None:
        """How a keysym is typed on the active layout, or None where no key does."""
        return self._strokes.get(keysym)

    def anywhere(self, keysym: int) -> Stroke | None:
        """The key of a keysym on whichever layout has it; programs find shortcuts that way, too."""
        return self._strokes.get(keysym) or self._anywhere.get(keysym)

    def modifier_keys(self, level: int) -> list[int]:
        """Keycodes to hold for a level."""
        keys = [self._shift if level & SHIFT else None, self._level3 if level & LEVEL3 else None]
        return [key for key in keys if key is not None]

    def spare(self) -> list[int]:
        """Keycodes that type nothing, and those that we have lent."""
        return [
            self.first + number
            for number, row in enumerate(self.rows)
            if self.first + number >= LOWEST_SPARE and (not any(row.syms) or row.lent is not None)
        ]

    def lent(self) -> dict[int, Stroke]:
        """How lent keysyms are typed."""
        codes = {row.lent: Stroke(self.first + number) for number, row in enumerate(self.rows)}
        return {keysym: stroke for keysym, stroke in codes.items() if keysym is not None}

    def _read(self) -> None:
        for level in (0, SHIFT, LEVEL3, LEVEL3 | SHIFT):
            if (level & SHIFT and self._shift is None) or (level & LEVEL3 and self._level3 is None):
                continue
            for number, row in enumerate(self.rows):
                code = self.first + number
                if code in self.held or (level & LEVEL3 and row.width < 4):
                    continue
                for group in range(row.groups) if row.groups > 1 else (self.group,):
                    keysym = row.sym(group, level)
                    if keysym not in (0, VOID):
                        home = self._strokes if group == self.group or self.group >= row.groups else self._anywhere
                        home.setdefault(keysym, Stroke(code, level))


def parse_chord(chord: str) -> tuple[list[str], int]:
    """Modifiers (in order) and keysym of a chord such as `ctrl+shift+p`, `enter`, `+`.

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
    lower = _SAME.get(last.lower(), last.lower())
    lower = _MODIFIER_WORDS.get(lower, lower)
    keysym = _NAMED.get(lower) or MODIFIERS.get(lower)
    if keysym is None:
        single = last if len(last) == 1 else lower
        if len(single) == 1 and not _untypable(single):
            keysym = keysym_of(single.lower() if modifiers and len(single.lower()) == 1 else single)
    if keysym is None:
        raise _no_key(chord, "a key such as enter, escape, f5, a, or a chord such as ctrl+shift+p")
    return modifiers, keysym


def _words(chord: str) -> list[str]:
    if chord == "+":
        return ["+"]
    if chord.endswith("++"):
        return [*chord[:-2].split("+"), "+"]
    return [word.strip() for word in chord.split("+")]


def _no_key(chord: str, expected: str) -> InvalidArgument:
    return InvalidArgument("This is no key or chord.", param="chord", expected=expected, given=chord[:64])
