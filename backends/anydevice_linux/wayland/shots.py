"""Pictures of a session's screens, by wlr-screencopy."""

from __future__ import annotations

import io
import math
import mmap
import os
from dataclasses import dataclass
from typing import Final

import anyio
import anyio.to_thread
from PIL import Image as Pictures

from anydevice.driver import Geometry, Image
from anydevice_schemas import Rect
from anydevice_schemas.errors import InvalidArgument, Unsupported, UpstreamUnavailable

from .compositor import DEADLINE, Compositor
from .connection import Thing
from .protocol import BUFFER, SCREENCOPY_FRAME, SCREENCOPY_MANAGER, SHM, SHM_POOL
from .session import Output, Session, around

LEVEL: Final = 3
"""Compression of PNG: the quickest for pictures of windows, and hardly larger than the smallest."""
PAUSE: Final = 0.05
"""Seconds between two pictures that are compared."""
ORDERS: Final = {0: "BGRX", 1: "BGRX", 0x34324258: "RGBX", 0x34324241: "RGBX"}
"""Order of the bytes of a pixel, by format: ARGB, XRGB, XBGR, ABGR, all little-endian."""
UPSIDE_DOWN: Final = 1
"""Flag of a picture whose first row is the lowest."""
NO_POINTER: Final = 0
Frame = tuple[bytes, int, int]
"""Pixels as BGRX, width, height."""


@dataclass(slots=True, frozen=True)
class Part:
    """The picture of a part of one screen.

    Attributes:
        area: What it shows, in points.
        pixels: The bytes, row by row.
        size: Width and height in pixels.
        stride: Bytes of a row.
        order: Of the bytes of a pixel, as Pillow says it.
        flipped: The first row is the lowest.
    """

    area: Rect
    pixels: bytes
    size: tuple[int, int]
    stride: int
    order: str
    flipped: bool

    def picture(self) -> Pictures.Image:
        """It as a picture."""
        turn = -1 if self.flipped else 1
        return Pictures.frombytes("RGB", self.size, self.pixels, "raw", self.order, self.stride, turn)


class WShots:
    """Takes pictures of the screens of a session."""

    def __init__(self, compositor: Compositor) -> None:
        self._compositor = compositor

    async def geometry(self) -> Geometry:
        """The coordinate space: the rectangle around all screens, in points of the compositor's layout.

        Raises:
            UpstreamUnavailable: No screen is on.
            AnydeviceError: As `Compositor.do`.
        """
        outputs = await self._compositor.do(lambda session: list(session.outputs()))
        if not outputs:
            raise _dark()
        return Geometry(around(outputs), max(output.density for output in outputs))

    async def image(self, area: Rect | None = None, *, steady: float = 0.0) -> Image:
        """A picture as PNG.

        Args:
            area: In points; what lies beyond the screens is left out. None for all of them.
            steady: Seconds to wait at most until two pictures are equal; 0 takes the first.

        Raises:
            InvalidArgument: No part of the area is on a screen.
            Unsupported: The compositor gives no pictures, or of a kind this does not know.
            UpstreamUnavailable: No screen is on.
            AnydeviceError: As `Compositor.do`.
        """
        parts = await self._compositor.do(lambda session: _grab(session, area))
        end = anyio.current_time() + steady
        while anyio.current_time() < end:
            await anyio.sleep(PAUSE)
            last, parts = parts, await self._compositor.do(lambda session: _grab(session, area))
            if last == parts:
                break
        return await anyio.to_thread.run_sync(_png, parts)

    async def frame(self, area: Rect | None = None) -> Frame:
        """The pixels of a part of the screens as they are, not encoded.

        Raises:
            As `image`.
        """
        return await anyio.to_thread.run_sync(_raw, await self._compositor.do(lambda session: _grab(session, area)))

    async def aclose(self) -> None:
        """Nothing of it is left between pictures."""


def _dark() -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The session shows no picture.",
        upstream="compositor",
        enable_hint="Turn a screen of the session on (sway: swaymsg output '*' power on), then repeat the call.",
    )


# --- in the compositor's thread --------------------------------------------------------------------------


def _grab(session: Session, area: Rect | None) -> list[Part]:
    outputs = session.outputs()
    if not outputs:
        raise _dark()
    wanted = around(outputs) if area is None else _whole(area)
    found = []
    for output in outputs:
        part = output.rect.intersect(wanted)
        if part is not None and part.width > 0 and part.height > 0:
            found.append(_copy(session, output, part))
    if not found:
        screen = around(outputs)
        raise InvalidArgument(
            "No part of the area is on the screen.",
            param="area",
            expected=f"an area within {screen.width:g}x{screen.height:g}",
        )
    return found


