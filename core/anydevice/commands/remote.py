"""keyboard, tv-remote, push: the on-screen keyboard, a TV's remote control, notifications to an app."""

from __future__ import annotations

import json
from typing import Any, Literal

import anyio
from pydantic import Field

from anydevice_schemas import Example, Plan
from anydevice_schemas.errors import ActionUnverified

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Keys, Notifications, Remote
from ._effect import Watch, happened, merged
from ._steer import OPPOSITE

GONE = 5.0
"""Seconds an on-screen keyboard may take to go."""
STEP = 0.05
PUSH_MOST = 4096
"""Bytes of a notification as JSON; what the large services take."""
SHOWN = ["keys.keyboard_state"]


class KeyboardInput(Input):
    """Inputs of `keyboard`."""

    action: Literal["status", "press", "dismiss"] = Field(
        default="status", description="status: is it shown; press: a key of it; dismiss: take it away."
    )
    key: Literal["enter", "tab", "backspace", "space"] | None = Field(
        default=None, description="Of press: which key; enter is also called done, go, search or send on it."
    )


@command(
    name="keyboard",
    summary="Tells whether an on-screen keyboard is shown and where, presses a key of it (enter sends a form), or "
    "takes it away where it covers something. For text use type or fill, for keys of a real keyboard key.",
    effect="mutate",
    toolset="device",
    reads_when={"action": ["status", "*absent*"]},
    input=KeyboardInput,
    plans=[
        Plan(name="status", operations=SHOWN, when={"action": ["status", "*absent*"]}),
        Plan(name="press", operations=[*SHOWN, "keys.press"], when={"action": ["press"]}),
        Plan(name="dismiss", operations=[*SHOWN, "keys.dismiss"], when={"action": ["dismiss"]}),
    ],
    output={
        "shown": {"type": "boolean"},
        "rect": {"type": "array", "description": "Where it is, in points."},
        "changed": {"type": "boolean"},
        "changes": {"type": "array"},
    },
    examples=[
        Example(why="Is it in the way", arguments={}),
        Example(why="Take it away", arguments={"action": "dismiss"}),
    ],
)
async def keyboard(ctx: Context, args: KeyboardInput) -> Outcome:
    """Reads, presses or dismisses the on-screen keyboard."""
    if (args.action == "press") != (args.key is not None):
        raise ctx.bad_argument("key", "goes with action press, and only with it", "enter, tab, backspace or space")
    state = dict(await ctx.use(Keys).keyboard_state())
    if args.action == "status":
        return Outcome(data=state)
    if not state.get("shown"):
        if args.action == "dismiss":
            return Outcome(data={**state, "already": True}, verified=True)
        raise ActionUnverified(
            "No on-screen keyboard is shown.",
            expected="an on-screen keyboard",
            actual="none",
            hint="Press a text field first, or call key for a key of a real keyboard.",
        )
    if args.action == "dismiss":
        return await _dismiss(ctx)
    assert args.key is not None
    watch = await Watch.start(ctx)
    acted: Acted = await ctx.use(Keys).press(args.key)
    data = merged({"key": args.key}, acted.data, await watch.report(acted))
    data["shown"] = bool((await ctx.use(Keys).keyboard_state()).get("shown"))
    return Outcome(data=data, verified=acted.verified or False, method=acted.method)


async def _dismiss(ctx: Context) -> Outcome:
    """Takes the keyboard away and sees it gone.

    Raises:
        ActionUnverified: It is still there.
    """
    acted: Acted = await ctx.use(Keys).dismiss()
    until = anyio.current_time() + min(GONE, max(0.0, ctx.remaining() - 1.0))
    state = dict(await ctx.use(Keys).keyboard_state())
    while state.get("shown") and anyio.current_time() < until:
        await ctx.pause(STEP)
        state = dict(await ctx.use(Keys).keyboard_state())
    if state.get("shown"):
        raise ActionUnverified("The on-screen keyboard did not go.", expected="no keyboard", actual="still shown")
    return Outcome(data=merged(acted.data, await happened(ctx, acted)) | state, verified=True, method=acted.method)


