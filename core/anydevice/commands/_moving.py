"""Seeing whether content moved between two looks at a screen, and how far."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from anydevice_schemas import Point, Rect, Tree

SWIPED = 0.8
"""How much of an area one swipe goes through."""
LEAST = 0.25
"""How much of the screen has to scroll to be what is meant where nothing is named."""


@dataclass(slots=True, frozen=True)
class Shift:
    """How far content moved, in points: right and down are positive; None where it moved but cannot be measured."""

    moved: bool
    by: list[float] | None = None


def shifted(before: Tree, after: Tree, area: Rect, was: Rect | None, now: Rect | None) -> Shift:
    """Whether content moved.

    Args:
        before: The screen before.
        after: The screen now.
        area: What was scrolled, in points.
        was: Place of the whole content before, where the driver tells it.
        now: Its place now.
    """
    if was is not None and now is not None and (was.x, was.y) != (now.x, now.y):
        return Shift(True, [round(was.x - now.x, 1), round(was.y - now.y, 1)])
    moved = moved_by(before, after, area)
    return Shift(moved is not None, moved)


def moved_by(before: Tree, after: Tree, area: Rect) -> list[float] | None:
    """How far elements seen in both looks moved (their median), or None when nothing moved.

    Empty when it cannot be measured: of what was inside the scrolled area, most is gone and other things came.
    What stays where it is (a header, things beside the area) does not speak against that.
    """
    places = {n.ref: n.rect for n in before.nodes if n.ref and n.rect is not None and not n.root}
    shifts: list[tuple[float, float]] = []
    for node in after.nodes:
        old = places.get(node.ref)
        if old is None or node.rect is None or node.root:
            continue
        if (node.rect.width, node.rect.height) == (old.width, old.height):
            shifts.append((old.x - node.rect.x, old.y - node.rect.y))
    moving = [s for s in shifts if abs(s[0]) >= 1 or abs(s[1]) >= 1]
    if moving:
        return [round(median(s[0] for s in moving), 1), round(median(s[1] for s in moving), 1)]
    was, now = _inside(before, area), _inside(after, area)
    return [] if now - was and len(was - now) * 2 > len(was) else None


def _inside(tree: Tree, area: Rect) -> set[str]:
    """Refs of the elements whose middle lies in an area."""
    return {n.ref for n in tree.nodes if n.ref and not n.root and n.rect is not None and area.contains(n.rect.center)}


def swipe_of(area: Rect, dx: int, dy: int, length: float) -> tuple[Point, Point]:
    """Where a swipe that scrolls this way begins and ends: through the middle of the area, the other way."""
    x, y = area.center.x, area.center.y
    return Point(x + dx * length / 2, y + dy * length / 2), Point(x - dx * length / 2, y - dy * length / 2)


def glass(tree: Tree, screen: Rect, dx: int, dy: int) -> Rect:
    """In which part of the screen a finger scrolls it: not on a keyboard, nor on a bar beside what scrolls."""
    area = screen
    for node in tree.nodes:
        if node.role == "keyboard" and node.rect is not None and area.y < node.rect.y < area.y + area.height:
            area = Rect(area.x, area.y, area.width, node.rect.y - area.y)
    scrolls = [node.rect.intersect(area) for node in tree.nodes if "scroll" in node.actions and node.rect is not None]
    parts = [part for part in scrolls if part is not None]
    largest = max(parts, key=lambda part: part.width * part.height, default=None)
    if largest is None or largest.width * largest.height < LEAST * area.width * area.height:
        return area
    ends = swipe_of(area, dx, dy, SWIPED * (area.width if dx else area.height))
    return area if all(largest.contains(end) for end in ends) else largest
