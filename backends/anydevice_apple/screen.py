"""Reading the screen: trees and pictures, in points."""

from __future__ import annotations

import anyio.to_thread

from anydevice.driver import Geometry, Image, Screen, TreeScope
from anydevice.kit import images, scaling
from anydevice_schemas import Rect, Tree
from anydevice_schemas.errors import InvalidArgument, Unsupported, UpstreamUnavailable

from .covering import Covers
from .crashing import Crashes
from .engine import refuse
from .reach import SCREEN, Reach
from .tree import View, build, size_of


class AppleScreen(Screen):
    """See `Screen`. Points are UIKit's."""

    def __init__(self, reach: Reach, crashes: Crashes) -> None:
        self._reach, self._crashes = reach, crashes
        self._covers = Covers()

    async def tree(self, scope: TreeScope) -> Tree:
        """See `Screen.tree`.

        Raises:
            DialogOpen: A dialog has to be answered first.
            AppCrashed: The app that was opened is gone.
            AnydeviceError: As `Engine.look`.
        """
        engine = await self._reach.engine()
        look = await engine.look(deadline=SCREEN)
        await self._crashes.check(look.source)
        size = size_of(look.source) or await engine.size()
        tree = build(look.source, View(*size), scope, look.quality)
        if scope.mode == "full":  # somebody is going to act
            await self._covers.judge(tree, engine.hittable)
        return tree

    async def image(self, area: Rect | None = None, *, full: bool = False) -> Image:
        """See `Screen.image`.

        Raises:
            Unsupported: `full`; or the engine's picture is upright, and the screen is not.
            InvalidArgument: The area is not on the screen.
            UpstreamUnavailable: There is no whole picture.
            DialogOpen: A dialog has to be answered first.
        """
        if full:
            raise Unsupported(
                "There is no picture of more than the screen.",
                hint="Scroll, and take a picture of each part.",
                operation="screen.image",
                alternatives=["touch.swipe"],
            )
        engine = await self._reach.engine()
        dialog = await engine.dialog()
        if dialog is not None:
            raise refuse(dialog)
        data = await engine.picture()
        try:
            found = images.inspect(data)
        except ValueError:
            raise UpstreamUnavailable(
                "The device gave no picture that can be read.", upstream=engine.name, enable_hint="Repeat the call."
            ) from None
        # Pixels a point is measured, never taken from a model's name.
        width, height = await engine.size()
        if (found.width > found.height) != (width > height) and width != height:
            raise Unsupported(
                "The picture is not turned as the screen is: no place in it would be a point of the screen.",
                hint="Turn the device upright, or install WebDriverAgent on it, whose pictures are turned.",
                operation="screen.image",
                alternatives=["screen.tree"],
                engine=engine.name,
            )
        scale = found.width / width
        whole = Rect(0, 0, found.width / scale, found.height / scale)
        if area is None:
            return Image(data, found.mime, found.width, found.height, scale, whole, in_points=True)
        part = area.intersect(whole)
        if part is None:
            raise InvalidArgument("The area is not on the screen.", param="area", expected="a part of the screen")
        return await anyio.to_thread.run_sync(_crop, data, part, scale)

    async def geometry(self) -> Geometry:
        """See `Screen.geometry`."""
        engine = await self._reach.engine()
        width, height = await engine.size()
        return Geometry(Rect(0, 0, width, height), await engine.scale())


def _crop(data: bytes, area: Rect, scale: float) -> Image:
    left, top = round(area.x * scale), round(area.y * scale)
    box = (left, top, round((area.x + area.width) * scale), round((area.y + area.height) * scale))
    part, width, height = scaling.cropped(data, box)
    shown = Rect(left / scale, top / scale, width / scale, height / scale)
    return Image(part, "image/png", width, height, scale, shown, in_points=True)
