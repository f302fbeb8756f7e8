"""snapshot, find, get: reading a screen."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import anyio
from pydantic import Field

from anydevice_schemas import EDITABLE, Example, Node, Plan, Tree
from anydevice_schemas.errors import AnydeviceError, DeviceNotReady, ElementNotFound, UpstreamUnavailable

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Elements, Screen, TreeScope
from ..elements import Query, RefQuery, describe_node, find, not_found, parse, part, render
from ._aim import ElementInput, aim, given, look_up, patiently, probe_node, reaching
from ._effect import UNREADABLE
from ._reading import Match, Seen, matches, not_read, read_screen, told
from ._scopes import FULL
from ._windows import the_window, windows_of

TREE = [Plan(name="tree", operations=["screen.tree"])]
TEXT_MOST = 20_000
"""Characters of one element's text that `get` answers with at most."""
CHARS = {"digest": 2_000, "default": 16_000, "full": 60_000}


class SnapshotInput(Input):
    """Inputs of `snapshot`."""

    mode: Literal["viewport", "full", "interactive"] = Field(
        default="viewport",
        description="viewport: what is on screen; full: everything; interactive: everything one can act on.",
    )
    scope: str | None = Field(
        default=None, min_length=1, max_length=2000, description="Only this element and what is in it."
    )
    surface: Literal["app", "window", "desktop"] = Field(
        default="app", description="The app in front, its active window only, or the windows of all apps of a desktop."
    )
    window: str | None = Field(
        default=None, min_length=1, max_length=1000, description="Only this window of a desktop: id or title."
    )
    max_nodes: int = Field(default=1500, ge=1, le=20_000, description="Cap on elements; cuts are told.")
    max_depth: int = Field(default=64, ge=1, le=200, description="Cap on depth; cuts are told.")


@command(
    name="snapshot",
    summary="Reads what is on the screen as a tree of elements with refs (@e12) that the other commands take. "
    "Viewport only by default. Use find for one element, screenshot for a picture.",
    effect="read",
    idempotent=True,
    observe=True,
    input=SnapshotInput,
    plans=[
        Plan(
            name="tree",
            operations=["screen.tree"],
            when={"surface": ["app", "*absent*"], "window": ["*absent*"]},
        ),
        Plan(name="tree", operations=["screen.tree", "windows.list"], when={"surface": ["window", "desktop"]}),
        Plan(name="tree", operations=["screen.tree", "windows.list"], when={"window": ["*given*"]}),
    ],
    output={
        "text": {"type": "string", "description": "The tree, one element a line; untrusted text."},
        "nodes": {"type": "integer"},
        "quality": {"type": "string"},
        "id": {"type": "string", "description": "What diff compares with later."},
    },
    examples=[
        Example(why="What is on screen", arguments={}),
        Example(why="All of it", arguments={"mode": "full"}),
    ],
)
async def snapshot(ctx: Context, args: SnapshotInput) -> Outcome:
    """Reads the screen; where it cannot be read, the refusal carries a picture of it."""
    try:
        return await _snapshot(ctx, args)
    except (DeviceNotReady, UpstreamUnavailable) as error:
        if error.details.get("reason") in UNREADABLE:
            await _show(ctx, error)
        raise


async def _show(ctx: Context, error: AnydeviceError) -> None:
    """Puts a picture of the screen into the details of a refusal, as far as there can be one."""
    if ctx.driver is None or not ctx.driver.has("screen.image"):
        return
    with anyio.move_on_after(max(0.0, ctx.remaining() - 0.5)), suppress(AnydeviceError):
        artefact = await ctx.save_image(await ctx.use(Screen).image(), "evidence")
        error.details["screenshot"] = artefact.uri


async def _snapshot(ctx: Context, args: SnapshotInput) -> Outcome:
    tree, asked = await taken(ctx, args)
    ctx.here.tree = tree
    look = ctx.here.looks.keep(tree, asked, anyio.current_time())
    text, cut = render(tree, level=ctx.level, max_chars=CHARS[ctx.level], off_screen=args.mode != "viewport")
    data: dict[str, Any] = {
        "text": text,
        "title": tree.title,
        "location": tree.location,
        "nodes": len(tree.nodes),
        "quality": tree.quality,
        "id": look.id,
    }
    if tree.omitted:
        data["omitted"] = dict(tree.omitted)
    if ctx.level == "full":
        data["tree"] = [
            {**node.to_wire(full=True), "parent": tree.nodes[node.parent].ref if node.parent >= 0 else None}
            for node in tree.nodes
        ]
    return Outcome(data=data, truncated=[*cut, *cuts_of(tree)], method="tree")


