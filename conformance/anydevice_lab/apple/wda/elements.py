"""Elements: found, read, clicked."""

from __future__ import annotations

import base64
import re
from typing import Any

import anyio
import anyio.to_thread

from ...handset import keys
from ..model import input as hands
from ..model import pictures
from ..model.nodes import XNode
from .errors import NO_FOCUS, WdaError, own
from .finding import find, unknown_attribute
from .session import Request, Route
from .source import TYPE, look, rest

WHEEL_TRIES = 25


async def _found(request: Request, inner: str = "") -> list[XNode]:
    using, value = str(request.given("using")), str(request.given("value"))
    request.server.blocked(system=not request.setting("respectSystemAlerts"))
    root = await look(request)
    if inner:
        wanted = request.element(inner).key
        root = next((node for node in root.walk() if node.key == wanted), root)
    return find(root, using, value, inside=bool(inner))


async def one(request: Request) -> Any:
    """`POST S/element`, `POST S/element/:element/element`."""
    found = await _found(request, request.params.get("element", ""))
    if not found:
        text = f"unable to find an element using '{request.body['using']}', value '{request.body['value']}'"
        raise WdaError("no such element", text)
    assert request.session is not None
    return request.session.reference(found[0])


async def several(request: Request) -> Any:
    """`POST S/elements`, `POST S/element/:element/elements`."""
    assert request.session is not None
    return [request.session.reference(node) for node in await _found(request, request.params.get("element", ""))]


async def visible_cells(request: Request) -> Any:
    """`GET S/wda/element/:element/getVisibleCells`."""
    assert request.session is not None
    cells = [node for node in request.element().walk() if node.type == "Cell" and node.visible]
    return [request.session.reference(node) for node in cells]


async def active(request: Request) -> Any:
    """`GET S/element/active`: what has the focus of the keyboard, or of the remote."""
    focused = next((node for node in request.tree().walk() if node.focused), None)
    if focused is None:
        raise WdaError("no such element", "unable to find an element using '(null)', value '(null)'")
    assert request.session is not None
    return request.session.reference(focused)


def hittable(request: Request, node: XNode) -> bool:
    """Whether its middle is shown and nothing of its own screen lies over it; the keyboard does not count."""
    if not node.visible or node.screen is None or node.element is None:
        return node.visible
    hit = node.screen.hit(node.screen.place(node.element).center)
    return hit is node.element or (hit is not None and hit.inside(node.element))


async def attribute(request: Request) -> Any:
    """`GET S/element/:element/attribute/:name`."""
    node, name = request.element(), request.params["name"]
    x, y, width, height = node.box
    facts: dict[str, Any] = {
        "type": TYPE + node.type, "name": node.name or None, "label": node.label or None,
        "value": node.wd_value or None,
        "rect": {"x": x, "y": y, "width": width, "height": height}, "visible": node.visible, "enabled": node.enabled,
        "accessible": node.accessible, "selected": node.selected, "focused": node.focused,
        "hittable": hittable(request, node), "placeholderValue": node.placeholder or None, "traits": node.traits,
        "rawIdentifier": node.identifier or None,
    }  # fmt: skip
    if name not in facts:
        raise unknown_attribute(name)
    return facts[name]


async def rect(request: Request) -> Any:
    """`GET S/element/:element/rect`."""
    x, y, width, height = request.element().box
    return {"x": x, "y": y, "width": width, "height": height}


def _fact(name: str) -> Route:
    async def get(request: Request) -> Any:
        node = request.element()
        return {
            "text": node.wd_value or node.label or "", "displayed": node.visible, "enabled": node.enabled,
            "selected": node.selected, "name": TYPE + node.type, "accessible": node.accessible,
        }[name]  # fmt: skip

    return get


async def bring_into_view(request: Request, node: XNode) -> XNode:
    """Scrolls until an element is on the screen, as a click does by itself; returns it as it is then."""
    if node.screen is None or node.element is None or node.visible:
        return node
    place = node.screen.place(node.element)
    node.screen.scroll(place.y - max(0.0, (node.screen.height - place.height) / 2))
    return next((other for other in request.tree().walk() if other.key == node.key), node)


def middle(request: Request, node: XNode) -> tuple[float, float]:
    """Where a click goes: the middle of what of it lies on the screen."""
    width, height = request.machine.screen_geometry.width, request.machine.screen_geometry.height
    left, top = max(0.0, node.rect.x), max(0.0, node.rect.y)
    right, bottom = min(width, node.rect.x + node.rect.width), min(height, node.rect.y + node.rect.height)
    return (left + right) / 2, (top + bottom) / 2


async def click(request: Request) -> Any:
    """`POST S/element/:element/click`: a tap; on a television the focus goes there and it is selected."""
    request.server.blocked(system=not request.setting("respectSystemAlerts"))
    await rest(request)
    node = request.element()
    if request.machine.kind.tv:
        focus_on(request, node)
        if not request.device.faults.active("touch_ignored"):
            hands.button(request.machine, "select")
        return None
    node = await bring_into_view(request, node)
    await touch(request, *middle(request, node))
    return None


async def touch(request: Request, x: float, y: float, seconds: float = 0.0, count: int = 1) -> None:
    """A tap at a place, with what can go wrong with it."""
    faults = request.device.faults
    if faults.active("touch_infinity"):
        raise WdaError(
            "unknown error", "Error Domain=com.apple.dt.xctest.automation-support.error: point.x != INFINITY"
        )
    if faults.active("touch_ignored"):
        request.device.journal.add("touch_ignored", x=x, y=y)
        await anyio.sleep(seconds)
        return
    await hands.tap(request.machine, x, y, seconds, count=count)


