"""scroll: moving what is on screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Literal

import anyio
from pydantic import Field

from anydevice_schemas import Example, Node, Plan, Rect, Tree
from anydevice_schemas.errors import ActionUnverified, AmbiguousElement, ElementNotFound

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Elements, Pointer, Screen, Touch
from ..elements import RefQuery, describe_node, not_found, one, parse
from ._aim import look_again, look_up, probe_node
from ._moving import SWIPED, Shift, glass, shifted, swipe_of
from ._paging import WAYS, Course, page
from ._scopes import FULL, VISIBLE
from ._steer import steer

STEP = 0.8
STEPS_MOST = 200
STILL_MOST = 2

Direction = Literal["up", "down", "left", "right"]
_EDGES: dict[str, str] = {"top": "up", "bottom": "down", "left": "left", "right": "right"}


class ScrollInput(Input):
    """Inputs of `scroll`: direction, edge or until."""

    direction: Direction | None = Field(default=None, description="Which way to go; down shows what is further down.")
    edge: Literal["top", "bottom", "left", "right"] | None = Field(default=None, description="Go all the way there.")
    until: str | None = Field(
        default=None,
        min_length=1,
        max_length=2000,
        description="Until this element (ref, label, query) is on screen.",
    )
    pixels: float | None = Field(default=None, gt=0, le=100_000, description="How far, in points.")
    amount: float = Field(default=STEP, gt=0, le=10, description="How far, in screens, when pixels is not given.")
    target: str | None = Field(
        default=None,
        min_length=1,
        max_length=2000,
        description="Scroll this container instead of the screen.",
    )
    timeout_ms: int = Field(default=20_000, ge=0, le=300_000, description="For edge and until: when to give up.")


@command(
    name="scroll",
    summary="Scrolls the screen or one container: a distance in a direction, all the way to an edge, or until an "
    "element is on screen. Sees whether anything moved; a scroll that moves nothing is action_unverified. Element "
    "commands scroll by themselves, so this is for looking around.",
    effect="mutate",
    input=ScrollInput,
    plans=[
        Plan(name="wheel", operations=["screen.tree", "screen.geometry", "pointer.wheel"]),
        Plan(name="swipe", operations=["screen.tree", "screen.geometry", "touch.swipe"]),
        Plan(name="remote", operations=["screen.tree", "screen.geometry", "remote.press"]),
    ],
    output={
        "moved": {"type": "boolean"},
        "by": {"type": "array", "description": "How far, in points: right and down are positive."},
        "element": {"type": "object"},
        "atEdge": {"type": "boolean"},
    },
    examples=[
        Example(why="One screen down", arguments={"direction": "down"}),
        Example(why="To the end", arguments={"edge": "bottom"}),
        Example(why="Until it shows", arguments={"until": "Row 321"}),
    ],
)
async def scroll(ctx: Context, args: ScrollInput) -> Outcome:
    """Scrolls."""
    if args.edge is not None and (args.direction is not None or args.until is not None):
        raise ctx.bad_argument("edge", "goes with neither direction nor until", "one of the three")
    if args.direction is None and args.edge is None and args.until is None:
        raise ctx.bad_argument("direction", "nothing says where to scroll", "direction, edge or until")
    scroller = await _Scroller.make(ctx, args.target)
    if args.until is not None:
        return await _until(ctx, args, scroller)
    if args.edge is not None:
        return await _to_edge(ctx, args, scroller)
    assert args.direction is not None
    shift = await scroller.step(args.direction, args.amount, args.pixels)
    if not shift.moved:
        raise ActionUnverified(
            "Nothing moved.",
            expected=f"content moves {args.direction}",
            actual="nothing moved: the edge is reached, or nothing scrolls here",
            hint="Scroll the other way, or name the container with target.",
        )
    data = {"moved": True, **({"by": shift.by} if shift.by else {})}
    return Outcome(data=data, verified=True, method=scroller.method)


async def _to_edge(ctx: Context, args: ScrollInput, scroller: _Scroller) -> Outcome:
    assert args.edge is not None
    until = anyio.current_time() + args.timeout_ms / 1000
    steps, still = 0, 0
    while still < STILL_MOST and steps < STEPS_MOST and anyio.current_time() < until:
        if await scroller.at_edge(args.edge):
            still = STILL_MOST
            break
        moved = (await scroller.step(_EDGES[args.edge], 5.0, None, until)).moved
        still = 0 if moved else still + 1
        steps += moved
        await ctx.progress(None, f"scrolling to the {args.edge}")
    at_edge = still >= STILL_MOST
    if not at_edge:
        raise ctx.timed_out(None, args.timeout_ms / 1000)
    return Outcome(data={"moved": steps > 0, "atEdge": True, "steps": steps}, verified=True, method=scroller.method)


async def _until(ctx: Context, args: ScrollInput, scroller: _Scroller) -> Outcome:
    """Brings one element on screen: at once where the driver can reveal it, else screen by screen."""
    assert args.until is not None
    until = anyio.current_time() + args.timeout_ms / 1000
    direction = args.direction or "down"
    steps, still = 0, 0
    while True:
        node, tree = await _seek(ctx, args.until)
        if node is not None:
            probe = await probe_node(ctx, node, tree)
            if probe.point is not None and "offscreen" not in probe.node.states:
                data = {"moved": steps > 0, "element": describe_node(probe.node), "steps": steps}
                return Outcome(data=data, verified=True, method=scroller.method)
            if node.key is not None and ctx.driver is not None and ctx.driver.has("elements.reveal"):
                await ctx.use(Elements).reveal(node.key)
                steps += 1
                if steps > STEPS_MOST:
                    raise ctx.timed_out(None, args.timeout_ms / 1000)
                continue
        if still >= STILL_MOST or steps >= STEPS_MOST or anyio.current_time() >= until:
            query = parse(args.until)
            last = tree or await ctx.tree(FULL)
            if isinstance(query, RefQuery):
                raise ctx.here.refs.stale(query.ref, "not found by scrolling", last)
            raise not_found(last, query)
        moved = (await scroller.step(direction, STEP, None, until)).moved
        still = 0 if moved else still + 1
        steps += moved
        await ctx.progress(None, "scrolling")


async def _seek(ctx: Context, text: str) -> tuple[Node | None, Tree | None]:
    query = parse(text)
    if isinstance(query, RefQuery):
        node, tree = await look_up(ctx, text, 0)
        return node, tree
    tree = await ctx.tree(FULL)
    try:
        return tree.nodes[one(tree, query)], tree
    except ElementNotFound:
        return None, tree
    except AmbiguousElement:
        raise


@dataclass(slots=True)
class _Scroller:
    """Scrolls one area and sees whether it moved."""

    ctx: Context
    area: Rect
    method: str
    inner: bool = False
    container: str = ""
    course: Course = field(default_factory=Course)

    @staticmethod
    async def make(ctx: Context, target: str | None) -> _Scroller:
        geometry = await ctx.use(Screen).geometry()
        area = Rect(0, 0, geometry.viewport.width, geometry.viewport.height)
        if target is not None:
            node, tree = await look_up(ctx, target, 3.0)
            probe = await probe_node(ctx, node, tree)
            by_remote = ctx.plan is not None and ctx.plan.name == "remote"
            if by_remote:
                await steer(ctx, node, inside=True)
                probe = await look_again(ctx, node)
            elif probe.point is None and node.key is not None and ctx.driver is not None:
                await ctx.use(Elements).reveal(node.key)
                probe = await probe_node(ctx, node, tree)
            if probe.node.rect is not None:
                area = probe.node.rect.intersect(area) or probe.node.rect
        assert ctx.plan is not None
        return _Scroller(ctx, area, ctx.plan.name, target is not None, node.ref if target is not None else "")

    async def at_edge(self, edge: str) -> bool:
        """Whether the geometry alone says that the whole screen is scrolled to this edge already."""
        if self.inner:
            return False
        geometry = await self.ctx.use(Screen).geometry()
        content, view = geometry.content, geometry.viewport
        if content is None or content.height <= view.height or content.width < view.width:
            return False
        reached = {
            "top": content.y >= -0.5,
            "bottom": content.y + content.height <= view.height + 0.5,
            "left": content.x >= -0.5,
            "right": content.x + content.width <= view.width + 0.5,
        }
        return reached[edge]

    async def step(self, direction: str, screens: float, points: float | None, until: float = inf) -> Shift:
        """One scroll; says whether anything moved. One by arrows, which takes long, ends at the time `until`."""
        dx, dy = WAYS[direction]
        length = points if points is not None else screens * (self.area.width if dx else self.area.height)
        if self.method == "remote":
            return await page(self.ctx, self.area, direction, length, self.course, inside=self.container, until=until)
        before = await self.ctx.tree(VISIBLE)
        place = (await self.ctx.use(Screen).geometry()).content
        if self.method == "wheel":
            acted = await self.ctx.use(Pointer).wheel(self.area.center, dx=dx * length, dy=dy * length)
            if acted.verified:  # read back where it scrolled: nothing in a tree is as certain
                moved = acted.data.get("moved")
                return Shift(True, [round(float(part), 1) for part in moved] if moved else None)
        else:
            await self._swipe(dx, dy, length, self.area if self.inner else glass(before, self.area, dx, dy))
        return await self._shift(before, place)

    async def _swipe(self, dx: int, dy: int, length: float, area: Rect) -> None:
        """Swipes the other way, never further than the area allows."""
        reach = SWIPED * (area.width if dx else area.height)
        rest = length
        while rest > 0:
            part = min(rest, reach)
            await self.ctx.use(Touch).swipe(*swipe_of(area, dx, dy, part), seconds=0.3)
            rest -= part

    async def _shift(self, before: Tree, place: Rect | None) -> Shift:
        for pause in (0.0, 0.03, 0.06, 0.12, 0.2):
            if pause:
                await self.ctx.pause(pause)
            now = (await self.ctx.use(Screen).geometry()).content
            after = await self.ctx.tree(VISIBLE)
            shift = shifted(before, after, self.area, place, now)
            if shift.moved:
                return shift
        return Shift(False)
