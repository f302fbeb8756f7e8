"""From what the caller named (a ref, a label, a query, a point) to one element that can be acted on now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import anyio
from pydantic import Field

from anydevice_schemas import Node, Point, Rect, Tree
from anydevice_schemas.errors import (
    ElementCovered,
    ElementDisabled,
    ElementNotFound,
    ElementOffscreen,
    StaleRef,
    UpstreamUnavailable,
)

from ..catalogue import Input
from ..context import Context
from ..driver import Elements, Keys, Probe, TreeScope
from ..elements import Query, RefQuery, describe_node, find, one, parse
from ._scopes import FULL
from ._steer import steer

Found = TypeVar("Found")
FAR = 100_000
"""Points from the corner of a screen beyond which nothing is."""
POLL_FIRST = 0.05
POLL_MOST = 0.4


class ElementInput(Input):
    """An element by ref, label or query, or a place by its coordinates."""

    target: str | None = Field(
        default=None,
        min_length=1,
        max_length=2000,
        description='Element: ref (@e12), its label, or query (label="Sign in" role=button).',
    )
    x: float | None = Field(default=None, description="Instead of target: x in points.")
    y: float | None = Field(default=None, description="Instead of target: y in points.")
    timeout_ms: int = Field(default=3000, ge=0, le=300_000, description="How long to wait for a match.")


@dataclass(slots=True)
class Aim:
    """An element (or a bare point) that is ready to be acted on.

    Attributes:
        node: The element as it is now; None for a bare point.
        point: Where input goes, in points.
        key: The driver's handle of the element, where it has one.
    """

    node: Node | None
    point: Point
    key: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """As the answer shows it."""
        wire: dict[str, Any] = {"point": [round(self.point.x, 1), round(self.point.y, 1)]}
        if self.node is not None:
            wire["element"] = describe_node(self.node)
        return wire


def given(ctx: Context, args: ElementInput) -> str | Point:
    """What the caller named: the target's text, or a point.

    Raises:
        InvalidArgument: Neither, both, half a point, or one where no screen is.
    """
    has_point = args.x is not None or args.y is not None
    if args.target is not None and has_point:
        raise ctx.bad_argument("target", "target and x, y are both given", "one of the two")
    if args.target is not None:
        return args.target
    if args.x is None or args.y is None:
        raise ctx.bad_argument("target", "nothing to act on is named", "target, or x and y together")
    for name, side in (("x", args.x), ("y", args.y)):
        if abs(side) > FAR:
            raise ctx.bad_argument(name, "no screen is so large", f"from -{FAR} to {FAR} points")
    return Point(args.x, args.y)


async def aim(
    ctx: Context, args: ElementInput, *, enabled: bool = True, uncovered: bool = True, by_pointer: bool = True
) -> Aim:
    """The one element (or point) the arguments name, on screen and ready for input.

    Args:
        ctx: The running command.
        args: What the caller named.
        enabled: Refuse a disabled element.
        uncovered: Refuse an element that something of its own app lies over.
        by_pointer: The plan uses pointer or touch: refuse one that another window lies over as well.

    Raises:
        ElementNotFound, AmbiguousElement, StaleRef: It cannot be told which element is meant.
        ElementDisabled, ElementCovered, ElementOffscreen: It cannot be acted on now.
    """
    what = given(ctx, args)
    if isinstance(what, Point):
        return Aim(None, what)
    node, tree, probe = await _found(ctx, what, args.timeout_ms / 1000, acting=True)
    if probe is None:
        probe = await probe_node(ctx, node, tree)
    if uncovered and _under_keyboard(probe) and await _keyboard_away(ctx):
        probe = await look_again(ctx, node)
    if enabled and "disabled" in probe.node.states:
        raise ElementDisabled("The element is disabled.", element=describe_node(probe.node))
    if probe.point is None or "offscreen" in probe.node.states:
        probe = await _reveal(ctx, node, probe)
    if uncovered and probe.cover is not None and (by_pointer or not probe.cover_outside):
        raise ElementCovered(
            "Something lies over the element.",
            element=describe_node(probe.node),
            cover=probe.cover,
            cover_ref=ctx.here.refs.ref_of(probe.cover_key) if probe.cover_key else None,
        )
    assert probe.point is not None
    return Aim(probe.node, probe.point, node.key)


async def look_up(ctx: Context, text: str, timeout: float) -> tuple[Node, Tree | None]:
    """The one element a text names, waiting up to `timeout` seconds for it to appear.

    Returns:
        The node, and the tree it was found in (None for a ref that was looked at directly).

    Raises:
        ElementNotFound, AmbiguousElement, StaleRef: As `aim`.
        InvalidArgument: The query cannot be read.
    """
    node, tree, _ = await _found(ctx, text, timeout)
    return node, tree


async def _found(
    ctx: Context, text: str, timeout: float, *, acting: bool = False
) -> tuple[Node, Tree | None, Probe | None]:
    """As `look_up`, and the fresh look that was taken on the way, where one was.

    Whoever is going to act on the element may have an on-screen keyboard taken away that hides it; who reads may not.
    """
    query = parse(text)
    if isinstance(query, RefQuery):
        return await _by_ref(ctx, query)

    hidden = acting

    async def attempt() -> tuple[Node, Tree]:
        nonlocal hidden
        tree = await ctx.tree(reaching(ctx, query))
        try:
            return tree.nodes[one(tree, query)], tree
        except ElementNotFound:
            once, hidden = hidden, False
            if not once or not await _keyboard_away(ctx):
                raise
        tree = await ctx.tree(reaching(ctx, query))
        return tree.nodes[one(tree, query)], tree

    node, tree = await patiently(ctx, attempt, timeout)
    if tree.omitted.get("nodes"):
        unread = tree.omitted["nodes"]
        ctx.notice("tree_cut", f"{unread} elements were not read; another one may match as well.", unread=unread)
    return node, tree, None


def reaching(ctx: Context, query: Query) -> TreeScope:
    """All of the app in front; on a desktop, for a query that names an app or a window, of every app."""
    named = any(term.key in ("appname", "windowtitle") for one in query.alternatives for term in one.terms)
    if named and ctx.driver is not None and ctx.driver.has("windows.list"):
        return replace(FULL, reach="desktop")
    return FULL


def _under_keyboard(probe: Probe) -> bool:
    return probe.cover is not None and probe.cover.partition(" ")[0] == "keyboard"


async def _keyboard_away(ctx: Context) -> bool:
    """Takes an on-screen keyboard away that may hide what is looked for, and tells it. False where there is none."""
    if ctx.driver is None or not (ctx.driver.has("keys.dismiss") and ctx.driver.has("keys.keyboard_state")):
        return False
    try:
        if not (await ctx.use(Keys).keyboard_state()).get("shown"):
            return False
    except UpstreamUnavailable:  # whether one is shown is not known: what was looked for is not there
        return False
    acted = await ctx.use(Keys).dismiss()
    if acted.verified:
        ctx.notice("keyboard_dismissed", "The on-screen keyboard was taken away to look for the element.")
    return bool(acted.verified)


async def patiently(ctx: Context, attempt: Callable[[], Awaitable[Found]], timeout: float) -> Found:
    """Repeats a look-up until it finds something or `timeout` seconds are over. An ambiguity is told at once."""
    until = anyio.current_time() + min(timeout, max(0.0, ctx.remaining() - 0.5))
    pause = POLL_FIRST
    while True:
        try:
            return await attempt()
        except ElementNotFound as error:
            left = until - anyio.current_time()
            if left <= 0:
                error.details["waited_ms"] = round(timeout * 1000)
                raise
            await ctx.pause(min(pause, left))
            pause = min(POLL_MOST, pause * 1.5)


async def _by_ref(ctx: Context, query: RefQuery) -> tuple[Node, Tree | None, Probe | None]:
    registry = ctx.here.refs
    key = registry.key_of(query.ref)
    if key is not None and ctx.driver is not None and ctx.driver.has("elements.probe"):
        try:
            probe = await ctx.use(Elements).probe(key)
        except StaleRef as error:
            tree = await ctx.tree(FULL)
            raise registry.stale(query.ref, str(error.details.get("reason", "gone")), tree) from None
        probe.node.ref, probe.node.key = query.ref, key
        return probe.node, None, probe
    tree = await ctx.tree(FULL)
    return tree.nodes[registry.resolve(query.ref, tree)], tree, None


async def probe_node(ctx: Context, node: Node, tree: Tree | None) -> Probe:
    """A fresh look at an element, by the driver if it can, else judged from the tree."""
    if node.key is not None and ctx.driver is not None and ctx.driver.has("elements.probe"):
        try:
            probe = await ctx.use(Elements).probe(node.key)
        except StaleRef as error:
            fresh = await ctx.tree(FULL)
            raise ctx.here.refs.stale(node.ref, str(error.details.get("reason", "gone")), fresh) from None
        probe.node.ref = node.ref
        return probe
    assert tree is not None
    return judge(tree, next(i for i, other in enumerate(tree.nodes) if other is node))


async def look_again(ctx: Context, node: Node) -> Probe:
    """A fresh look at an element, in a tree where the driver looks at no single one.

    Raises:
        StaleRef: It is gone.
    """
    if node.key is not None and ctx.driver is not None and ctx.driver.has("elements.probe"):
        return await probe_node(ctx, node, None)
    tree = await ctx.tree(FULL)
    return judge(tree, ctx.here.refs.resolve(node.ref, tree))


def judge(tree: Tree, index: int) -> Probe:
    """What a tree alone can say of an element: the middle of its visible part, and what lies over it there.

    Covers that count: nodes drawn later that are neither inside the element nor around it, and that are a
    modal, a dialog or the keyboard; and whatever lies over an element that its driver says gets no input (`hittable`).
    """
    node = tree.nodes[index]
    visible = node.rect
    if visible is not None and tree.viewport is not None:
        visible = visible.intersect(tree.viewport)
    if visible is None or visible.width <= 0 or visible.height <= 0:
        return Probe(node, None)
    point = visible.center
    family = {index, *tree.ancestors(index)}
    for later in range(index + 1, len(tree.nodes)):
        other = tree.nodes[later]
        if index in tree.ancestors(later) or not _covers(other, point):
            continue
        if family.isdisjoint({later}):
            return Probe(node, point, f"{other.role} {other.name}".strip(), other.key)
    if not node.hittable:
        over = _taker(tree, index, point)
        if over is None:
            return Probe(node, point, "something else")
        return Probe(node, point, f"{over.role} {over.name}".strip(), over.key)
    return Probe(node, point)


def _taker(tree: Tree, index: int, point: Point) -> Node | None:
    """What takes the input at a point instead of an element whose driver says that it does not get it.

    That is what does something there; where nothing does, what lies on top.
    """
    there = [
        later
        for later in range(len(tree.nodes) - 1, index, -1)
        if (rect := tree.nodes[later].rect) is not None and rect.contains(point)
    ]
    first = next((later for later in there if tree.nodes[later].actions), next(iter(there), None))
    return None if first is None or index in tree.ancestors(first) else tree.nodes[first]


def _covers(node: Node, point: Point) -> bool:
    blocking = node.role in ("dialog", "alertdialog", "keyboard") or "modal" in node.states
    return blocking and node.rect is not None and node.rect.contains(point)


async def _reveal(ctx: Context, node: Node, probe: Probe) -> Probe:
    """Brings an element on screen, or says that it cannot be."""
    if node.key is not None and ctx.driver is not None and ctx.driver.has("elements.reveal"):
        await ctx.use(Elements).reveal(node.key)
        probe = await probe_node(ctx, node, None)
    elif ctx.plan is not None and "remote.press" in ctx.plan.operations:
        await steer(ctx, node)  # what has the focus is shown
        probe = await look_again(ctx, node)
    if probe.point is None:
        raise ElementOffscreen("The element cannot be brought on screen.", element=describe_node(probe.node))
    return probe


def shown(tree: Tree, query: Query) -> bool:
    """Whether something that matches is on screen."""
    return any("offscreen" not in tree.nodes[index].states for index in find(tree, query))


def inside(point: Point, area: Rect | None) -> bool:
    """Whether a point lies on screen; unknown geometry counts as yes."""
    return area is None or area.contains(point)
