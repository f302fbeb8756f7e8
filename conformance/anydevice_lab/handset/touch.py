"""Fingers on the display: which window they are on, and what that does. Places are pixels, times are seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import TYPE_CHECKING, Any

import anyio

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import EDITABLE, Point

from .apps import HandsetPractice
from .windows import Window

if TYPE_CHECKING:
    from .handset import Handset

HELD = 0.4
SLOP = 8.0
"""Points a finger may wander and still be pressing."""
Spot = tuple[float, float]


@dataclass
class Finger:
    """A finger that is down, for input that comes in single events."""

    path: list[Spot] = field(default_factory=list)
    since: float = 0.0


def at(handset: Handset[Any], spot: Spot) -> tuple[Window | None, Point]:
    """The window a pixel belongs to, and the place in it, in points. A dialog takes what is outside of it too."""
    for window in handset.windows():
        if window.box.holds(*spot):
            return window, handset.geometry.points(window.box, *spot)
        if window.modal:
            if window.cancels is not None:
                window.cancels()
            return None, Point(0, 0)
    return None, Point(0, 0)


def _when_awake(screen: FakeScreen, action: Callable[[], None]) -> None:
    """Does something to a screen now, or when its app answers again."""
    if isinstance(screen, HandsetPractice) and screen.frozen_for:
        screen.later(action)
    else:
        action()


async def tap(handset: Handset[Any], spot: Spot, seconds: float = 0.0) -> None:
    """A finger goes down and up at one place."""
    handset.journal.add("tap", x=spot[0], y=spot[1], seconds=round(seconds, 3))
    if seconds:
        began = time.monotonic()
        await anyio.sleep(seconds)
        seconds = time.monotonic() - began
    release(handset, [spot], seconds)


async def swipe(handset: Handset[Any], start: Spot, end: Spot, seconds: float, hold: float = 0.0) -> None:
    """A finger goes down, (stays,) moves, and goes up."""
    far = hypot(end[0] - start[0], end[1] - start[1]) / handset.geometry.scale
    if far <= SLOP:
        await tap(handset, start, seconds + hold)
        return
    handset.journal.add("swipe", start=list(start), end=list(end), seconds=round(seconds, 3), hold=hold)
    await anyio.sleep(seconds + hold)
    release(handset, [start, end], seconds, hold)


def release(handset: Handset[Any], path: Sequence[Spot], seconds: float, hold: float = 0.0) -> None:
    """A finger that went along a path goes up."""
    if not handset.awake or handset.locked:
        return
    start, end = path[0], path[-1]
    window, place = at(handset, start)
    if window is None:
        return
    screen = window.screen
    there = handset.geometry.points(window.box, *end)
    if max(hypot(x - start[0], y - start[1]) for x, y in path) / handset.geometry.scale <= SLOP:
        _when_awake(screen, lambda: _press(handset, window, place, seconds))
        return
    element = screen.hit(place)

    def move() -> None:
        if isinstance(screen, HandsetPractice) and element is not None and screen.hears(element, "drag-source"):
            screen.drag(place, there, seconds, hold)
        elif element is not None and element.role == "slider" and isinstance(screen, HandsetPractice):
            screen.slide(element, there)
        else:
            screen.swipe(place, there, seconds)

    _when_awake(screen, move)


def _press(handset: Handset[Any], window: Window, place: Point, seconds: float) -> None:
    screen = window.screen
    element = screen.hit(place)
    if seconds >= HELD:
        screen.hold_at(place, seconds)
        if element is not None and element.role in EDITABLE:
            screen.focus = element
        _keyboard(handset, screen, element)
        return
    if element is None or "disabled" in element.states:
        screen.log("press", element, point=place)
        return
    screen.log("press", element, point=place)
    if isinstance(screen, HandsetPractice) and element.role == "slider":
        screen.slide(element, place)
    pressed(handset, screen, element)


def pressed(handset: Handset[Any], screen: FakeScreen, element: FakeElement) -> None:
    """An element is pressed; what a handset adds to that: the keyboard comes, a select drops down its list."""
    screen.activate(element)
    if isinstance(screen, HandsetPractice) and screen.options_of(element):
        handset.choose(element)
    _keyboard(handset, screen, element)


def _keyboard(handset: Handset[Any], screen: FakeScreen, element: FakeElement | None) -> None:
    if element is None or element.role not in EDITABLE or screen.focus is not element:
        return
    if {"disabled", "readonly"} & element.states or screen is not handset.target_screen:
        return
    handset.keyboard_shown = True
    handset.lay_out()


async def fingers(handset: Handset[Any], paths: Sequence[Sequence[Spot]], seconds: float) -> None:
    """Several fingers move at once."""
    handset.journal.add("fingers", count=len(paths), seconds=seconds)
    await anyio.sleep(seconds)
    window, _ = at(handset, paths[0][0])
    if window is None or not handset.awake:
        return
    screen, box = window.screen, window.box
    points = [[handset.geometry.points(box, *spot) for spot in path] for path in paths]
    _when_awake(screen, lambda: screen.fingers(points, seconds))
