"""Keys by the words of chords: characters that fields take, codes of the W3C protocol, buttons of devices."""

from __future__ import annotations

from typing import Final

from anydevice.kit import written
from anydevice_schemas.errors import InvalidArgument, Unsupported

MODIFIERS: Final = {
    "ctrl": "\ue009", "control": "\ue009", "alt": "\ue00a", "option": "\ue00a", "shift": "\ue008", "meta": "\ue03d",
    "cmd": "\ue03d", "command": "\ue03d", "super": "\ue03d", "primary": "\ue03d",
}  # fmt: skip
PLAIN: Final = {"enter": "\n", "return": "\n", "tab": "\t", "backspace": "\b", "space": " ", "spacebar": " "}
"""Keys that are typed like text, which every field takes."""
CODES: Final = {
    "enter": "\ue007", "return": "\ue007", "tab": "\ue004", "escape": "\ue00c", "esc": "\ue00c",
    "backspace": "\ue003", "delete": "\ue017", "del": "\ue017", "space": " ", "spacebar": " ", "up": "\ue013",
    "down": "\ue015", "left": "\ue012", "right": "\ue014", "arrowup": "\ue013", "arrowdown": "\ue015",
    "arrowleft": "\ue012", "arrowright": "\ue014", "home": "\ue011", "end": "\ue010", "pageup": "\ue00e",
    "pagedown": "\ue00f", "insert": "\ue016", "ins": "\ue016",
    **{f"f{number}": chr(0xE030 + number) for number in range(1, 13)},
}  # fmt: skip
"""Keys by their codes; any other single character is itself."""
HID: Final = {
    "enter": 40, "return": 40, "escape": 41, "esc": 41, "backspace": 42, "tab": 43, "space": 44, "spacebar": 44,
    "right": 79, "left": 80, "down": 81, "up": 82, "arrowright": 79, "arrowleft": 80, "arrowdown": 81, "arrowup": 82,
    "delete": 76, "del": 76, "home": 74, "end": 77, "pageup": 75, "pagedown": 78,
    **{chr(ord("a") + number): 4 + number for number in range(26)},
    **{str((number + 1) % 10): 30 + number for number in range(10)},
    **{f"f{number}": 57 + number for number in range(1, 13)},
}  # fmt: skip
"""Keys by their numbers on every USB keyboard."""
BUTTONS: Final = {
    "power": "lock", "sleep": "lock", "lock": "lock", "wakeup": "unlock", "unlock": "unlock", "volumeup": "volumeUp",
    "volumedown": "volumeDown", "homebutton": "home", "action": "action", "camera": "camera",
}  # fmt: skip
"""Buttons on the side of a device. `home` is the key of a keyboard; the command home goes to the home screen."""
REMOTE: Final = {
    "up": "up", "down": "down", "left": "left", "right": "right", "select": "select", "back": "menu", "menu": "menu",
    "home": "home", "play-pause": "playpause",
}  # fmt: skip
"""Buttons of the remote control, by Apple's words; back and menu are one button."""


def chord(text: str) -> tuple[list[str], str]:
    """The words of a chord: those held, and the one pressed.

    Raises:
        InvalidArgument: It names no key, or something else than modifiers before the last.
    """
    held, key = written.chord(text)
    known = key in CODES or key in BUTTONS or len(key) == 1
    if not known or any(word not in MODIFIERS for word in held) or (held and key in BUTTONS):
        raise InvalidArgument(
            "This is no key or chord that an Apple device has.",
            param="chord",
            expected="a key such as enter, escape or volumeup, or a chord such as cmd+a",
        )
    return held, key


def remote(text: str) -> str:
    """Apple's word for a button of the remote control.

    Raises:
        Unsupported: Its remote control has no such button.
    """
    found = REMOTE.get(text.lower())
    if found is None:
        raise Unsupported(
            "The remote control of an Apple TV has no such button that can be pressed.",
            hint="Use one of details.buttons.",
            operation="remote.press",
            alternatives=[],
            buttons=sorted(REMOTE),
        )
    return found
