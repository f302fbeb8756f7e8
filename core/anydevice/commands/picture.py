"""screenshot: a picture of the screen, of the whole content, of an element, of a window, or of a rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import anyio.to_thread
from pydantic import Field

from anydevice_schemas import Example, Plan, Rect
from anydevice_schemas.errors import ElementOffscreen

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Geometry, Image, Screen, Window
from ..elements import describe_node
from ..kit import scaling
from ._aim import ElementInput, aim
from ._windows import described, the_window, windows_of

FAR = 100_000


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
    window: str | None = Field(
        default=None, min_length=1, max_length=1000, description="Only this window of a desktop: id or title."
    )
    x: float | None = Field(default=None, ge=-FAR, le=FAR, description="Only a rectangle: left edge, in points.")
    y: float | None = Field(default=None, ge=-FAR, le=FAR, description="Its top edge, in points.")
    width: float | None = Field(default=None, ge=1, le=FAR, description="Its width, in points.")
    height: float | None = Field(default=None, ge=1, le=FAR, description="Its height, in points.")
    max_dimension: int | None = Field(
        default=None,
        ge=16,
        le=16_384,
        description="Shrink it until no side is longer, in pixels; scale tells by how much.",
    )
    unit: Literal["points", "pixels"] | None = Field(
        default=None,
        description="points: one pixel a point, so that places in it are coordinates as they are; pixels: as the "
        "screen has it. Omitted: what is usual on the platform.",
    )


@command(
    name="screenshot",
    summary="Takes a picture of the screen, of the whole content, or of one element; says its size, unit and scale so "
    "that places in it can be used as coordinates. Use snapshot to read text and get refs: it is cheaper.",
    effect="read",
    idempotent=True,
    observe=True,
    input=ScreenshotInput,
    plans=[
        Plan(name="image", operations=["screen.image"], when={"window": ["*absent*"]}),
        Plan(name="image", operations=["screen.image", "windows.list"], when={"window": ["*given*"]}),
    ],
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
    area, told = await shown_part(ctx, args)
    image: Image = await ctx.use(Screen).image(area, full=args.area == "full")
    if args.unit == "points" or (args.unit is None and image.in_points):
        image = await _in_points(image)
    if args.max_dimension is not None:
        image = await _within(image, args.max_dimension)
    scale = image.scale
    artefact = await ctx.save_image(image, "screenshot")
    data: dict[str, Any] = {
        "width": image.width,
        "height": image.height,
        "scale": scale,
        "unit": "points" if scale == 1 else f"pixels; divide by {scale:g} for points",
        "area": [round(v, 1) for v in (image.area.x, image.area.y, image.area.width, image.area.height)],
        "mime": image.mime,
    }
    return Outcome(data=data | told, artefacts=[artefact])


async def _in_points(image: Image) -> Image:
    """The picture with one pixel a point; never made larger."""
    if image.scale <= 1:
        return image
    width, height = (max(1, round(side / image.scale)) for side in (image.width, image.height))
    data = await anyio.to_thread.run_sync(scaling.shrunk, image.data, image.mime, width, height)
    return replace(image, data=data, width=width, height=height, scale=1.0)


async def _within(image: Image, most: int) -> Image:
    """The picture with no side longer than `most` pixels, and the scale it has then; never made larger."""
    longest = max(image.width, image.height)
    if longest <= most:
        return image
    width, height = (max(1, round(side * most / longest)) for side in (image.width, image.height))
    data = await anyio.to_thread.run_sync(scaling.shrunk, image.data, image.mime, width, height)
    scale = round(image.scale * most / longest, 6)
    return replace(image, data=data, width=width, height=height, scale=scale)


async def shown_part(ctx: Context, args: ScreenshotInput) -> tuple[Rect | None, dict[str, Any]]:
    """The part that is asked for (None: what `area` says), and what the answer tells of it."""
    sides = {name: getattr(args, name) for name in ("x", "y", "width", "height")}
    given = [name for name, value in sides.items() if value is not None]
    parts = [name for name in ("target", "window") if getattr(args, name) is not None] + given[:1]
    if len(parts) > 1:
        raise ctx.bad_argument(parts[0], f"{parts[0]} and {parts[1]} are both given", "one part of the screen")
    if args.area == "element" and args.target is None:
        raise ctx.bad_argument("target", "area element needs a target", "ref, label or query")
    if args.area == "full" and parts:
        raise ctx.bad_argument("area", f"{parts[0]} and area full are both given", "one of the two")
    if args.window is not None:
        return await _window(ctx, args.window)
    if given:
        if len(given) < len(sides):
            lacks = next(name for name in sides if name not in given)
            raise ctx.bad_argument(lacks, "a rectangle needs it", "x, y, width and height, in points")
        return await _on_screen(ctx, Rect(**sides)), {}
    if args.target is None:
        return None, {}
    where = ElementInput.model_construct(target=args.target, x=None, y=None, timeout_ms=args.timeout_ms)
    target = await aim(ctx, where, enabled=False, uncovered=False)
    assert target.node is not None
    return target.node.rect, {"element": describe_node(target.node)}


async def _on_screen(ctx: Context, rect: Rect) -> Rect:
    """The part of a rectangle that there is something to see of, where the device tells how large its screen is."""
    if ctx.driver is None or not ctx.driver.has("screen.geometry"):
        return rect
    geometry: Geometry = await ctx.use(Screen).geometry()
    whole = geometry.content or geometry.viewport
    part = rect.intersect(whole)
    if part is None:
        raise ctx.bad_argument(
            "x",
            "no part of the rectangle is on the screen",
            f"within {whole.width:g}x{whole.height:g} points from {whole.x:g}, {whole.y:g}",
        )
    return part


async def _window(ctx: Context, name: str) -> tuple[Rect, dict[str, Any]]:
    """Where a window is. A picture of it is one of the screen there: what lies over it is in the picture, and told."""
    windows = await windows_of(ctx)
    meant = the_window(windows, window=name)
    if meant.states & {"minimized", "hidden"}:
        raise ElementOffscreen(
            "Nothing of the window is on the screen: it is minimized, or on another workspace.",
            hint="Call window with action raise first.",
            element=described(meant),
        )
    told: dict[str, Any] = {"window": described(meant)}
    over = _over(meant, windows)
    if over:
        told["coveredBy"] = [described(one) for one in over[:5]]
        ctx.notice(
            "window_covered",
            "Other windows lie over it and are in the picture; window with action raise brings it to the front.",
            windows=len(over),
        )
    return meant.rect, told


def _over(meant: Window, windows: Sequence[Window]) -> list[Window]:
    """The windows that lie over one, in part at least."""
    above = windows[: next(at for at, one in enumerate(windows) if one.id == meant.id)]
    return [one for one in above if not one.states & {"minimized", "hidden"} and one.rect.intersect(meant.rect)]
