"""The device around the apps: buttons, orientation, sizes, pictures, clipboard, place, looks."""

from __future__ import annotations

import base64
import time
from typing import Any

import anyio
import anyio.to_thread

from ..model import input as hands
from ..model import pictures
from ..model.apps import RUNNER, new_id
from ..model.geometry import NAMES
from .errors import NO_SCREEN, WdaError, own
from .session import Request, Route

AUDIT = "XCUIAccessibilityAuditTypeSufficientElementDescription"
DEGREES = (0, 90, 180, 270)


async def screenshot(request: Request) -> Any:
    """`GET /screenshot`: base64 of a PNG in pixels, as a person sees the screen."""
    if request.device.faults.active("screen_unseen"):
        raise WdaError("unable to capture screen", NO_SCREEN)
    data = await anyio.to_thread.run_sync(pictures.seen, pictures.drawing(request.machine))
    request.device.journal.add("screenshot", size=len(data))
    return base64.b64encode(data).decode()


async def orientation(request: Request) -> Any:
    """`GET /orientation`: of what is shown."""
    return request.machine.orientation


async def device_orientation(request: Request) -> Any:
    """`GET /wda/deviceOrientation`: how the device is held."""
    return NAMES[request.machine.turned]


async def turn(request: Request) -> Any:
    """`POST /orientation {orientation}`."""
    name = str(request.body.get("orientation") or "").upper()
    if name not in NAMES or not _turned(request, NAMES.index(name)):
        raise WdaError("unknown error", "Unable To Rotate Device")


def _turned(request: Request, quarters: int) -> bool:
    """Turns the device; whether what is shown is turned by that."""
    if request.device.faults.active("rotation_fails") or not request.machine.hold(quarters):
        return False
    request.device.journal.add("orientation", name=NAMES[quarters])
    return True


async def rotation(request: Request) -> Any:
    """`GET /rotation`."""
    return {"x": 0, "y": 0, "z": DEGREES[request.machine.geometry.rotation]}


async def rotate(request: Request) -> Any:
    """`POST /rotation {x, y, z}`."""
    asked = {axis: request.body.get(axis) for axis in ("x", "y", "z")}
    if None in asked.values():
        raise WdaError("invalid argument", f"x, y and z arguments must exist in the request body: {request.body}")
    if asked["x"] or asked["y"] or asked["z"] not in DEGREES:
        text = f"{asked} rotation is not supported. Only the following values are supported: {DEGREES}"
        raise WdaError("invalid argument", text)
    if not _turned(request, DEGREES.index(asked["z"])):
        bundle = request.machine.front.id
        text = f"The current rotation cannot be set to {asked}. Make sure the {bundle} application supports it"
        raise WdaError("invalid element state", text)


async def screen(request: Request) -> Any:
    """`GET /wda/screen`."""
    geometry, scale = request.machine.screen_geometry, request.device.kind.scale
    bar = geometry.status_bar
    return {
        "screenSize": {"width": geometry.width, "height": geometry.height},
        "statusBarSize": {"width": geometry.width if bar else 0, "height": round(bar.height / scale) if bar else 0},
        "scale": scale,
    }


async def size(request: Request) -> Any:
    """`GET /window/size`."""
    return {"width": request.machine.screen_geometry.width, "height": request.machine.screen_geometry.height}


async def rect(request: Request) -> Any:
    """`GET S/window/rect`."""
    return {"x": 0, "y": 0, **await size(request)}


async def home(request: Request) -> Any:
    """`POST /wda/homescreen`."""
    if not request.device.faults.active("touch_ignored", "home"):
        hands.button(request.machine, "home")


async def press_button(request: Request) -> Any:
    """`POST S/wda/pressButton {name, duration}`: a simulator has no buttons at its side."""
    name = str(request.given("name"))
    kind = request.device.kind
    known = hands.REMOTE if kind.tv else hands.BUTTONS if kind.physical else ("home",)
    if name.lower() not in known:
        listed = ", ".join(known)
        text = (
            f"The button '{name}' is not supported. The device under test only supports the following buttons: {listed}"
        )
        raise WdaError("unknown error", own(text))
    if request.device.faults.active("touch_ignored"):
        request.device.journal.add("touch_ignored", name=name)
        return
    seconds = request.number("duration", 0.0)
    await anyio.sleep(seconds if kind.tv else 0)
    hands.button(request.machine, name, seconds)


async def hid(request: Request) -> Any:
    """`POST S/wda/performIoHidEvent {page, usage, duration}`: a key of a keyboard (page 7), or home."""
    page, usage = int(request.number("page", 0)), int(request.number("usage", 0))
    request.device.journal.add("hid", page=page, usage=usage, seconds=request.number("duration", 0.0))
    if page == 0x0C and usage == 0x40:
        hands.button(request.machine, "home")
    elif page == 0x07 and usage in hands.USAGES:
        hands.press(request.machine, hands.USAGES[usage])


async def lock(request: Request) -> Any:
    """`POST /wda/lock`."""
    request.machine.locked, request.machine.awake = True, False
    request.machine.keyboard_shown = False


async def unlock(request: Request) -> Any:
    """`POST /wda/unlock`: there is no passcode."""
    request.machine.locked, request.machine.awake = False, True


async def locked(request: Request) -> Any:
    """`GET /wda/locked`."""
    return request.machine.locked


