"""Fingers as actions of the W3C WebDriver protocol (`POST /session/:id/actions`), in points and milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from anydevice_schemas import Point

from .engine import Move

DOUBLE: Final = 0.08
"""Seconds between the taps of several."""
Steps = Sequence[Mapping[str, Any]]
_DOWN: Final[Mapping[str, Any]] = {"type": "pointerDown", "button": 0}
_UP: Final[Mapping[str, Any]] = {"type": "pointerUp", "button": 0}


def _pause(seconds: float) -> dict[str, Any]:
    return {"type": "pause", "duration": round(seconds * 1000)}


def _to(point: Point, seconds: float) -> dict[str, Any]:
    return {
        "type": "pointerMove", "duration": round(seconds * 1000), "origin": "viewport",
        "x": round(point.x, 2), "y": round(point.y, 2),
    }  # fmt: skip


def steps_of(move: Move) -> Steps:
    """One finger that moves."""
    first, *rest = move.path
    steps: list[Mapping[str, Any]] = [_to(first, 0.0), _DOWN]
    if move.rest > 0:
        steps.append(_pause(move.rest))
    steps += [_to(point, move.seconds / max(1, len(rest))) for point in rest]
    if move.end_rest > 0:
        steps.append(_pause(move.end_rest))
    return [*steps, _UP]


def taps(point: Point, count: int) -> Steps:
    """Several taps at one place."""
    steps: list[Mapping[str, Any]] = [_to(point, 0.0)]
    for _ in range(count):
        steps += [_DOWN, _pause(DOUBLE / 2), _UP, _pause(DOUBLE)]
    return steps


def actions(fingers: Sequence[Steps]) -> dict[str, Any]:
    """The body of the request, one finger for each."""
    return {
        "actions": [
            {"type": "pointer", "id": f"finger{number}", "parameters": {"pointerType": "touch"}, "actions": list(steps)}
            for number, steps in enumerate(fingers, 1)
        ]
    }
