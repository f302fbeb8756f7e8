"""The mouse, by a virtual pointer of our own (wlr-virtual-pointer)."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from anydevice.driver import Acted, Button, Pointer
from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import InvalidArgument

from ..x11.pointer import NOTCH, REST, notches, path
from .compositor import Compositor
from .connection import Thing
from .protocol import VIRTUAL_POINTER, VIRTUAL_POINTER_MANAGER
from .session import MOUSE, Session, around

CODES: Final[dict[str, int]] = {"primary": 0x110, "secondary": 0x111, "middle": 0x112}
"""Buttons, as the kernel counts them."""
UP, DOWN = 0, 1
VERTICAL, HORIZONTAL = 0, 1
WHEEL: Final = 0
"""Source of an axis: a wheel that turns by notches."""
NOTCH_VALUE: Final = 15.0
"""What one notch of a mouse's wheel is worth on Wayland."""
FINE: Final = 256
"""Parts of a point the compositor is told."""
RELEASE: Final = 3.0
"""Seconds the release of a held button may take, also when the call was cancelled."""


class WPointer(Pointer):
    """The mouse of a Wayland session. Where it is nobody tells, so a move is never verified."""

    def __init__(self, compositor: Compositor) -> None:
        self._compositor = compositor
        self._thing: Thing | None = None

    async def prepare(self) -> bool:
        """Makes the mouse, where the compositor lets programs; True if the session had none before."""

        def prepare(session: Session) -> bool:
            if not session.offers(VIRTUAL_POINTER_MANAGER) or session.can(MOUSE):
                return False
            self._pointer(session)
            session.connection.settle()
            return True

        return await self._compositor.do(prepare)

    async def move(self, point: Point) -> Acted:
        """See `Pointer.move`."""

        def move(session: Session) -> None:
            self._go(session, point)
            session.connection.settle()

        await self._compositor.noticed()
        await self._compositor.do(move, sent="move")
        return Acted("virtual-pointer")

    async def click(self, point: Point, *, button: Button = "primary", count: int = 1, hold: float = 0.0) -> Acted:
        """See `Pointer.click`. Two clicks of one call are a double click; so are two calls in quick succession."""
        code = CODES[button]

        def clicks(session: Session) -> None:
            self._go(session, point)
            for _ in range(count):
                self._button(session, code, DOWN)
                self._button(session, code, UP)
            session.connection.settle()

        await self._compositor.noticed()
        if hold <= 0:
            await self._compositor.do(clicks, sent="click")
            return Acted("virtual-pointer")
        for _ in range(count):
            await self._held(code, point, lambda: anyio.sleep(hold))
        return Acted("virtual-pointer")

    async def drag(self, start: Point, end: Point, *, seconds: float, button: Button = "primary") -> Acted:
        """See `Pointer.drag`. The button is let go wherever the drag ends, also when the call is cancelled."""
        way = path(start, end, seconds)
        await self._compositor.noticed()
        await self._compositor.do(lambda session: _inside(session, end))  # before the button is down

        def slide(session: Session, to: Point) -> None:
            self._go(session, to)
            session.connection.settle()

        async def along() -> None:
            begun = anyio.current_time()
            for done, point in enumerate(way, 1):
                await anyio.sleep(max(0.0, begun + seconds * done / len(way) - anyio.current_time()))
                await self._compositor.do(lambda session, to=point: slide(session, to), sent="drag")  # type: ignore[misc]
            await anyio.sleep(REST)

        await self._held(CODES[button], start, along)
        return Acted("virtual-pointer")

    async def wheel(self, point: Point, *, dx: float = 0.0, dy: float = 0.0) -> Acted:
        """See `Pointer.wheel`. It turns by whole notches, as a mouse's does."""
        if dx == 0 and dy == 0:
            raise InvalidArgument("The wheel is turned by nothing.", param="dy", expected="dx or dy other than 0")

        def turn(session: Session) -> None:
            self._go(session, point)
            pointer = self._pointer(session)
            for axis, distance in ((HORIZONTAL, dx), (VERTICAL, dy)):
                step = math.copysign(1, distance)
                for _ in range(notches(distance)):
                    session.connection.ask(pointer, "axis_source", None, WHEEL)
                    values = (_now(), axis, NOTCH_VALUE * step, int(step))
                    session.connection.ask(pointer, "axis_discrete", None, *values)
                    session.connection.ask(pointer, "frame")
            session.connection.settle()

        await self._compositor.noticed()
        await self._compositor.do(turn, sent="wheel")
        return Acted("wheel", data={"notches": [notches(dx), notches(dy)], "notch": NOTCH})

    async def _held(self, code: int, point: Point, between: Callable[[], Awaitable[None]]) -> None:
        """Presses at a point, does what is to be done with the button down, and lets go whatever comes."""

        def press(session: Session) -> None:
            self._go(session, point)
            self._button(session, code, DOWN)
            session.connection.settle()

        def release(session: Session) -> None:
            self._button(session, code, UP)
            session.connection.settle()

        try:
            await self._compositor.do(press, sent="press")
            await between()
        finally:
            if not self._compositor.lost:
                with anyio.CancelScope(shield=True):
                    await self._compositor.do(release, RELEASE, sent="release")

    # --- in the compositor's thread ----------------------------------------------------------------------

    def _pointer(self, session: Session) -> Thing:
        if self._thing is None:
            manager = session.take(VIRTUAL_POINTER_MANAGER, "pointer")
            self._thing = session.connection.ask(
                manager, "create_virtual_pointer", VIRTUAL_POINTER, session.seat("pointer")
            )
        assert self._thing is not None
        return self._thing

    def _go(self, session: Session, point: Point) -> None:
        pointer = self._pointer(session)
        screen = _inside(session, point)
        x, y = (round(value * FINE) for value in (point.x - screen.x, point.y - screen.y))
        extent = (round(screen.width * FINE), round(screen.height * FINE))
        session.connection.ask(pointer, "motion_absolute", None, _now(), x, y, *extent)
        session.connection.ask(pointer, "frame")

    def _button(self, session: Session, code: int, state: int) -> None:
        pointer = self._pointer(session)
        session.connection.ask(pointer, "button", None, _now(), code, state)
        session.connection.ask(pointer, "frame")


def _inside(session: Session, point: Point) -> Rect:
    """The rectangle around all screens.

    Raises:
        InvalidArgument: The point is on none of them; the compositor would take the nearest edge for it.
    """
    outputs = session.outputs()
    if not any(output.rect.contains(point) for output in outputs):
        screen = around(outputs)
        raise InvalidArgument(
            "The point is not on the screen.",
            param="point",
            expected=f"x from {screen.x:g} to {screen.x + screen.width - 1:g}, "
            f"y from {screen.y:g} to {screen.y + screen.height - 1:g}",
            given=[point.x, point.y],
        )
    return around(outputs)


def _now() -> int:
    """Milliseconds on the clock of input events."""
    return int(time.monotonic() * 1000) & 0xFFFFFFFF
