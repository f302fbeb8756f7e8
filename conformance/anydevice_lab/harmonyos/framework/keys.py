"""Keys of HarmonyOS: their codes, and what pressing them does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...handset import keys
from ...handset.touch import HELD

if TYPE_CHECKING:
    from .machine import Machine

NAMES: dict[int, str] = {
    1: "HOME", 2: "BACK", 9: "SEARCH", 10: "PLAY_PAUSE", 11: "STOP", 12: "NEXT", 13: "PREVIOUS", 14: "REWIND",
    15: "FAST_FORWARD", 16: "VOLUME_UP", 17: "VOLUME_DOWN", 18: "POWER", 22: "MUTE", 2012: "DPAD_UP",
    2013: "DPAD_DOWN", 2014: "DPAD_LEFT", 2015: "DPAD_RIGHT", 2016: "DPAD_CENTER", 2067: "MENU",
}  # fmt: skip
"""Keys of the system by their code."""
MODIFIERS = {
    2045: "alt", 2046: "alt", 2047: "shift", 2048: "shift", 2072: "ctrl", 2073: "ctrl", 2076: "meta", 2077: "meta",
}  # fmt: skip
WORDS = {
    2012: "up", 2013: "down", 2014: "left", 2015: "right", 2049: "tab", 2054: "enter", 2055: "backspace",
    2068: "pageup", 2069: "pagedown", 2070: "escape", 2071: "delete", 2081: "home", 2082: "end", 2083: "insert",
    **{2089 + number: f"f{number}" for number in range(1, 13)},
}  # fmt: skip
LETTERS = {
    2043: ",", 2044: ".", 2050: " ", 2056: "`", 2057: "-", 2058: "=", 2059: "[", 2060: "]", 2061: "\\", 2062: ";",
    2063: "'", 2064: "/", 2065: "@", 2066: "+", **{2000 + number: str(number) for number in range(10)},
    **{2017 + number: chr(ord("a") + number) for number in range(26)},
}  # fmt: skip
"""What a key types."""


def press(machine: Machine, code: int, held: tuple[str, ...] = (), seconds: float = 0.0) -> None:
    """A key goes down and up, with modifiers held (ctrl, alt, shift, meta)."""
    name = NAMES.get(code, "")
    machine.journal.add("key", code=code, name=name, held=list(held), seconds=round(seconds, 3))
    if name == "POWER":
        (machine.sleep if machine.awake else machine.wake)()
        return
    if not machine.awake or machine.locked:
        return
    if name == "BACK":
        machine.back()
    elif name == "HOME":
        machine.home()
    elif name == "DPAD_CENTER" and seconds >= HELD and machine.steered:
        _hold(machine, seconds)
    elif name == "DPAD_CENTER":
        keys.center(machine)
    elif held == ("ctrl",) and LETTERS.get(code) in ("c", "x", "v") and machine.focused_field is not None:
        _clipboard(machine, LETTERS[code])
    elif code in WORDS:
        keys.press(machine, WORDS[code], held)
    elif code in LETTERS:
        keys.press(machine, LETTERS[code], held)


def _hold(machine: Machine, seconds: float) -> None:
    """The key in the middle is held: the practice app for televisions listens to that by itself."""
    screen = machine.target_screen
    if screen.focus is not None:
        screen.hold_at(screen.place(screen.focus).center, seconds)


def _clipboard(machine: Machine, letter: str) -> None:
    field = machine.focused_field
    assert field is not None
    if letter == "v":
        keys.type_text(machine, machine.clipboard)
    elif not field.secure:
        machine.clipboard = field.value or ""
        if letter == "x":
            field.write("")


def type_text(machine: Machine, text: str) -> None:
    """Characters arrive, up to the end of the line; a dark or locked display has nothing that takes them."""
    text = text.split("\n", maxsplit=1)[0]
    if machine.awake and not machine.locked and text:
        keys.type_text(machine, text)
