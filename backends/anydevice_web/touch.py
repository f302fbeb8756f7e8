"""Fingers on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anydevice.driver import Acted, Touch
from anydevice_schemas import Point
from anydevice_schemas.errors import InvalidArgument

from .acting import INPUT_DEADLINE, act
from .instance import Instance
from .page import Page
from .pointer import STEP, path, pause

DOUBLE_TAP_GAP = 0.06
"""Seconds between the taps of a double tap."""
MOST_FINGERS = 10


class WebTouch(Touch):
    """Touch on the current page. Points are CSS pixels of its viewport."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def tap(self, point: Point, *, count: int = 1) -> Acted:
        """See `Touch.tap`."""
        page = await self._instance.page()

        async def work() -> None:
            for number in range(count):
                if number:
                    await pause(page, DOUBLE_TAP_GAP)
                await page.send([_event("touchStart", [point]), _event("touchEnd", [])], deadline=INPUT_DEADLINE)

        return await act(page, "touch", work, given=True, at=point, count=count)

    async def hold(self, point: Point, *, seconds: float) -> Acted:
        """See `Touch.hold`."""
        page = await self._instance.page()

        async def work() -> None:
            await page.send([_event("touchStart", [point])], deadline=INPUT_DEADLINE)
            await pause(page, seconds)
            await page.send([_event("touchEnd", [])], deadline=INPUT_DEADLINE)

        return await act(page, "touch", work, given=True, at=point, seconds=seconds)

    async def swipe(self, start: Point, end: Point, *, seconds: float) -> Acted:
        """See `Touch.swipe`."""
        return await self.drag(start, end, hold=0.0, seconds=seconds)

    async def drag(self, start: Point, end: Point, *, hold: float, seconds: float) -> Acted:
        """See `Touch.drag`."""
        page = await self._instance.page()

        async def work() -> None:
            await page.send([_event("touchStart", [start])], deadline=INPUT_DEADLINE)
            if hold > 0:
                await pause(page, hold)
            await _along(page, [[point] for point in path(start, end, seconds)], seconds)

        return await act(page, "touch", work, given=True, at=start, seconds=hold + seconds)

    async def multi_touch(self, fingers: Sequence[Sequence[Point]], *, seconds: float) -> Acted:
        """See `Touch.multi_touch`. Each path is walked at an even pace from its first to its last point."""
        page = await self._instance.page()
        if not 1 <= len(fingers) <= MOST_FINGERS or any(not finger for finger in fingers):
            raise InvalidArgument(
                "Fingers need a path each.", param="fingers", expected=f"1 to {MOST_FINGERS} paths of at least a point"
            )
        steps = max(round(seconds / STEP), 2, *(len(finger) for finger in fingers))
        moves = [[_on_path(finger, step / steps) for finger in fingers] for step in range(steps + 1)]

        async def work() -> None:
            await page.send([_event("touchStart", moves[0])], deadline=INPUT_DEADLINE)
            await _along(page, moves[1:], seconds)

        return await act(page, "touch", work, given=True, at=moves[0][0])


async def _along(page: Page, moves: Sequence[Sequence[Point]], seconds: float) -> None:
    for points in moves:
        await page.send([_event("touchMove", points)], deadline=INPUT_DEADLINE)
        await pause(page, seconds / len(moves))
    await page.send([_event("touchEnd", [])], deadline=INPUT_DEADLINE)


def _on_path(points: Sequence[Point], share: float) -> Point:
    """The point a share (0 to 1) of the way along a path of straight pieces of equal time."""
    at = share * (len(points) - 1)
    index = min(int(at), len(points) - 2)
    if index < 0:
        return points[0]
    one, two, part = points[index], points[index + 1], at - index
    return Point(one.x + (two.x - one.x) * part, one.y + (two.y - one.y) * part)


def _event(kind: str, points: Sequence[Point]) -> tuple[str, dict[str, Any]]:
    touches = [{"x": point.x, "y": point.y, "id": number} for number, point in enumerate(points)]
    return "Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches}
