"""What the accessibility server can be asked: JSON-RPC methods by name, over the device's nodes."""

from __future__ import annotations

import base64
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ..handset import touch
from ..handset.keys import type_text
from ..handset.picture import draw, jpeg
from .framework.dump import hierarchy
from .framework.keys import name_of, press_key
from .u2_elements import info, middle, only, select, windows

if TYPE_CHECKING:
    from .device import LabDevice
    from .u2 import Server

STEP = 0.005
"""Seconds between two of the points a finger is injected at."""
TURNS = {"n": 0, "natural": 0, "l": 1, "left": 1, "u": 2, "upsidedown": 2, "r": 3, "right": 3}
Method = Callable[..., Awaitable[Any]]


async def _rest(server: Server) -> None:
    """Waits for a screen that does not rest, as long as the server was told to."""
    if server.device.machine.animated:
        await anyio.sleep(server.idle_timeout)


async def dump(server: Server, _compressed: bool = False, depth: int = 50, active: bool = False) -> str:
    """The whole tree. The order of windows in it means nothing."""
    await _rest(server)
    device = server.device
    if (frozen := device.machine.practice.frozen_for) > 0:
        await anyio.sleep(min(frozen, 5.0))
        if device.machine.practice.frozen_for:
            return ""
    found = windows(server)
    if active:
        found = [window for window in found if window.active]
    if device.faults.active("u2_system_only") is not None:
        found = [window for window in found if window.type == "TYPE_SYSTEM"]
    if (stale := device.faults.active("u2_stale")) is not None:
        found = stale.data
    # The jar keeps its roots in a set: a different order each time, which nobody may rely on.
    roots = [window.root for window in sorted(found, key=lambda window: device.machine.hash())]
    return (
        hierarchy(roots, device.machine.geometry.rotation, api=device.kind.api, jar=True, depth=depth) if roots else ""
    )


async def device_info(server: Server) -> dict[str, Any]:
    """What it is, and what is in front."""
    device, machine = server.device, server.device.machine
    width, height = machine.geometry.size
    return {
        "currentPackageName": machine.front.package,
        "displayWidth": width,
        "displayHeight": height,
        "displayRotation": machine.geometry.rotation,
        "displaySizeDpX": round(width / machine.geometry.scale),
        "displaySizeDpY": round(height / machine.geometry.scale),
        "productName": device.kind.product,
        "screenOn": machine.awake,
        "sdkInt": device.kind.api,
        "naturalOrientation": machine.geometry.rotation % 2 == 0,
    }


# --- elements ---


async def click(server: Server, what: Any, y: float | None = None, ms: float = 0) -> bool:
    """A tap at a place (so many milliseconds long), or in the middle of an element."""
    spot = (float(what), float(y)) if y is not None else middle(only(server, what)[1])
    await touch.tap(server.device.machine, spot, ms / 1000)
    return True


async def long_click(server: Server, what: Any, *rest: float) -> bool:
    """A press that lasts."""
    spot = (float(what), float(rest[0])) if rest and not isinstance(what, dict) else middle(only(server, what)[1])
    seconds = 0.6 if len(rest) < 2 else float(rest[1]) / 1000
    await touch.tap(server.device.machine, spot, seconds)
    return True


async def set_text(server: Server, selector: dict[str, Any], text: str | None) -> bool:
    """Replaces the text of a field through accessibility; no keyboard is needed, any Unicode goes."""
    window, node = only(server, selector)
    element = node.element
    if element is None or "EditText" not in node.cls or {"disabled", "readonly"} & element.states:
        return False
    server.device.journal.add("set_text", id=node.rid, length=len(text or ""))
    window.screen.focus = element
    window.screen.write(element, text or "")
    return True


async def count(server: Server, selector: dict[str, Any]) -> int:
    """How many elements fit."""
    return len(select(server, selector))


async def exist(server: Server, selector: dict[str, Any]) -> bool:
    """Whether one fits."""
    return bool(select(server, selector))


async def wait_for_exists(server: Server, selector: dict[str, Any], timeout: int = 0) -> bool:
    """Waits until one fits; in milliseconds."""
    until = time.monotonic() + timeout / 1000
    while not select(server, selector):
        if time.monotonic() >= until:
            return False
        await anyio.sleep(0.05)
    return True


async def wait_until_gone(server: Server, selector: dict[str, Any], timeout: int = 0) -> bool:
    """Waits until none fits; in milliseconds."""
    until = time.monotonic() + timeout / 1000
    while select(server, selector):
        if time.monotonic() >= until:
            return False
        await anyio.sleep(0.05)
    return True


async def obj_info(server: Server, selector: dict[str, Any]) -> dict[str, Any]:
    """What accessibility tells of an element."""
    return info(only(server, selector)[1])


async def obj_infos(server: Server, selector: dict[str, Any]) -> list[dict[str, Any]]:
    """What accessibility tells of every element that fits."""
    return [info(node) for _, node in select(server, selector)]


async def get_text(server: Server, selector: dict[str, Any]) -> str:
    """The text of an element; of an empty field its hint, which is what a text field tells accessibility."""
    node = only(server, selector)[1]
    return node.text or (node.hint if "EditText" in node.cls else "")


