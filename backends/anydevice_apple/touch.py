"""Fingers on the glass."""

from __future__ import annotations

from collections.abc import Sequence

from anydevice.driver import Acted, Touch
from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import InvalidArgument

from .engine import Engine, Move, named
from .reach import Reach


class AppleTouch(Touch):
    """See `Touch`. Points off the screen are refused: pixels taken for points would land there, or elsewhere."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def tap(self, point: Point, *, count: int = 1) -> Acted:
        """See `Touch.tap`.

        Raises:
            InvalidArgument: The point is not on the screen.
        """
        engine = await self._on_screen(point)
        await engine.tap(point, count)
        return Acted("touch", data=named(engine))

    async def hold(self, point: Point, *, seconds: float) -> Acted:
        """See `Touch.hold`; errors as `tap`."""
        engine = await self._on_screen(point)
        await engine.touch([Move([point], rest=seconds)])
        return Acted("touch", data=named(engine))

    async def swipe(self, start: Point, end: Point, *, seconds: float) -> Acted:
        """See `Touch.swipe`; errors as `tap`."""
        engine = await self._on_screen(start)
        await engine.touch([Move([start, end], seconds=seconds)])
        return Acted("touch", data=named(engine))

    async def drag(self, start: Point, end: Point, *, hold: float, seconds: float) -> Acted:
        """See `Touch.drag`; errors as `tap`."""
        engine = await self._on_screen(start)
        await engine.touch([Move([start, end], rest=hold, seconds=seconds)])
        return Acted("touch", data=named(engine))

    async def multi_touch(self, fingers: Sequence[Sequence[Point]], *, seconds: float) -> Acted:
        """See `Touch.multi_touch`; errors as `tap`."""
        engine = await self._on_screen(*(path[0] for path in fingers))
        await engine.touch([Move(list(path), seconds=seconds) for path in fingers])
        return Acted("touch", data=named(engine))

    async def _on_screen(self, *points: Point) -> Engine:
        engine = await self._reach.engine()
        width, height = await engine.size()
        screen = Rect(0, 0, width, height)
        for point in points:
            if not screen.contains(point):
                raise InvalidArgument(
                    "The point is not on the screen; places are points, not pixels.",
                    param="x",
                    expected=f"0 to {width:g}, 0 to {height:g}",
                    hint="Take places from snapshot, or from a screenshot in points.",
                )
        self._reach.acted += 1
        return engine
