"""Keys: their codes and names, and what pressing them does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...handset import keys
from ...handset.keys import type_text

if TYPE_CHECKING:
    from .machine import Machine

CODES: dict[str, int] = {
    "HOME": 3, "BACK": 4, "DPAD_UP": 19, "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22, "DPAD_CENTER": 23,
    "VOLUME_UP": 24, "VOLUME_DOWN": 25, "POWER": 26, "CLEAR": 28, "COMMA": 55, "PERIOD": 56, "ALT_LEFT": 57,
    "ALT_RIGHT": 58, "SHIFT_LEFT": 59, "SHIFT_RIGHT": 60, "TAB": 61, "SPACE": 62, "ENTER": 66, "DEL": 67, "GRAVE": 68,
    "MINUS": 69, "EQUALS": 70, "LEFT_BRACKET": 71, "RIGHT_BRACKET": 72, "BACKSLASH": 73, "SEMICOLON": 74,
    "APOSTROPHE": 75, "SLASH": 76, "AT": 77, "PLUS": 81, "MENU": 82, "NOTIFICATION": 83, "SEARCH": 84,
    "MEDIA_PLAY_PAUSE": 85, "MEDIA_STOP": 86, "MEDIA_NEXT": 87, "MEDIA_PREVIOUS": 88, "MEDIA_REWIND": 89,
    "MEDIA_FAST_FORWARD": 90, "MUTE": 91, "PAGE_UP": 92, "PAGE_DOWN": 93, "ESCAPE": 111, "FORWARD_DEL": 112,
    "CTRL_LEFT": 113, "CTRL_RIGHT": 114, "META_LEFT": 117, "META_RIGHT": 118, "MOVE_HOME": 122, "MOVE_END": 123,
    "INSERT": 124, "MEDIA_PLAY": 126, "MEDIA_PAUSE": 127, "VOLUME_MUTE": 164, "INFO": 165, "CHANNEL_UP": 166,
    "CHANNEL_DOWN": 167, "GUIDE": 172, "CAPTIONS": 175, "SETTINGS": 176, "APP_SWITCH": 187, "STAR": 17, "POUND": 18,
    "ASSIST": 219, "SLEEP": 223, "WAKEUP": 224, "CUT": 277, "COPY": 278, "PASTE": 279,
    **{str(number): 7 + number for number in range(10)},
    **{chr(ord("A") + number): 29 + number for number in range(26)},
    **{f"F{number}": 130 + number for number in range(1, 13)},
}  # fmt: skip
"""Code of each key by its name without `KEYCODE_`."""
NAMES = {code: name for name, code in CODES.items()}
MODIFIERS = {
    "CTRL_LEFT": "ctrl", "CTRL_RIGHT": "ctrl", "ALT_LEFT": "alt", "ALT_RIGHT": "alt", "SHIFT_LEFT": "shift",
    "SHIFT_RIGHT": "shift", "META_LEFT": "meta", "META_RIGHT": "meta",
}  # fmt: skip
WORDS = {
    "DPAD_UP": "up", "DPAD_DOWN": "down", "DPAD_LEFT": "left", "DPAD_RIGHT": "right", "TAB": "tab", "ENTER": "enter",
    "DEL": "backspace", "PAGE_UP": "pageup", "PAGE_DOWN": "pagedown", "ESCAPE": "escape", "FORWARD_DEL": "delete",
    "MOVE_HOME": "home", "MOVE_END": "end", "INSERT": "insert", **{f"F{n}": f"f{n}" for n in range(1, 13)},
}  # fmt: skip
LETTERS = {
    "SPACE": " ", "COMMA": ",", "PERIOD": ".", "GRAVE": "`", "MINUS": "-", "EQUALS": "=", "LEFT_BRACKET": "[",
    "RIGHT_BRACKET": "]", "BACKSLASH": "\\", "SEMICOLON": ";", "APOSTROPHE": "'", "SLASH": "/", "AT": "@", "PLUS": "+",
    "STAR": "*", "POUND": "#", **{str(n): str(n) for n in range(10)},
    **{chr(ord("A") + n): chr(ord("a") + n) for n in range(26)},
}  # fmt: skip
"""What a key types."""


def name_of(word: str) -> str | None:
    """The name of a key given by number, by name, or by name with `KEYCODE_`; None if there is none."""
    if word.isdigit():
        return NAMES.get(int(word), f"#{word}")
    name = word.upper().removeprefix("KEYCODE_")
    return name if name in CODES else None


def press_key(machine: Machine, name: str, held: tuple[str, ...] = (), seconds: float = 0.0) -> None:
    """A key goes down and, so many seconds later, up, with modifiers held (ctrl, alt, shift, meta)."""
    machine.device.journal.add("key", name=name, held=list(held), **({"seconds": seconds} if seconds else {}))
    if name == "WAKEUP" or (name == "POWER" and not machine.awake):
        machine.awake = True
    elif name in ("SLEEP", "POWER"):
        machine.awake = False
    elif not machine.awake:
        return
    elif name == "BACK":
        machine.back()
    elif name == "HOME":
        machine.home()
    elif name == "APP_SWITCH":
        machine.recents()
    elif name == "PASTE" or (name == "V" and held == ("ctrl",) and machine.focused_field is not None):
        type_text(machine, machine.clipboard)
    elif name in ("COPY", "CUT"):
        field = machine.focused_field
        if field is not None and not field.secure:
            machine.clipboard = field.value or ""
    elif name == "DPAD_CENTER":
        keys.center(machine, seconds)
    elif name in WORDS or name in LETTERS:
        keys.press(machine, WORDS.get(name) or LETTERS[name], held)
