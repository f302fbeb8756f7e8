"""boot, shutdown, open, close, appstate, alert: starting and ending things on a device."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Device, Example, Plan
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, DeviceNotReady

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Alerts, Apps, OpenRequest, Power
from ._effect import merged
from ._url import check_url
from .events import check_template


class BootInput(Input):
    """Inputs of `boot`."""

    headless: bool | None = Field(default=None, description="Without a window; omitted = as the host allows.")


@command(
    name="boot",
    summary="Starts a device that is shut down (a browser, an emulator, a virtual desktop) and returns once it can be "
    "driven. Needs an explicit device. Then call open.",
    effect="mutate",
    idempotent=True,
    boots=True,
    explicit_device=True,
    deadline=90.0,
    input=BootInput,
    plans=[Plan(name="power", operations=["power.boot"])],
    output={"state": {"type": "string"}, "alreadyRunning": {"type": "boolean"}},
    examples=[Example(why="Start it", arguments={"device": "browser-1"})],
)
async def boot(ctx: Context, args: BootInput) -> Outcome:
    """Starts the device."""
    assert ctx.device is not None
    if ctx.device.state == "ready":
        return Outcome(data={"state": "ready", "alreadyRunning": True}, verified=True)
    acted = await _boot(ctx, args.headless)
    return Outcome(data=merged({"state": "ready"}, acted.data), verified=True, method=acted.method)


async def _boot(ctx: Context, headless: bool | None) -> Acted:
    await ctx.progress(None, "starting the device")
    acted = await ctx.use(Power).boot(headless=headless, deadline=max(1.0, ctx.remaining() - 1.0))
    row = await _row_now(ctx)
    if row is None or row.state != "ready":
        raise ActionUnverified(
            "The device was started but is not ready.",
            expected="ready",
            actual=row.state if row else "not listed",
        )
    return acted


async def _row_now(ctx: Context) -> Device | None:
    """The device's row, asked anew."""
    assert ctx.device is not None
    inventory = await ctx.services.backends.listed(ctx.environment, fresh=True, only=[ctx.device.backend])
    return inventory.by_key(ctx.device.key)


class ShutdownInput(Input):
    """Inputs of `shutdown`."""


@command(
    name="shutdown",
    summary="Stops a device and everything that runs on it, and returns once it is down. Needs an explicit device; "
    "ends every session on it. To end only your session use close.",
    effect="mutate",
    idempotent=True,
    boots=True,
    explicit_device=True,
    deadline=60.0,
    input=ShutdownInput,
    plans=[Plan(name="power", operations=["power.shutdown"])],
    output={"state": {"type": "string"}, "sessionsEnded": {"type": "array"}},
    examples=[Example(why="Stop it", arguments={"device": "browser-1"})],
)
async def shutdown(ctx: Context, args: ShutdownInput) -> Outcome:
    """Stops the device."""
    assert ctx.device is not None
    if ctx.device.state == "shutdown":
        return Outcome(data={"state": "shutdown", "alreadyDown": True}, verified=True)
    acted = await ctx.use(Power).shutdown(deadline=max(1.0, ctx.remaining() - 1.0))
    row = await _row_now(ctx)
    if row is not None and row.state == "ready":
        raise ActionUnverified("The device did not stop.", expected="shutdown", actual=row.state)
    ended = []
    for session in ctx.services.sessions.of_device(ctx.device.key):
        ended.append(session.name)
        ctx.services.sessions.end(session, "the device was shut down")
    data = merged({"state": row.state if row is not None else "gone", "sessionsEnded": ended}, acted.data)
    return Outcome(data=data, verified=True, method=acted.method)


