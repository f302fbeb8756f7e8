"""wait: for a time, a text, an element, its absence, a screen at rest, an app or a window."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from pydantic import Field

from anydevice_schemas import Example, Plan, Tree
from anydevice_schemas.errors import AnydeviceError, CallTimeout, DialogOpen

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import TreeScope
from ..elements import Query, RefQuery, describe_node, diff, find, labelled, nearest_names, on_screen, parse
from ..text import fold_text
from ._aim import reaching
from ._scopes import FULL
from ._windows import TITLE_MOST, apps_named, apps_of, described, matching, windows_of

Look = Callable[[], Awaitable[tuple["dict[str, Any] | None", "Tree | list[str]"]]]
"""One look: what is told once the condition holds (None: it does not), and what is there."""
_KINDS = ("durationMs", "text", "target", "absent", "stable", "app", "appGone", "window", "windowGone")
_OF_THE_DESKTOP = {name: ["*absent*"] for name in ("app", "appGone", "window", "windowGone")}


class WaitInput(Input):
    """Inputs of `wait`: exactly one of what there is to wait for."""

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
    app: str | None = Field(default=None, min_length=1, max_length=256, description="Until this app runs (id or name).")
    app_gone: str | None = Field(default=None, min_length=1, max_length=256, description="Until this app has ended.")
    window: str | None = Field(
        default=None, min_length=1, max_length=1000, description="Until this window is open (id or title)."
    )
    window_gone: str | None = Field(
        default=None, min_length=1, max_length=1000, description="Until this window is gone (id or title)."
    )
    title: str | None = Field(
        default=None, min_length=1, max_length=1000, description="With window: and has this in its title."
    )
    quiet_ms: int = Field(default=500, ge=50, le=60_000, description="For stable: how long it must be at rest.")
    timeout_ms: int = Field(default=10_000, ge=0, le=600_000, description="When to give up.")


@command(
    name="wait",
    summary="Waits until a text, element, app or window is there, until it is gone, until the screen is at rest, or "
    "for a fixed time. A condition that does not come true is a timeout with what is on screen instead. Prefer a "
    "condition over a fixed time.",
    effect="read",
    idempotent=True,
    observe=True,
    input=WaitInput,
    plans=[
        Plan(name="apps", operations=["apps.list"], when={"app": ["*given*"]}),
        Plan(name="apps", operations=["apps.list"], when={"appGone": ["*given*"]}),
        Plan(name="windows", operations=["windows.list"], when={"window": ["*given*"]}),
        Plan(name="windows", operations=["windows.list"], when={"windowGone": ["*given*"]}),
        Plan(name="tree", operations=["screen.tree"], when={"durationMs": ["*absent*"], **_OF_THE_DESKTOP}),
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
    values = (
        args.duration_ms, args.text, args.target, args.absent, args.stable or None, args.app, args.app_gone,
        args.window, args.window_gone,
    )  # fmt: skip
    named = [name for name, value in zip(_KINDS, values, strict=True) if value is not None]
    if len(named) != 1:
        problem = "nothing to wait for is named" if not named else f"{' and '.join(named)} are given together"
        raise ctx.bad_argument(named[0] if named else "target", problem, f"exactly one of {', '.join(_KINDS)}")
    if args.title is not None and args.window is None:
        raise ctx.bad_argument("title", "goes with window only", "window, by id or title")
    started = anyio.current_time()
    found: dict[str, Any] = {}
    if args.duration_ms is not None:
        await ctx.pause(args.duration_ms / 1000)
    elif args.stable:
        found = await _stable(ctx, args)
    elif named[0] in _OF_THE_DESKTOP:
        found = await _until(ctx, _around(ctx, args), args.timeout_ms / 1000, named[0])
    else:
        found = await _until(ctx, _on_screen(ctx, args), args.timeout_ms / 1000, named[0])
    waited = round((anyio.current_time() - started) * 1000)
    return Outcome(data={**found, "waitedMs": waited})


def _on_screen(ctx: Context, args: WaitInput) -> Look:
    """A look at the screen for a text or an element, or its absence."""
    query: Query | RefQuery = labelled(args.text) if args.text is not None else parse(args.target or args.absent or "")
    scope = FULL if isinstance(query, RefQuery) else reaching(ctx, query)

    async def look() -> tuple[dict[str, Any] | None, Tree]:
        tree = await ctx.tree(scope)
        seen = _first(tree, query)
        if args.absent is not None:
            return (None if seen is not None else {"absent": True}), tree
        return seen, tree

    return look


def _around(ctx: Context, args: WaitInput) -> Look:
    """A look at the apps or windows."""

    async def app() -> tuple[dict[str, Any] | None, list[str]]:
        apps = await apps_of(ctx)
        running = [one for one in apps_named(apps, args.app or args.app_gone or "") if one.running]
        there = [one.name or one.id for one in apps if one.running]
        if args.app is not None:
            return ({"app": running[0].id} if running else None), there
        return (None if running else {"gone": True}), there

    async def window() -> tuple[dict[str, Any] | None, list[str]]:
        windows = await windows_of(ctx)
        there = [one.title[:TITLE_MOST] for one in windows]
        found = matching(windows, window=args.window or args.window_gone)
        if args.window_gone is not None:
            return (None if found else {"gone": True}), there
        if args.title is not None:
            found = [one for one in found if fold_text(args.title) in fold_text(one.title)]
        return ({"window": described(found[0])} if found else None), there

    return app if args.app is not None or args.app_gone is not None else window


def _first(tree: Tree, query: Query | RefQuery) -> dict[str, Any] | None:
    """The first match that can be seen, described; None when there is none."""
    if isinstance(query, RefQuery):
        return next(({"element": describe_node(n)} for n in tree.nodes if n.ref == query.ref), None)
    for index in find(tree, query):
        node = tree.nodes[index]
        if "hidden" not in node.states:
            return {"element": describe_node(node)}
    return None


async def _until(ctx: Context, look: Look, timeout: float, what: str) -> dict[str, Any]:
    """Looks until what is waited for is seen, or the time is up."""
    until = anyio.current_time() + timeout
    pause, there, trouble = 0.05, None, None
    while True:
        try:
            result, there = await look()
            trouble = None
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
            raise trouble or _timed_out(ctx, timeout, what, there)
        await ctx.pause(min(pause, left))
        pause = min(0.3, pause * 1.4)
        await ctx.progress(min(1.0, 1 - left / timeout) if timeout else None, f"waiting for {what}")


def _timed_out(ctx: Context, timeout: float, what: str, there: Tree | list[str] | None) -> CallTimeout:
    details: dict[str, Any] = {"condition": what}
    hint = "Raise timeoutMs, or call snapshot to see what is there instead."
    if isinstance(there, Tree):
        asked = str(getattr(ctx.parsed.input, what, "") or "")
        details["nearest_matches"] = nearest_names(there, asked)
        details["on_screen"] = on_screen(there)
    elif there is not None:
        details["there"] = there[:20]
        command = "window" if what.startswith("window") else "apps"
        hint = f"Raise timeoutMs, or call {command} to see what is there instead."
    return CallTimeout(
        f"The condition did not come true within {timeout:g} s.",
        after=timeout,
        waiting_for=what,
        hint=hint,
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
