"""focus: giving one element the keyboard, without pressing it."""

from __future__ import annotations

from typing import Any

import anyio
from pydantic import Field

from anydevice_schemas import Example, Node, Plan
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, Unsupported

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Elements, Keys
from ..elements import describe_node
from ._aim import ElementInput, aim, look_again
from ._steer import steer

SETTLE = 1.0
"""Seconds an element may take to be told as focused."""
STEP = 0.05


class FocusInput(Input):
    """Inputs of `focus`."""

    target: str = Field(min_length=1, max_length=2000, description="Element: ref, label or query.")
    timeout_ms: int = Field(default=3000, ge=0, le=300_000, description="How long to wait for a match.")


@command(
    name="focus",
    summary="Gives one element the keyboard focus without pressing it, and sees that it has it. fill and type focus "
    "their target themselves; to press a button use press.",
    effect="mutate",
    idempotent=True,
    input=FocusInput,
    plans=[
        Plan(name="focus", operations=["screen.tree", "elements.focus"]),
        Plan(name="remote", operations=["screen.tree", "remote.press"]),
    ],
    output={
        "element": {"type": "object", "description": "As it is now; untrusted text."},
        "steps": {"type": "integer", "description": "Arrows it took, where the focus is steered."},
    },
    examples=[Example(why="A field, before keys are pressed", arguments={"target": "label=Search role=textbox"})],
)
async def focus(ctx: Context, args: FocusInput) -> Outcome:
    """Focuses an element."""
    where = ElementInput.model_construct(target=args.target, x=None, y=None, timeout_ms=args.timeout_ms)
    assert ctx.plan is not None
    target = await aim(ctx, where, uncovered=False)
    if ctx.plan.name == "remote":
        assert target.node is not None
        steps = await steer(ctx, target.node)
        held = (await look_again(ctx, target.node)).node
        return Outcome(data={"element": describe_node(held), "steps": steps}, verified=True, method="remote")
    if target.key is None:
        raise Unsupported(
            "This element cannot be focused: the device has no handle of it.",
            hint="Call press on it.",
            operation="elements.focus",
            alternatives=["press"],
        )
    acted: Acted = await ctx.use(Elements).focus(target.key)
    until = anyio.current_time() + SETTLE
    while True:
        node = await _now(ctx, target.key, target.node)
        if node is not None and "focused" in node.states:
            return Outcome(data={"element": describe_node(node)}, verified=True, method=acted.method)
        holder = await _holder(ctx)
        if holder is not None and holder.key == target.key:
            assert target.node is not None
            return Outcome(data={"element": describe_node(target.node)}, verified=True, method=acted.method)
        if anyio.current_time() >= until:
            raise ActionUnverified(
                "The element did not take the focus.",
                hint="Call press on it; some elements take the focus by a press only, others never.",
                expected="focused",
                actual={"focused": describe_node(holder)} if holder is not None else "not focused",
            )
        await ctx.pause(STEP)


async def _now(ctx: Context, key: str, before: Node | None) -> Node | None:
    """The element as it is now; None where the device looks at no single element."""
    if ctx.driver is None or not ctx.driver.has("elements.probe"):
        return None
    node: Node = (await ctx.use(Elements).probe(key)).node
    node.ref = before.ref if before is not None else ""
    return node


async def _holder(ctx: Context) -> Node | None:
    """What has the focus, where the device tells that."""
    if ctx.driver is None or not ctx.driver.has("keys.focused"):
        return None
    try:
        found: Any = await ctx.use(Keys).focused()
    except AnydeviceError:
        return None  # it only adds to what is told
    if isinstance(found, Node) and found.key is not None:
        found.ref = ctx.here.refs.ref_for(found.key)
        return found
    return None