class OpenInput(Input):
    """Inputs of `open`."""

    url: str | None = Field(default=None, min_length=1, description="Address to open (http, https or an app's own).")
    app: str | None = Field(default=None, min_length=1, max_length=256, description="App id or name to open.")
    arguments: list[str] = Field(default=[], max_length=64, description="Launch arguments.")
    new: bool = Field(default=False, description="In a new tab, window or instance.")
    boot: bool = Field(default=False, description="Start the named device first if it is shut down.")
    event_url_template: str | None = Field(
        default=None, max_length=4096, description="URL template of trigger-app-event for this session."
    )
    timeout_ms: int = Field(default=30_000, ge=1, le=600_000, description="When to give up waiting for it to be up.")


@command(
    name="open",
    summary="Opens a URL or an app on a device and starts a session there; later commands then need no device. Tells "
    "where it really ended up (redirects, status). With neither url nor app it only starts the session.",
    effect="mutate",
    idempotent=True,
    leaves_device=True,
    opens_session=True,
    deadline=15.0,
    input=OpenInput,
    plans=[
        Plan(name="app", operations=["apps.open"], when={"url": ["*given*"]}),
        Plan(name="app", operations=["apps.open"], when={"app": ["*given*"]}),
        Plan(name="session", operations=["screen.tree"], when={"url": ["*absent*"], "app": ["*absent*"]}),
    ],
    output={
        "location": {"type": "string", "description": "Where it ended up; untrusted."},
        "title": {"type": "string"},
        "redirected": {"type": "boolean"},
    },
    examples=[
        Example(why="A page", arguments={"url": "https://example.org/"}),
        Example(why="On a browser that is not running yet", arguments={
            "url": "https://example.org/", "device": "browser-1", "boot": True}),
    ],
)  # fmt: skip
async def open_(ctx: Context, args: OpenInput) -> Outcome:
    """Opens something and binds the session."""
    assert ctx.device is not None
    session = ctx.here
    if args.event_url_template is not None:
        session.event_template = check_template(args.event_url_template, "eventUrlTemplate")
    url = check_url(args.url) if args.url is not None else None
    booted = False
    if ctx.device.state != "ready":
        if not args.boot:
            raise _not_ready(ctx.device)
        await _boot(ctx, None)
        ctx.services.backends.forget(ctx.device.backend)
        booted = True
    data: dict[str, Any] = {"session": session.name, "booted": True} if booted else {"session": session.name}
    if url is None and args.app is None:
        return Outcome(data=data, verified=True, method="session")
    request = OpenRequest(
        app=args.app,
        url=url,
        arguments=tuple(args.arguments),
        new=args.new,
        deadline=min(args.timeout_ms / 1000, max(1.0, ctx.remaining() - 0.5)),
    )
    acted = await ctx.use(Apps).open(request)
    session.app = args.app or url
    session.tree = None
    data = merged(data, acted.data)
    if acted.happenings:
        data["happened"] = [{"kind": h.kind, **dict(h.data)} for h in acted.happenings]
    return Outcome(data=data, verified=bool(acted.verified), method=acted.method)


def _not_ready(device: Device) -> AnydeviceError:
    return DeviceNotReady(
        "The device is not running.",
        state=device.state,
        fix=device.fix or "boot it first",
        device=device.key,
        hint=f"Call boot with device={device.id}, or open with boot=true.",
    )


class CloseInput(Input):
    """Inputs of `close`."""

    app: str | None = Field(
        default=None, min_length=1, max_length=256, description="App or tab; omitted = the session's."
    )
    force: bool = Field(default=False, description="Discard unsaved work instead of letting the app ask.")
    keep_session: bool = Field(default=False, description="Close the app but keep the session and its device.")


