"""Fingers on the glass, by the device's own input programs.

`uitest` takes a speed where a gesture has a duration: the last number of a swipe is pixels a second. What is too slow
or too fast for it, rests, or has more than one finger, goes through `uinput`, which takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import Final

from anydevice.driver import Acted, Touch
from anydevice_schemas import Point
from anydevice_schemas.errors import InvalidArgument, Unsupported

from .reach import Reach

SLOWEST, FASTEST = 200, 40_000
"""Pixels a second that uitest takes; anything else it replaces by a speed of its own."""
LONGEST: Final = 15_000
"""Milliseconds of one movement of uinput."""
RESTING: Final = 500
"""Milliseconds that its drag rests, and moves, at least."""
FINGERS: Final = 3
"""Fingers it moves at once."""
BETWEEN: Final = 50
"""Milliseconds between two taps of several."""
BEND: Final = 0.25
"""How far a path may stray from the straight line, as a part of that line: as a turn by 90 degrees does."""


class HarmonyosTouch(Touch):
    """See `Touch`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def tap(self, point: Point, *, count: int = 1) -> Acted:
        """See `Touch.tap`.

        Raises:
            AnydeviceError: As `Reach.input`.
        """
        x, y = await self._reach.pixels(point)
        if count == 1:
            await self._reach.input(f"uitest uiInput click {x} {y}")
        elif count == 2:
            await self._reach.input(f"uitest uiInput doubleClick {x} {y}")
        else:
            taps = f" -i {BETWEEN} ".join([f"-d {x} {y} -u {x} {y}"] * count)
            await self._reach.input(f"uinput -T {taps}", seconds=count * BETWEEN / 1000)
        return Acted("touch")

    async def hold(self, point: Point, *, seconds: float) -> Acted:
        """See `Touch.hold`: for as long as is asked, which uitest's own long press cannot.

        Raises:
            AnydeviceError: As `Reach.input`.
        """
        x, y = await self._reach.pixels(point)
        rest = " ".join(f"-i {part}" for part in _parts(round(seconds * 1000)))
        await self._reach.input(f"uinput -T -d {x} {y} {rest} -u {x} {y}", seconds=seconds)
        return Acted("touch")

    async def swipe(self, start: Point, end: Point, *, seconds: float) -> Acted:
        """See `Touch.swipe`.

        Raises:
            AnydeviceError: As `Reach.input`.
        """
        return await self._stroke(start, end, seconds)

    async def drag(self, start: Point, end: Point, *, hold: float, seconds: float) -> Acted:
        """See `Touch.drag`: down, a rest of `hold` seconds (half a second at least, where any is wanted), then the way.

        Raises:
            AnydeviceError: As `Reach.input`.
        """
        if hold <= 0:
            return await self._stroke(start, end, seconds)
        x, y, to_x, to_y = await self._reach.pixels(start, end, whole=True)
        rest = min(max(RESTING, round(hold * 1000)), LONGEST - RESTING)
        way = min(max(RESTING, round(seconds * 1000)), LONGEST - rest)
        line = f"uinput -T -g {x} {y} {to_x} {to_y} {rest} {rest + way}"
        await self._reach.input(line, seconds=(rest + way) / 1000)
        return Acted("touch", data={"heldMs": rest, "movedMs": way})

    async def multi_touch(self, fingers: Sequence[Sequence[Point]], *, seconds: float) -> Acted:
        """See `Touch.multi_touch`: two or three fingers, each along a straight line.

        Raises:
            Unsupported: There are more, or a path is no line.
            InvalidArgument: A path is empty.
            AnydeviceError: As `Reach.input`.
        """
        if not 2 <= len(fingers) <= FINGERS:
            raise _unsupported("HarmonyOS moves two or three fingers at once.", "Use two fingers.", "fingers")
        if any(not path for path in fingers):
            raise InvalidArgument("A finger's path has no place.", param="fingers", expected="two places or more")
        if any(bend(path) > BEND for path in fingers):
            raise _unsupported(
                "HarmonyOS's input program moves fingers along straight lines only.",
                "Turn by 90 degrees at most; for more, turn several times.",
                "curved path",
            )
        ends = [point for path in fingers for point in (path[0], path[-1])]
        numbers = await self._reach.pixels(*ends, whole=True)
        way = min(max(1, round(seconds * 1000)), LONGEST)
        line = f"uinput -T -m {' '.join(map(str, numbers))} {way}"
        await self._reach.input(line, seconds=seconds)
        return Acted("touch", data={"straight": True})

    async def _stroke(self, start: Point, end: Point, seconds: float) -> Acted:
        x, y, to_x, to_y = await self._reach.pixels(start, end, whole=True)
        length = hypot(to_x - x, to_y - y)
        speed = round(length / seconds) if seconds > 0 else FASTEST + 1
        if SLOWEST <= speed <= FASTEST:
            await self._reach.input(f"uitest uiInput swipe {x} {y} {to_x} {to_y} {speed}", seconds=seconds)
        else:
            way = min(max(1, round(seconds * 1000)), LONGEST)
            await self._reach.input(f"uinput -T -m {x} {y} {to_x} {to_y} {way}", seconds=seconds)
        return Acted("touch")


def bend(path: Sequence[Point]) -> float:
    """The farthest that a path strays from the line between its ends, as a part of that line's length."""
    start, end = path[0], path[-1]
    dx, dy = end.x - start.x, end.y - start.y
    length = hypot(dx, dy)
    if length == 0:
        return max(hypot(at.x - start.x, at.y - start.y) for at in path)
    return max(abs(dx * (at.y - start.y) - dy * (at.x - start.x)) for at in path) / length**2


def _parts(milliseconds: int) -> list[int]:
    """A time in parts that uinput takes: 1 to 15000 ms each."""
    whole, rest = divmod(max(1, milliseconds), LONGEST)
    return [LONGEST] * whole + ([rest] if rest else [])


def _unsupported(message: str, hint: str, reason: str) -> Unsupported:
    return Unsupported(message, hint=hint, operation="touch.multi_touch", alternatives=["touch.swipe"], reason=reason)
