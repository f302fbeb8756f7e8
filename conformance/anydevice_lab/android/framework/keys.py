"""Keys: their codes and names, and what pressing them does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anydevice.testing.keyboard import takes_keys
from anydevice.testing.screen import FakeElement
from anydevice_schemas import EDITABLE, INTERACTIVE

from .apps import AndroidPractice

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
WAYS = {"DPAD_UP": (0, -1), "DPAD_DOWN": (0, 1), "DPAD_LEFT": (-1, 0), "DPAD_RIGHT": (1, 0)}


def name_of(word: str) -> str | None:
    """The name of a key given by number, by name, or by name with `KEYCODE_`; None if there is none."""
    if word.isdigit():
        return NAMES.get(int(word), f"#{word}")
    name = word.upper().removeprefix("KEYCODE_")
    return name if name in CODES else None


def press_key(machine: Machine, name: str, held: tuple[str, ...] = ()) -> None:
    """A key goes down and up, with modifiers held (ctrl, alt, shift, meta)."""
    machine.device.journal.add("key", name=name, held=list(held))
    if name == "WAKEUP" or (name == "POWER" and not machine.awake):
        machine.awake = True
    elif name in ("SLEEP", "POWER"):
        machine.awake = False
    elif not machine.awake:
        return
    elif name == "BACK":
        _back(machine)
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
        _center(machine)
    elif name in WORDS or name in LETTERS:
        _to_app(machine, name, held)


def _to_app(machine: Machine, name: str, held: tuple[str, ...]) -> None:
    screen = machine.target_screen
    letter = LETTERS.get(name)
    if letter is not None and not set(held) - {"shift"}:
        letter = letter.upper() if "shift" in held else letter
        if screen.focus is not None and takes_keys(screen.focus):
            type_text(machine, letter)
            return
        held = () if letter.isalpha() and "shift" not in held else held
    word = WORDS.get(name) or {" ": "space"}.get(letter or "", letter or "")
    order = [one for one in ("ctrl", "alt", "shift", "meta") if one in held]
    practice = screen if isinstance(screen, AndroidPractice) else None
    if practice is not None and practice.frozen_for:
        practice.later(lambda: practice.key("+".join([*order, word])))
        return
    before = screen.focus
    if machine.kind.tv and name == "ENTER" and before is not None and before.role not in EDITABLE:
        screen.activate(before)
        return
    screen.key("+".join([*order, word]))
    if not isinstance(screen, AndroidPractice) and screen.focus is not None and takes_keys(screen.focus):
        _edit(screen.focus, word)
    if machine.kind.tv and name in WAYS and not held:
        _move_focus(machine, WAYS[name])


def _edit(field: FakeElement, word: str) -> None:
    """What a field of a dialog makes of a key; the practice app's own fields know."""
    if word == "backspace" and field.value:
        field.write(field.value[:-1])


def type_text(machine: Machine, text: str) -> None:
    """Characters arrive at whatever has the keyboard."""
    screen = machine.target_screen
    machine.device.journal.add("text", length=len(text))
    practice = screen if isinstance(screen, AndroidPractice) else None
    if practice is not None and practice.frozen_for:
        practice.later(lambda: practice.type(text))
    elif screen.focus is None and practice is not None and practice.running:
        for letter in text:
            practice.key({" ": "space", "\n": "enter", "\t": "tab"}.get(letter, letter.lower()))
    else:
        screen.type(text)


def _back(machine: Machine) -> None:
    """Back closes the keyboard, then what lies over the app, then goes a screen back, then leaves the app."""
    popup = machine.current_popup()
    if machine.keyboard_shown:
        machine.keyboard_shown = False
        machine.lay_out()
    elif popup is not None:
        if popup.cancels is not None:
            popup.cancels()
    elif machine.front.package == machine.launcher:
        if machine.front.screen.title == "Recents":
            machine.home()
    else:
        screen = machine.front.screen
        if isinstance(screen, AndroidPractice) and screen.frozen_for:
            screen.later(lambda: _leave(machine))
        else:
            _leave(machine)


def _leave(machine: Machine) -> None:
    screen = machine.front.screen
    if not (isinstance(screen, AndroidPractice) and screen.back()):
        package = machine.front.package
        machine.tasks = [one for one in machine.tasks if one != package] or [machine.launcher]
        machine.bring(machine.tasks[-1] if len(machine.tasks) > 1 else machine.launcher)


def _center(machine: Machine) -> None:
    from .touch import pressed

    screen = machine.target_screen
    if screen.focus is not None:
        if "disabled" not in screen.focus.states:
            pressed(machine, screen, screen.focus)
    else:
        screen.key("enter")


def _move_focus(machine: Machine, way: tuple[int, int]) -> None:
    """The arrow keys' focus goes to the nearest thing that way; where there is none the content moves."""
    screen = machine.target_screen
    found = [
        element
        for element in screen.elements
        if (element.role in INTERACTIVE or element.on_press is not None)
        and not {"hidden", "disabled"} & element.states
        and element.parent is None
    ]
    now = screen.focus if screen.focus in found else None
    if now is None:
        screen.focus = found[0] if found else None
        return
    here = screen.place(now).center

    def far(element: FakeElement) -> float | None:
        there = screen.place(element).center
        along = (there.x - here.x) * way[0] + (there.y - here.y) * way[1]
        across = abs((there.x - here.x) * way[1]) + abs((there.y - here.y) * way[0])
        return along + 4 * across if along > 1 else None

    near = [(distance, number) for number, element in enumerate(found) if (distance := far(element)) is not None]
    if near:
        screen.focus = found[min(near)[1]]
    elif way[1]:
        screen.scroll(way[1] * screen.height / 2)
        return
    place = screen.place(screen.focus) if screen.focus is not None else None
    if place is not None and place.y < 0:
        screen.scroll(place.y - 8)
    elif place is not None and place.y + place.height > screen.height:
        screen.scroll(place.y + place.height - screen.height + 8)