async def clear_text(server: Server, selector: dict[str, Any]) -> None:
    """Empties a field."""
    await set_text(server, selector, "")


# --- input ---


async def swipe(server: Server, *where: Any) -> bool:
    """A swipe from x, y to x, y in so many steps of 5 ms, or over an element in a direction."""
    if isinstance(where[0], dict):
        box = only(server, where[0])[1].bounds
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        ends = {
            "left": (box.left + 1, y),
            "right": (box.right - 1, y),
            "up": (x, box.top + 1),
            "down": (x, box.bottom - 1),
        }
        start = {
            "left": (box.right - 1, y),
            "right": (box.left + 1, y),
            "up": (x, box.bottom - 1),
            "down": (x, box.top + 1),
        }
        await touch.swipe(server.device.machine, start[where[1]], ends[where[1]], where[-1] * STEP)
        return True
    x1, y1, x2, y2, steps = where
    await touch.swipe(server.device.machine, (x1, y1), (x2, y2), steps * STEP)
    return True


async def swipe_points(server: Server, flat: Sequence[float], steps: int) -> bool:
    """A swipe along points."""
    path = list(zip(flat[::2], flat[1::2], strict=False))
    await anyio.sleep(steps * STEP * max(1, len(path) - 1))
    touch.release(server.device.machine, path, steps * STEP * max(1, len(path) - 1))
    return True


async def drag(server: Server, *where: float) -> bool:
    """A drag, given as a swipe is: the finger rests before it moves."""
    x1, y1, x2, y2, steps = where
    await touch.swipe(server.device.machine, (x1, y1), (x2, y2), steps * STEP, 0.5)
    return True


async def drag_to(server: Server, selector: dict[str, Any], *rest: Any) -> bool:
    """An element is dragged to another, or to x, y."""
    start = middle(only(server, selector)[1])
    end = middle(only(server, rest[0])[1]) if isinstance(rest[0], dict) else (float(rest[0]), float(rest[1]))
    await touch.swipe(server.device.machine, start, end, rest[-1] * STEP, 0.5)
    return True


async def scroll(server: Server, selector: dict[str, Any], *_: Any) -> bool:
    """A screenful forward; False where nothing moved."""
    return _scroll(server, selector, 1)


async def scroll_back(server: Server, selector: dict[str, Any], *_: Any) -> bool:
    """A screenful backward; False where nothing moved."""
    return _scroll(server, selector, -1)


async def scroll_to(server: Server, selector: dict[str, Any], target: dict[str, Any], *_: Any) -> bool:
    """Forward until an element is there; False where it is not at the end."""
    while not select(server, target):
        if not _scroll(server, selector, 1):
            return False
    return True


async def scroll_to_end(server: Server, selector: dict[str, Any], *_: Any) -> bool:
    """Forward until nothing moves."""
    while _scroll(server, selector, 1):
        continue
    return True


async def scroll_to_beginning(server: Server, selector: dict[str, Any], *_: Any) -> bool:
    """Backward until nothing moves."""
    while _scroll(server, selector, -1):
        continue
    return True


def _scroll(server: Server, selector: dict[str, Any], way: int) -> bool:
    screen = only(server, selector)[0].screen
    before = screen.offset
    screen.scroll(way * screen.height * 0.8)
    return screen.offset != before


async def inject(server: Server, action: int, x: float, y: float, _meta: int = 0) -> bool:
    """One event of one finger: 0 down, 1 up, 2 moved."""
    machine = server.device.machine
    if action == 0:
        machine.finger = touch.Finger([(x, y)], time.monotonic())
    elif machine.finger is not None and action == 2:
        machine.finger.path.append((x, y))
    elif machine.finger is not None and action == 1:
        finger, machine.finger = machine.finger, None
        touch.release(machine, [*finger.path, (x, y)], time.monotonic() - finger.since)
    return True


async def gesture(server: Server, selector: dict[str, Any], *rest: Any) -> bool:
    """Two fingers on an element go from two points to two others (places on the display), in so many steps."""
    start1, start2, end1, end2, steps = rest
    only(server, selector)
    paths = [[(a["x"], a["y"]), (b["x"], b["y"])] for a, b in ((start1, end1), (start2, end2))]
    await touch.fingers(server.device.machine, paths, steps * STEP)
    return True


async def pinch_out(server: Server, selector: dict[str, Any], percent: int, steps: int) -> bool:
    """Two fingers move apart on an element, as far as a share of its diagonal."""
    return await _pinch(server, selector, percent, steps, out=True)


async def pinch_in(server: Server, selector: dict[str, Any], percent: int, steps: int) -> bool:
    """Two fingers move together on an element."""
    return await _pinch(server, selector, percent, steps, out=False)


async def _pinch(server: Server, selector: dict[str, Any], percent: int, steps: int, *, out: bool) -> bool:
    _, node = only(server, selector)
    x, y = middle(node)
    near, far = 20.0, max(21.0, node.bounds.width / 2 * min(100, percent) / 100)
    first, last = (near, far) if out else (far, near)
    paths = [[(x - first, y), (x - last, y)], [(x + first, y), (x + last, y)]]
    await touch.fingers(server.device.machine, paths, steps * STEP)
    return True


