"""Touches, keys and buttons, in points of the screen as it is turned, and what gestures of the system they make."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from ...handset import keys, touch
from ...handset.apps import HandsetPractice
from . import editing

if TYPE_CHECKING:
    from .machine import Machine

EDGE = 24.0
"""Points from an edge of the screen within which a swipe is the system's."""
LIFT = 80.0
"""How far a swipe has to go to be the system's."""
TAKEN = 40.0
"""How far into the keyboard a finger has to drag the content above it until the keyboard goes along."""
REST = 0.3
"""Seconds a finger rests at the end of a swipe from below to get the app switcher, not the home screen."""
DOUBLE = 0.6
"""Seconds within which a second press of the home button gets the app switcher."""

USAGES = {
    0x28: "enter", 0x29: "escape", 0x2A: "backspace", 0x2B: "tab", 0x2C: " ", 0x49: "insert", 0x4A: "home",
    0x4B: "pageup", 0x4C: "delete", 0x4D: "end", 0x4E: "pagedown", 0x4F: "right", 0x50: "left", 0x51: "down",
    0x52: "up", 0x2D: "-", 0x2E: "=", 0x2F: "[", 0x30: "]", 0x31: "\\", 0x33: ";", 0x34: "'", 0x35: "`", 0x36: ",",
    0x37: ".", 0x38: "/", **{0x3A + n: f"f{n + 1}" for n in range(12)},
    **{0x04 + n: chr(ord("a") + n) for n in range(26)}, **{0x1E + n: "1234567890"[n] for n in range(10)},
}  # fmt: skip
"""Keys of a keyboard by their usage in the HID tables (page 7)."""
SHIFTED = dict(zip("1234567890-=[]\\;'`,./", '!@#$%^&*()_+{}|:"~<>?', strict=True))
HELD = {0xE0: "ctrl", 0xE1: "shift", 0xE2: "alt", 0xE3: "meta", 0xE4: "ctrl", 0xE5: "shift", 0xE6: "alt", 0xE7: "meta"}


def _spot(machine: Machine, x: float, y: float) -> tuple[float, float]:
    return x * machine.geometry.scale, y * machine.geometry.scale


async def tap(machine: Machine, x: float, y: float, seconds: float = 0.0, *, count: int = 1) -> None:
    """A finger goes down and up at a place, so many times."""
    for _ in range(count):
        await touch.tap(machine, _spot(machine, x, y), seconds)
        editing.rested(machine, _spot(machine, x, y), seconds)


async def drag(  # noqa: PLR0917 - two places and three times, in the order they happen
    machine: Machine, start: tuple[float, float], end: tuple[float, float], seconds: float, hold: float = 0.0,
    rest: float = 0.0,
) -> None:  # fmt: skip
    """A finger goes down, stays `hold` seconds, moves for `seconds`, rests, and goes up."""
    if not machine.kind.tv and _of_system(machine, start, end, rest):
        machine.journal.add("system_swipe", start=list(start), end=list(end), rest=rest)
        await anyio.sleep(seconds)
        return
    machine.drags = True
    machine.menu = None
    try:
        await touch.swipe(machine, _spot(machine, *start), _spot(machine, *end), seconds + rest, hold)
    finally:
        machine.drags = False
    if _takes_keyboard_along(machine, start, end):
        machine.put_keyboard_away()


def _takes_keyboard_along(machine: Machine, start: tuple[float, float], end: tuple[float, float]) -> bool:
    """Whether a drag takes the keyboard away: the practice app scrolls as a SwiftUI form, which lets it go with it."""
    if (
        not machine.keyboard_shown
        or machine.front.screen is not machine.practice
        or machine.current_popup() is not None
    ):
        return False
    top = machine.geometry.keyboard.top / machine.geometry.scale
    content = machine.geometry.content(keyboard=False).top / machine.geometry.scale
    stays = machine.device.faults.active("keyboard_stays") is not None
    return content <= start[1] < top and end[1] >= top + TAKEN and not stays


def _of_system(machine: Machine, start: tuple[float, float], end: tuple[float, float], rest: float) -> bool:
    """Whether a swipe is the system's: from below to the home screen or the app switcher, from the left edge back."""
    if not machine.awake or machine.locked:
        return False
    geometry = machine.screen_geometry
    if start[1] >= geometry.height - EDGE and start[1] - end[1] >= LIFT and not machine.kind.home_button:
        if rest >= REST:
            machine.recents()
        else:
            machine.home()
        return True
    inside = isinstance(machine.front.screen, HandsetPractice) and machine.current_popup() is None
    if start[0] <= EDGE and end[0] - start[0] >= LIFT and inside and abs(end[1] - start[1]) < LIFT:
        machine.previous()
        return True
    return False


