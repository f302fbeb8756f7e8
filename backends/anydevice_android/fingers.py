"""Two fingers at once, through the automation server: Android's `input` program has one finger only."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import Any, Final

from anydevice.driver import Acted
from anydevice_schemas import Point
from anydevice_schemas.errors import InvalidArgument, Unsupported, UpstreamUnavailable

from .automation import Automation, Refusal
from .reach import Reach

STEP: Final = 0.005
"""Seconds between two places the server puts the fingers at."""
BEND: Final = 0.25
"""How far a path may stray from the straight line, as a part of that line: as a turn by 90 degrees does."""
NEEDS: Final = (
    "Several fingers at once need the automation server; set automation = true in table [android] of the configuration "
    "file."
)
ANY: Final = {"mask": 0x8000, "childOrSibling": [], "childOrSiblingSelector": [], "enabled": True}
"""Any element, as the server takes selectors: it wants one, and looks at the places only."""


async def move(reach: Reach, automation: Automation | None, paths: Sequence[Sequence[Point]], seconds: float) -> Acted:
    """Moves two fingers from the starts of their paths to the ends, each along a straight line.

    Raises:
        Unsupported: There is no automation server, or there are not two fingers, or a path is no line.
        InvalidArgument: A path is empty.
        UpstreamUnavailable: The server cannot be started, or did not do it.
    """
    if automation is None:
        raise _unsupported("Android moves several fingers at once only through the automation server.", NEEDS, "server")
    if len(paths) != 2:
        raise _unsupported(
            "Android's automation moves two fingers at once, no more.", "Use two fingers.", f"{len(paths)} fingers"
        )
    if any(not path for path in paths):
        raise InvalidArgument("A finger's path has no place.", param="fingers", expected="two places or more for each")
    if any(bend(path) > BEND for path in paths):
        raise _unsupported(
            "Android's automation moves fingers along straight lines only.",
            "Turn by 90 degrees at most; for more, turn several times.",
            "curved path",
        )
    places = [await reach.pixels(path[0], path[-1]) for path in paths]
    starts, ends = ([{"x": at[side], "y": at[side + 1]} for at in places] for side in (0, 2))
    reach.acted()
    async with reach.slot:
        try:
            steps = max(2, round(seconds / STEP))
            done: Any = await automation.ask("gesture", ANY, *starts, *ends, steps, deadline=10.0 + 2 * seconds)
        except Refusal as refusal:
            raise _failed(str(refusal)) from None
    if done is False:
        raise _failed("false")
    return Acted("automation", data={"straight": True})


def bend(path: Sequence[Point]) -> float:
    """The farthest that a path strays from the line between its ends, as a part of that line's length."""
    start, end = path[0], path[-1]
    dx, dy = end.x - start.x, end.y - start.y
    length = hypot(dx, dy)
    if length == 0:
        return max(hypot(at.x - start.x, at.y - start.y) for at in path)
    return max(abs(dx * (at.y - start.y) - dy * (at.x - start.x)) for at in path) / length**2


def _unsupported(message: str, hint: str, reason: str) -> Unsupported:
    return Unsupported(message, hint=hint, operation="touch.multi_touch", alternatives=["touch.swipe"], reason=reason)


def _failed(said: str) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The automation server did not move the fingers.",
        upstream="automation server",
        enable_hint="Call snapshot, then repeat the call.",
        retryable=True,
        said=said[:500],
    )
