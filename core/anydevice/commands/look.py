"""snapshot, find, get, is, screenshot: reading a screen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import EDITABLE, Example, Node, Plan, Rect, Tree
from anydevice_schemas.errors import ElementNotFound, StaleRef

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Elements, Screen, TreeScope
from ..elements import RefQuery, describe_node, find, not_found, parse, part, render
from ._aim import FULL, ElementInput, aim, given, look_up, patiently, probe_node

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
    plans=TREE,
    output={
        "text": {"type": "string", "description": "The tree, one element a line; untrusted text."},
        "nodes": {"type": "integer"},
        "quality": {"type": "string"},
    },
    examples=[
        Example(why="What is on screen", arguments={}),
        Example(why="All of it", arguments={"mode": "full"}),
    ],
)
async def snapshot(ctx: Context, args: SnapshotInput) -> Outcome:
    """Reads the screen."""
    root, node = None, None
    if args.scope is not None:
        node, _ = await look_up(ctx, args.scope, 3.0)
        root = node.key
    scope = TreeScope(mode=args.mode, root=root, max_nodes=args.max_nodes, max_depth=args.max_depth)
    tree = await (ctx.tree(scope) if node is None or root is not None else _inside(ctx, node, scope))
    ctx.here.tree = tree
    text, cut = render(tree, level=ctx.level, max_chars=CHARS[ctx.level], off_screen=args.mode != "viewport")
    data: dict[str, Any] = {
        "text": text,
        "title": tree.title,
        "location": tree.location,
        "nodes": len(tree.nodes),
        "quality": tree.quality,
    }
    if tree.omitted:
        data["omitted"] = dict(tree.omitted)
    if ctx.level == "full":
        data["tree"] = [
            {**node.to_wire(full=True), "parent": tree.nodes[node.parent].ref if node.parent >= 0 else None}
            for node in tree.nodes
        ]
    return Outcome(data=data, truncated=[*cut, *_cuts(tree)], method="tree")


async def _inside(ctx: Context, node: Node, scope: TreeScope) -> Tree:
    """The part of the screen inside an element that the device has no handle of."""
    tree = await ctx.tree(replace(FULL, mode=scope.mode))
    index = next((at for at, seen in enumerate(tree.nodes) if seen.ref == node.ref), None)
    if index is None:
        raise ctx.here.refs.stale(node.ref, "gone", tree)
    return part(tree, index, max_nodes=scope.max_nodes, max_depth=scope.max_depth)


def _cuts(tree: Tree) -> list[str]:
    """What was left out of a tree against the caller's wish (off-screen nodes are no cut in viewport mode)."""
    return [f"{count} {reason}" for reason, count in sorted(tree.omitted.items()) if reason != "offscreen"]


class FindInput(Input):
    """Inputs of `find`."""

    query: str = Field(
        min_length=1, max_length=2000, description='Label, or query such as label="Sign in" role=button.'
    )
    limit: int = Field(default=20, ge=1, le=200, description="How many matches to return.")
    timeout_ms: int = Field(default=3000, ge=0, le=300_000, description="How long to wait for the first match.")


@command(
    name="find",
    summary="Lists the elements that match a label or query, with their refs, and touches none of them. None after "
    "waiting is element_not_found with the nearest names. Use get to read one element, press to act.",
    effect="read",
    idempotent=True,
    observe=True,
    input=FindInput,
    plans=TREE,
    output={
        "matches": {"type": "array", "description": "Elements with ref, role, name."},
        "count": {"type": "integer"},
    },
    examples=[Example(why="All buttons called Delete", arguments={"query": "label=Delete role=button"})],
)
async def find_(ctx: Context, args: FindInput) -> Outcome:
    """Lists matching elements."""
    query = parse(args.query)
    if isinstance(query, RefQuery):
        node, _ = await look_up(ctx, args.query, 0)
        return Outcome(data={"matches": [describe_node(node)], "count": 1})

    async def attempt() -> tuple[Node, Tree]:
        tree = await ctx.tree(FULL)
        indices = find(tree, query)
        if not indices:
            raise not_found(tree, query)
        return tree.nodes[indices[0]], tree

    _, tree = await patiently(ctx, attempt, args.timeout_ms / 1000)
    indices = find(tree, query)
    shown = [describe_node(tree.nodes[index]) for index in indices[: args.limit]]
    cut = [f"{len(indices) - args.limit} matches"] if len(indices) > args.limit else []
    return Outcome(data={"matches": shown, "count": len(indices)}, truncated=[*cut, *_cuts(tree)])


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


