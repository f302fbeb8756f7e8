"""Pictures of the display: all of it, a window's part of it, a rectangle."""

from __future__ import annotations

import contextlib
import io
import math
import os
from typing import Any

import anyio
import mss
from mss.exception import ScreenShotError
from PIL import Image as Pictures
from Xlib import X

from anydevice.driver import Geometry, Image
from anydevice_schemas import Rect
from anydevice_schemas.errors import CallTimeout, ConnectionLost, InvalidArgument, Unsupported

from . import authority
from .connection import Connection
from .display import DEADLINE, XDisplay
from .windows import Windows
from .worker import TooLate, Worker

LEVEL = 3
"""Compression of PNG: the quickest for pictures of windows, and hardly larger than the smallest."""
PAUSE = 0.05
"""Seconds between two pictures that are compared."""

Frame = tuple[bytes, int, int]
"""Pixels (four bytes each: blue, green, red, unused), width, height."""


class Shots:
    """Pictures of a display. What covers a window is in the picture of it; `Image.area` says what is shown."""

    def __init__(self, display: XDisplay, windows: Windows) -> None:
        self._display = display
        self._windows = windows
        self._grabber: _Grabber | None = None
        self._no_grabber = not _library_can(display)
        self._encoder = Worker(f"pictures of {display.name}")

    async def geometry(self) -> Geometry:
        """Size of the screen.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `XDisplay.do`.
        """
        return Geometry(await self._display.do(_screen), 1.0)

    async def window(self, id: int, steady: float = 0.0) -> Image:
        """A picture of the part of the screen a window's frame takes.

        Raises:
            AppNotFound: There is no such window.
            InvalidArgument: No part of it is on the screen.
            DeviceOffline, ConnectionLost, CallTimeout: As `XDisplay.do`.
        """
        return await self.image((await self._windows.get(id)).frame, steady=steady)

    async def image(self, area: Rect | None = None, *, steady: float = 0.0) -> Image:
        """A picture as PNG.

        Args:
            area: In points; what lies beyond the screen is left out. None for all of the screen.
            steady: Seconds to wait at most until two pictures are equal; 0 takes the first.

        Raises:
            InvalidArgument: No part of the area is on the screen.
            Unsupported: The screen's colours are of a kind this does not know.
            DeviceOffline, ConnectionLost, CallTimeout: As `XDisplay.do`.
        """
        screen = await self._display.do(_screen)
        part = _pixels(area, screen)
        frame = await self._grab(part, screen)
        end = anyio.current_time() + steady
        while anyio.current_time() < end:
            await anyio.sleep(PAUSE)
            last, frame = frame, await self._grab(part, screen)
            if last == frame:
                break
        try:
            data = await self._encoder.run(lambda: _png(frame), 10.0)
        except TooLate:
            raise CallTimeout("The picture could not be encoded in time.", after=10.0) from None
        return Image(data, "image/png", frame[1], frame[2], 1.0, part)

    async def frame(self, area: Rect | None = None) -> Frame:
        """The pixels of a part of the screen as they are, not encoded.

        Raises:
            As `image`.
        """
        screen = await self._display.do(_screen)
        return await self._grab(_pixels(area, screen), screen)

    async def aclose(self) -> None:
        """Lets go of the display. May be called more than once."""
        self._encoder.stop()
        await self._drop()

    async def _grab(self, part: Rect, screen: Rect) -> Frame:
        if not self._no_grabber:
            if self._grabber is not None and self._grabber.screen != screen:
                await self._drop()  # its buffer has the size the screen had
            if self._grabber is None:
                self._grabber = _Grabber(self._display.name, screen)
            try:
                return await self._grabber.grab(part)
            except TooLate:
                await self._drop()
                raise CallTimeout(
                    "The X server did not give its picture in time.", after=DEADLINE, waiting_for="X server"
                ) from None
            except _NoGrabber:
                await self._drop()
                self._no_grabber = True
            except ScreenShotError as error:
                await self._drop()
                self._display.guard()
                raise ConnectionLost(
                    "The X server did not give its picture.",
                    hint="Call devices to see whether the display is still there.",
                    restarted=False,
                ) from error
        return await self._display.do(lambda connection: _plain_grab(connection, part))

    async def _drop(self) -> None:
        grabber, self._grabber = self._grabber, None
        if grabber is not None:
            await grabber.aclose()


class _NoGrabber(Exception):
    """The quick way does not work here: its libraries are missing, or the display refuses it."""


class _Grabber:
    """The quick way: shared memory, by mss, on a connection and in a thread of its own."""

    def __init__(self, name: str, screen: Rect) -> None:
        self.screen = screen
        self._name = name
        self._mss: Any = None
        self._unwanted = False
        self._worker = Worker(f"grabber of {name}")

    async def grab(self, part: Rect) -> Frame:
        """The pixels of a part of the screen."""
        return await self._worker.run(lambda: self._take(part), DEADLINE)

    async def aclose(self) -> None:
        """Closes the connection, also when the thread is stuck: it does so itself once it comes free."""
        self._unwanted = True
        with anyio.CancelScope(shield=True):
            with contextlib.suppress(TooLate):
                await self._worker.run(self._close, 0.5)
        self._worker.stop()

    def _take(self, part: Rect) -> Frame:
        if self._mss is None:
            try:
                self._mss = mss.MSS(display=self._name)
            except Exception as error:
                raise _NoGrabber from error
        box = {"left": int(part.x), "top": int(part.y), "width": int(part.width), "height": int(part.height)}
        try:
            shot = self._mss.grab(box)
        finally:
            if self._unwanted:
                self._close()
        return bytes(shot.raw), shot.width, shot.height

    def _close(self) -> None:
        made, self._mss = self._mss, None
        if made is not None:
            made.close()


def _library_can(display: XDisplay) -> bool:
    """Whether mss would show the display the same cookie; it knows the environment of this process only."""
    known = os.environ.get("XAUTHORITY") or authority.default_file()
    return display.xauthority is None or display.xauthority == known


def _screen(connection: Connection) -> Rect:
    size = connection.screen().root.get_geometry()
    return Rect(0, 0, size.width, size.height)


def _plain_grab(connection: Connection, part: Rect) -> Frame:
    width, height = int(part.width), int(part.height)
    root = connection.screen().root
    got = root.get_image(int(part.x), int(part.y), width, height, X.ZPixmap, 0xFFFFFFFF)
    data = got.data.encode("latin-1") if isinstance(got.data, str) else bytes(got.data)
    if got.depth not in (24, 32) or len(data) != width * height * 4:
        raise Unsupported(
            "The screen has colours of a kind that is not supported.",
            operation="screen.image",
            alternatives=["screen.tree"],
        )
    return data, width, height


def _pixels(area: Rect | None, screen: Rect) -> Rect:
    """Whole pixels that hold an area, as far as they are on the screen."""
    if area is None:
        return screen
    left, top = math.floor(area.x), math.floor(area.y)
    right, bottom = math.ceil(area.x + area.width), math.ceil(area.y + area.height)
    part = Rect(left, top, right - left, bottom - top).intersect(screen)
    if part is None:
        raise InvalidArgument(
            "No part of the area is on the screen.",
            param="area",
            expected=f"an area within {screen.width:g}x{screen.height:g}",
        )
    return part


def _png(frame: Frame) -> bytes:
    data, width, height = frame
    picture = Pictures.frombytes("RGB", (width, height), data, "raw", "BGRX")
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=LEVEL)
    return file.getvalue()