def focus_on(request: Request, node: XNode) -> None:
    """The focus of a television goes to an element; nothing else can have it than what a remote reaches.

    Raises:
        WdaError: It cannot have the focus.
    """
    if node.element is None or node.screen is None or "disabled" in node.element.states:
        raise WdaError("invalid element state", f"The element '{node.name}' is not focusable")
    node.screen.focus = node.element
    request.device.journal.add("focus", id=node.identifier)


async def focuse(request: Request) -> Any:
    """`POST S/wda/element/:element/focuse`, on televisions."""
    node = request.element()
    focus_on(request, node)
    assert request.session is not None
    return request.session.reference(node)


async def screenshot(request: Request) -> Any:
    """`GET S/element/:element/screenshot`: base64 of a PNG, in pixels."""
    node, scale = request.element(), request.device.kind.scale
    left, top = round(node.rect.x * scale), round(node.rect.y * scale)
    box = (left, top, round((node.rect.x + node.rect.width) * scale), round((node.rect.y + node.rect.height) * scale))
    data = await anyio.to_thread.run_sync(pictures.part, pictures.drawing(request.machine), box)
    return base64.b64encode(data).decode()


async def wheel(request: Request) -> Any:
    """`POST S/wda/pickerwheel/:element/select {order: next|previous, offset}`."""
    node, order = request.element(), str(request.given("order")).lower()
    if node.type != "PickerWheel" or node.element is None:
        raise WdaError(
            "invalid argument",
            f"The element is expected to be a valid Picker Wheel control. '{TYPE}{node.type}' was given instead",
        )
    if order not in ("next", "previous"):
        text = f"Only 'previous' and 'next' order values are supported. '{request.body['order']}' was given instead"
        raise WdaError("invalid argument", text)
    options, wanted = request.machine.practice.options_of(node.element), request.body.get("value")
    tries = int(request.number("maxAttempts", WHEEL_TRIES))
    for _ in range(tries):
        at = options.index(node.element.value or options[0]) + (1 if order == "next" else -1)
        if not 0 <= at < len(options):
            raise WdaError("invalid element state", own("Picker wheel value has not been changed"))
        node.element.write(options[at])
        if wanted is None or options[at] == wanted:
            return None
    text = f"Cannot select the expected picker wheel value '{wanted}' after {tries} attempts"
    raise WdaError("invalid element state", text)


def set_wheel(request: Request, node: XNode, text: str) -> None:
    """A picker wheel is turned to a value.

    Raises:
        WdaError: It has no such value.
    """
    assert node.element is not None
    if text not in request.machine.practice.options_of(node.element):
        raise WdaError("unknown error", f"Failed to adjust the picker wheel to value '{text}'")
    if node.element.value != text:
        node.element.write(text)


def set_slider(node: XNode, text: str) -> None:
    """A slider is moved to a share of its way, 0 to 1.

    Raises:
        WdaError: It is no such share.
    """
    number = re.match(r"\s*-?\d*\.?\d+", text)
    share = float(number[0]) if number is not None else 0.0  # as the system reads a number out of a text
    if not 0 <= share <= 1:
        raise WdaError("invalid argument", "Value of slider should be in 0..1 range")
    assert node.element is not None
    value = str(round(share * 100))
    if node.element.value != value:
        node.element.write(value)


async def scroll_to(request: Request) -> Any:
    """`POST S/wda/element/:element/scrollTo`."""
    await bring_into_view(request, request.element())
    return None


async def keyboard_focus(request: Request, node: XNode) -> None:
    """Gives a field the focus of the keyboard, as typing into it does.

    Raises:
        WdaError: It does not take it.
    """
    machine = request.machine
    if node.focused and (machine.keyboard_shown or machine.current_popup() is not None):
        return
    if machine.kind.tv:
        focus_on(request, node)
        keys.center(machine)
    else:
        node = await bring_into_view(request, node)
        await touch(request, *middle(request, node))
    if machine.focused_field is not node.element:
        raise WdaError("invalid element state", NO_FOCUS)


S = "/session/:session"
E = f"{S}/element/:element"
ROUTES: dict[tuple[str, str], Route] = {
    ("POST", f"{S}/element"): one,
    ("POST", f"{S}/elements"): several,
    ("GET", f"{S}/element/active"): active,
    ("POST", f"{E}/element"): one,
    ("POST", f"{E}/elements"): several,
    ("GET", f"{E}/attribute/:name"): attribute,
    ("GET", f"{E}/rect"): rect,
    ("GET", f"{E}/screenshot"): screenshot,
    **{("GET", f"{E}/{name}"): _fact(name) for name in ("text", "displayed", "enabled", "selected", "name")},
    ("GET", f"{S}/wda/element/:element/accessible"): _fact("accessible"),
    ("GET", f"{S}/wda/element/:element/getVisibleCells"): visible_cells,
    ("POST", f"{E}/click"): click,
    ("POST", f"{S}/wda/element/:element/focuse"): focuse,
    ("POST", f"{S}/wda/element/:element/scrollTo"): scroll_to,
    ("POST", f"{S}/wda/pickerwheel/:element/select"): wheel,
}
