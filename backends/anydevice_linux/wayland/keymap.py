"""A keyboard of our own: a keymap in the text format of XKB, with keys for every character that is to be typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..x11.keymap import CONTROL_L, RETURN, SHIFT_L, SUPER_L, TAB, keysym_of

OFFSET: Final = 8
"""What XKB adds to the kernel's number of a key."""
ALT_L: Final = 0xFFE9
SHIFT: Final = 1
BITS: Final = {"shift": 1, "ctrl": 4, "alt": 8, "meta": 64}
"""Bits of the modifiers of the keymap below: Shift, Control, Mod1, Mod4."""
MODIFIER_KEYS: Final = {"shift": 42, "ctrl": 29, "alt": 56, "meta": 125}
_ROWS: Final = (
    (2, "1234567890-=", "!@#$%^&*()_+"),
    (16, "qwertyuiop[]", "QWERTYUIOP{}"),
    (30, "asdfghjkl;'`", 'ASDFGHJKL:"~'),
    (43, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
    (57, " ", " "),
)
"""Number of the first key of each row, what its keys type, and what they type with Shift."""
_NAMED: Final = {
    1: 0xFF1B, 14: 0xFF08, 15: TAB, 28: RETURN, 29: CONTROL_L, 42: SHIFT_L, 56: ALT_L, 58: 0xFFE5, 87: 0xFFC8,
    88: 0xFFC9, 99: 0xFF61, 102: 0xFF50, 103: 0xFF52, 104: 0xFF55, 105: 0xFF51, 106: 0xFF53, 107: 0xFF57,
    108: 0xFF54, 109: 0xFF56, 110: 0xFF63, 111: 0xFFFF, 119: 0xFF13, 125: SUPER_L, 127: 0xFF67,
    **{59 + number: 0xFFBE + number for number in range(10)},
}  # fmt: skip
"""Keysyms of the other keys."""
SPARE: Final = range(183, 195)
"""Numbers of keys that get keysyms for chords which no other key has: those of F13 to F24."""
ALTGR: Final = 100
"""Number of the key that is held for the third level."""
THIRD: Final = 128
"""Its bit: Mod5."""
ISO_LEVEL3_SHIFT: Final = 0xFE03


@dataclass(slots=True, frozen=True)
class Stroke:
    """One key, and whether Shift and AltGr are held."""

    key: int
    shift: bool = False
    third: bool = False


def _plain() -> dict[int, Stroke]:
    found: dict[int, Stroke] = {}
    for first, plain, shifted in _ROWS:
        for at, (low, high) in enumerate(zip(plain, shifted, strict=True)):
            found.setdefault(keysym_of(low), Stroke(first + at))
            found.setdefault(keysym_of(high), Stroke(first + at, shift=True))
    return found | {keysym: Stroke(key) for key, keysym in _NAMED.items()}


PLAIN: Final = _plain()
"""How each keysym is typed that needs no further key."""
WRITING: Final = tuple(first + at for first, plain, _ in _ROWS[:-1] for at in range(len(plain)))
"""Numbers of the keys people write with. Browser engines take others for what is printed on them."""
LEVELS: Final = tuple(Stroke(key, shift, third=True) for shift in (False, True) for key in WRITING)
"""Where characters are put for a time that no key types: on the keys people write with, under AltGr."""


class Keymap:
    """The keyboard as programs are told it is. What was put on it stays until there is too little room."""

    def __init__(self) -> None:
        self._written: dict[int, Stroke] = {}
        self._lent: dict[int, Stroke] = {}

    @property
    def room(self) -> int:
        """How many characters that no key types there can be at a time."""
        return len(LEVELS)

    def stroke(self, keysym: int) -> Stroke | None:
        """How a keysym is typed as text, or None where no key types it now."""
        return PLAIN.get(keysym) or self._written.get(keysym)

    def key(self, keysym: int) -> Stroke | None:
        """How a keysym is pressed in a chord: without AltGr."""
        return PLAIN.get(keysym) or self._lent.get(keysym)

    def write(self, keysyms: Sequence[int]) -> bool:
        """Makes room for keysyms of a text; False where all are there. At most `room` of them."""
        return _add(self._written, keysyms, LEVELS)

    def lend(self, keysym: int) -> bool:
        """Gives a keysym of a chord a key; False where it has one."""
        return _add(self._lent, [keysym], [Stroke(key) for key in SPARE])

    def text(self) -> str:
        """The keymap, as compositors and programs read it (XKB keymap, text format 1)."""
        keys: dict[int, list[int]] = {}
        for keysym, stroke in (*PLAIN.items(), *self._written.items(), *self._lent.items(), _ALTGR):
            levels = keys.setdefault(stroke.key, [0, 0, 0, 0])
            levels[stroke.shift + 2 * stroke.third] = keysym
        codes = "".join(f"<K{key}>={key + OFFSET};" for key in sorted(keys))
        symbols = "".join(f"key <K{key}>{{{_symbols(keys[key])}}};" for key in sorted(keys))
        modifiers = "".join(f"modifier_map {name}{{<K{key}>}};" for name, key in _MODIFIER_MAP)
        return (
            "xkb_keymap{"
            f'xkb_keycodes "anydevice"{{minimum=8;maximum=255;{codes}}};'
            'xkb_types "anydevice"{include "complete"};'
            'xkb_compatibility "anydevice"{include "complete"};'
            f'xkb_symbols "anydevice"{{name[group1]="anydevice";{symbols}{modifiers}}};'
            "};"
        )


_ALTGR: Final = (ISO_LEVEL3_SHIFT, Stroke(ALTGR))
_MODIFIER_MAP: Final = (
    ("Shift", 42), ("Lock", 58), ("Control", 29), ("Mod1", 56), ("Mod4", 125), ("Mod5", ALTGR),
)  # fmt: skip


def _symbols(levels: Sequence[int]) -> str:
    """What a key types, level by level, as a keymap says it."""
    words = [f"0x{keysym:x}" if keysym else "NoSymbol" for keysym in levels]
    if any(levels[2:]):
        return f'type="FOUR_LEVEL",[{",".join(words)}]'
    return f"[{','.join(words[: 2 if levels[1] else 1])}]"


def _add(taken: dict[int, Stroke], keysyms: Sequence[int], places: Sequence[Stroke]) -> bool:
    """Puts keysyms on places that are free, or on all anew where too few are; False where nothing was to be done."""
    wanted = [keysym for keysym in dict.fromkeys(keysyms) if keysym not in PLAIN]
    missing = [keysym for keysym in wanted if keysym not in taken]
    if not missing:
        return False
    if len(taken) + len(missing) > len(places):
        taken.clear()
        missing = wanted
    used = set(taken.values())
    free = (place for place in places if place not in used)
    taken |= dict(zip(missing, free, strict=False))
    return True
