"""window: listing, placing, showing and closing the windows of a desktop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic import Field

from anydevice_schemas import Example, Plan, Point
from anydevice_schemas.errors import ActionUnverified, DialogOpen

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Window, Windows
from ._windows import described, matching, owner_of, seen, the_window, windows_of

Verb = Literal["list", "move", "resize", "minimize", "unminimize", "maximize", "unmaximize", "raise", "close"]
OPERATIONS: dict[str, str] = {"raise": "bring_up"}
"""Method of the capability, where it has another name than the action."""
NEEDS: dict[str, tuple[str, ...]] = {"move": ("x", "y"), "resize": ("width", "height")}
"""Inputs that go with an action, and only with it."""
PLAY = 1.0
"""Points by which a place may differ: window managers place by whole pixels."""
FAR = 100_000
LISTED = 200
"""Windows that one answer tells."""


class WindowInput(Input):
    """Inputs of `window`."""

    action: Verb = Field(default="list", description="What to do; raise brings it to the front.")
    window: str | None = Field(
        default=None, min_length=1, max_length=1000, description="Id or title; without it and app: the active window."
    )
    app: str | None = Field(default=None, min_length=1, max_length=256, description="The window of this app.")
    x: float | None = Field(default=None, ge=-FAR, le=FAR, description="Move: left edge, in points.")
    y: float | None = Field(default=None, ge=-FAR, le=FAR, description="Move: top edge, in points.")
    width: float | None = Field(default=None, ge=1, le=FAR, description="Resize: points.")
    height: float | None = Field(default=None, ge=1, le=FAR, description="Resize: points.")


def _plans() -> list[Plan]:
    verbs = [verb for verb in get_args(Verb) if verb != "list"]
    return [
        Plan(name="windows", operations=["windows.list"], when={"action": ["list", "*absent*"]}),
        *(
            Plan(
                name="windows",
                operations=["windows.list", f"windows.{OPERATIONS.get(verb, verb)}"],
                when={"action": [verb]},
            )
            for verb in verbs
        ),
    ]


@command(
    name="window",
    summary="Lists the windows of a desktop, the topmost first, or moves, resizes, minimizes, maximizes, raises or "
    "closes one; the answer tells it as it is afterwards. One that asks something instead of closing is dialog_open: "
    "nothing is answered for it. To end an app and the session use close.",
    effect="mutate",
    reads_when={"action": ["list", "*absent*"]},
    toolset="desktop",
    input=WindowInput,
    plans=_plans(),
    deadline=20.0,
    output={
        "windows": {"type": "array", "description": "List: id, title, app, rect in points, states; untrusted text."},
        "window": {"type": "object", "description": "As it is now; as it was, once it is closed."},
    },
    examples=[
        Example(why="What is open", arguments={}),
        Example(why="To the left half", arguments={"action": "move", "window": "Untitled", "x": 0, "y": 0}),
    ],
)
async def window(ctx: Context, args: WindowInput) -> Outcome:
    """Lists or arranges windows."""
    _check(ctx, args)
    windows = await windows_of(ctx)
    app = await owner_of(ctx, windows, args.app) if args.app is not None else None
    if args.action == "list":
        found = matching(windows, window=args.window, app=app)
        cut = [f"{len(found) - LISTED} windows"] if len(found) > LISTED else []
        shown = [described(one) for one in found[:LISTED]]
        return Outcome(data={"windows": shown, "count": len(found)}, truncated=cut)
    meant = the_window(windows, window=args.window, app=app)
    if args.action == "close":
        return await _close(ctx, meant)
    deed = _deed(ctx, args, meant)
    await deed.act()
    now = await seen(ctx, meant.id, deed.right, deed.expected)
    return Outcome(data={"window": described(now)}, verified=True)


def _check(ctx: Context, args: WindowInput) -> None:
    for action, names in NEEDS.items():
        for name in names:
            given = getattr(args, name) is not None
            if args.action == action and not given:
                raise ctx.bad_argument(name, f"action {action} needs it", f"{' and '.join(names)}, in points")
            if args.action != action and given:
                raise ctx.bad_argument(name, f"goes with action {action} only", f"no {name}")


@dataclass(frozen=True)
class _Deed:
    """What is done to a window, and how it must be seen afterwards."""

    act: Callable[[], Awaitable[Any]]
    right: Callable[[Window, Sequence[Window]], bool]
    expected: dict[str, Any]


def _deed(ctx: Context, args: WindowInput, meant: Window) -> _Deed:
    windows, id = ctx.use(Windows), meant.id
    if args.action == "move":
        to = Point(args.x or 0.0, args.y or 0.0)
        return _Deed(
            lambda: windows.move(id, to),
            lambda now, _: _near(now.rect.x, to.x) and _near(now.rect.y, to.y),
            {"x": to.x, "y": to.y},
        )
    if args.action == "resize":
        width, height = args.width or 1.0, args.height or 1.0
        return _Deed(
            lambda: windows.resize(id, width, height),
            lambda now, _: _near(now.rect.width, width) and _near(now.rect.height, height),
            {"width": width, "height": height},
        )
    if args.action == "raise":
        return _Deed(lambda: windows.bring_up(id), _in_front, {"states": ["active"]})
    on = args.action in ("minimize", "maximize")
    state = "minimized" if "minimize" in args.action else "maximized"
    verb = getattr(windows, args.action)
    return _Deed(lambda: verb(id), lambda now, _: (state in now.states) is on, {state: on})


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= PLAY


def _in_front(now: Window, windows: Sequence[Window]) -> bool:
    """Whether a window, or a dialog of its own that keeps it from the keyboard, is the active one."""
    by_id = {one.id: one for one in windows}
    active = next((one for one in windows if "active" in one.states), None)
    passed: set[str] = set()
    while active is not None and active.id not in passed:
        if active.id == now.id:
            return "minimized" not in now.states
        passed.add(active.id)
        active = by_id.get(active.owner) if active.owner is not None else None
    return False


async def _close(ctx: Context, meant: Window) -> Outcome:
    acted: Acted = await ctx.use(Windows).close(meant.id)
    gone = all(one.id != meant.id for one in await windows_of(ctx))
    asked = next((one for one in acted.happenings if one.kind == "dialog"), None)
    if not gone and asked is not None:
        raise DialogOpen(
            "The window asks something before it closes.",
            hint="Call alert with action accept or dismiss; where it finds none, call window with action raise first.",
            kind=str(asked.data.get("dialog", "dialog")),
            text=str(asked.data.get("text", "")),
            buttons=list(asked.data.get("buttons", ())),
            window=described(meant),
        )
    if not gone:
        raise ActionUnverified(
            "The window did not close.",
            hint="Call snapshot to see what keeps it open; close with force ends its app.",
            expected="closed",
            actual="open",
        )
    data: dict[str, Any] = {"closed": True, "window": described(meant)}
    if asked is not None:
        data["happened"] = [{"kind": one.kind, **dict(one.data)} for one in acted.happenings]
    return Outcome(data=data, verified=True, method=acted.method)
