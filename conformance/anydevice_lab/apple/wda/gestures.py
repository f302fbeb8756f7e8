"""`POST S/actions`: what pointers and keys do at the same time, as WebDriver writes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio

from ..model import input as hands
from .elements import middle, touch
from .errors import WdaError
from .session import ELEMENT, Request, Route
from .touching import Place, _drag, _fingers

CODES = {
    "\ue003": "backspace", "\ue004": "tab", "\ue006": "enter", "\ue007": "enter", "\ue00c": "escape", "\ue00d": " ",
    "\ue00e": "pageup", "\ue00f": "pagedown", "\ue010": "end", "\ue011": "home", "\ue012": "left", "\ue013": "up",
    "\ue014": "right", "\ue015": "down", "\ue016": "insert", "\ue017": "delete",
    **{chr(0xE031 + n): f"f{n + 1}" for n in range(12)},
}  # fmt: skip
MODIFIERS = {"\ue008": "shift", "\ue009": "ctrl", "\ue00a": "alt", "\ue03d": "meta", "\ue050": "shift",
             "\ue051": "ctrl", "\ue052": "alt", "\ue053": "meta"}  # fmt: skip


@dataclass
class Stroke:
    """One finger from down to up; times in seconds.

    Attributes:
        path: Where it was.
        before: How long after the stroke before it came down.
        hold, moving, rest: How long it stayed, moved, and stayed again.
    """

    path: list[Place] = field(default_factory=list)
    before: float = 0.0
    hold: float = 0.0
    moving: float = 0.0
    rest: float = 0.0

    @property
    def moved(self) -> bool:
        """Whether it went anywhere."""
        return any(place != self.path[0] for place in self.path)


def strokes(request: Request, items: list[dict[str, Any]]) -> list[Stroke]:
    """The strokes of one pointer.

    Raises:
        WdaError: An item is none, or they do not fit together.
    """
    found: list[Stroke] = []
    at: Place = (0.0, 0.0)
    down, waited = False, 0.0
    for item in items:
        kind, seconds = item.get("type"), float(item.get("duration") or 0) / 1000
        if kind == "pointerMove":
            at = _where(request, item, at)
            if down:
                stroke = found[-1]
                stroke.path.append(at)
                stroke.moving += seconds + stroke.rest
                stroke.rest = 0.0
            else:
                waited += seconds
        elif kind == "pointerDown":
            found.append(Stroke([at], waited))
            down, waited = True, 0.0
        elif kind == "pointerUp":
            if not down:
                raise WdaError("unknown error", "Pointer Up must not be called without Pointer Down")
            down = False
        elif kind == "pause":
            if not down:
                waited += seconds
            elif found[-1].moved:
                found[-1].rest += seconds
            else:
                found[-1].hold += seconds
        else:
            raise WdaError("unknown error", f"Unsupported action type '{kind}'")
    if down:
        raise WdaError("unknown error", "Pointer Down must be followed by Pointer Up")
    return found


def _where(request: Request, item: dict[str, Any], at: Place) -> Place:
    x, y, origin = float(item.get("x") or 0), float(item.get("y") or 0), item.get("origin", "viewport")
    if origin == "pointer":
        return at[0] + x, at[1] + y
    if isinstance(origin, dict):
        node = request.element(str(origin.get(ELEMENT) or origin.get("ELEMENT")))
        center = middle(request, node)
        return center[0] + x, center[1] + y
    return x, y


async def actions(request: Request) -> Any:
    """`POST S/actions {actions: […]}`."""
    sources = request.given("actions")
    if not isinstance(sources, list) or not sources:
        raise WdaError("unknown error", "'actions' must be a not empty array")
    pointers: list[list[Stroke]] = []
    for source in sources:
        kind, items = source.get("type"), list(source.get("actions") or [])
        if kind == "pointer":
            if request.machine.kind.tv:
                raise WdaError("unknown error", "Touches are not supported on tvOS")
            pointers.append(strokes(request, items))
        elif kind == "key":
            await _keys(request, items)
        elif kind != "none":
            raise WdaError("unknown error", f"Unsupported action source type '{kind}'")
    pointers = [found for found in pointers if found]
    if len(pointers) == 1:
        for stroke in pointers[0]:
            await anyio.sleep(stroke.before)
            if stroke.moved:
                await _drag(request, stroke.path[0], stroke.path[-1], stroke.moving, stroke.hold, stroke.rest)
            else:
                await touch(request, *stroke.path[0], stroke.hold + stroke.moving)
    elif pointers:
        paths = [found[0].path if len(found[0].path) > 1 else [*found[0].path] * 2 for found in pointers]
        await _fingers(request, paths, max(found[0].hold + found[0].moving for found in pointers))
    return None


async def _keys(request: Request, items: list[dict[str, Any]]) -> None:
    held: list[str] = []
    for item in items:
        kind, value = item.get("type"), str(item.get("value", ""))
        if kind == "pause":
            await anyio.sleep(float(item.get("duration") or 0) / 1000)
        elif value in MODIFIERS:
            if kind == "keyDown":
                held.append(MODIFIERS[value])
            elif MODIFIERS[value] in held:
                held.remove(MODIFIERS[value])
        elif kind == "keyDown" and not request.device.faults.active("touch_ignored"):
            letter = CODES.get(value, value)
            shifted = len(letter) == 1 and letter.isupper()
            hands.press(
                request.machine, letter.lower() if shifted else letter, tuple([*held, "shift"] if shifted else held)
            )


ROUTES: dict[tuple[str, str], Route] = {("POST", "/session/:session/actions"): actions}