async def info(request: Request) -> Any:
    """`GET /wda/device/info`."""
    kind = request.device.kind
    return {
        "timeZone": "UTC", "currentLocale": "en_US", "model": kind.family, "uuid": new_id(),
        "thermalState": 0, "userInterfaceIdiom": {"iPad": 1, "Apple TV": 2}.get(kind.family, 0),
        "userInterfaceStyle": request.machine.appearance["appearance"], "name": request.device.title,
        "isSimulator": not kind.physical,
    }  # fmt: skip


async def battery(request: Request) -> Any:
    """`GET S/wda/batteryInfo`: a simulator has none and says -1."""
    return {"level": 0.8, "state": 2} if request.device.kind.physical else {"level": -1, "state": 0}


async def appearance(request: Request) -> Any:
    """`POST /wda/device/appearance {name}`."""
    name = str(request.body.get("name") or "").lower()
    if name not in ("light", "dark"):
        raise WdaError("invalid argument", "The appearance name must be either 'light' or 'dark'")
    request.machine.appearance["appearance"] = name


async def place(request: Request) -> Any:
    """`GET /wda/simulatedLocation`."""
    latitude, longitude = request.machine.located or (None, None)
    return {"latitude": latitude, "longitude": longitude, "altitude": None if latitude is None else 0}


async def set_place(request: Request) -> Any:
    """`POST /wda/simulatedLocation {latitude, longitude}`."""
    if request.body.get("latitude") is None or request.body.get("longitude") is None:
        raise WdaError("invalid argument", "Both latitude and longitude must be provided")
    request.machine.located = request.number("latitude"), request.number("longitude")


async def clear_place(request: Request) -> Any:
    """`DELETE /wda/simulatedLocation`."""
    request.machine.located = None


async def location(request: Request) -> Any:
    """`GET /wda/device/location`: of the agent itself, which nobody has allowed to know it."""
    if request.machine.kind.tv:
        raise WdaError("unsupported operation", "unsupported")
    return {"authorizationStatus": 0, "latitude": 0, "longitude": 0, "altitude": 0}


async def copy(request: Request) -> Any:
    """`POST /wda/setPasteboard {content: base64, contentType}`."""
    try:
        request.machine.clipboard = base64.b64decode(str(request.given("content")), validate=True).decode()
    except ValueError:
        raise WdaError("invalid argument", "Cannot decode the pasteboard content from base64") from None


async def paste(request: Request) -> Any:
    """`POST /wda/getPasteboard {contentType}`: a device tells it only to an app in front, so the agent has to be."""
    away = request.device.kind.physical and request.machine.front.id != RUNNER
    return base64.b64encode(b"" if away else request.machine.clipboard.encode()).decode()


async def audit(request: Request) -> Any:
    """`POST S/wda/performAccessibilityAudit`: what can be pressed and has no name."""
    found = [node for node in request.tree().walk() if node.accessible and node.type == "Button" and not node.label]
    return [
        {"detailedDescription": "This element is missing useful accessibility information.",
         "compactDescription": "Element has no description", "auditType": AUDIT,
         "element": node.name, "elementDescription": node.type, "elementAttributes": {}}
        for node in found
    ]  # fmt: skip


async def siri(request: Request) -> Any:
    """`POST S/wda/siri/activate {text}`."""
    request.device.journal.add("siri", text=str(request.given("text")))


async def video(request: Request) -> Any:
    """`POST /wda/video/start|stop`, `GET /wda/video`: facts of a recording; its file stays on the device."""
    server, path = request.server, request.message.path
    now = server.video
    if path.endswith("/start") and now is None:
        server.video = now = {"fps": 24, "codec": 0, "uuid": new_id(), "startedAt": round(time.time(), 3)}
    elif path.endswith("/stop"):
        server.video = None
    return now


S = "/session/:session"
_BOTH: dict[tuple[str, str], Route] = {
    ("GET", "/screenshot"): screenshot, ("GET", "/orientation"): orientation, ("POST", "/orientation"): turn,
    ("GET", "/rotation"): rotation, ("POST", "/rotation"): rotate,
    ("GET", "/wda/deviceOrientation"): device_orientation,
    ("GET", "/wda/screen"): screen, ("GET", "/window/size"): size,
    ("POST", "/wda/lock"): lock, ("POST", "/wda/unlock"): unlock, ("GET", "/wda/locked"): locked,
    ("GET", "/wda/device/info"): info, ("GET", "/wda/device/location"): location,
    ("GET", "/wda/simulatedLocation"): place, ("POST", "/wda/simulatedLocation"): set_place,
    ("DELETE", "/wda/simulatedLocation"): clear_place, ("POST", "/wda/setPasteboard"): copy,
    ("POST", "/wda/getPasteboard"): paste, ("POST", "/wda/video/start"): video, ("POST", "/wda/video/stop"): video,
    ("GET", "/wda/video"): video,
}  # fmt: skip
ROUTES: dict[tuple[str, str], Route] = {
    **_BOTH,
    **{(method, S + path): route for (method, path), route in _BOTH.items()},
    ("POST", "/wda/homescreen"): home,
    ("POST", "/wda/device/appearance"): appearance,
    ("GET", f"{S}/window/rect"): rect,
    ("POST", f"{S}/wda/pressButton"): press_button,
    ("POST", f"{S}/wda/performIoHidEvent"): hid,
    ("GET", f"{S}/wda/batteryInfo"): battery,
    ("POST", f"{S}/wda/performAccessibilityAudit"): audit,
    ("POST", f"{S}/wda/siri/activate"): siri,
}
