"""Keys by the words of chords and of remote controls: their name for `inputd-cli`, their number for the toolkit.

Both are those of Linux. Select is enter and home is the home page: KEY_SELECT, KEY_OK and KEY_HOME do nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from anydevice.kit import written
from anydevice_schemas.errors import InvalidArgument, Unsupported


@dataclass(slots=True, frozen=True)
class Key:
    """A key.

    Attributes:
        name: As `inputd-cli` has it.
        code: As the toolkit has it.
        arrow: It only moves the focus: pressed in vain, it may be pressed again by another road.
    """

    name: str
    code: int
    arrow: bool = False


UP, DOWN = Key("KEY_UP", 103, True), Key("KEY_DOWN", 108, True)
LEFT, RIGHT = Key("KEY_LEFT", 105, True), Key("KEY_RIGHT", 106, True)
SELECT, BACK, HOME = Key("KEY_ENTER", 28), Key("KEY_BACK", 158), Key("KEY_HOMEPAGE", 172)
BUTTONS: Final[dict[str, Key]] = {
    "up": UP, "down": DOWN, "left": LEFT, "right": RIGHT, "select": SELECT, "back": BACK, "home": HOME,
    "menu": Key("KEY_MENU", 139), "play-pause": Key("KEY_PLAYPAUSE", 164), "rewind": Key("KEY_REWIND", 168),
    "fast-forward": Key("KEY_FASTFORWARD", 208), "volume-up": Key("KEY_VOLUMEUP", 115),
    "volume-down": Key("KEY_VOLUMEDOWN", 114), "mute": Key("KEY_MUTE", 113), "power": Key("KEY_POWER", 116),
}  # fmt: skip
"""Buttons of the remote control."""
_ROWS: Final = ((2, "1234567890"), (16, "qwertyuiop"), (30, "asdfghjkl"), (44, "zxcvbnm"))
KEYS: Final[dict[str, Key]] = {
    **{name: BUTTONS[name] for name in ("up", "down", "left", "right", "back", "menu", "power", "mute")},
    **{f"arrow{name}": BUTTONS[name] for name in ("up", "down", "left", "right")},
    "volumeup": BUTTONS["volume-up"], "volumedown": BUTTONS["volume-down"], "enter": SELECT, "return": SELECT,
    "escape": Key("KEY_ESC", 1), "esc": Key("KEY_ESC", 1), "tab": Key("KEY_TAB", 15),
    "backspace": Key("KEY_BACKSPACE", 14), "delete": Key("KEY_DELETE", 111), "del": Key("KEY_DELETE", 111),
    "space": Key("KEY_SPACE", 57), "spacebar": Key("KEY_SPACE", 57), "end": Key("KEY_END", 107),
    "home": Key("KEY_HOME", 102), "pageup": Key("KEY_PAGEUP", 104), "pagedown": Key("KEY_PAGEDOWN", 109),
    **{f"f{number}": Key(f"KEY_F{number}", 58 + number) for number in range(1, 11)},
    **{letter: Key(f"KEY_{letter.upper()}", first + at) for first, row in _ROWS for at, letter in enumerate(row)},
}  # fmt: skip
"""Keys of a keyboard. `home` is the key of a keyboard; the remote control's is a button."""
MODIFIERS: Final = frozenset(
    {"ctrl", "control", "primary", "alt", "option", "shift", "meta", "cmd", "command", "super"}
)


def chord(text: str) -> Key:
    """The key of a chord.

    Raises:
        InvalidArgument: It names no key.
        Unsupported: It holds modifiers.
    """
    held, key = written.chord(text)
    if key not in KEYS or any(word not in MODIFIERS for word in held):
        raise InvalidArgument(
            "This is no key that Vega has.", param="chord", expected="a key such as enter, back, down, escape or a"
        )
    if held:
        raise Unsupported(
            "Vega's tools press one key at a time.",
            hint="Press the key alone; for text call fill or type.",
            operation="keys.press",
            alternatives=["keys.type_text"],
            reason="inputd-cli has no chords",
        )
    return KEYS[key]


def button(text: str) -> Key:
    """The key of a remote control's button.

    Raises:
        InvalidArgument: There is no such button.
    """
    found = BUTTONS.get(text.lower())
    if found is None:
        raise InvalidArgument(
            "A remote control of Vega has no such button.", param="button", expected=" ".join(sorted(BUTTONS))
        )
    return found
