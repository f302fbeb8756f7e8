"""Keys of a Vega device: their names and numbers in the kernel's input layer, and what pressing one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anydevice_schemas import EDITABLE

from ..handset import keys
from ..handset.apps import HandsetPractice
from ..handset.touch import HELD, pressed

if TYPE_CHECKING:
    from .machine import VegaMachine

CODES: dict[str, int] = {
    "ESC": 1, "MINUS": 12, "EQUAL": 13, "BACKSPACE": 14, "TAB": 15, "LEFTBRACE": 26, "RIGHTBRACE": 27, "ENTER": 28,
    "SEMICOLON": 39, "APOSTROPHE": 40, "GRAVE": 41, "BACKSLASH": 43, "COMMA": 51, "DOT": 52, "SLASH": 53, "SPACE": 57,
    "KPENTER": 96, "HOME": 102, "UP": 103, "PAGEUP": 104, "LEFT": 105, "RIGHT": 106, "END": 107, "DOWN": 108,
    "PAGEDOWN": 109, "INSERT": 110, "DELETE": 111, "MUTE": 113, "VOLUMEDOWN": 114, "VOLUMEUP": 115, "POWER": 116,
    "MENU": 139, "BACK": 158, "NEXTSONG": 163, "PLAYPAUSE": 164, "PREVIOUSSONG": 165, "STOPCD": 166, "REWIND": 168,
    "HOMEPAGE": 172, "FASTFORWARD": 208, "SEARCH": 217, "OK": 352, "SELECT": 353,
    **{f"F{number}": 58 + number for number in range(1, 11)}, "F11": 87, "F12": 88,
    **{digit: 2 + number for number, digit in enumerate("1234567890")},
    **{letter: 16 + number for number, letter in enumerate("QWERTYUIOP")},
    **{letter: 30 + number for number, letter in enumerate("ASDFGHJKL")},
    **{letter: 44 + number for number, letter in enumerate("ZXCVBNM")},
}  # fmt: skip
"""Number of each key by its name without `KEY_`."""
NAMES = {code: name for name, code in CODES.items()} | {170: "HOMEPAGE"}
IGNORED = ("SELECT", "OK", "HOME", "ESC")
"""Keys that are known and reach nothing."""
WORDS = {
    "UP": "up", "DOWN": "down", "LEFT": "left", "RIGHT": "right", "TAB": "tab", "BACKSPACE": "backspace",
    "DELETE": "delete", "SPACE": " ", "END": "end", "PAGEUP": "pageup", "PAGEDOWN": "pagedown", "INSERT": "insert",
    "MINUS": "-", "EQUAL": "=", "LEFTBRACE": "[", "RIGHTBRACE": "]", "SEMICOLON": ";", "APOSTROPHE": "'", "GRAVE": "`",
    "BACKSLASH": "\\", "COMMA": ",", "DOT": ".", "SLASH": "/", **{f"F{n}": f"f{n}" for n in range(1, 13)},
    **{str(n): str(n) for n in range(10)}, **{chr(65 + n): chr(97 + n) for n in range(26)},
}  # fmt: skip
"""Words of the practice app, or what the key types."""


def name_of(word: str) -> str | None:
    """The name of a key without `KEY_`, given by its name or its number; None if there is none."""
    if word.isdigit():
        return NAMES.get(int(word))
    name = word.removeprefix("KEY_")
    return name if word.startswith("KEY_") and name in CODES else None


def press_key(machine: VegaMachine, name: str, seconds: float = 0.0) -> None:
    """A key went down and, after so many seconds, up."""
    machine.journal.add("key", name=f"KEY_{name}", seconds=round(seconds, 3))
    if name == "POWER":
        machine.awake = not machine.awake
    elif not machine.awake or name in IGNORED:
        return
    elif name == "HOMEPAGE":
        if machine.device.faults.active("home_ignored") is None:
            machine.home()
    elif name == "BACK":
        machine.back()
    elif name in ("ENTER", "KPENTER"):
        _select(machine, seconds)
    elif name in WORDS:
        keys.press(machine, WORDS[name])


def _select(machine: VegaMachine, seconds: float) -> None:
    """The key in the middle of the arrows; one that is held long is told to what listens to that."""
    screen = machine.target_screen
    focus = screen.focus
    practice = screen if isinstance(screen, HandsetPractice) else None
    if practice is not None and practice.frozen_for:
        practice.later(lambda: _select(machine, seconds))
    elif focus is None or "disabled" in focus.states:
        keys.center(machine)
    elif seconds >= HELD and practice is not None and practice.hears(focus, "hold"):
        practice.hold_at(practice.place(focus).center, seconds)
    elif focus.role in EDITABLE and machine.keyboard_shown:
        screen.key("enter")  # the keyboard's own key: it ends the entry
        machine.keyboard_shown = False
    else:
        pressed(machine, screen, focus)
