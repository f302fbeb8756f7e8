"""Touches by place: taps, drags, several fingers. The agent of a television has none of them."""

from __future__ import annotations

from math import cos, hypot, pi, sin
from typing import Any

import anyio

from ..model import input as hands
from ..model.nodes import XNode
from .elements import bring_into_view, middle, touch
from .errors import WdaError
from .finding import predicate
from .session import Request, Route
from .source import rest

Place = tuple[float, float]
DRAG_SECONDS, SWIPE_SECONDS, DOUBLE_GAP = 0.2, 0.1, 0.02
SPREAD = 120.0
WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


async def _on(request: Request) -> XNode | None:
    """The element of the path, if there is one; it is scrolled into view."""
    await rest(request)
    if "element" not in request.params:
        return None
    request.server.blocked(system=not request.setting("respectSystemAlerts"))
    return await bring_into_view(request, request.element())


def _place(request: Request, node: XNode | None, x: str = "x", y: str = "y") -> Place:
    """The place that is asked for: from the corner of an element, or of the screen; its middle where none is said."""
    given = request.body.get(x), request.body.get(y)
    if given == (None, None):
        return _middle_of(request, node)
    if None in given:
        raise WdaError("invalid argument", "Both x and y coordinates must be provided")
    return _from_corner(request, node, x, y)


def _from_corner(request: Request, node: XNode | None, x: str, y: str) -> Place:
    left, top = (node.rect.x, node.rect.y) if node is not None else (0.0, 0.0)
    return left + request.number(x, 0.0), top + request.number(y, 0.0)


async def tap(request: Request) -> Any:
    """`POST S/wda/tap {x, y}`, `S/wda/element/:element/tap`."""
    await touch(request, *_place(request, await _on(request)))


async def double_tap(request: Request) -> Any:
    """`…/doubleTap`."""
    await touch(request, *_place(request, await _on(request)), count=2)


async def taps(request: Request) -> Any:
    """`…/tapWithNumberOfTaps {numberOfTaps, numberOfTouches}`."""
    if request.body.get("numberOfTaps") is None or request.body.get("numberOfTouches") is None:
        raise WdaError("invalid argument", "Both 'numberOfTaps' and 'numberOfTouches' arguments must be provided")
    await touch(request, *_middle_of(request, await _on(request)), count=int(request.number("numberOfTaps")))


async def touch_and_hold(request: Request) -> Any:
    """`…/touchAndHold {x, y, duration}`, in seconds."""
    await touch(request, *_place(request, await _on(request)), request.number("duration", 0.0))


async def two_finger_tap(request: Request) -> Any:
    """`…/twoFingerTap`."""
    x, y = _middle_of(request, await _on(request))
    await _fingers(request, [[(x - 20, y), (x - 20, y)], [(x + 20, y), (x + 20, y)]], 0.05)


def _middle_of(request: Request, node: XNode | None) -> Place:
    if node is not None:
        return middle(request, node)
    geometry = request.machine.screen_geometry
    return geometry.width / 2, geometry.height / 2


async def _fingers(request: Request, paths: list[list[Place]], seconds: float) -> None:
    if request.device.faults.active("touch_ignored"):
        request.device.journal.add("touch_ignored", paths=len(paths))
        await anyio.sleep(seconds)
        return
    await hands.fingers(request.machine, paths, seconds)


async def _drag(  # noqa: PLR0917 - private; two places and two times, in the order they happen
    request: Request, start: Place, end: Place, seconds: float, hold: float = 0.0, pause: float = 0.0
) -> None:
    if request.device.faults.active("touch_ignored"):
        request.device.journal.add("touch_ignored", start=list(start), end=list(end))
        await anyio.sleep(seconds)
        return
    await hands.drag(request.machine, start, end, seconds, hold, pause)


async def drag(request: Request) -> Any:
    """`…/dragfromtoforduration {fromX, fromY, toX, toY, duration}`: held for so long, then dragged."""
    node = await _on(request)
    start, end = _from_corner(request, node, "fromX", "fromY"), _from_corner(request, node, "toX", "toY")
    await _drag(request, start, end, DRAG_SECONDS, request.number("duration", 0.0))


async def press_and_drag(request: Request) -> Any:
    """`…/pressAndDragWithVelocity {fromX, … | toElement, pressDuration, holdDuration, velocity}`: points a second."""
    node = await _on(request)
    if node is not None:
        end = middle(request, request.element(str(request.given("toElement"))))
        start = middle(request, node)
    else:
        start, end = _from_corner(request, None, "fromX", "fromY"), _from_corner(request, None, "toX", "toY")
    speed = max(1.0, request.number("velocity", 800))
    seconds = min(10.0, hypot(end[0] - start[0], end[1] - start[1]) / speed)
    await _drag(request, start, end, seconds, request.number("pressDuration", 0.1), request.number("holdDuration", 0.0))