async def taken(ctx: Context, args: SnapshotInput) -> tuple[Tree, SnapshotInput]:
    """The part of the screen that is asked for, and how to ask for the same part again: by the ref of its element.

    Raises:
        InvalidArgument: Two parts are asked for.
        ElementNotFound, AmbiguousElement, StaleRef: Of `scope`.
    """
    scope = TreeScope(mode=args.mode, max_nodes=args.max_nodes, max_depth=args.max_depth)
    root, node = None, None
    if args.window is not None or args.surface != "app":
        scope = await _surface(ctx, args, scope)
    elif args.scope is not None:
        node, _ = await look_up(ctx, args.scope, 3.0)
        root = node.key
        scope = replace(scope, root=root)
        args = args.model_copy(update={"scope": node.ref})
    return await (ctx.tree(scope) if node is None or root is not None else _inside(ctx, node, scope)), args


async def _surface(ctx: Context, args: SnapshotInput, scope: TreeScope) -> TreeScope:
    """The part of a desktop that is asked for: one window, or all of them."""
    if args.scope is not None:
        other = "window" if args.window is not None else "surface"
        raise ctx.bad_argument("scope", f"scope and {other} are both given", "one of the two")
    if args.window is not None and args.surface != "app":
        raise ctx.bad_argument("surface", "surface and window are both given", "one of the two")
    if args.surface == "desktop":
        return replace(scope, reach="desktop")
    meant = the_window(await windows_of(ctx), window=args.window)
    return replace(scope, window=meant.id)


async def _inside(ctx: Context, node: Node, scope: TreeScope) -> Tree:
    """The part of the screen inside an element that the device has no handle of."""
    tree = await ctx.tree(replace(FULL, mode=scope.mode))
    index = next((at for at, seen in enumerate(tree.nodes) if seen.ref == node.ref), None)
    if index is None:
        raise ctx.here.refs.stale(node.ref, "gone", tree)
    return part(tree, index, max_nodes=scope.max_nodes, max_depth=scope.max_depth)


def cuts_of(tree: Tree) -> list[str]:
    """What was left out of a tree against the caller's wish (off-screen nodes are no cut in viewport mode)."""
    return [f"{count} {reason}" for reason, count in sorted(tree.omitted.items()) if reason != "offscreen"]


class FindInput(Input):
    """Inputs of `find`."""

    query: str = Field(
        min_length=1, max_length=2000, description='Label, or query such as label="Sign in" role=button.'
    )
    limit: int = Field(default=20, ge=1, le=200, description="How many matches to return.")
    timeout_ms: int = Field(default=3000, ge=0, le=300_000, description="How long to wait for the first match.")
    via: Literal["tree", "ocr", "either"] = Field(
        default="tree",
        description="ocr: text that is read in a picture; either: that, where no element matches.",
    )


@command(
    name="find",
    summary="Lists the elements that match a label or query, with their refs, and touches none of them. None after "
    "waiting is element_not_found with the nearest names. Use get to read one element, press to act.",
    effect="read",
    idempotent=True,
    observe=True,
    input=FindInput,
    plans=[
        Plan(name="tree", operations=["screen.tree"], when={"via": ["tree", "*absent*"]}),
        Plan(name="picture", operations=["screen.image"], when={"via": ["ocr"]}),
        Plan(name="tree", operations=["screen.tree", "screen.image"], when={"via": ["either"]}),
    ],
    output={
        "matches": {"type": "array", "description": "Elements with ref, role, name; with ocr: text, rect, point."},
        "count": {"type": "integer"},
    },
    examples=[Example(why="All buttons called Delete", arguments={"query": "label=Delete role=button"})],
)
async def find_(ctx: Context, args: FindInput) -> Outcome:
    """Lists matching elements, or text that is read in a picture."""
    query = parse(args.query)
    if args.via == "ocr":
        return await _find_text(ctx, args, query)
    if isinstance(query, RefQuery):
        node, _ = await look_up(ctx, args.query, 0)
        return Outcome(data={"matches": [describe_node(node)], "count": 1})

    async def attempt() -> tuple[Node, Tree]:
        tree = await ctx.tree(reaching(ctx, query))
        indices = find(tree, query)
        if not indices:
            raise not_found(tree, query)
        return tree.nodes[indices[0]], tree

    try:
        _, tree = await patiently(ctx, attempt, args.timeout_ms / 1000)
    except ElementNotFound:
        if args.via == "tree":
            raise
        return await _find_text(ctx, args, query)
    indices = find(tree, query)
    shown = [describe_node(tree.nodes[index]) for index in indices[: args.limit]]
    cut = [f"{len(indices) - args.limit} matches"] if len(indices) > args.limit else []
    return Outcome(data={"matches": shown, "count": len(indices)}, truncated=[*cut, *cuts_of(tree)])


