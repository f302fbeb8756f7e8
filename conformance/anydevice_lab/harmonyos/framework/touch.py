"""Fingers on a HarmonyOS display: what is at its edges is the system's, all else is the windows'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from ...handset import touch
from ...handset.apps import HandsetPractice
from ...handset.touch import Spot
from .geometry import EDGE

if TYPE_CHECKING:
    from .machine import Machine

PAUSED = 0.4
"""Seconds a finger has to rest at the end of a swipe from below for the list of missions."""
SLOW = 0.8
"""Seconds after which a swipe from below counts as one that rests."""


async def tap(machine: Machine, spot: Spot, seconds: float = 0.0) -> None:
    """A finger goes down and up at one place; on a dark display nothing comes of it."""
    if await _unlocked(machine):
        await touch.tap(machine, spot, seconds)
    elif seconds:
        await anyio.sleep(seconds)


async def swipe(
    machine: Machine, start: Spot, end: Spot, seconds: float, hold: float = 0.0, *, pause: float = 0.0
) -> None:
    """A finger goes down, (stays,) moves, (rests,) and goes up."""
    if not machine.awake:
        machine.journal.add("swipe", start=list(start), end=list(end), seconds=round(seconds, 3), ignored=True)
        await anyio.sleep(seconds + hold + pause)
    elif machine.locked:
        await anyio.sleep(seconds + hold + pause)
        if start[1] - end[1] > machine.geometry.size[1] / 6:
            machine.locked = False
    elif not machine.geometry.bars or not await _edge(machine, start, end, seconds, hold + pause):
        await touch.swipe(machine, start, end, seconds + pause, hold)


async def drag_mouse(machine: Machine, start: Spot, end: Spot, seconds: float) -> None:
    """The mouse moves with its button down: what listens to that hears it, and content does not follow a mouse."""
    window, place = touch.at(machine, start)
    screen = window.screen if window is not None else None
    element = screen.hit(place) if isinstance(screen, HandsetPractice) else None
    heard = (
        isinstance(screen, HandsetPractice)
        and element is not None
        and (element.role == "slider" or screen.hears(element, "swipe") or screen.hears(element, "drag-source"))
    )
    if heard:
        await swipe(machine, start, end, seconds)
    else:
        machine.journal.add("mouse", start=list(start), end=list(end))
        await anyio.sleep(seconds)


async def fingers(machine: Machine, paths: Sequence[Sequence[Spot]], seconds: float) -> None:
    """Several fingers move at once."""
    if await _unlocked(machine):
        await touch.fingers(machine, paths, seconds)


async def _unlocked(machine: Machine) -> bool:
    if machine.awake and not machine.locked:
        return True
    machine.journal.add("ignored", awake=machine.awake, locked=machine.locked)
    return False


async def _edge(machine: Machine, start: Spot, end: Spot, seconds: float, rest: float) -> bool:
    """The gestures of the system: up from below (home, or with a rest the missions), inwards from a side (Back)."""
    geometry = machine.geometry
    width, height = geometry.size
    strip, edge = geometry.navigation_bar, EDGE * geometry.scale
    up, across = start[1] - end[1], abs(end[0] - start[0])
    if strip is not None and start[1] >= strip.top and up > height / 12:
        machine.journal.add("gesture", what="missions" if rest >= PAUSED or seconds >= SLOW else "home")
        await anyio.sleep(seconds + rest)
        if rest >= PAUSED or seconds >= SLOW:
            machine.recents()
        else:
            machine.home()
        return True
    if across > width / 8 and across > 2 * abs(up) and (start[0] <= edge or start[0] >= width - edge):
        machine.journal.add("gesture", what="back")
        await anyio.sleep(seconds)
        machine.back()
        return True
    return False
