"""trigger-app-event: an app-defined event, delivered by deep link."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from pydantic import Field

from anydevice_schemas import Device, Example, Plan, PlatformWord, event_template_variables
from anydevice_schemas.errors import InvalidArgument, Unsupported

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, AppEvent, Links
from ._url import check_url, scheme_of

EVENT_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
PAYLOAD_MOST = 8192
URL_MOST = 4096
PLACEHOLDERS = ("{event}", "{payload}", "{platform}")
TEMPLATE_EXAMPLE = "myapp://event?name={event}&payload={payload}"


class EventInput(Input):
    """Inputs of `trigger-app-event`."""

    event: str = Field(description="Name of an event the app documents: 1 to 64 of A-Z a-z 0-9 _ . : -")
    payload: dict[str, Any] | None = Field(
        default=None,
        description="Data passed with it, in the shape the app documents; at most 8192 bytes as JSON.",
    )


@command(
    name="trigger-app-event",
    summary="Delivers an app-defined test or automation event with an optional payload to the app, by deep link. Use "
    "it only for events the app documents. What the app does with it is its business: the answer says that it was "
    "delivered, and acknowledged only where the app said so itself.",
    effect="mutate",
    input=EventInput,
    deadline=90.0,
    plans=[
        Plan(name="deep-link", operations=["links.deliver_event"]),
        Plan(name="deep-link", operations=["links.open_url"]),
    ],
    output={
        "event": {"type": "string"},
        "eventUrl": {"type": "string"},
        "transport": {"type": "string", "const": "deep-link"},
        "message": {"type": "string"},
        "acknowledged": {"type": "string", "enum": ["true", "false", "not_requested"]},
    },
    examples=[Example(why="Seed test data", arguments={"event": "seed.cart", "payload": {"items": 3}})],
)
async def trigger_app_event(ctx: Context, args: EventInput) -> Outcome:
    """Delivers an app event."""
    assert ctx.device is not None and ctx.plan is not None
    payload = _payload(args.payload)
    if not EVENT_NAME.fullmatch(args.event):
        raise ctx.bad_argument("event", "not an event name", "1 to 64 of A-Z a-z 0-9 _ . : -")
    words = platform_words_of(ctx.device, ctx.services.backends.platforms)
    template, source = _template(ctx, words)
    url = event_url(template, args.event, payload, words[0])
    app = ctx.here.app if ctx.here.app and scheme_of(ctx.here.app) is None else None
    event = AppEvent(args.event, args.payload, url, app)
    acted = await _deliver(ctx, event)
    acknowledged = _acknowledged(acted)
    data: dict[str, Any] = {
        "event": args.event,
        "eventUrl": url,
        "transport": "deep-link",
        "message": _message(args.event, acknowledged),
        "acknowledged": acknowledged,
    }
    if ctx.level != "digest":
        data["templateFrom"] = source
        if app:
            data["app"] = app
    if ctx.level == "full":
        data["payloadBytes"] = len(payload.encode())
        data |= {key: value for key, value in acted.data.items() if key not in data}
    if acted.happenings and ctx.level != "digest":
        data["happened"] = [{"kind": h.kind, **dict(h.data)} for h in acted.happenings]
    return Outcome(data=data, verified=acknowledged == "true", method=acted.method)


def _acknowledged(acted: Acted) -> str:
    """`true` or `false` where the app could have said so itself, else `not_requested`."""
    said = acted.data.get("acknowledged")
    return "not_requested" if not isinstance(said, bool) else str(said).lower()


async def _deliver(ctx: Context, event: AppEvent) -> Acted:
    assert ctx.plan is not None
    links = ctx.use(Links)
    if "links.deliver_event" in ctx.plan.operations:
        return await links.deliver_event(event)
    return await links.open_url(event.url, app=event.app)


def _message(event: str, acknowledged: str) -> str:
    if acknowledged == "true":
        return f"Event {event} was delivered and the app acknowledged it."
    if acknowledged == "false":
        return f"Event {event} was delivered; the app did not acknowledge it."
    return f"Event {event} was delivered; whether the app acted on it is not known."


def _payload(payload: dict[str, Any] | None) -> str:
    """The payload as compact JSON; empty where there is none.

    Raises:
        InvalidArgument: Over 8192 bytes, or not JSON.
    """
    if payload is None:
        return ""
    try:
        text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise _bad("payload", f"not JSON: {error}", "a JSON object") from None
    if size > PAYLOAD_MOST:
        raise _bad("payload", f"{size} bytes as JSON", f"at most {PAYLOAD_MOST} bytes", length=size)
    return text


def _bad(param: str, problem: str, expected: str, **more: Any) -> InvalidArgument:
    return InvalidArgument(
        f"trigger-app-event: {param}: {problem}.",
        param=param,
        expected=expected,
        errors=[{"param": param, "problem": problem, "expected": expected}],
        **more,
    )


def check_template(template: str, origin: str) -> str:
    """A URL template that can be used, as it was given.

    Raises:
        InvalidArgument: No scheme, an unknown placeholder, or none of `{event}` and `{payload}`.
        Refused: Its scheme is never opened.
    """
    unknown = [word for word in re.findall(r"\{[^{}]*\}", template) if word not in PLACEHOLDERS]
    if unknown:
        raise _bad(origin, "unknown placeholder in the URL template", " ".join(PLACEHOLDERS))
    if "{event}" not in template and "{payload}" not in template:
        raise _bad(origin, "the URL template has no {event} or {payload}", f"such as {TEMPLATE_EXAMPLE}")
    plain = template
    for word in PLACEHOLDERS:
        plain = plain.replace(word, "x")
    if not scheme_of(template) or scheme_of(template) != scheme_of(plain):
        raise _bad(origin, "the URL template has no fixed scheme", f"such as {TEMPLATE_EXAMPLE}")
    check_url(plain, param=origin)
    return template


def event_url(template: str, event: str, payload: str, platform: str) -> str:
    """The template with its placeholders replaced by percent-encoded values, in one pass.

    Raises:
        InvalidArgument: The URL is longer than 4096 characters.
    """
    values = {"{event}": event, "{payload}": payload, "{platform}": platform}
    url = re.sub(r"\{(?:event|payload|platform)\}", lambda m: quote(values[m[0]], safe=""), template)
    if len(url) > URL_MOST:
        raise _bad("payload", f"the event URL has {len(url)} characters", f"at most {URL_MOST}", length=len(url))
    return url


def platform_words_of(device: Device, platforms: Iterable[PlatformWord]) -> tuple[str, ...]:
    """The words a device's platform goes by, the narrowest first."""
    narrow, wide = [], []
    for word in platforms:
        if word.platform != device.platform:
            continue
        if not word.targets:
            wide.append(word.name)
        elif device.device_target in word.targets:
            narrow.append(word.name)
    return (*narrow, *(wide or [device.platform]))


def _template(ctx: Context, words: tuple[str, ...]) -> tuple[str, str]:
    """The URL template that applies and where it came from: session, app, configuration, caller's environment.

    Raises:
        Unsupported: There is none.
        InvalidArgument, Refused: There is one and it cannot be used.
    """
    if ctx.here.event_template is not None:
        return ctx.here.event_template, "session"
    configured = ctx.services.settings.event_templates
    for name in (*([f"app:{ctx.here.app}"] if ctx.here.app else []), *words, "default"):
        if name in configured:
            return check_template(str(configured[name]), f"events.templates.{name}"), f"config: {name}"
    for variable in event_template_variables(words):
        value = ctx.caller.env.get(variable)
        if value:
            return check_template(value, variable), f"caller's environment: {variable}"
    raise Unsupported(
        "No URL template for app events is set.",
        operation="trigger-app-event",
        alternatives=[
            "open with eventUrlTemplate",
            "events.templates in config.toml",
            "environment variable",
        ],
        example=TEMPLATE_EXAMPLE,
        hint=f"Call open with eventUrlTemplate={TEMPLATE_EXAMPLE} (in the form your app documents).",
        device=ctx.device_key,
    )