async def _find_text(ctx: Context, args: FindInput, query: Query | RefQuery) -> Outcome:
    """Lists where a text is, as it is read in a picture of the screen."""

    async def attempt() -> tuple[list[Match], Seen]:
        seen = await read_screen(ctx, None)
        found = matches(seen, query)
        if not found:
            raise not_read(seen, query)
        return found, seen

    # Where no element matched, the whole time was waited already.
    patience = 0.0 if args.via == "either" else args.timeout_ms / 1000
    found, seen = await patiently(ctx, attempt, patience)
    shown = []
    for one in found[: args.limit]:
        row = told(seen, one.box, one.text, one.line.confidence)
        shown.append(row if one.text == one.line.text else row | {"line": one.line.text})
    cut = [f"{len(found) - args.limit} matches"] if len(found) > args.limit else []
    data = {"matches": shown, "count": len(found), "via": "ocr", "engine": seen.engine, "unit": "points"}
    return Outcome(data=data, truncated=cut, method="ocr")


class GetInput(ElementInput):
    """Inputs of `get`."""

    what: Literal["text", "attrs", "point"] = Field(
        default="text",
        description="text: its value or name; attrs: all of it; point: where it is, or what is at x, y.",
    )


@command(
    name="get",
    summary="Reads one element: its text, all its attributes, or its place; with what=point and x, y: the element at "
    "that point. Secure fields are never read. Use is for yes or no, snapshot for everything.",
    effect="read",
    idempotent=True,
    observe=True,
    input=GetInput,
    plans=[
        Plan(name="at-point", operations=["elements.at"], when={"x": ["*given*"]}),
        Plan(name="tree", operations=["screen.tree"], when={"x": ["*absent*"]}),
        Plan(name="tree-at-point", operations=["screen.tree"], when={"x": ["*given*"]}),
    ],
    output={"text": {"type": "string"}, "element": {"type": "object"}, "point": {"type": "array"}},
    examples=[Example(why="Read a field", arguments={"target": "Total", "what": "text"})],
)
async def get(ctx: Context, args: GetInput) -> Outcome:
    """Reads one element."""
    what = given(ctx, args)
    if not isinstance(what, str):
        if args.what != "point":
            raise ctx.bad_argument("what", "x and y go with what=point", "point")
        node, cuts = await _whole(ctx, await _at(ctx, args))
        return Outcome(data={"element": node.to_wire(full=True)}, truncated=cuts)
    node, tree = await look_up(ctx, what, args.timeout_ms / 1000)
    if args.what == "point":
        probe = await probe_node(ctx, node, tree)
        point = [round(probe.point.x, 1), round(probe.point.y, 1)] if probe.point is not None else None
        return Outcome(data={"point": point, "element": describe_node(probe.node), "unit": "points"})
    node, cuts = await _whole(ctx, node)
    if args.what == "attrs":
        return Outcome(data={"element": node.to_wire(full=True)}, truncated=cuts)
    data: dict[str, Any] = {"text": _said(node), "element": describe_node(node)}
    if node.secure:
        data["secure"] = True
    return Outcome(data=data, truncated=cuts)


def _said(node: Node) -> str:
    """What an element says: its value where it has one (an empty field is empty), else its name."""
    if node.secure:
        return ""
    if node.value is not None and (node.value or node.role in EDITABLE):
        return node.value
    return node.name


async def _whole(ctx: Context, node: Node) -> tuple[Node, list[str]]:
    """The element with its texts in full length, up to `TEXT_MOST`; and what is cut of them all the same.

    Of an element without a handle nothing more is had than a look carries.
    """
    limit = TEXT_MOST if node.key is not None else FULL.max_text - 1
    if max(len(node.name), len(node.value or "")) >= FULL.max_text and node.key is not None:
        # One more than is shown: so a text that just fits is told from one that was cut.
        own = TreeScope(mode="full", root=node.key, max_nodes=50, max_text=TEXT_MOST + 1)
        node = next((found for found in (await ctx.tree(own)).nodes if found.key == node.key), node)
    cuts = []
    for field in ("name", "value"):
        text = getattr(node, field)
        if text is not None and len(text) > limit:
            setattr(node, field, text[:limit])
            cuts.append(f"{field} (limit {limit} characters)")
    return node, cuts


async def _at(ctx: Context, args: GetInput) -> Node:
    assert ctx.plan is not None
    target = await aim(ctx, args)
    if ctx.plan.name == "at-point":
        node = await ctx.use(Elements).at(target.point)
        if node is not None and node.key is not None:
            node.ref = ctx.here.refs.ref_for(node.key)
    else:
        tree = await ctx.tree()
        hits = [n for n in tree.nodes if n.rect is not None and n.rect.contains(target.point)]
        node = hits[-1] if hits else None
    if node is None:
        raise ElementNotFound("There is no element at this point.", nearest_matches=[], on_screen=[])
    return node