class RemoteInput(Input):
    """Inputs of `tv-remote`."""

    button: Literal[
        "up", "down", "left", "right", "select", "back", "home", "menu", "play-pause", "play", "pause", "stop",
        "rewind", "fast-forward", "next", "previous", "volume-up", "volume-down", "mute", "power",
    ] = Field(description="Which button.")  # fmt: skip
    count: int = Field(default=1, ge=1, le=50, description="How often.")
    duration_ms: int = Field(default=0, ge=0, le=10_000, description="How long it is held; 0 = a short press.")


@command(
    name="tv-remote",
    summary="Presses a button of a TV's remote control (up, down, left, right, select, back, home, menu, play-pause …) "
    "and tells what changed. The focus moves: see it with snapshot (state focused).",
    effect="mutate",
    toolset="device",
    input=RemoteInput,
    plans=[Plan(name="remote", operations=["remote.press"])],
    output={
        "button": {"type": "string"},
        "changed": {"type": "boolean"},
        "changes": {"type": "array"},
    },
    examples=[
        Example(why="Choose what has the focus", arguments={"button": "select"}),
        Example(why="Three rows down", arguments={"button": "down", "count": 3}),
    ],
)
async def tv_remote(ctx: Context, args: RemoteInput) -> Outcome:
    """Presses a button of the remote control."""
    if args.duration_ms and args.count > 1:
        raise ctx.bad_argument("count", "a button that is held is pressed once", "count or durationMs")
    watch = await Watch.start(ctx)
    acted = Acted("remote")
    seen: list[Any] = []
    pressed = 0
    in_one_go = args.button in OPPOSITE and ctx.driver is not None and ctx.driver.has("remote.repeat")
    while pressed < args.count:
        if in_one_go and args.count > 1:  # an arrow opens nothing that the next one must not reach
            acted = await ctx.use(Remote).repeat(args.button, count=args.count)
            pressed = args.count
        else:
            acted = await ctx.use(Remote).press(args.button, seconds=args.duration_ms / 1000)
            pressed += 1
        seen.extend(acted.happenings)
        if any(h.kind in ("dialog", "crashed", "closed") for h in acted.happenings):
            break
    whole = Acted(acted.method, tuple(seen), acted.verified, acted.data)
    data = merged({"button": args.button}, acted.data, await watch.report(whole))
    if pressed < args.count:
        data["pressed"] = pressed
    return Outcome(data=data, verified=acted.verified or False, method=acted.method)


class PushInput(Input):
    """Inputs of `push`."""

    payload: dict[str, Any] = Field(description="The notification, in the platform's own form; at most 4096 bytes.")
    app: str | None = Field(
        default=None, min_length=1, max_length=256, description="App id; omitted = the session's app."
    )


@command(
    name="push",
    summary="Delivers a push notification to an app of a simulated device, without its service. What the app makes of "
    "it is its business: look at the screen, or use trigger-app-event for events it documents.",
    effect="mutate",
    toolset="device",
    input=PushInput,
    plans=[Plan(name="notification", operations=["notifications.push"])],
    output={"app": {"type": "string"}, "bytes": {"type": "integer"}},
    examples=[Example(why="Show a message", arguments={"app": "com.example.app", "payload": {
        "aps": {"alert": {"title": "Hello", "body": "A message"}}}})],
)  # fmt: skip
async def push(ctx: Context, args: PushInput) -> Outcome:
    """Delivers a notification."""
    app = args.app or ctx.here.app
    if app is None or "://" in app:
        raise ctx.bad_argument("app", "no app is open in this session", "id of an installed app")
    try:
        size = len(json.dumps(args.payload, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:
        raise ctx.bad_argument("payload", f"not JSON: {type(error).__name__}", "a JSON object") from None
    if size > PUSH_MOST:
        raise ctx.bad_argument("payload", f"{size} bytes as JSON", f"at most {PUSH_MOST} bytes")
    acted: Acted = await ctx.use(Notifications).push(app, args.payload)
    data = merged({"app": app, "bytes": size}, acted.data, await happened(ctx, acted))
    return Outcome(data=data, verified=bool(acted.verified), method=acted.method)