async def fingers(machine: Machine, paths: Sequence[Sequence[tuple[float, float]]], seconds: float) -> None:
    """Several fingers move at once."""
    await touch.fingers(machine, [[_spot(machine, *place) for place in path] for path in paths], seconds)


def type_text(machine: Machine, text: str) -> bool:
    """Characters arrive at the focused field; False where nothing has the focus of the keyboard."""
    if machine.focused_field is None or not (machine.keyboard_shown or machine.kind.tv or machine.current_popup()):
        return False
    # The return key alone is a key; among other characters a field of several lines takes it as one of them.
    machine.menu = None
    run, lines = "", "multiline" in machine.focused_field.states and text != "\n"
    for letter in [*text, ""]:
        if letter and (letter not in "\n\b\x7f\r\t" or (letter == "\n" and lines)):
            run += letter
            continue
        if run:
            keys.type_text(machine, run)
            run = ""
        if letter in ("\n", "\r") and letter:
            machine.journal.add("key", name="enter", held=[])
            machine.enter()
        elif letter in ("\b", "\x7f") and letter:
            machine.journal.add("key", name="backspace", held=[])
            keys.press(machine, "backspace")
        elif letter == "\t":
            machine.journal.add("key", name="tab", held=[])
            keys.press(machine, "tab")
    return True


def press(machine: Machine, key: str, held: tuple[str, ...] = ()) -> None:
    """A key of a keyboard that is connected goes down and up."""
    machine.journal.add("key", name=key, held=list(held))
    if not machine.awake:
        return
    if key == "h" and set(held) == {"meta", "shift"}:
        machine.home()
    elif key == "v" and held == ("meta",) and machine.focused_field is not None:
        keys.type_text(machine, machine.clipboard)
    elif key == "c" and held == ("meta",) and machine.focused_field is not None:
        if not machine.focused_field.secure:
            machine.clipboard = machine.focused_field.value or ""
    elif key == "enter" and not held:
        machine.enter()
    elif len(key) == 1 and "shift" in held and key in SHIFTED and machine.focused_field is not None:
        keys.type_text(machine, SHIFTED[key])
    else:
        keys.press(machine, key, held)


def button(machine: Machine, name: str, seconds: float = 0.0) -> bool:
    """A button of the device, or of the remote of a television; False if it has none of this name."""
    name = name.lower()
    if name not in (REMOTE if machine.kind.tv else BUTTONS):
        return False
    machine.journal.add("button", name=name, seconds=seconds)
    if not machine.awake:
        machine.awake = True
        return True
    if name == "home":
        now, before = time.monotonic(), machine.home_at
        machine.home_at = now
        if now - before < DOUBLE and (machine.kind.home_button or machine.kind.tv):
            machine.recents()
        elif machine.system is None:
            machine.home()
    elif machine.kind.tv:
        _remote(machine, name, seconds)
    return True


BUTTONS = ("home", "volumeup", "volumedown", "action", "camera")
REMOTE = ("up", "down", "left", "right", "select", "menu", "playpause", "home", "pageup", "pagedown", "guide")


def _remote(machine: Machine, name: str, seconds: float) -> None:
    if machine.locked:
        return
    if name == "menu":
        # Back from the home screen leads nowhere.
        if machine.keyboard_shown:
            machine.put_keyboard_away()
        elif machine.system is not None:
            if machine.system.cancels is not None:
                machine.system.cancels()
        else:
            machine.back()
        focus_something(machine)
    elif name == "select":
        keys.center(machine, seconds)
        focus_something(machine)
    elif name in keys.WAYS:
        if not machine.keyboard_shown:
            keys.move_focus(machine, keys.WAYS[name])
    else:
        machine.target_screen.log("remote", machine.target_screen.focus, name=name)


def focus_something(machine: Machine) -> None:
    """On a television something always has the focus."""
    screen = machine.target_screen
    if machine.kind.tv and (screen.focus is None or screen.focus not in screen.elements):
        screen.focus = None
        keys.move_focus(machine, (0, 1))
