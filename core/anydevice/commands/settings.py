"""settings, orientation: how the device is set up; every change is read back."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Literal

import anyio
from pydantic import Field, ValidationInfo, field_validator

from anydevice_schemas import Confirm, Example, Plan
from anydevice_schemas.errors import ActionUnverified, Unsupported

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Setting, Settings
from ._effect import merged

SETTLE = 5.0
"""Seconds a setting may take until it is read back as it was asked for."""
STEP = 0.05

AREAS = {
    "appearance": "appearance", "animations": "animations", "text-size": "text_size", "wifi": "wifi",
    "airplane": "airplane", "location": "location", "permission": "permission", "status-bar": "status_bar",
    "app-data": "app_data",
}  # fmt: skip
"""The areas of `settings`, and the operation that changes each."""
WORDS: dict[str, tuple[str, ...]] = {
    "appearance": ("light", "dark"),
    "animations": ("on", "off"),
    "wifi": ("on", "off"),
    "airplane": ("on", "off"),
    "permission": ("grant", "deny", "ask"),
    "app_data": ("clear",),
    "status_bar": ("demo", "live"),
    "orientation": ("portrait", "landscape-left", "landscape-right", "portrait-upside-down", "auto"),
}
"""The values of each area, where they are words."""
OF_APPS: dict[str, tuple[str, ...]] = {"permission": ("app", "name"), "app-data": ("app",)}
"""Areas that are of one app, and what has to be given of it."""
EXPECTED = {"app": "app id", "name": "such as camera"}
FACTOR = re.compile(r"\d{1,2}(\.\d{1,3})?")
FACTORS = (0.5, 3.0)
FACT_MOST = 200
"""Characters of one further fact that are told."""


def _plans() -> list[Plan]:
    """Asking for everything, then one plan an area for asking and one for changing it."""
    out = [Plan(name="all", operations=["settings.read"], when={"area": ["*absent*"]})]
    for area, method in AREAS.items():
        both = ["settings.read", f"settings.{method}"]
        out.append(Plan(name="read", operations=both, when={"area": [area], "value": ["*absent*"]}))
        out.append(Plan(name="set", operations=both, when={"area": [area], "value": ["*given*"]}))
    return out


class SettingsInput(Input):
    """Inputs of `settings`."""

    area: (
        Literal[
            "appearance",
            "animations",
            "text-size",
            "wifi",
            "airplane",
            "location",
            "permission",
            "status-bar",
            "app-data",
        ]
        | None
    ) = Field(default=None, description="What to read or change; omitted = read all there is.")
    value: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="New value; omitted = read it. light, dark; on, off; text-size: a factor such as 1.3; location: "
        "LATITUDE,LONGITUDE or off; permission: grant, deny, ask; status-bar: demo, live; app-data: clear.",
    )
    app: str | None = Field(
        default=None, min_length=1, max_length=256, description="Of permission and app-data: the app."
    )
    name: str | None = Field(
        default=None, min_length=1, max_length=100, description="Of permission: which, such as camera."
    )

    @field_validator("value", "app", "name")
    @classmethod
    def _has_an_area(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("area") is None:
            raise ValueError("goes with an area only")
        return value


@command(
    name="settings",
    summary="Reads or changes how a device is set up: appearance (light, dark), animations, text size, location and "
    "what else it has; app-data deletes what an app has stored. A change is read back, and undone when the device is "
    "given back, where the platform can tell what was before. Without area: all. To turn the screen use orientation.",
    effect="mutate",
    toolset="device",
    idempotent=True,
    reads_when={"value": ["*absent*"]},
    input=SettingsInput,
    plans=_plans(),
    confirm=[Confirm(because="deletes what an app has stored", when={"area": ["app-data"], "value": ["*given*"]})],
    output={
        "area": {"type": "string"},
        "value": {"type": "string", "description": "As it was read from the device."},
        "before": {"type": "string", "description": "As it was before it was changed."},
        "choices": {"type": "array", "description": "Values it can be given; none listed = any."},
        "settings": {"type": "object", "description": "Without area: value and choices of each."},
    },
    examples=[
        Example(why="Dark mode", arguments={"area": "appearance", "value": "dark"}),
        Example(why="What is it now", arguments={"area": "appearance"}),
        Example(
            why="An app as on its first day", arguments={"area": "app-data", "value": "clear", "app": "com.example"}
        ),
        Example(why="Everything it can tell", arguments={}),
    ],
)
async def settings(ctx: Context, args: SettingsInput) -> Outcome:
    """Reads or changes a setting."""
    if args.area is None:
        return Outcome(data={"settings": await _all(ctx)}, method="read")
    for name in ("app", "name"):
        given, goes = getattr(args, name), [area for area, names in OF_APPS.items() if name in names]
        if args.area in goes and given is None:
            raise ctx.bad_argument(name, f"{args.area} needs it", EXPECTED[name])
        if args.area not in goes and given is not None:
            areas = " or ".join(goes)
            raise ctx.bad_argument(name, f"goes with area {areas} only", f"area {areas}")
    return await _one(ctx, args.area, AREAS[args.area], args.value, app=args.app, name=args.name)


class OrientationInput(Input):
    """Inputs of `orientation`."""

    value: Literal["portrait", "landscape-left", "landscape-right", "portrait-upside-down", "auto"] | None = Field(
        default=None, description="Which way the screen is to be; auto: as the device lies. Omitted = read it."
    )


@command(
    name="orientation",
    summary="Reads which way the screen is turned, or turns it and reads that back. Refs and places from before are "
    "stale after it: look again.",
    effect="mutate",
    toolset="device",
    idempotent=True,
    reads_when={"value": ["*absent*"]},
    input=OrientationInput,
    plans=[Plan(name="orientation", operations=["settings.read", "settings.orientation"])],
    output={"value": {"type": "string"}, "before": {"type": "string"}, "choices": {"type": "array"}},
    examples=[
        Example(why="Turn it", arguments={"value": "landscape-left"}),
        Example(why="Which way is it", arguments={}),
    ],
)
async def orientation(ctx: Context, args: OrientationInput) -> Outcome:
    """Reads or changes the direction of the screen."""
    return await _one(ctx, "orientation", "orientation", args.value)


# --- inside ------------------------------------------------------------------------------------------------


async def _all(ctx: Context) -> dict[str, Any]:
    """Every area the device can tell without further words."""
    assert ctx.driver is not None
    told: dict[str, Any] = {}
    for area, method in {**AREAS, "orientation": "orientation"}.items():
        if area in OF_APPS or not ctx.driver.has(f"settings.{method}"):
            continue
        try:
            now: Setting = await ctx.use(Settings).read(method)
        except Unsupported:
            continue  # it can be changed and not be read
        told[area] = _told(now)
    return told


def _told(setting: Setting) -> dict[str, Any]:
    data = {name: fact[:FACT_MOST] if isinstance(fact, str) else fact for name, fact in setting.data.items()}
    return {"value": setting.value, **merged({"choices": list(setting.choices), "data": data})}


async def _one(
    ctx: Context, area: str, method: str, value: str | None, *, app: str | None = None, name: str | None = None
) -> Outcome:
    """Reads one setting, or changes it and reads it back.

    Raises:
        InvalidArgument: The value is none of the area, or the device does not have it.
        ActionUnverified: It was taken, and reads otherwise.
    """
    wanted = _checked(ctx, method, value) if value is not None else None
    of: dict[str, Any] = merged({"app": app, "name": name})
    before: Setting = await ctx.use(Settings).read(method, **of)
    data: dict[str, Any] = merged({"area": area, "app": app, "name": name})
    if wanted is None:
        return Outcome(data={**data, **_told(before)}, method="read")
    same = _same(method)
    if before.choices and not any(same(wanted, choice) for choice in before.choices):
        raise ctx.bad_argument("value", "is none this device has", ", ".join(before.choices))
    if before.value is not None and same(before.value, wanted):
        return Outcome(data={**data, **_told(before), "already": True}, verified=True, method="read")
    acted: Acted = await getattr(ctx.use(Settings), method)(wanted, **of)
    now = await _settled(ctx, method, wanted, of)
    if now.value is None:
        return Outcome(
            data={**data, "value": None, **merged({"asked": wanted, "before": before.value}, acted.data)},
            verified=False,
            method=acted.method,
        )
    if not same(now.value, wanted):
        raise ActionUnverified(
            "The device took the setting and reads otherwise.",
            hint=f"Call {ctx.spec.command.name} again to read it; something else may hold it.",
            expected=wanted,
            actual=now.value,
        )
    return Outcome(
        data={**data, **merged(acted.data, {"before": before.value}), **_told(now)}, verified=True, method=acted.method
    )


async def _settled(ctx: Context, method: str, wanted: str, of: dict[str, Any]) -> Setting:
    """The setting, once it reads as it was asked for, or as it reads when the time is up."""
    same = _same(method)
    until = anyio.current_time() + min(SETTLE, max(0.0, ctx.remaining() - 1.0))
    while True:
        now: Setting = await ctx.use(Settings).read(method, **of)
        if now.value is None or same(now.value, wanted) or anyio.current_time() >= until:
            return now
        await ctx.pause(STEP)


def _checked(ctx: Context, method: str, value: str) -> str:
    """The value in the form drivers are given it.

    Raises:
        InvalidArgument: It is none of the area.
    """
    words = WORDS.get(method)
    if words is not None:
        if value.casefold() not in words:
            raise ctx.bad_argument("value", "is no value of this area", ", ".join(words))
        return value.casefold()
    if method == "text_size":
        factor = float(value) if FACTOR.fullmatch(value) else math.nan
        if not FACTORS[0] <= factor <= FACTORS[1]:
            raise ctx.bad_argument("value", "is no text size", f"a factor from {FACTORS[0]:g} to {FACTORS[1]:g}")
        return f"{factor:g}"
    if value.casefold() == "off":
        return "off"
    place = _place(value)
    if place is None:
        raise ctx.bad_argument("value", "is no place", "LATITUDE,LONGITUDE in degrees such as 60.17,24.94, or off")
    return f"{place[0]:.6f},{place[1]:.6f}"


def _place(text: str) -> tuple[float, float] | None:
    """Latitude and longitude; None where a text is none."""
    parts = text.split(",")
    try:
        latitude, longitude = (float(part) for part in parts)
    except ValueError:
        return None
    return (latitude, longitude) if abs(latitude) <= 90 and abs(longitude) <= 180 else None


def _same(method: str) -> Callable[[str, str], bool]:
    """How two values of an area are compared."""

    def near(one: str, other: str) -> bool:
        try:
            pairs = zip(one.split(","), other.split(","), strict=True)
            return all(abs(float(a) - float(b)) < 1e-4 for a, b in pairs)
        except ValueError:
            return one.casefold() == other.casefold()

    return near if method in ("text_size", "location") else lambda one, other: one.casefold() == other.casefold()