@command(
    name="close",
    summary="Closes the session's app or tab (or the one named), sees it gone, and ends the session so that others can "
    "use the device. The device itself keeps running; shutdown stops it.",
    effect="mutate",
    idempotent=True,
    input=CloseInput,
    plans=[Plan(name="app", operations=["apps.close"])],
    output={"closed": {"type": "boolean"}, "sessionEnded": {"type": "boolean"}},
    examples=[Example(why="Done with this session", arguments={})],
)
async def close(ctx: Context, args: CloseInput) -> Outcome:
    """Closes an app and ends the session."""
    acted = await ctx.use(Apps).close(args.app, force=args.force)
    ends = args.app is None and not args.keep_session
    data = merged({"closed": acted.verified is not False}, acted.data)
    data["sessionEnded"] = ends
    if ends:
        ctx.services.sessions.end(ctx.here, "closed by its caller")
    return Outcome(data=data, verified=bool(acted.verified), method=acted.method)


class AppstateInput(Input):
    """Inputs of `appstate`."""


@command(
    name="appstate",
    summary="Tells what is in the foreground: app, title, address, whether it is loading, and whether a dialog blocks "
    "it. Cheaper than snapshot.",
    effect="read",
    idempotent=True,
    observe=True,
    input=AppstateInput,
    plans=[Plan(name="state", operations=["apps.state"])],
    output={"app": {"type": "string"}, "title": {"type": "string"}, "location": {"type": "string"}},
    examples=[Example(why="Where am I", arguments={})],
)
async def appstate(ctx: Context, args: AppstateInput) -> Outcome:
    """Reads the foreground."""
    return Outcome(data=dict(await ctx.use(Apps).state()))


class AlertInput(Input):
    """Inputs of `alert`."""

    action: Literal["get", "accept", "dismiss"] = Field(default="get", description="Read it, or answer yes or no.")
    text: str | None = Field(
        default=None, max_length=10_000, description="What to enter, where the dialog asks for text."
    )


@command(
    name="alert",
    summary="Reads or answers a dialog that blocks the app (alert, confirm, prompt, permission). While one is open "
    "other commands answer dialog_open.",
    effect="mutate",
    reads_when={"action": ["get", "*absent*"]},
    input=AlertInput,
    plans=[
        Plan(name="dialog", operations=["alerts.get"], when={"action": ["get", "*absent*"]}),
        Plan(name="dialog", operations=["alerts.get", "alerts.accept"], when={"action": ["accept"]}),
        Plan(name="dialog", operations=["alerts.get", "alerts.dismiss"], when={"action": ["dismiss"]}),
    ],
    output={"open": {"type": "boolean"}, "dialog": {"type": "object", "description": "Untrusted text."}},
    examples=[Example(why="Say yes", arguments={"action": "accept"})],
)
async def alert(ctx: Context, args: AlertInput) -> Outcome:
    """Reads or answers a dialog."""
    if args.text is not None and args.action != "accept":
        raise ctx.bad_argument("text", "goes with action accept only", "accept")
    alerts = ctx.use(Alerts)
    dialog = await alerts.get()
    shown = None
    if dialog is not None:
        shown = {
            "kind": dialog.kind, "text": dialog.text, "buttons": list(dialog.buttons), "takesText": dialog.takes_text,
        }  # fmt: skip
    if args.action == "get":
        return Outcome(data={"open": dialog is not None, **({"dialog": shown} if shown else {})})
    if dialog is None:
        raise ActionUnverified(
            "No dialog is open.",
            expected="an open dialog",
            actual="none",
            hint="Call snapshot to see what is there.",
        )
    if args.text is not None and not dialog.takes_text:
        raise ctx.bad_argument("text", "this dialog takes no text", "no text")
    acted = await (alerts.accept(args.text) if args.action == "accept" else alerts.dismiss())
    data: dict[str, Any] = {"answered": args.action, "dialog": shown}
    now = await alerts.get()
    data["open"] = now is not None
    if acted.happenings:
        data["happened"] = [{"kind": h.kind, **dict(h.data)} for h in acted.happenings]
    gone = now is None or (now.text, now.kind) != (dialog.text, dialog.kind)
    return Outcome(
        data=data, verified=bool(acted.verified) if acted.verified is not None else gone, method=acted.method
    )
