"""What the movements of fingers mean: which way a swipe went, how far two fingers pinched and turned."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, degrees, hypot

from anydevice_schemas import Point


def way_of(start: Point, end: Point) -> str:
    """The direction of a swipe: up, down, left or right."""
    dx, dy = end.x - start.x, end.y - start.y
    if abs(dx) > abs(dy):
        return "right" if dx > 0 else "left"
    return "down" if dy > 0 else "up"


def pinch_of(one: Sequence[Point], two: Sequence[Point]) -> tuple[float, float]:
    """What two fingers did on their paths: scale (1 = none), and degrees turned clockwise, at most half a turn."""
    (a0, a1), (b0, b1) = (one[0], one[-1]), (two[0], two[-1])
    before, after = hypot(b0.x - a0.x, b0.y - a0.y), hypot(b1.x - a1.x, b1.y - a1.y)
    turned = degrees(atan2(b1.y - a1.y, b1.x - a1.x) - atan2(b0.y - a0.y, b0.x - a0.x))
    return (after / before if before else 1.0), (turned + 180) % 360 - 180
