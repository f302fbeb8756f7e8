"""Reading the screen: trees and pictures."""

from __future__ import annotations

import anyio.to_thread

from anydevice.driver import Geometry, Image, Screen, TreeScope
from anydevice.kit import images, scaling
from anydevice_schemas import Rect, Tree
from anydevice_schemas.errors import InvalidArgument, Unsupported, UpstreamUnavailable

from .apps import AndroidApps
from .dumping import Dumping
from .guarding import WHOLE, Guard, may_hold_dialog, refuse
from .reach import Reach
from .reading import screens
from .tree import build

PICTURE = 15.0
"""Seconds a picture may take."""
SEVERAL = "Multiple displays were found"


class AndroidScreen(Screen):
    """See `Screen`. Points are density-independent pixels: a 160th of an inch."""

    def __init__(self, reach: Reach, dumping: Dumping, guard: Guard, apps: AndroidApps) -> None:
        self._reach, self._dumping, self._guard, self._apps = reach, dumping, guard, apps
        self._display: str | None = None

    async def tree(self, scope: TreeScope) -> Tree:
        """See `Screen.tree`. Android tells what is on screen and no more: there is no `full` beyond it.

        Raises:
            DialogOpen: A dialog has to be answered first.
            AppCrashed: The app that was opened is gone.
            AnydeviceError: As `Dumping.take`.
        """
        dump, focus, quality = await self._dumping.take()
        await self._apps.troubled(focus)
        view = await self._reach.view(focus)
        if may_hold_dialog(dump):
            refuse(build(dump, view, WHOLE))
        return build(dump, view, scope, quality)

    async def image(self, area: Rect | None = None, *, full: bool = False) -> Image:
        """See `Screen.image`.

        Raises:
            Unsupported: `full`.
            InvalidArgument: The area is not on the screen.
            UpstreamUnavailable: The device gave no whole picture.
            DialogOpen: A dialog has to be answered first.
        """
        if full:
            raise Unsupported(
                "Android has no picture of more than the screen.",
                hint="Scroll, and take a picture of each part.",
                operation="screen.image",
                alternatives=["touch.swipe"],
            )
        await self._guard.check()
        data = await self._picture()
        found = images.inspect(data)
        scale = (await self._reach.screen()).scale
        whole = Rect(0, 0, found.width / scale, found.height / scale)
        if area is None:
            return Image(data, "image/png", found.width, found.height, scale, whole)
        part = area.intersect(whole)
        if part is None:
            raise InvalidArgument("The area is not on the screen.", param="area", expected="a part of the screen")
        return await anyio.to_thread.run_sync(_crop, data, part, scale)

    async def geometry(self) -> Geometry:
        """See `Screen.geometry`."""
        await self._reach.screen(fresh=True)
        await self._reach.focus()
        view = await self._reach.view()
        return Geometry(view.viewport, view.scale)

    async def display(self) -> str | None:
        """Id of the panel that is on, where the device has several; else None.

        Raises:
            UpstreamUnavailable: None of them shows anything.
        """
        if self._display is None:
            listed = screens.displays((await self._reach.adb.shell("dumpsys SurfaceFlinger --display-id")).text)
            if len(listed) > 1:
                await self._picture()
        return self._display

    async def _picture(self) -> bytes:
        data, before = await self._captured(self._display)
        if data is not None and SEVERAL not in before:
            return data
        # A foldable takes whichever panel it likes; the one that is on has the size of the screen.
        screen = await self._reach.screen(fresh=True)
        listed = screens.displays((await self._reach.adb.shell("dumpsys SurfaceFlinger --display-id")).text)
        for display in listed:
            found, _ = await self._captured(display)
            if found is None:
                continue
            told = images.inspect(found)
            if {told.width, told.height} == {screen.width, screen.height}:
                self._display = display
                return found
        if data is not None and not listed:
            return data
        raise UpstreamUnavailable(
            "The device gave no whole picture of its screen.",
            upstream="screencap",
            enable_hint="Turn the screen on, then repeat the call.",
            retryable=True,
            said=before,
        )

    async def _captured(self, display: str | None) -> tuple[bytes | None, str]:
        words = ["screencap", "-p", *(["-d", display] if display else [])]
        done = await self._reach.run(*words, deadline=PICTURE)
        return screens.png(done.stdout), (screens.said_before(done.stdout) + done.complaint)[:2000]


def _crop(data: bytes, area: Rect, scale: float) -> Image:
    left, top = round(area.x * scale), round(area.y * scale)
    box = (left, top, round((area.x + area.width) * scale), round((area.y + area.height) * scale))
    part, width, height = scaling.cropped(data, box)
    shown = Rect(left / scale, top / scale, width / scale, height / scale)
    return Image(part, "image/png", width, height, scale, shown)