class IsInput(Input):
    """Inputs of `is`."""

    predicate: Literal[
        "visible", "hidden", "exists", "absent", "editable", "selected", "focused", "enabled", "disabled", "checked",
        "text",
    ] = Field(description="What to ask; text compares the element's text with value.")  # fmt: skip
    target: str = Field(min_length=1, max_length=2000, description="Ref, label or query.")
    value: str | None = Field(default=None, max_length=10_000, description="For predicate text: the exact text.")


@command(
    name="is",
    summary="Answers one yes-or-no question about one element, at once, without waiting: result true or false. An "
    "element that is not there is false (true for absent and hidden). Use wait to wait for it.",
    effect="read",
    idempotent=True,
    observe=True,
    input=IsInput,
    plans=TREE,
    output={"result": {"type": "boolean"}},
    examples=[Example(why="Is it ticked", arguments={"predicate": "checked", "target": "Wi-Fi"})],
)
async def is_(ctx: Context, args: IsInput) -> Outcome:
    """Answers a question about one element."""
    if (args.predicate == "text") != (args.value is not None):
        raise ctx.bad_argument("value", "goes with predicate text, and only with it", "the exact text")
    try:
        node, _ = await look_up(ctx, args.target, 0)
    except (ElementNotFound, StaleRef) as error:
        if isinstance(error, StaleRef) and "never" in str(error.details.get("reason")):
            raise
        return Outcome(data={"result": args.predicate in ("absent", "hidden"), "found": False})
    return Outcome(data={"result": holds(node, args.predicate, args.value), "element": describe_node(node)})


def holds(node: Node, predicate: str, value: str | None = None) -> bool:
    """Whether a predicate of `is` holds for an element that is there."""
    states = node.states
    seen = node.rect is not None and "hidden" not in states and "offscreen" not in states
    answers = {
        "exists": True,
        "absent": False,
        "visible": seen,
        "hidden": not seen,
        "editable": "editable" in states and "readonly" not in states and "disabled" not in states,
        "selected": "selected" in states,
        "focused": "focused" in states,
        "enabled": "disabled" not in states,
        "disabled": "disabled" in states,
        "checked": "checked" in states,
    }
    if predicate == "text":
        return not node.secure and value in (node.value, node.name)
    return answers[predicate]


class ScreenshotInput(Input):
    """Inputs of `screenshot`."""

    target: str | None = Field(
        default=None, min_length=1, max_length=2000, description="Only this element: ref, label or query."
    )
    timeout_ms: int = Field(default=3000, ge=0, le=300_000, description="How long to wait for target.")
    area: Literal["viewport", "full", "element"] = Field(
        default="viewport",
        description="viewport: what is on screen; full: the whole content; element: target.",
    )


@command(
    name="screenshot",
    summary="Takes a picture of the screen, of the whole content, or of one element; says its size, unit and scale so "
    "that places in it can be used as coordinates. Use snapshot to read text and get refs: it is cheaper.",
    effect="read",
    idempotent=True,
    observe=True,
    input=ScreenshotInput,
    plans=[Plan(name="image", operations=["screen.image"])],
    output={
        "width": {"type": "integer", "description": "Pixels."},
        "height": {"type": "integer", "description": "Pixels."},
        "scale": {"type": "number", "description": "Pixels per point."},
        "unit": {"type": "string"},
    },
    examples=[
        Example(why="The screen", arguments={}),
        Example(why="One element", arguments={"target": "@e7"}),
    ],
)
async def screenshot(ctx: Context, args: ScreenshotInput) -> Outcome:
    """Takes a picture."""
    area: Rect | None = None
    element: dict[str, Any] | None = None
    wants_element = args.area == "element" or args.target is not None
    if wants_element:
        if args.target is None:
            raise ctx.bad_argument("target", "area element needs a target", "ref, label or query")
        if args.area == "full":
            raise ctx.bad_argument("area", "target and area full are both given", "one of the two")
        where = ElementInput.model_construct(target=args.target, x=None, y=None, timeout_ms=args.timeout_ms)
        target = await aim(ctx, where, enabled=False, uncovered=False)
        assert target.node is not None
        area, element = target.node.rect, describe_node(target.node)
    image = await ctx.use(Screen).image(area, full=args.area == "full")
    artefact = await ctx.save_image(image, "screenshot")
    data: dict[str, Any] = {
        "width": image.width,
        "height": image.height,
        "scale": image.scale,
        "unit": "points" if image.scale == 1 else f"pixels; divide by {image.scale:g} for points",
        "area": [round(v, 1) for v in (image.area.x, image.area.y, image.area.width, image.area.height)],
        "mime": image.mime,
    }
    if element is not None:
        data["element"] = element
    return Outcome(data=data, artefacts=[artefact])