def _whole(area: Rect) -> Rect:
    """Whole points that hold an area."""
    left, top = math.floor(area.x), math.floor(area.y)
    return Rect(left, top, math.ceil(area.x + area.width) - left, math.ceil(area.y + area.height) - top)


def _copy(session: Session, output: Output, part: Rect) -> Part:
    connection = session.connection
    manager = session.take(SCREENCOPY_MANAGER, "screen.image")
    told: dict[str, tuple[int, ...]] = {}
    if part == output.rect:
        frame = connection.ask(manager, "capture_output", SCREENCOPY_FRAME, NO_POINTER, output.thing)
    else:
        box = (part.x - output.rect.x, part.y - output.rect.y, part.width, part.height)
        frame = connection.ask(
            manager, "capture_output_region", SCREENCOPY_FRAME, NO_POINTER, output.thing, *(int(side) for side in box)
        )
    for name in ("buffer", "flags", "ready", "failed", "buffer_done"):
        frame.hears[name] = lambda *values, name=name: told.setdefault(name, values)
    try:
        last = "buffer_done" if session.version(SCREENCOPY_MANAGER) >= 3 else "buffer"
        connection.until(lambda: told.keys() & {last, "failed"}, DEADLINE)
        if "failed" in told or "buffer" not in told:
            raise _dark()
        format, width, height, stride = told["buffer"]
        order = ORDERS.get(format)
        if order is None:
            raise Unsupported(
                "The screen has colours of a kind that is not supported.",
                operation="screen.image",
                alternatives=["screen.tree"],
            )
        pixels = _filled(session, frame, told, (format, width, height, stride))
        flipped = bool(told.get("flags", (0,))[0] & UPSIDE_DOWN)
        return Part(part, pixels, (width, height), stride, order, flipped)
    finally:
        connection.ask(frame, "destroy")


def _filled(session: Session, frame: Thing, told: dict[str, tuple[int, ...]], kind: tuple[int, ...]) -> bytes:
    """Has the compositor write a picture into memory that both share."""
    format, width, height, stride = kind
    connection, size = session.connection, stride * height
    fd = os.memfd_create("picture", os.MFD_CLOEXEC)
    try:
        os.ftruncate(fd, size)
        pool = connection.ask(session.take(SHM, "screen.image"), "create_pool", SHM_POOL, size, fds=[fd])
        buffer = connection.ask(pool, "create_buffer", BUFFER, 0, width, height, stride, format)
        connection.ask(pool, "destroy")
        try:
            connection.ask(frame, "copy", None, buffer)
            connection.until(lambda: told.keys() & {"ready", "failed"}, DEADLINE)
            if "failed" in told:
                raise _dark()
            with mmap.mmap(fd, size, prot=mmap.PROT_READ) as memory:
                return memory[:]
        finally:
            connection.ask(buffer, "destroy")
    finally:
        os.close(fd)


def _whole_picture(parts: list[Part]) -> tuple[Pictures.Image, float, Rect]:
    """The picture of several screens, as densely as the densest of them; its pixels per point, and what it shows."""
    if len(parts) == 1:
        return parts[0].picture(), parts[0].size[0] / parts[0].area.width, parts[0].area
    scale = max(part.size[0] / part.area.width for part in parts)
    left, top = min(part.area.x for part in parts), min(part.area.y for part in parts)
    right = max(part.area.x + part.area.width for part in parts)
    bottom = max(part.area.y + part.area.height for part in parts)
    shown = Rect(left, top, right - left, bottom - top)
    picture = Pictures.new("RGB", (round(shown.width * scale), round(shown.height * scale)))
    for part in parts:
        size = (round(part.area.width * scale), round(part.area.height * scale))
        own = part.picture() if part.size == size else part.picture().resize(size)
        picture.paste(own, (round((part.area.x - left) * scale), round((part.area.y - top) * scale)))
    return picture, scale, shown


def _png(parts: list[Part]) -> Image:
    picture, scale, shown = _whole_picture(parts)
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=LEVEL)
    return Image(file.getvalue(), "image/png", picture.width, picture.height, scale, shown)


def _raw(parts: list[Part]) -> Frame:
    one = parts[0]
    if len(parts) == 1 and one.order == "BGRX" and not one.flipped and one.stride == one.size[0] * 4:
        return one.pixels, *one.size
    picture, _, _ = _whole_picture(parts)
    return picture.tobytes("raw", "BGRX"), picture.width, picture.height