KEYS = {"recent": "APP_SWITCH", "delete": "DEL", "center": "DPAD_CENTER", "up": "DPAD_UP", "down": "DPAD_DOWN",
        "left": "DPAD_LEFT", "right": "DPAD_RIGHT"}  # fmt: skip


async def press_key_by_name(server: Server, name: str) -> bool:
    """A key by the server's own words (`home`, `back`, `recent`, ...)."""
    found = name_of(KEYS.get(name.lower(), name))
    if found is None:
        return False
    press_key(server.device.machine, found)
    return True


async def press_key_code(server: Server, code: int, _meta: int = 0) -> bool:
    """A key by its code."""
    return await press_key_by_name(server, str(code))


async def send_text(server: Server, text: str) -> bool:
    """Types ASCII."""
    type_text(server.device.machine, text)
    return True


# --- the device ---


async def screenshot(server: Server, _scale: float = 1.0, quality: int = 80) -> str:
    """The screen as a JPEG file, in base64."""
    machine = server.device.machine
    drawing = draw(machine.seen() if machine.awake else [], machine.geometry.size, dark=not machine.awake)
    return base64.b64encode(await anyio.to_thread.run_sync(jpeg, drawing, quality)).decode()


async def set_configurator(server: Server, wanted: dict[str, Any]) -> dict[str, Any]:
    """How long it waits for what, in milliseconds."""
    if "waitForIdleTimeout" in wanted:
        server.idle_timeout = wanted["waitForIdleTimeout"] / 1000
    return await get_configurator(server)


async def get_configurator(server: Server) -> dict[str, Any]:
    """The same, read."""
    return {
        "actionAcknowledgmentTimeout": 3000, "keyInjectionDelay": 0, "scrollAcknowledgmentTimeout": 200,
        "waitForIdleTimeout": round(server.idle_timeout * 1000), "waitForSelectorTimeout": 0,
    }  # fmt: skip


async def set_orientation(server: Server, word: str) -> None:
    """Turns the display, and keeps it so."""
    turn = TURNS.get(word, 0)
    server.device.machine.settings["system"] |= {"accelerometer_rotation": "0", "user_rotation": str(turn)}
    server.device.machine.rotate(turn)


async def freeze_rotation(server: Server, frozen: bool) -> None:
    """Whether the display follows how the device is held."""
    server.device.machine.settings["system"]["accelerometer_rotation"] = "0" if frozen else "1"


async def set_clipboard(server: Server, _label: str | None, text: str) -> None:
    """Puts a text on the clipboard."""
    server.device.machine.clipboard = text


async def get_clipboard(server: Server) -> str | None:
    """The clipboard's text; nothing where the shell may not read it."""
    device: LabDevice = server.device
    return None if device.faults.active("clipboard_denied") is not None else device.machine.clipboard


async def wake_up(server: Server) -> None:
    """Turns the display on."""
    server.device.machine.awake = True


async def sleep(server: Server) -> None:
    """Turns the display off."""
    server.device.machine.awake = False


async def is_screen_on(server: Server) -> bool:
    """Whether the display is on."""
    return server.device.machine.awake


async def wait_for_idle(server: Server, _timeout: int = 0) -> None:
    """Waits until the screen rests."""
    await _rest(server)


async def nothing(_server: Server, *_: Any) -> None:
    """There is nothing of this kind."""


METHODS: dict[str, Method] = {
    "dumpWindowHierarchy": dump, "deviceInfo": device_info, "click": click, "longClick": long_click,
    "setText": set_text, "clearTextField": clear_text, "getText": get_text, "count": count, "exist": exist,
    "waitForExists": wait_for_exists, "waitUntilGone": wait_until_gone, "objInfo": obj_info,
    "objInfoOfAllInstances": obj_infos, "swipe": swipe,
    "swipePoints": swipe_points, "drag": drag, "injectInputEvent": inject, "gesture": gesture, "dragTo": drag_to,
    "scrollForward": scroll, "flingForward": scroll, "scrollTo": scroll_to,
    "scrollToEnd": scroll_to_end, "flingToEnd": scroll_to_end, "scrollToBeginning": scroll_to_beginning,
    "flingToBeginning": scroll_to_beginning, "scrollBackward": scroll_back, "flingBackward": scroll_back,
    "pinchOut": pinch_out,
    "pinchIn": pinch_in, "pressKey": press_key_by_name, "pressKeyCode": press_key_code, "sendText": send_text,
    "takeScreenshot": screenshot, "setConfigurator": set_configurator, "getConfigurator": get_configurator,
    "setOrientation": set_orientation, "freezeRotation": freeze_rotation, "setClipboard": set_clipboard,
    "getClipboard": get_clipboard, "wakeUp": wake_up, "sleep": sleep, "isScreenOn": is_screen_on,
    "waitForIdle": wait_for_idle, "getLastToast": nothing, "clearLastToast": nothing, "openNotification": nothing,
    "openQuickSettings": nothing,
}  # fmt: skip
"""Every method by its name."""
