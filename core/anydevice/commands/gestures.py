"""gesture: fingers and the pointer, from one place to another, apart, together and around each other."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Example, Plan, Point, Rect

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Pointer, Screen, Touch
from ._aim import ElementInput, aim
from ._effect import Watch, merged
from ._paging import WAYS
from .move import Direction

FLING = 0.08
"""Seconds of a fling: quick enough for what is flung to go on by itself."""
TURN = 15.0
"""Degrees between two points of the path of a finger that turns."""
AROUND = 120.0
"""Points around a bare point that two fingers may use."""
ROOM = 0.9
"""Part of an element that fingers may use, so that they stay inside of it."""


class GestureInput(Input):
    """Inputs of `gesture`."""

    kind: Literal["swipe", "fling", "drag", "pinch", "rotate"] = Field(
        description="swipe: a quick move; fling: quicker; drag: press, move, let go; pinch by scale; rotate by degrees."
    )
    target: str | None = Field(
        default=None, min_length=1, max_length=2000, description="Where it starts: ref, label or query."
    )
    x: float | None = Field(default=None, description="Instead of target: x in points.")
    y: float | None = Field(default=None, description="Instead of target: y in points.")
    to: str | None = Field(default=None, min_length=1, max_length=2000, description="Where it ends: ref, label, query.")
    to_x: float | None = Field(default=None, description="Instead of to: x in points.")
    to_y: float | None = Field(default=None, description="Instead of to: y in points.")
    direction: Direction | None = Field(default=None, description="Instead of an end: which way to move.")
    distance: float | None = Field(default=None, gt=0, le=10_000, description="With direction: how far, in points.")
    scale: float | None = Field(default=None, ge=0.05, le=20, description="For pinch: above 1 apart, below 1 together.")
    degrees: float | None = Field(default=None, ge=-360, le=360, description="For rotate: clockwise; negative = back.")
    duration_ms: int = Field(default=300, ge=20, le=60_000, description="How long the move takes, in ms.")
    hold_ms: int = Field(default=0, ge=0, le=60_000, description="For drag: how long to rest before moving, in ms.")
    timeout_ms: int = Field(default=3000, ge=0, le=300_000, description="How long to wait for the elements.")


@command(
    name="gesture",
    summary="Swipes or drags from one element or point to another, or in a direction; pinches or rotates with two "
    "fingers on one; tells what changed. To move a list use scroll; to hold use longpress.",
    effect="mutate",
    input=GestureInput,
    plans=[
        Plan(name="touch", operations=["touch.swipe"], when={"kind": ["swipe", "fling"]}),
        Plan(name="pointer", operations=["pointer.drag"], when={"kind": ["drag"]}),
        Plan(name="touch", operations=["touch.drag"], when={"kind": ["drag"]}),
        Plan(name="pointer", operations=["pointer.drag"], when={"kind": ["swipe", "fling"]}),
        Plan(name="fingers", operations=["touch.multi_touch"], when={"kind": ["pinch", "rotate"]}),
    ],
    output={"from": {"type": "array"}, "to": {"type": "array"}, "changed": {"type": "boolean"}},
    examples=[
        Example(why="Drop one thing on another", arguments={"kind": "drag", "target": "Card 1", "to": "Done"}),
        Example(why="Zoom in", arguments={"kind": "pinch", "target": "Map", "scale": 2}),
        Example(why="Swipe a card away", arguments={"kind": "swipe", "target": "@e5", "direction": "left"}),
    ],
)
async def gesture(ctx: Context, args: GestureInput) -> Outcome:
    """Swipes, drags, pinches or rotates."""
    assert ctx.plan is not None
    _fits(ctx, args)
    if ctx.plan.name == "fingers":
        return await _fingers(ctx, args)
    start = await _start(ctx, args)
    end = await _end(ctx, args, start)
    if abs(start.x - end.x) < 1 and abs(start.y - end.y) < 1:
        raise ctx.bad_argument("to", "the gesture would not move", "an end other than the start")
    watch = await Watch.start(ctx)
    seconds = FLING if args.kind == "fling" else args.duration_ms / 1000
    acted: Acted
    if ctx.plan.name == "pointer":
        acted = await ctx.use(Pointer).drag(start, end, seconds=seconds)
    elif args.kind in ("swipe", "fling"):
        acted = await ctx.use(Touch).swipe(start, end, seconds=seconds)
    else:
        acted = await ctx.use(Touch).drag(start, end, hold=args.hold_ms / 1000, seconds=seconds)
    ends: dict[str, Any] = {
        "from": [round(start.x, 1), round(start.y, 1)],
        "to": [round(end.x, 1), round(end.y, 1)],
    }
    data = merged(ends, acted.data, await watch.report(acted))
    return Outcome(data=data, verified=acted.verified or False, method=acted.method)


def _fits(ctx: Context, args: GestureInput) -> None:
    """Refuses what goes with another kind of gesture.

    Raises:
        InvalidArgument: Something is missing, or would not be heeded.
    """
    for name, value, kind in (("scale", args.scale, "pinch"), ("degrees", args.degrees, "rotate")):
        if args.kind == kind and value is None:
            raise ctx.bad_argument(name, f"{kind} needs it", f"{name}, such as {2 if kind == 'pinch' else 45}")
        if args.kind != kind and value is not None:
            raise ctx.bad_argument(name, f"goes with {kind} only", f"kind {kind}")
    if args.kind in ("pinch", "rotate"):
        ends = {
            "to": args.to,
            "toX": args.to_x,
            "toY": args.to_y,
            "direction": args.direction,
            "distance": args.distance,
        }
        for name, end in ends.items():
            if end is not None:
                raise ctx.bad_argument(name, f"does not go with {args.kind}", "target, or x and y")
    if args.kind == "fling" and "duration_ms" in args.model_fields_set:
        raise ctx.bad_argument("durationMs", "a fling has one speed", "no durationMs, or kind swipe")
    if args.hold_ms and args.kind != "drag":
        raise ctx.bad_argument("holdMs", "goes with drag only", "kind drag")


async def _fingers(ctx: Context, args: GestureInput) -> Outcome:
    """Pinches or rotates with two fingers, inside of an element or around a point."""
    where = ElementInput.model_construct(target=args.target, x=args.x, y=args.y, timeout_ms=args.timeout_ms)
    target = await aim(ctx, where)
    watch = await Watch.start(ctx)
    paths = two_fingers(target.point, target.node.rect if target.node else None, args.scale or 1.0, args.degrees or 0.0)
    acted = await ctx.use(Touch).multi_touch(paths, seconds=args.duration_ms / 1000)
    data = merged(target.to_wire(), acted.data, await watch.report(acted))
    return Outcome(data=data, verified=acted.verified or False, method=acted.method)


def two_fingers(middle: Point, room: Rect | None, scale: float, degrees: float) -> list[list[Point]]:
    """The paths of two fingers on opposite sides of a point.

    Args:
        middle: The point.
        room: What they have to stay inside of; None = what is usual around a point.
        scale: How much further apart they end than they begin; 1 keeps them as they are.
        degrees: How far they go around the point, clockwise.
    """
    most = AROUND
    if room is not None:
        sides = (middle.x - room.x, room.x + room.width - middle.x, middle.y - room.y, room.y + room.height - middle.y)
        most = max(4.0, ROOM * min(sides))
    first, last = (most / scale, most) if scale >= 1 else (most, most * scale)
    steps = max(1, math.ceil(abs(degrees) / TURN))
    paths: list[list[Point]] = []
    for side in (0.0, math.pi):
        path = []
        for step in range(steps + 1):
            part = step / steps
            angle = side + math.radians(degrees) * part
            reach = first + (last - first) * part
            path.append(Point(middle.x + reach * math.cos(angle), middle.y + reach * math.sin(angle)))
        paths.append(path)
    return paths


async def _start(ctx: Context, args: GestureInput) -> Point:
    if args.target is None and args.x is None and args.y is None and args.direction is not None:
        geometry = await ctx.use(Screen).geometry()
        return Point(geometry.viewport.width / 2, geometry.viewport.height / 2)
    where = ElementInput.model_construct(target=args.target, x=args.x, y=args.y, timeout_ms=args.timeout_ms)
    return (await aim(ctx, where)).point


async def _end(ctx: Context, args: GestureInput, start: Point) -> Point:
    ends = [args.to is not None, args.to_x is not None or args.to_y is not None, args.direction is not None]
    if sum(ends) != 1:
        raise ctx.bad_argument("to", "exactly one end must be given", "to, or toX and toY, or direction")
    if args.direction is not None:
        geometry = await ctx.use(Screen).geometry()
        dx, dy = WAYS[args.direction]
        reach = args.distance or 0.6 * (geometry.viewport.width if dx else geometry.viewport.height)
        return Point(start.x + dx * reach, start.y + dy * reach)
    if args.distance is not None:
        raise ctx.bad_argument("distance", "goes with direction only", "direction")
    where = ElementInput.model_construct(target=args.to, x=args.to_x, y=args.to_y, timeout_ms=args.timeout_ms)
    return (await aim(ctx, where, enabled=False, uncovered=False)).point
