"""Fingers on the glass, by the device's own `input` program."""

from __future__ import annotations

from collections.abc import Sequence

from anydevice.driver import Acted, Touch
from anydevice_schemas import Point
from anydevice_schemas.errors import AnydeviceError, PermissionMissing, Unsupported

from .automation import Automation
from .fingers import move
from .reach import Reach

BETWEEN = 0.08
"""Seconds between the starts of two taps that are one double tap; `input` itself takes its time."""
DRAG_SINCE = 24
"""API level that has `input draganddrop`."""
START = 10.0
"""Seconds `input` may take besides what the gesture takes."""


class AndroidTouch(Touch):
    """See `Touch`."""

    def __init__(self, reach: Reach, automation: Automation | None = None) -> None:
        self._reach, self._automation = reach, automation

    async def tap(self, point: Point, *, count: int = 1) -> Acted:
        """See `Touch.tap`."""
        x, y = await self._reach.pixels(point)
        one = f"input tap {x} {y}"
        if count == 1:
            await self._do(one, 0.0)
        else:
            # Each tap is a process of its own: started one after the other they would be too far apart.
            taps = f"{one} & sleep {BETWEEN}; " * (count - 1) + one + "; wait"
            await self._do(taps, count * 1.0)
        return Acted("touch")

    async def hold(self, point: Point, *, seconds: float) -> Acted:
        """See `Touch.hold`."""
        return await self._swipe(point, point, seconds)

    async def swipe(self, start: Point, end: Point, *, seconds: float) -> Acted:
        """See `Touch.swipe`."""
        return await self._swipe(start, end, seconds)

    async def drag(self, start: Point, end: Point, *, hold: float, seconds: float) -> Acted:
        """See `Touch.drag`. Android rests on the start for its own long-press time, whatever `hold` is.

        Raises:
            Unsupported: The device is too old.
        """
        if 0 < self._reach.sdk < DRAG_SINCE:
            raise Unsupported(
                "This Android cannot drag.", operation="touch.drag", alternatives=["touch.swipe"], reason="API level"
            )
        x, y, to_x, to_y = await self._reach.pixels(start, end)
        await self._do(f"input draganddrop {x} {y} {to_x} {to_y} {round(seconds * 1000)}", hold + seconds)
        return Acted("touch", data={"heldSeconds": "the device's long-press time"})

    async def multi_touch(self, fingers: Sequence[Sequence[Point]], *, seconds: float) -> Acted:
        """See `Touch.multi_touch`; errors as `fingers.move`."""
        return await move(self._reach, self._automation, fingers, seconds)

    async def _swipe(self, start: Point, end: Point, seconds: float) -> Acted:
        numbers = await self._reach.pixels(start, end)
        words = " ".join(map(str, numbers))
        await self._do(f"input swipe {words} {round(seconds * 1000)}", seconds)
        return Acted("touch")

    async def _do(self, command: str, seconds: float) -> None:
        done = await self._reach.act(command, deadline=START + seconds)
        refuse_denied(done.both, done.status)


def refuse_denied(said: str, status: int) -> None:
    """Tells what `input` complained about; many phones forbid it until a setting is switched on.

    Raises:
        PermissionMissing: The device forbids input from the shell.
        AnydeviceError: It failed otherwise.
    """
    if "INJECT_EVENTS" in said or "SecurityException" in said:
        raise PermissionMissing(
            "The device does not let the shell send input.",
            permission="INJECT_EVENTS",
            fix="Developer options: switch on 'USB debugging (Security settings)', then repeat the call.",
        )
    if status != 0 or "Exception occurred" in said or said.startswith("Error"):
        raise failed(said, status)


def failed(said: str, status: int) -> AnydeviceError:
    """The error of an `input` that did not do what it was told to."""
    from anydevice_schemas.errors import UpstreamUnavailable

    return UpstreamUnavailable(
        "The device's input program failed.",
        upstream="input",
        enable_hint="See details; call doctor.",
        status=status,
        said=said[-2000:],
    )
