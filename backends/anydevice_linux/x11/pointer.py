"""The mouse, by XTEST."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
from Xlib import X

from anydevice.driver import Acted, Button, Pointer
from anydevice_schemas import Point
from anydevice_schemas.errors import FocusUnavailable, InvalidArgument

from .connection import Connection
from .display import XDisplay
from .passing import Passing

NUMBERS: dict[str, int] = {"primary": 1, "middle": 2, "secondary": 3}
UP, DOWN, LEFT, RIGHT = 4, 5, 6, 7
"""Buttons of the wheel."""
NOTCH = 60.0
"""Points one notch of the wheel is taken for; programs differ (GTK about 50, browsers 120)."""
MOST_NOTCHES = 200
STEP = 1 / 60
"""Seconds between two moves of a drag."""
LEAST_STEPS = 8
MOST_STEPS = 240
REST = 0.05
"""Seconds the pointer rests at the end of a drag before the button is let go: who drops there has to see it first."""
RELEASE = 3.0
"""Seconds the release of a held button may take, also when the call was cancelled."""

Measure = Callable[[Point], Awaitable[tuple[float, float] | None]]
"""How far what is under a point is scrolled; None where nobody knows."""


class XPointer(Pointer):
    """The mouse of an X display. Points are its pixels.

    Args:
        display: The display.
        measure: Says how far things are scrolled, where somebody can.
    """

    def __init__(self, display: XDisplay, measure: Measure | None = None) -> None:
        self._display = display
        self._measure = measure
        self._passing = Passing(display)

    async def move(self, point: Point) -> Acted:
        """See `Pointer.move`. Verified: the pointer is asked for where it is."""
        await self._display.do(lambda connection: _go(connection, point), sent="move")
        return Acted("mouse", verified=True)

    async def click(self, point: Point, *, button: Button = "primary", count: int = 1, hold: float = 0.0) -> Acted:
        """See `Pointer.click`. Two clicks of one call are a double click; so are two calls in quick succession."""
        number = NUMBERS[button]

        def clicks(connection: Connection) -> None:
            _go(connection, point)
            physical = _physical(connection, number)
            for _ in range(count):
                connection.give(X.ButtonPress, physical)
                connection.give(X.ButtonRelease, physical)
            connection.settle()

        def press(connection: Connection) -> None:
            _go(connection, point)
            connection.give(X.ButtonPress, _physical(connection, number))
            connection.settle()

        if hold <= 0:
            await self._display.do(clicks, sent="click")
            await self._passing.passed()
            return Acted("mouse")
        for _ in range(count):
            await self._held(number, press, lambda: anyio.sleep(hold))
        return Acted("mouse")

    async def drag(self, start: Point, end: Point, *, seconds: float, button: Button = "primary") -> Acted:
        """See `Pointer.drag`. The button is let go wherever the drag ends, also when the call is cancelled."""
        number = NUMBERS[button]
        way = path(start, end, seconds)

        def press(connection: Connection) -> None:
            _inside(connection, end)  # before the button is down
            _go(connection, start)
            connection.give(X.ButtonPress, _physical(connection, number))
            connection.settle()

        async def along() -> None:
            begun = anyio.current_time()
            for done, point in enumerate(way, 1):
                await anyio.sleep(max(0.0, begun + seconds * done / len(way) - anyio.current_time()))
                await self._display.do(lambda connection, to=point: _slide(connection, to), sent="drag")  # type: ignore[misc]
            await anyio.sleep(REST)

        await self._held(number, press, along)
        return Acted("mouse")

    async def wheel(self, point: Point, *, dx: float = 0.0, dy: float = 0.0) -> Acted:
        """See `Pointer.wheel`. X knows notches only; how far they went is told where it can be measured."""
        if dx == 0 and dy == 0:
            raise InvalidArgument("The wheel is turned by nothing.", param="dy", expected="dx or dy other than 0")
        turns = [(RIGHT if dx > 0 else LEFT, notches(dx)), (DOWN if dy > 0 else UP, notches(dy))]

        def turn(connection: Connection) -> None:
            _go(connection, point)
            for number, count in turns:
                physical = _physical(connection, number) if count else 0
                for _ in range(count):
                    connection.give(X.ButtonPress, physical)
                    connection.give(X.ButtonRelease, physical)
            connection.settle()

        before = await self._measure(point) if self._measure is not None else None
        await self._display.do(turn, sent="wheel")
        acted = Acted("wheel", data={"notches": [notches(dx), notches(dy)]})
        if before is None or self._measure is None:
            return acted
        after = await self._measure(point)
        if after is None:
            return acted
        moved = [round(after[0] - before[0], 1), round(after[1] - before[1], 1)]
        return replace(acted, verified=moved != [0, 0], data={**acted.data, "moved": moved})

    async def _held(
        self, number: int, press: Callable[[Connection], None], between: Callable[[], Awaitable[None]]
    ) -> None:
        """Presses, does what is to be done with the button down, and lets go whatever comes."""

        def release(connection: Connection) -> None:
            connection.give(X.ButtonRelease, _physical(connection, number))
            connection.settle()

        try:
            await self._display.do(press, sent="press")
            await between()
        finally:
            if not self._display.lost:
                with anyio.CancelScope(shield=True):
                    await self._display.do(release, RELEASE, sent="release")


def path(start: Point, end: Point, seconds: float) -> list[Point]:
    """Points on the way from `start` (left out) to `end`, one for each step in time."""
    steps = min(max(math.ceil(seconds / STEP), LEAST_STEPS), MOST_STEPS)
    return [
        Point(start.x + (end.x - start.x) * step / steps, start.y + (end.y - start.y) * step / steps)
        for step in range(1, steps + 1)
    ]


def notches(distance: float) -> int:
    """Notches of the wheel for a distance in points: at least one for any distance, none for none."""
    return min(max(1, round(abs(distance) / NOTCH)), MOST_NOTCHES) if distance else 0


# --- in the display's thread ---------------------------------------------------------------------------


def _inside(connection: Connection, point: Point) -> tuple[int, int]:
    """The pixel of a point.

    Raises:
        InvalidArgument: It is not on the screen; the server would take the nearest edge for it.
    """
    size = connection.screen().root.get_geometry()
    x, y = math.floor(point.x), math.floor(point.y)
    if not (0 <= x < size.width and 0 <= y < size.height):
        raise InvalidArgument(
            "The point is not on the screen.",
            param="point",
            expected=f"x from 0 to {size.width - 1}, y from 0 to {size.height - 1}",
            given=[point.x, point.y],
        )
    return x, y


def _go(connection: Connection, point: Point) -> None:
    """Moves the pointer and sees it there, so that no button is pressed anywhere else."""
    x, y = _inside(connection, point)
    connection.give(X.MotionNotify, x=x, y=y)
    now = connection.screen().root.query_pointer()
    if (now.root_x, now.root_y) != (x, y):
        raise FocusUnavailable(
            "The pointer does not go there: a program keeps it, or a person moves it.",
            holder="another program or person",
            fix="Close what keeps the pointer (a game, a remote screen), or let go of the mouse.",
            expected=[x, y],
            actual=[now.root_x, now.root_y],
        )


def _physical(connection: Connection, number: int) -> int:
    """The button of the mouse that programs are told is button `number`: a left-handed person may have changed them."""
    mapping = list(connection.get_pointer_mapping())
    if number not in mapping:
        raise InvalidArgument(
            "The mouse of this display has no such button.",
            param="button",
            expected="a button that is not switched off",
        )
    return mapping.index(number) + 1


def _slide(connection: Connection, point: Point) -> None:
    connection.give(X.MotionNotify, x=math.floor(point.x), y=math.floor(point.y))
    connection.settle()
