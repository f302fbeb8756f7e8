"""What keys do to what is in front. Keys have the words of the practice app (`enter`, `up`), or are one character."""

from __future__ import annotations

from typing import Any

from anydevice.testing.keyboard import takes_keys
from anydevice.testing.screen import FakeElement
from anydevice_schemas import EDITABLE, INTERACTIVE

from .apps import HandsetPractice
from .handset import Handset

WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
SLIDER_STEP = 5
"""How far an arrow takes a slider that has the focus, of 100; that is what Android's own takes."""
ORDER = ("ctrl", "alt", "shift", "meta")


def press(handset: Handset[Any], key: str, held: tuple[str, ...] = ()) -> None:
    """A key goes down and up, with modifiers held (ctrl, alt, shift, meta).

    A character that a focused field can take is typed. On a device that is steered, arrows move the focus and Enter
    presses what has it.
    """
    screen = handset.target_screen
    letter = key if len(key) == 1 else ""
    if letter and not set(held) - {"shift"}:
        letter = letter.upper() if "shift" in held else letter
        if screen.focus is not None and takes_keys(screen.focus):
            type_text(handset, letter)
            return
        held = () if letter.isalpha() and "shift" not in held else held
    word = {" ": "space"}.get(letter, letter) or key
    chord = "+".join([*(one for one in ORDER if one in held), word])
    practice = screen if isinstance(screen, HandsetPractice) else None
    if practice is not None and practice.frozen_for:
        practice.later(lambda: practice.key(chord))
        return
    before = screen.focus
    if handset.steered and key == "enter" and before is not None and before.role not in EDITABLE:
        screen.activate(before)
        return
    screen.key(chord)
    if practice is None and screen.focus is not None and takes_keys(screen.focus):
        _edit(screen.focus, word)
    if handset.steered and key in WAYS and not held:
        if key in ("left", "right") and before is not None and before.role == "slider" and screen.focus is before:
            before.write(str(min(100, max(0, int(float(before.value or 0)) + SLIDER_STEP * WAYS[key][0]))))
        else:
            move_focus(handset, WAYS[key])


def _edit(field: FakeElement, word: str) -> None:
    """What a field of a dialog makes of a key; the practice app's own fields know."""
    if word == "backspace" and field.value:
        field.write(field.value[:-1])


def type_text(handset: Handset[Any], text: str) -> None:
    """Characters arrive at whatever has the keyboard."""
    screen = handset.target_screen
    handset.journal.add("text", length=len(text))
    practice = screen if isinstance(screen, HandsetPractice) else None
    if practice is not None and practice.frozen_for:
        practice.later(lambda: practice.type(text))
    elif screen.focus is None and practice is not None and practice.running:
        for letter in text:
            practice.key({" ": "space", "\n": "enter", "\t": "tab"}.get(letter, letter.lower()))
    else:
        screen.type(text)


def center(handset: Handset[Any], seconds: float = 0.0) -> None:
    """The key in the middle of the arrows: presses what has the focus, or holds it for so long."""
    from .touch import HELD, pressed

    screen = handset.target_screen
    if screen.focus is not None:
        if "disabled" in screen.focus.states:
            return
        if seconds >= HELD:
            screen.hold_at(screen.place(screen.focus).center, seconds)
        else:
            pressed(handset, screen, screen.focus)
    else:
        screen.key("enter")


def move_focus(handset: Handset[Any], way: tuple[int, int]) -> None:
    """The arrow keys' focus goes to the nearest thing that way; where there is none the content moves."""
    screen = handset.target_screen
    found = [
        element
        for element in screen.elements
        if (element.role in INTERACTIVE or element.role == "listitem" or element.on_press is not None)
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
