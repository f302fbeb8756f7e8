"""Key codes of Android (`android.view.KeyEvent`), by the words of chords and of remote controls."""

from __future__ import annotations

from typing import Final

from anydevice.kit import written
from anydevice_schemas.errors import InvalidArgument

MODIFIERS: Final = {
    "ctrl": 113, "control": 113, "primary": 113, "alt": 57, "option": 57, "shift": 59, "meta": 117, "cmd": 117,
    "command": 117, "super": 117,
}  # fmt: skip
KEYS: Final[dict[str, int]] = {
    "enter": 66, "return": 66, "tab": 61, "escape": 111, "esc": 111, "backspace": 67, "delete": 112, "del": 112,
    "space": 62, "spacebar": 62, "up": 19, "down": 20, "left": 21, "right": 22, "arrowup": 19, "arrowdown": 20,
    "arrowleft": 21, "arrowright": 22, "home": 122, "end": 123, "pageup": 92, "pagedown": 93, "insert": 124, "ins": 124,
    "menu": 82, "search": 84, "back": 4, "power": 26, "wakeup": 224, "sleep": 223, "volumeup": 24, "volumedown": 25,
    "mute": 164, "camera": 27, "call": 5, "endcall": 6, "capslock": 115,
    **{f"f{number}": 130 + number for number in range(1, 13)},
    **{chr(ord("a") + number): 29 + number for number in range(26)},
    **{str(number): 7 + number for number in range(10)},
    ",": 55, ".": 56, "`": 68, "-": 69, "=": 70, "[": 71, "]": 72, "\\": 73, ";": 74, "'": 75, "/": 76, "@": 77,
    "+": 81, "*": 17, "#": 18,
}  # fmt: skip
"""Keys of a keyboard, and the buttons on the side of a phone. `home` is the key of a keyboard (start of the line)."""
BUTTONS: Final[dict[str, int]] = {
    "up": 19, "down": 20, "left": 21, "right": 22, "select": 23, "back": 4, "home": 3, "menu": 82, "play-pause": 85,
    "play": 126, "pause": 127, "stop": 86, "next": 87, "previous": 88, "rewind": 89, "fast-forward": 90,
    "volume-up": 24, "volume-down": 25, "mute": 164, "power": 26, "channel-up": 166, "channel-down": 167, "guide": 172,
    "info": 165, "search": 84, "settings": 176,
    **{str(number): 7 + number for number in range(10)},
}  # fmt: skip
"""Buttons of a remote control."""
BACK, HOME, SWITCHER, WAKE, ESCAPE, FORWARD_DELETE, DELETE, ENTER = 4, 3, 187, 224, 111, 112, 67, 66


def chord(text: str) -> tuple[list[int], int]:
    """The codes of a chord: those held, and the one pressed.

    Raises:
        InvalidArgument: It names no key, or something else than modifiers before the last.
    """
    held, key = written.chord(text)
    if key not in KEYS or any(word not in MODIFIERS for word in held):
        raise InvalidArgument(
            "This is no key or chord that Android has.",
            param="chord",
            expected="a key such as enter, back or f5, or a chord such as ctrl+a",
        )
    return [MODIFIERS[word] for word in held], KEYS[key]


def button(text: str) -> int:
    """The code of a remote control's button.

    Raises:
        InvalidArgument: There is no such button.
    """
    found = BUTTONS.get(text.lower())
    if found is None:
        raise InvalidArgument(
            "A remote control has no such button.", param="button", expected=" ".join(sorted(BUTTONS))
        )
    return found
