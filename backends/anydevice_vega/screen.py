"""Reading the screen: the page source as a tree, and pictures by whichever of the device's tools gives one."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Final

import anyio.to_thread
import structlog

from anydevice.driver import Geometry, Image, Screen, TreeScope
from anydevice.kit import images, scaling
from anydevice_schemas import Rect, Tree
from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    DeviceNotReady,
    DeviceOffline,
    InvalidArgument,
    PathNotFound,
    Refused,
    Unsupported,
    UpstreamUnavailable,
)

from .apps import VegaApps
from .guarding import may_ask, refuse
from .reach import Reach
from .toolkit import ToolkitOff, ToolkitSaidNo
from .tree import SCREEN, build, screen_of

log = structlog.get_logger("anydevice.vega")

TOOL: Final = 10.0
"""Seconds the device's own picture tool may take: on a virtual device it hangs."""
PICTURE_MOST: Final = 64 << 20
Console = Callable[[], Awaitable[bytes]]
"""Asks a virtual device's console for a picture."""


class VegaScreen(Screen):
    """See `Screen`. Points are the units of the page source."""

    def __init__(self, reach: Reach, apps: VegaApps, console: Console | None) -> None:
        """`console` gives a picture of a virtual device from outside; None for a device that is none."""
        self._reach, self._apps, self._console = reach, apps, console

    async def tree(self, scope: TreeScope) -> Tree:
        """See `Screen.tree`.

        Raises:
            DialogOpen: A dialog has to be answered first.
            AppCrashed: The app that was opened is gone.
            DeviceNotReady: No app was started with the toolkit.
            AnydeviceError: As `Reach.page`.
        """
        page = await self._reach.page()
        front = page.front()
        await self._apps.troubled(front.name if front is not None else "")
        if may_ask(page):
            refuse(build(page))
        return build(page, scope)

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
                "Vega has no picture of more than the screen.",
                hint="Scroll, and take a picture of each part.",
                operation="screen.image",
                alternatives=["screen.tree"],
            )
        screen = SCREEN
        try:
            tree = await self._reach.tree()
            refuse(tree)
            screen = tree.viewport or SCREEN
        except (DeviceNotReady, UpstreamUnavailable) as error:
            log.info("picture_without_a_tree", error=error.code)
        data = await self._picture()
        found = images.inspect(data)
        scale = found.width / screen.width
        if area is None:
            return Image(data, found.mime, found.width, found.height, scale, screen)
        part = area.intersect(screen)
        if part is None:
            raise InvalidArgument("The area is not on the screen.", param="area", expected="a part of the screen")
        return await anyio.to_thread.run_sync(_crop, data, part, scale)

    async def geometry(self) -> Geometry:
        """See `Screen.geometry`. How many pixels a point has a picture tells; it is one as far as anybody knows."""
        try:
            return Geometry(screen_of(await self._reach.recent()), 1.0)
        except DeviceNotReady:
            return Geometry(SCREEN, 1.0)

    async def _picture(self) -> bytes:
        """A picture by the toolkit, else by what else there is; each is told what it gave."""
        said: dict[str, str] = {}
        roads: list[tuple[str, Console]] = [("toolkit", self._by_toolkit)]
        roads.append(("console", self._console) if self._console is not None else ("tool", self._by_tool))
        for name, road in roads:
            try:
                data = await road()
                await anyio.to_thread.run_sync(images.inspect, data)
                return data
            except (ToolkitOff, ToolkitSaidNo) as error:
                said[name] = str(error)
            except DeviceOffline:
                raise
            except (UpstreamUnavailable, CallTimeout, Refused, PathNotFound) as error:
                said[name] = error.message
            except ValueError as error:
                said[name] = f"no picture: {error}"
        raise UpstreamUnavailable(
            "The device gave no whole picture of its screen.",
            upstream="automation toolkit",
            enable_hint="Call open with the app: pictures come by the toolkit, which is started with it.",
            retryable=True,
            said=said,
        )

    async def _by_toolkit(self) -> bytes:
        return await self._reach.patiently(self._reach.toolkit.picture)

    async def _by_tool(self) -> bytes:
        """A stick's own tool writes a file; an empty one is none."""
        path = f"/tmp/anydevice-{secrets.token_hex(6)}.png"  # a name of one call: what was there before is no picture
        try:
            done = await self._reach.sh(f"gwsi-tool-screenshooter {path} >/dev/null 2>&1; cat {path}", deadline=TOOL)
        finally:
            with anyio.move_on_after(3.0, shield=True):
                try:
                    await self._reach.run("rm", "-f", path, deadline=2.0)
                except AnydeviceError as error:
                    log.info("picture_left_behind", error=error.code)
        if not done.stdout:
            raise UpstreamUnavailable("The tool gave no picture.", upstream="gwsi-tool-screenshooter", enable_hint="")
        return done.stdout


def _crop(data: bytes, area: Rect, scale: float) -> Image:
    left, top = round(area.x * scale), round(area.y * scale)
    box = (left, top, round((area.x + area.width) * scale), round((area.y + area.height) * scale))
    part, width, height = scaling.cropped(data, box)
    shown = Rect(left / scale, top / scale, width / scale, height / scale)
    return Image(part, "image/png", width, height, scale, shown)
