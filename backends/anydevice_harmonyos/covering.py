"""What lies over what: which elements do not get the input at their middle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from .reading.layout import Box

BAND: Final = 64
"""Pixels of the height of a screen that are looked through together."""


def covered(
    boxes: Sequence[tuple[int, Box]], covers: Sequence[Box], screen: Box, inside: Callable[[int, int], bool]
) -> set[int]:
    """Which of the elements are covered at the middle of their visible part.

    Args:
        boxes: Elements that take input, in the order in which they are drawn: a number of each, and its bounds.
        covers: Boxes that lie over all of them.
        screen: Bounds of the screen.
        inside: Whether one element (by its number) lies inside of another.
    """
    bands: dict[int, list[tuple[int, Box]]] = {}
    found: set[int] = set()
    for number, box in reversed(boxes):
        x, y = middle(box, screen)
        later = bands.get(int(y) // BAND, ())
        if any(holds(cover, x, y) for cover in covers) or any(
            holds(other, x, y) and not inside(index, number) for index, other in later
        ):
            found.add(number)
        for band in range(max(screen[1], box[1]) // BAND, min(screen[3], box[3]) // BAND + 1):
            bands.setdefault(band, []).append((number, box))
    return found


def middle(box: Box, screen: Box) -> tuple[float, float]:
    """The middle of the part of a box that is on the screen."""
    left, top = max(box[0], screen[0]), max(box[1], screen[1])
    right, bottom = min(box[2], screen[2]), min(box[3], screen[3])
    return (left + right) / 2, (top + bottom) / 2


def holds(box: Box, x: float, y: float) -> bool:
    """Whether a place lies in a box."""
    return box[0] <= x < box[2] and box[1] <= y < box[3]
