"""Steering: bringing the focus to an element by a remote control, one press at a time, each of them seen to work.

A screen that is driven by arrows has no points one could press: what has the focus gets the press. Nobody tells where
an arrow leads, so it is tried: towards the element first, then around what stands in the way. Where each arrow led is
remembered, so that no arrow is tried twice from one place and what was seen before is found again by the shortest way.
An arrow that would change the value of what has the focus, as along a slider, is not pressed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import anyio

from anydevice_schemas import Node, Rect, Tree
from anydevice_schemas.errors import FocusUnavailable

from ..context import Context
from ..driver import Remote
from ..elements import describe_node
from ._scopes import FULL

PRESSES = 120
"""Presses after which an element counts as out of reach."""
MOVED = 0.8
"""Seconds the focus may take to move after a press."""
LOOK = 0.05
"""Seconds between two looks."""
OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


@dataclass(slots=True)
class _Map:
    """Where arrows led: place (the ref of what had the focus) -> arrow -> place."""

    led: dict[str, dict[str, str]] = field(default_factory=dict)
    plans: dict[str, list[str]] = field(default_factory=dict)

    def arrive(self, place: str, order: list[str]) -> None:
        """Remembers in which order the arrows of a place are to be tried, as seen when one was there first."""
        self.plans.setdefault(place, order)

    def untried(self, place: str) -> str | None:
        """The next arrow to try from a place; None when all were."""
        led = self.led.get(place, {})
        return next((way for way in self.plans.get(place, ()) if way not in led), None)

    def next(self, here: str) -> str | None:
        """The arrow to press: an untried one from here, else the first on the shortest way to a place that has one."""
        seen = {here}
        queue: deque[tuple[str, str | None]] = deque([(here, None)])
        while queue:
            place, first = queue.popleft()
            way = self.untried(place)
            if way is not None:
                return first or way
            for arrow, there in self.led.get(place, {}).items():
                if there not in seen:
                    seen.add(there)
                    queue.append((there, first or arrow))
        return None


async def steer(ctx: Context, node: Node, *, inside: bool = False) -> int:
    """Brings the focus to an element of this session; returns how many presses it took. Nothing is selected.

    Args:
        ctx: The running command.
        node: The element.
        inside: Anything inside the element will do.

    Raises:
        StaleRef: The element is gone.
        FocusUnavailable: The focus does not get there.
    """
    remote = ctx.use(Remote)
    known = _Map()
    presses = 0
    tree = await ctx.tree(FULL)
    while True:
        target = tree.nodes[ctx.here.refs.resolve(node.ref, tree)]
        holder = focused(tree)
        if holder is not None and _reached(tree, holder, target, inside):
            return presses
        place = holder.ref if holder is not None else ""
        known.arrive(place, _order(holder, target))
        way = known.next(place)
        if way is None or presses >= PRESSES or ctx.remaining() < 1.0:
            raise FocusUnavailable(
                "The focus does not get to the element with the remote control.",
                hint="Call tv-remote to move the focus yourself, and snapshot to see where it is.",
                holder=describe_node(holder) if holder is not None else "nothing",
                fix="Scroll, or open what the element is in, so that the focus can get there.",
                presses=presses,
            )
        await remote.press(way)
        presses += 1
        tree = await _after(ctx, tree)
        now = focused(tree)
        known.led.setdefault(place, {})[way] = now.ref if now is not None else ""


async def press(ctx: Context, way: str, count: int) -> None:
    """Presses an arrow so often, in one go where the device can."""
    remote = ctx.use(Remote)
    if count > 1 and ctx.driver is not None and ctx.driver.has("remote.repeat"):
        await remote.repeat(way, count=count)
        return
    for _ in range(count):
        await remote.press(way)


def keeps(node: Node, way: str) -> bool:
    """Whether an arrow leaves the value of an element alone that has the focus."""
    upright = way in ("up", "down")
    if node.role == "spinbutton":
        return not upright
    if node.role == "slider":
        tall = node.rect is not None and node.rect.height > node.rect.width
        return upright is not tall
    return True


def focused(tree: Tree) -> Node | None:
    """What has the focus; the innermost of several that say so."""
    return next((node for node in reversed(tree.nodes) if "focused" in node.states and not node.root), None)


async def _after(ctx: Context, before: Tree) -> Tree:
    """The tree once the focus has moved, or when it had the time to."""
    was = focused(before)
    until = anyio.current_time() + MOVED
    while True:
        tree = await ctx.tree(FULL)
        if _differ(was, focused(tree)) or anyio.current_time() >= until:
            return tree
        await ctx.pause(LOOK)


def _differ(one: Node | None, other: Node | None) -> bool:
    if one is None or other is None:
        return one is not other
    return one.ref != other.ref


def _reached(tree: Tree, holder: Node, target: Node, within: bool) -> bool:
    """Whether the focus is on the element, on what it is the label of, or on the one thing inside it to act on."""
    if holder is target:
        return True
    at = next(index for index, node in enumerate(tree.nodes) if node is holder)
    aim = next(index for index, node in enumerate(tree.nodes) if node is target)
    above = tree.ancestors(aim)
    if at in above:
        between = above[: above.index(at)]
        return not target.actions and not any(tree.nodes[i].actions for i in between)
    if aim in tree.ancestors(at):
        if within:
            return True
        inside = [i for i, node in enumerate(tree.nodes) if node.actions and aim in tree.ancestors(i)]
        return inside == [at]
    return False


def _order(holder: Node | None, target: Node) -> list[str]:
    """The arrows in the order to try them: towards the element, rows before columns, then across, then away."""
    if holder is None:
        return ["down", "right", "up", "left"]
    return [way for way in _towards(holder.rect, target.rect) if keeps(holder, way)]


def _towards(here: Rect | None, there: Rect | None) -> list[str]:
    if here is None or there is None:
        return ["down", "right", "up", "left"]
    upright = "down" if there.center.y > here.center.y else "up"
    across = "right" if there.center.x > here.center.x else "left"
    same_row = here.y < there.y + there.height and there.y < here.y + here.height
    first = [across, upright] if same_row else [upright, across]
    return [*first, *(OPPOSITE[way] for way in reversed(first))]
