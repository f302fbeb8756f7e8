"""The mouse."""

from __future__ import annotations

import math
from typing import Any

import anyio

from anydevice.driver import Acted, Button, Pointer
from anydevice_schemas import Point
from anydevice_schemas.errors import AnydeviceError, InvalidArgument

from .acting import INPUT_DEADLINE, act
from .cdp import Gone, ProtocolError
from .frames import Frame, WorldLost
from .instance import Instance
from .page import Page
from .walker import ask_main

NAMES: dict[str, tuple[str, int]] = {"primary": ("left", 1), "secondary": ("right", 2), "middle": ("middle", 4)}
"""The protocol's name and `buttons` bit of each button."""
STEP = 1 / 60
"""Seconds between two moves of a drag."""
LEAST_STEPS = 6
MOST_STEPS = 240
WHEEL_PATIENCE = 1.0
"""Seconds a scroll that has begun may take to come to rest."""
WHEEL_QUIET = 6
"""Frames without any movement after which a wheel is taken to have moved nothing."""


class WebPointer(Pointer):
    """A mouse on the current page. Points are CSS pixels of its viewport."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def move(self, point: Point) -> Acted:
        """See `Pointer.move`."""
        page = await self._instance.page()
        return await act(page, "mouse", lambda: page.send([_event("mouseMoved", point)], deadline=INPUT_DEADLINE))

    async def click(self, point: Point, *, button: Button = "primary", count: int = 1, hold: float = 0.0) -> Acted:
        """See `Pointer.click`. Move, press and release travel together where nothing is held."""
        page = await self._instance.page()

        async def work() -> None:
            calls = [_event("mouseMoved", point)]
            for number in range(1, count + 1):
                pressed = _event("mousePressed", point, button, number)
                released = _event("mouseReleased", point, button, number)
                calls.append(pressed)
                if hold > 0:
                    await page.send(calls, deadline=INPUT_DEADLINE)
                    await pause(page, hold)
                    calls = []
                calls.append(released)
            await page.send(calls, deadline=INPUT_DEADLINE)

        return await act(page, "mouse", work, given=True, at=point, count=count, seconds=hold * count)

    async def drag(self, start: Point, end: Point, *, seconds: float, button: Button = "primary") -> Acted:
        """See `Pointer.drag`. A page that uses HTML drag and drop gets its drag events, with its data."""
        page = await self._instance.page()

        async def work() -> dict[str, Any]:
            page.drag = None
            await page.send(
                [("Input.setInterceptDrags", {"enabled": True}), _event("mouseMoved", start)], deadline=INPUT_DEADLINE
            )
            try:
                await page.send([_event("mousePressed", start, button, 1)], deadline=INPUT_DEADLINE)
                dropped = await _drag(page, start, end, seconds, button)
            finally:
                await _stop_intercepting(page)
            return {"html_drag": dropped}

        return await act(page, "mouse", work, given=True, at=start, seconds=seconds)

    async def wheel(self, point: Point, *, dx: float = 0.0, dy: float = 0.0) -> Acted:
        """See `Pointer.wheel`. Verified by reading how far whatever scrolls under the point has moved."""
        page = await self._instance.page()
        if dx == 0 and dy == 0:
            raise InvalidArgument("The wheel is turned by nothing.", param="dy", expected="dx or dy other than 0")

        frames = await _mark_scroll(page, point)

        async def work() -> dict[str, Any]:
            params = {"type": "mouseWheel", "x": point.x, "y": point.y, "deltaX": dx, "deltaY": dy}
            await page.send([("Input.dispatchMouseEvent", params)], deadline=INPUT_DEADLINE)
            moved = await _scrolled(frames)
            return {"verified": moved != (0.0, 0.0), "moved": [round(moved[0], 1), round(moved[1], 1)]}

        return await act(page, "wheel", work)


async def pause(page: Page, seconds: float) -> None:
    """Waits, unless a dialog, a crash or the end of the tab comes first (raised as `Page.guard`)."""
    end = anyio.current_time() + seconds
    while (left := end - anyio.current_time()) > 0:
        page.guard()
        await page.change(left)
    page.guard()


def path(start: Point, end: Point, seconds: float) -> list[Point]:
    """Points on the way from `start` (left out) to `end`, one for each step in time."""
    steps = min(max(math.ceil(seconds / STEP), LEAST_STEPS), MOST_STEPS)
    return [
        Point(start.x + (end.x - start.x) * step / steps, start.y + (end.y - start.y) * step / steps)
        for step in range(1, steps + 1)
    ]


def _event(kind: str, point: Point, button: Button | None = None, count: int = 0) -> tuple[str, dict[str, Any]]:
    params: dict[str, Any] = {"type": kind, "x": point.x, "y": point.y}
    if button is not None:
        name, bit = NAMES[button]
        params |= {"button": name, "clickCount": count, "buttons": 0 if kind == "mouseReleased" else bit}
    return "Input.dispatchMouseEvent", params


async def _drag(page: Page, start: Point, end: Point, seconds: float, button: Button) -> bool:
    points = path(start, end, seconds)
    entered = False
    for point in points:
        if page.drag is None:
            await page.send([_event("mouseMoved", point, button, 1)], deadline=INPUT_DEADLINE)
        if page.drag is not None:
            await _over(page, point, first=not entered)
            entered = True
        await pause(page, max(seconds / len(points), 0.002))
    if page.drag is None:
        await ask_main(page, "turn")  # a drag that the last move began is told by now
    if page.drag is not None:
        await _over(page, end, first=not entered)
        await page.send([_drag_event("drop", end, page.drag)], deadline=INPUT_DEADLINE)
    await page.send([_event("mouseReleased", end, button, 1)], deadline=INPUT_DEADLINE)
    return page.drag is not None


async def _over(page: Page, point: Point, *, first: bool) -> None:
    assert page.drag is not None
    calls = [_drag_event("dragEnter", point, page.drag)] if first else []
    await page.send([*calls, _drag_event("dragOver", point, page.drag)], deadline=INPUT_DEADLINE)


def _drag_event(kind: str, point: Point, data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "Input.dispatchDragEvent", {"type": kind, "x": point.x, "y": point.y, "data": data}


async def _stop_intercepting(page: Page) -> None:
    if page.session.gone is None and page.dialog is None and not page.crashed:
        with anyio.CancelScope(shield=True):
            try:
                await page.call(page.session, "Input.setInterceptDrags", {"enabled": False}, deadline=1.0)
            except (ProtocolError, Gone, AnydeviceError):
                return


async def _mark_scroll(page: Page, point: Point) -> list[Frame]:
    """Remembers scroll positions under a point, in every document that shows there."""
    frames = [page.main]
    found = await ask_main(page, "markScroll", {"x": point.x, "y": point.y})
    while found is not None:
        inner = await frames[-1].inner(found["frame"])
        if inner is None:
            break
        try:
            found = await inner.ask("markScroll", {"x": found["x"], "y": found["y"]})
        except WorldLost:
            break
        frames.append(inner)
    return frames


async def _scrolled(frames: list[Frame]) -> tuple[float, float]:
    """How far things have moved since `_mark_scroll`, innermost document first."""
    for frame in reversed(frames):
        try:
            moved = await frame.ask("scrolled", {"patience": WHEEL_PATIENCE * 1000, "quiet": WHEEL_QUIET})
        except WorldLost:
            continue
        if moved != [0, 0]:
            return moved[0], moved[1]
    return 0.0, 0.0
