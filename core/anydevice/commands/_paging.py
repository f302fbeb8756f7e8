"""Scrolling by a remote control: arrows move the focus, and content follows the focus. Nothing is pressed.

An arrow first moves the focus to the edge of what is on screen, then the content. The end is where an arrow moves
neither, or where it leads round to the other end: that is taken back. How far one arrow leads is seen from the last
ones, so that several go before the next look.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

from anydevice_schemas import Node, Rect, Tree

from ..context import Context
from ..driver import Screen
from . import _steer
from ._moving import Shift, shifted
from ._scopes import VISIBLE
from ._steer import LOOK, OPPOSITE, focused, keeps, press

WAYS: dict[str, tuple[int, int]] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
ARROWS_MOST = 400
"""Arrows of one scroll."""
BETWEEN = 0.7
"""Part of the area the content may move between two looks, so that both show some of the same."""
NEAR = 2.0
"""Points by which a page may fall short."""


@dataclass(slots=True)
class Course:
    """What was seen on the way of one scroll: so that coming round to it again is known.

    Attributes:
        shown: Refs of all that was on screen.
        stood: Refs of what had the focus since content last moved.
        pitch: How far one arrow leads, in points; 0 = not known yet.
    """

    shown: set[str] = field(default_factory=set)
    stood: set[str] = field(default_factory=set)
    pitch: float = 0.0

    def came_round(self, before: Tree, after: Tree, moved: bool) -> bool:
        """Whether the focus is on something that went out of sight earlier, or had the focus since content last moved.

        Args:
            before: The screen before the last arrows.
            after: The screen now.
            moved: Whether content moved in between.
        """
        was, now = focused(before), focused(after)
        here = {node.ref for node in before.nodes}
        self.shown |= here
        self.stood = set() if moved else self.stood | ({was.ref} if was is not None else set())
        if now is None or (was is not None and now.ref == was.ref):
            return False
        return now.ref in self.stood or (now.ref in self.shown and now.ref not in here)


async def page(
    ctx: Context, area: Rect, direction: str, length: float, course: Course, *, inside: str = "", until: float
) -> Shift:
    """Moves content by arrows.

    Args:
        ctx: The running command.
        area: What is scrolled, in points.
        direction: Which way.
        length: How far, in points.
        course: What was seen in this direction so far.
        inside: Ref of the container that the focus must not leave; empty for the whole screen.
        until: Time (of the loop) at which to stop.

    Returns:
        Whether content moved, and how far. Where it did not, the focus has gone as far as it goes.
    """
    axis = 0 if WAYS[direction][0] else 1
    side = area.width if axis == 0 else area.height
    before, place = await ctx.tree(VISIBLE), await _content(ctx)
    gone, by, arrows, moved = 0.0, [0.0, 0.0], 0, False
    while gone < length - NEAR and arrows < ARROWS_MOST and ctx.remaining() > 1.0 and anyio.current_time() < until:
        holder = focused(before)
        if holder is not None and not keeps(holder, direction):
            ctx.notice("value_kept", "What has the focus would take the arrow as a new value; it was not pressed.")
            break
        count = 1 if inside else _arrows(before, area, direction, length - gone, course.pitch)
        await press(ctx, direction, count)
        arrows += count
        after, shift, now = await _after(ctx, before, area, place)
        if inside and not _within(after, inside):
            await press(ctx, OPPOSITE[direction], 1)
            break
        if course.came_round(before, after, shift.moved) or _back(shift, area, direction):
            await _undo(ctx, before, after, direction, count)
            break
        step = _travel(focused(before), focused(after), axis)
        if not shift.moved and step == 0.0:
            break
        along = abs(shift.by[axis]) if shift.by else (count * course.pitch if shift.moved else 0.0)
        if shift.by:
            by = [one + other for one, other in zip(by, shift.by, strict=True)]
            course.pitch = (along + abs(step or 0.0)) / count or course.pitch
        elif not shift.moved and step:
            course.pitch = abs(step) / count
        gone += along if along or not shift.moved else side * BETWEEN
        moved = moved or shift.moved
        before, place = after, now
    return Shift(moved, [round(part, 1) for part in by] if any(by) else None)


def _back(shift: Shift, area: Rect, direction: str) -> bool:
    """Whether content went the other way, and by more than what has the focus grows or shrinks."""
    if not shift.by:
        return False
    dx, dy = WAYS[direction]
    return (shift.by[0] * dx + shift.by[1] * dy) * 4 < -(area.width if dx else area.height)


async def _undo(ctx: Context, before: Tree, after: Tree, direction: str, count: int) -> None:
    """Goes back to where the focus was, or near it, after so many arrows that led round."""
    here = {node.ref for node in before.nodes}
    area = Rect(0, 0, 0, 0)
    for _ in range(count):
        await press(ctx, OPPOSITE[direction], 1)
        after, _, _ = await _after(ctx, after, area, None)
        now = focused(after)
        if now is not None and now.ref in here:
            return


def _arrows(tree: Tree, area: Rect, direction: str, left: float, pitch: float) -> int:
    """How many arrows surely do not lead too far."""
    holder = focused(tree)
    takers = any(not keeps(node, direction) for node in tree.nodes)
    if pitch <= 0 or takers or holder is None or holder.rect is None:
        return 1
    here = holder.rect.center
    room = {
        "down": area.y + area.height - here.y,
        "up": here.y - area.y,
        "right": area.x + area.width - here.x,
        "left": here.x - area.x,
    }[direction]
    side = area.height if direction in ("up", "down") else area.width
    return max(1, int(min(max(0.0, room - pitch) + left, side * BETWEEN) / pitch))


async def _content(ctx: Context) -> Rect | None:
    return (await ctx.use(Screen).geometry()).content


async def _after(ctx: Context, before: Tree, area: Rect, place: Rect | None) -> tuple[Tree, Shift, Rect | None]:
    """The screen once focus or content moved, or when they had the time to."""
    until = anyio.current_time() + _steer.MOVED
    while True:
        now = await _content(ctx) if place is not None else None
        tree = await ctx.tree(VISIBLE)
        shift = shifted(before, tree, area, place, now)
        if shift.moved or _travel(focused(before), focused(tree), 0) != 0.0 or anyio.current_time() >= until:
            return tree, shift, now
        await ctx.pause(LOOK)


def _travel(was: Node | None, now: Node | None, axis: int) -> float | None:
    """How far the focus went on screen; 0.0 where it stayed, None where it went and cannot be measured."""
    if was is None or now is None:
        return 0.0 if was is now else None
    if was.rect is None or now.rect is None:
        return 0.0 if was.ref == now.ref else None
    far = now.rect.center.x - was.rect.center.x if axis == 0 else now.rect.center.y - was.rect.center.y
    return far if far or was.ref == now.ref else None


def _within(tree: Tree, container: str) -> bool:
    """Whether what has the focus is inside a container, or is it; a screen that tells no focus does not speak."""
    holder = focused(tree)
    if holder is None:
        return True
    at = next(index for index, node in enumerate(tree.nodes) if node is holder)
    return holder.ref == container or any(tree.nodes[index].ref == container for index in tree.ancestors(at))
