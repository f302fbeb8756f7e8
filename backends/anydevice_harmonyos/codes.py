"""Key codes of HarmonyOS, by the words of chords and of remote controls."""

from __future__ import annotations

from typing import Final

from anydevice.kit import written
from anydevice_schemas.errors import InvalidArgument

MODIFIERS: Final = {
    "ctrl": 2072, "control": 2072, "primary": 2072, "alt": 2045, "option": 2045, "shift": 2047, "meta": 2076,
    "cmd": 2076, "command": 2076, "super": 2076,
}  # fmt: skip
KEYS: Final[dict[str, int]] = {
    "enter": 2054, "return": 2054, "tab": 2049, "escape": 2070, "esc": 2070, "backspace": 2055, "delete": 2071,
    "del": 2071, "space": 2050, "spacebar": 2050, "up": 2012, "down": 2013, "left": 2014, "right": 2015,
    "arrowup": 2012, "arrowdown": 2013, "arrowleft": 2014, "arrowright": 2015, "home": 2081, "end": 2082,
    "pageup": 2068, "pagedown": 2069, "insert": 2083, "ins": 2083, "menu": 2067, "back": 2, "power": 18,
    "volumeup": 16, "volumedown": 17, "mute": 22, "capslock": 2074,
    **{f"f{number}": 2089 + number for number in range(1, 13)},
    **{chr(ord("a") + number): 2017 + number for number in range(26)},
    **{str(number): 2000 + number for number in range(10)},
    ",": 2043, ".": 2044, "`": 2056, "-": 2057, "=": 2058, "[": 2059, "]": 2060, "\\": 2061, ";": 2062, "'": 2063,
    "/": 2064, "@": 2065, "+": 2066, "*": 2010, "#": 2011,
}  # fmt: skip
"""Keys of a keyboard, and the buttons on the side of a phone. `home` is the key of a keyboard (start of the line)."""
POWER: Final = {"wakeup": "wakeup", "sleep": "suspend"}
"""Words that are no keys, and what `power-shell` calls them."""
BUTTONS: Final[dict[str, int]] = {
    "up": 2012, "down": 2013, "left": 2014, "right": 2015, "select": 2016, "back": 2, "home": 1, "menu": 2067,
    "play-pause": 10, "play": 2085, "pause": 2086, "stop": 11, "next": 12, "previous": 13, "rewind": 14,
    "fast-forward": 15, "volume-up": 16, "volume-down": 17, "mute": 22, "power": 18,
    **{str(number): 2000 + number for number in range(10)},
}  # fmt: skip
"""Buttons of a remote control."""
HOME, BACK, ENTER, ESCAPE, BACKSPACE = 1, 2, 2054, 2070, 2055
AT_ONCE: Final = 3
"""Keys that one call of uitest presses together."""


def chord(text: str) -> tuple[list[int], int]:
    """The codes of a chord: those held, and the one pressed.

    Raises:
        InvalidArgument: It names no key, or something else than modifiers before the last.
    """
    held, key = written.chord(text)
    if key not in KEYS or any(word not in MODIFIERS for word in held):
        raise InvalidArgument(
            "This is no key or chord that HarmonyOS has.",
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


def line(*codes: int) -> str:
    """The command line that presses keys together, in this order."""
    if len(codes) <= AT_ONCE:
        return "uitest uiInput keyEvent " + " ".join(map(str, codes))
    down = " ".join(f"-d {code}" for code in codes)
    up = " ".join(f"-u {code}" for code in reversed(codes))
    return f"uinput -K {down} {up}"