async def swipe(request: Request) -> Any:
    """`…/swipe {direction, velocity}`: over most of an element, or of the screen."""
    node = await _on(request)
    way = str(request.body.get("direction") or "").lower()
    if way not in WAYS:
        listed = ", ".join(WAYS)
        text = f"Unsupported swipe direction '{way}'. Only the following directions are supported: ({listed})"
        raise WdaError("invalid argument", text if way else "Missing 'direction' parameter")
    x, y = _place(request, node)
    geometry = request.machine.screen_geometry
    wide, tall = (node.rect.width, node.rect.height) if node is not None else (geometry.width, geometry.height)
    dx, dy = WAYS[way][0] * wide * 0.35, WAYS[way][1] * tall * 0.35
    await _drag(request, (x - dx, y - dy), (x + dx, y + dy), SWIPE_SECONDS)


async def scroll(request: Request) -> Any:
    """`…/scroll {direction, distance | name | predicateString | toVisible}`: the content goes the other way."""
    node, body = await _on(request), request.body
    name, way, sought = body.get("name"), body.get("direction"), body.get("predicateString")
    if name or (sought and not way):
        root = node if node is not None else request.tree()
        test = predicate(str(sought)) if not name else None
        found = [one for one in root.walk() if (test(one) if test is not None else one.name == name)]
        if not found:
            what = f"'{name}' identifier" if name else f"'{sought}' predicate"
            raise WdaError("no such element", f"{what} didn't match any elements")
        await bring_into_view(request, found[-1])
        return None
    if not way:
        if not body.get("toVisible"):
            raise WdaError("invalid argument", "Unsupported scroll type")
        if node is not None:
            await bring_into_view(request, node)
        return None
    if way not in WAYS:
        return None  # a direction it does not know is no error
    x, y = _middle_of(request, node)
    geometry = request.machine.screen_geometry
    wide, tall = (node.rect.width, node.rect.height) if node is not None else (geometry.width, geometry.height)
    share = float(body.get("distance") or 1.0) / 2 * 0.8
    dx, dy = WAYS[way][0] * wide * share, WAYS[way][1] * tall * share
    await _drag(request, (x + dx, y + dy), (x - dx, y - dy), SWIPE_SECONDS)
    return None


async def pinch(request: Request) -> Any:
    """`…/pinch {scale, velocity}`."""
    node = await _on(request)
    scale, speed = request.number("scale", 0.0), request.number("velocity", 0.0)
    if scale <= 0 or (scale > 1) != (speed > 0):
        # The system's own complaint; its words were not seen.
        raise WdaError("unknown error", "Scale must be positive, and velocity negative where scale is less than 1")
    x, y = _middle_of(request, node)
    near = _reach(node) * (1 / scale if scale > 1 else 1)
    far = near * scale
    await _fingers(request, [[(x - near, y), (x - far, y)], [(x + near, y), (x + far, y)]], DRAG_SECONDS)


async def rotate(request: Request) -> Any:
    """`…/rotate {rotation, velocity}`, in radians."""
    node = await _on(request)
    turned = request.number("rotation", 0.0)
    x, y, reach = *_middle_of(request, node), _reach(node)
    steps = 8

    def path(first: float) -> list[Place]:
        angles = (first + turned * step / steps for step in range(steps + 1))
        return [(x + reach * cos(angle), y + reach * sin(angle)) for angle in angles]

    await _fingers(request, [path(pi), path(0.0)], DRAG_SECONDS)


def _reach(node: XNode | None) -> float:
    """How far from the middle two fingers are at most."""
    return SPREAD / 2 if node is None else max(8.0, min(node.rect.width, node.rect.height) / 2 - 4)


S = "/session/:session"
_VERBS: dict[str, Route] = {
    "tap": tap, "doubleTap": double_tap, "twoFingerTap": two_finger_tap, "touchAndHold": touch_and_hold,
    "tapWithNumberOfTaps": taps, "dragfromtoforduration": drag, "pressAndDragWithVelocity": press_and_drag,
    "swipe": swipe, "scroll": scroll, "pinch": pinch, "rotate": rotate,
}  # fmt: skip
ROUTES: dict[tuple[str, str], Route] = {
    **{("POST", f"{S}/wda/{name}"): route for name, route in _VERBS.items()},
    **{("POST", f"{S}/wda/element/:element/{name}"): route for name, route in _VERBS.items()},
}
