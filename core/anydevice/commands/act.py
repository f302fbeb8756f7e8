"""press, longpress, hover: acting on one element."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Example, Node, Plan
from anydevice_schemas.errors import AppNotRunning, DialogOpen, ElementCovered, ElementNotFound, StaleRef

from ..catalogue import command
from ..context import Context, Outcome
from ..driver import Acted, Elements, Pointer, Remote, Touch
from ..elements import describe_node
from ._aim import Aim, ElementInput, aim, probe_node
from ._effect import Watch, merged
from ._scopes import FULL
from ._steer import steer

OUTPUT: dict[str, Any] = {
    "element": {"type": "object", "description": "The element acted on."},
    "changed": {"type": "boolean", "description": "Whether the screen differs."},
    "changes": {"type": "array", "description": "What differs, one line each."},
    "happened": {"type": "array", "description": "Navigation, dialog, new tab, download, crash."},
}
SLIPS_MOST = 3
"""How often an element that slips away before the input arrives is aimed at."""
SLIP_PAUSE = 0.05
SETTLE = "Wait until the screen is at rest (at most 10 s) before telling what changed."


class PressInput(ElementInput):
    """Inputs of `press`."""

    count: int = Field(default=1, ge=1, le=10, description="Presses in a row; 2 is a double press.")
    button: Literal["primary", "secondary", "middle"] = Field(
        default="primary", description="Mouse button; other than primary needs a pointer."
    )
    settle: bool = Field(default=False, description=SETTLE)


@command(
    name="press",
    aliases=["click"],
    summary="Presses one element: a button, link, checkbox, row. Waits for it, refuses when it is disabled, covered "
    "or ambiguous, and tells what changed. To put text into a field use fill; to hold use longpress.",
    effect="mutate",
    input=PressInput,
    plans=[
        Plan(
            name="accessibility",
            operations=["screen.tree", "elements.activate"],
            when={"target": ["*given*"], "count": ["1", "*absent*"], "button": ["primary", "*absent*"]},
        ),
        Plan(name="pointer", operations=["pointer.click"]),
        Plan(
            name="touch",
            operations=["touch.tap"],
            when={"button": ["primary", "*absent*"]},
        ),
        Plan(
            name="remote",
            operations=["screen.tree", "remote.press"],
            when={"target": ["*given*"], "button": ["primary", "*absent*"]},
        ),
    ],
    output=OUTPUT,
    examples=[
        Example(why="By label", arguments={"target": "Sign in"}),
        Example(why="By ref from snapshot", arguments={"target": "@e12"}),
        Example(why="By query", arguments={"target": 'label="Delete" role=button index=1'}),
    ],
)
async def press(ctx: Context, args: PressInput) -> Outcome:
    """Presses one element or point."""
    assert ctx.plan is not None
    target, watch, acted = await _strike(
        ctx, args, lambda target: _press(ctx, args, target), by_pointer=ctx.plan.name != "accessibility"
    )
    data = merged(target.to_wire(), acted.data, await watch.report(acted, settle=10.0 if args.settle else 0.0))
    seen = not watch.unread and await _toggled(ctx, target, acted)
    if seen:
        data["changed"] = True  # also where what changed shows nowhere, as the box behind a label does
    return Outcome(data=data, verified=seen, method=acted.method)


async def _strike(
    ctx: Context, args: ElementInput, deed: Callable[[Aim], Awaitable[Acted]], *, by_pointer: bool = True
) -> tuple[Aim, Watch, Acted]:
    """Aims and acts; again, a few times, where the element slipped away in between and nothing was given the input.

    Raises:
        AnydeviceError: As `aim`, and what the deed raises.
    """
    for left in reversed(range(SLIPS_MOST)):
        target = await aim(ctx, args, by_pointer=by_pointer)
        watch = await Watch.start(ctx)
        try:
            return target, watch, await deed(target)
        except ElementCovered as error:
            key = error.details.pop("cover_key", None)
            if not error.details.get("kept") or target.node is None:
                raise
            if not left:
                error.details["element"] = describe_node(target.node)
                error.details["cover_ref"] = ctx.here.refs.ref_of(key) if key else None
                raise
        await ctx.pause(SLIP_PAUSE)
    raise AssertionError("the last try returns or raises")


async def _press(ctx: Context, args: PressInput, target: Aim) -> Acted:
    assert ctx.plan is not None
    if ctx.plan.name == "accessibility" and target.key is not None:
        return await ctx.use(Elements).activate(target.key)
    if ctx.plan.name == "touch":
        return await ctx.use(Touch).tap(target.point, count=args.count)
    if ctx.plan.name == "remote":
        return await _by_remote(ctx, target, count=args.count)
    return await ctx.use(Pointer).click(target.point, button=args.button, count=args.count)


async def _by_remote(ctx: Context, target: Aim, *, count: int = 1, seconds: float = 0.0) -> Acted:
    """Brings the focus to the element and presses select, or holds it, as well as the device can."""
    assert ctx.plan is not None and target.node is not None
    presses = await steer(ctx, target.node)
    acted = Acted("remote")
    for _ in range(count):
        if "remote.hold" in ctx.plan.operations:
            acted = await ctx.use(Remote).hold("select", seconds=seconds)
        else:
            acted = await ctx.use(Remote).press("select", seconds=seconds)
    return replace(acted, data={**acted.data, "steps": presses})


REST = 0.1
"""Seconds a change has to last before it counts as one."""
_TOGGLES = frozenset({"checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"})
_TOGGLE_STATES = frozenset({"checked", "mixed", "selected", "pressed"})


async def _toggled(ctx: Context, target: Aim, acted: Acted) -> bool:
    """Whether the press is seen to have worked: a toggle that changed its state. A button may do anything."""
    if acted.verified is not None:
        return acted.verified
    node = target.node
    if node is None or node.role not in _TOGGLES or acted.happenings:
        return False
    before = node.states & _TOGGLE_STATES
    after = await _state_now(ctx, node)
    if after is None or after.states & _TOGGLE_STATES == before:
        return False
    if acted.settled:
        return True
    # A page that does not accept the change takes it back a moment later.
    await ctx.pause(REST)
    after = await _state_now(ctx, node)
    return after is not None and after.states & _TOGGLE_STATES != before


async def _state_now(ctx: Context, node: Node) -> Node | None:
    """The element as it is now, looked at directly where the driver can, else in the tree; None when it is gone."""
    try:
        if node.key is not None and ctx.driver is not None and ctx.driver.has("elements.probe"):
            return (await probe_node(ctx, node, None)).node
        return next((seen for seen in (await ctx.tree(FULL)).nodes if seen.ref == node.ref), None)
    except (StaleRef, ElementNotFound, DialogOpen, AppNotRunning):
        return None


class LongpressInput(ElementInput):
    """Inputs of `longpress`."""

    duration_ms: int = Field(default=800, ge=100, le=60_000, description="How long to hold, in ms.")


@command(
    name="longpress",
    summary="Holds one element down, as for a context menu or to start a drag. Use press for an ordinary press and "
    "gesture for a drag.",
    effect="mutate",
    input=LongpressInput,
    plans=[
        Plan(name="pointer", operations=["pointer.click"]),
        Plan(name="touch", operations=["touch.hold"]),
        Plan(
            name="remote",
            operations=["screen.tree", "remote.press", "remote.hold"],
            when={"target": ["*given*"]},
        ),
        # Where a button can be pressed long, but not for a time of one's own.
        Plan(
            name="remote",
            operations=["screen.tree", "remote.press"],
            when={"target": ["*given*"], "durationMs": ["*absent*"]},
        ),
    ],
    output=OUTPUT,
    examples=[Example(why="Open a context menu", arguments={"target": "Photo 3", "durationMs": 1000})],
)
async def longpress(ctx: Context, args: LongpressInput) -> Outcome:
    """Holds one element or point."""
    assert ctx.plan is not None
    plan, seconds = ctx.plan.name, args.duration_ms / 1000

    async def hold(target: Aim) -> Acted:
        if plan == "touch":
            return await ctx.use(Touch).hold(target.point, seconds=seconds)
        if plan == "remote":
            return await _by_remote(ctx, target, seconds=seconds)
        return await ctx.use(Pointer).click(target.point, hold=seconds)

    target, watch, acted = await _strike(ctx, args, hold)
    data = merged(target.to_wire(), acted.data, await watch.report(acted))
    return Outcome(data=data, verified=acted.verified or False, method=acted.method)


class HoverInput(ElementInput):
    """Inputs of `hover`."""


@command(
    name="hover",
    summary="Moves the pointer over one element and leaves it there, as to open a hover menu or tooltip. Only where "
    "there is a pointer (browsers, desktops).",
    effect="mutate",
    idempotent=True,
    input=HoverInput,
    plans=[Plan(name="pointer", operations=["pointer.move"])],
    output=OUTPUT,
    examples=[Example(why="Show a tooltip", arguments={"target": "Help"})],
)
async def hover(ctx: Context, args: HoverInput) -> Outcome:
    """Moves the pointer over one element or point."""
    target = await aim(ctx, args, enabled=False)
    watch = await Watch.start(ctx)
    acted = await ctx.use(Pointer).move(target.point)
    data = merged(target.to_wire(), acted.data, await watch.report(acted))
    return Outcome(data=data, verified=acted.verified or False, method=acted.method)
