"""wait: for a time, a text, an element, its absence, or a screen at rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
from pydantic import Field

from anydevice_schemas import Example, Plan, Tree
from anydevice_schemas.errors import AnydeviceError, CallTimeout, DialogOpen

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import TreeScope
from ..elements import Query, RefQuery, describe_node, diff, find, labelled, nearest_names, on_screen, parse
from ._aim import FULL

Check = Callable[[Tree], "dict[str, Any] | None"]
_KINDS = ("durationMs", "text", "target", "absent", "stable")


class WaitInput(Input):
    """Inputs of `wait`: exactly one of durationMs, text, target, absent, stable."""

    duration_ms: int | None = Field(default=None, ge=0, le=600_000, description="Just wait this long.")
    text: str | None = Field(default=None, min_length=1, max_length=2000, description="Until this text is on screen.")
    target: str | None = Field(
        default=None,
        min_length=1,
        max_length=2000,
        description="Until an element matches (ref, label or query).",
    )
    absent: str | None = Field(
        default=None,
        min_length=1,
        max_length=2000,
        description="Until nothing matches (ref, label or query).",
    )
    stable: bool | None = Field(default=None, description="Until the screen is at rest.")
    quiet_ms: int = Field(default=500, ge=50, le=60_000, description="For stable: how long it must be at rest.")
    timeout_ms: int = Field(default=10_000, ge=0, le=600_000, description="When to give up.")


@command(
    name="wait",
    summary="Waits until a text or element is there, until it is gone, until the screen is at rest, or for a fixed "
    "time. A condition that does not come true is a timeout with what is on screen instead. Prefer a condition over a "
    "fixed time.",
    effect="read",
    idempotent=True,
    observe=True,
    input=WaitInput,
    plans=[
        Plan(name="tree", operations=["screen.tree"], when={"durationMs": ["*absent*"]}),
        Plan(name="clock", operations=["screen.tree"], when={"durationMs": ["*given*"]}),
    ],
    output={"waitedMs": {"type": "integer"}, "element": {"type": "object"}},
    examples=[
        Example(why="Until a text shows", arguments={"text": "Saved"}),
        Example(why="Until a spinner is gone", arguments={"absent": "role=progressbar"}),
    ],
)
async def wait(ctx: Context, args: WaitInput) -> Outcome:
    """Waits for a condition."""
    values = (args.duration_ms, args.text, args.target, args.absent, args.stable or None)
    named = [name for name, value in zip(_KINDS, values, strict=True) if value is not None]
    if len(named) != 1:
        problem = "nothing to wait for is named" if not named else f"{' and '.join(named)} are given together"
        raise ctx.bad_argument(named[0] if named else "target", problem, f"exactly one of {', '.join(_KINDS)}")
    started = anyio.current_time()
    found: dict[str, Any] = {}
    if args.duration_ms is not None:
        await ctx.pause(args.duration_ms / 1000)
    elif args.stable:
        found = await _stable(ctx, args)
    else:
        found = await _until(ctx, _check(args), args.timeout_ms / 1000, named[0])
    waited = round((anyio.current_time() - started) * 1000)
    return Outcome(data={**found, "waitedMs": waited})


def _check(args: WaitInput) -> Check:
    if args.text is not None:
        query: Query | RefQuery = labelled(args.text)
        return lambda tree: _first(tree, query)
    if args.target is not None:
        query = parse(args.target)
        return lambda tree: _first(tree, query)
    assert args.absent is not None
    query = parse(args.absent)
    return lambda tree: None if _first(tree, query) is not None else {"absent": True}


def _first(tree: Tree, query: Query | RefQuery) -> dict[str, Any] | None:
    """The first match that can be seen, described; None when there is none."""
    if isinstance(query, RefQuery):
        return next(({"element": describe_node(n)} for n in tree.nodes if n.ref == query.ref), None)
    for index in find(tree, query):
        node = tree.nodes[index]
        if "hidden" not in node.states:
            return {"element": describe_node(node)}
    return None


async def _until(ctx: Context, check: Check, timeout: float, what: str) -> dict[str, Any]:
    """Looks until the check says something, or the time is up."""
    until = anyio.current_time() + timeout
    pause, tree, trouble = 0.05, None, None
    while True:
        try:
            tree = await ctx.tree(FULL)
            trouble = None
            result = check(tree)
            if result is not None:
                return result
        except DialogOpen:
            raise
        except AnydeviceError as error:
            # "Could not look" is not "looked, and it is not there": the trouble itself is told if it lasts.
            if not error.retryable:
                raise
            trouble = error
        left = until - anyio.current_time()
        if left <= 0:
            raise trouble or _timed_out(ctx, timeout, what, tree)
        await ctx.pause(min(pause, left))
        pause = min(0.3, pause * 1.4)
        await ctx.progress(min(1.0, 1 - left / timeout) if timeout else None, f"waiting for {what}")


def _timed_out(ctx: Context, timeout: float, what: str, tree: Tree | None) -> CallTimeout:
    details: dict[str, Any] = {"condition": what}
    if tree is not None:
        asked = str(getattr(ctx.parsed.input, what, "") or "")
        details["nearest_matches"] = nearest_names(tree, asked)
        details["on_screen"] = on_screen(tree)
    return CallTimeout(
        f"The condition did not come true within {timeout:g} s.",
        after=timeout,
        waiting_for=what,
        hint="Raise timeoutMs, or call snapshot to see what is there instead.",
        **details,
    )


async def _stable(ctx: Context, args: WaitInput) -> dict[str, Any]:
    """Looks until nothing differs for `quietMs`."""
    timeout, quiet = args.timeout_ms / 1000, args.quiet_ms / 1000
    until = anyio.current_time() + timeout
    last = await ctx.tree(TreeScope(mode="viewport", max_nodes=5_000))
    since, looks = anyio.current_time(), 1
    while anyio.current_time() - since < quiet:
        if anyio.current_time() >= until:
            raise CallTimeout(
                f"The screen was still changing after {timeout:g} s.",
                after=timeout,
                waiting_for="stable",
                hint="Go on without waiting for rest, or wait for a text or element.",
            )
        await ctx.pause(min(0.1, quiet / 3))
        now = await ctx.tree(TreeScope(mode="viewport", max_nodes=5_000))
        looks += 1
        if diff(last, now).changed:
            last, since = now, anyio.current_time()
    return {"stable": True, "looks": looks}
