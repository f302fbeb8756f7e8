"""What the automation toolkit can be asked: methods by name."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Awaitable, Callable
from typing import Any
from xml.etree import ElementTree

import anyio
import anyio.to_thread

from anydevice_schemas import EDITABLE

from ..handset import touch
from ..handset.picture import png
from .apps import LAUNCHER
from .keys import NAMES, press_key
from .recorder import Recorder, drawing
from .source import Item, page_source
from .toolkit import WRONG, Toolkit, ToolkitError

LONGEST = 180.0
"""Seconds a recording may last."""
FILM = "tmp/atk_screen_capture.mp4"
ARGUMENTS = {"text": "", "description": "description", "role": "role", "testId": "test_id"}
"""What `findObjects` compares, and the attribute it stands in ("" = the element's text)."""


async def get_page_source(toolkit: Toolkit) -> str:
    """The screen as XML."""
    faults = toolkit.device.faults
    items = toolkit.items()
    if faults.active("ids_wrong") is not None:
        for top in items:
            for item in top.walk():
                item.id = next(WRONG)
    return page_source(items, declared=faults.active("undeclared") is None)


async def find_objects(toolkit: Toolkit, args: dict[str, Any] | None = None, xpath: str = "") -> list[int]:
    """Ids of elements that have all of these facts, or that an XPath finds."""
    items = [item for top in toolkit.items() for item in top.walk() if item.tag == "child"]
    if xpath:
        try:
            root = ElementTree.fromstring(page_source(toolkit.items(), declared=False))
            return [int(node.attrib["id"]) for node in root.findall(f".{xpath}") if "id" in node.attrib]
        except (SyntaxError, KeyError) as error:
            raise ToolkitError(f"Invalid XPath: {error}") from None
    if not args or not set(args) <= set(ARGUMENTS):
        raise ValueError(f"one of {', '.join(ARGUMENTS)} is expected")
    return [item.id for item in items if all(_fact(item, name) == value for name, value in args.items())]


def _fact(item: Item, name: str) -> str:
    return (item.text or "") if name == "text" else item.facts.get(ARGUMENTS[name], "")


def _flag(name: str, default: bool = False) -> Callable[..., Awaitable[bool]]:
    async def told(toolkit: Toolkit, id: Any) -> bool:
        return toolkit.item(id).facts.get(name, "true" if default else "false") == "true"

    return told


def _word(name: str) -> Callable[..., Awaitable[str]]:
    async def told(toolkit: Toolkit, id: Any) -> str:
        item = toolkit.item(id)
        return item.words if name == "text" else item.facts.get(name, "")

    return told


def _rect(item: Item) -> dict[str, int]:
    box = item.box
    return {"x": box.left, "y": box.top, "width": box.width, "height": box.height}


async def bounds_of(toolkit: Toolkit, id: Any) -> dict[str, Any]:
    """Where an element is, in pixels."""
    return {"bounds": _rect(toolkit.item(id))}


async def visibility_of(toolkit: Toolkit, id: Any) -> dict[str, Any]:
    """What of an element is on the display."""
    item = toolkit.item(id)
    seen = item.box.clip(toolkit.device.machine.geometry.whole)
    item.box = seen or item.box
    return {"visiblePortions": [_rect(item)] if seen is not None else []}


async def get_window_rect(toolkit: Toolkit) -> dict[str, int]:
    """The display, in pixels."""
    width, height = toolkit.device.machine.geometry.size
    return {"x": 0, "y": 0, "width": width, "height": height}


def _acting(toolkit: Toolkit, id: Any) -> Item:
    """An element that acts: it itself, or what it is the label of."""
    item = toolkit.item(id)
    if item.element is None or item.screen is None:
        raise ToolkitError(f"Element {id} has no handler")
    return item


async def click(toolkit: Toolkit, id: Any) -> bool:
    """Calls the handler of an element, without a touch."""
    item = _acting(toolkit, id)
    assert item.element is not None and item.screen is not None
    if item.facts.get("clickable") != "true" or item.facts.get("enabled") == "false":
        raise ToolkitError(f"Element {id} has no handler")
    machine = toolkit.device.machine
    machine.journal.add("click", id=item.id, test_id=item.facts.get("test_id", ""))
    touch.pressed(machine, item.screen, item.element)
    return True


async def click_center(toolkit: Toolkit, id: Any) -> bool:
    """A touch in the middle of an element."""
    box = toolkit.item(id).box
    await _tap(toolkit, ((box.left + box.right) / 2, (box.top + box.bottom) / 2), 0.0)
    return True


async def set_focus(toolkit: Toolkit, id: Any) -> bool:
    """The focus goes to an element."""
    item = _acting(toolkit, id)
    if item.facts.get("focusable") != "true":
        raise ToolkitError(f"Element {id} is not focusable")
    assert item.screen is not None
    item.screen.focus = item.element
    return True


async def set_text(toolkit: Toolkit, id: Any, text: str) -> bool:
    """A text replaces what is in a field."""
    item = _acting(toolkit, id)
    element, screen = item.element, item.screen
    assert element is not None and screen is not None
    if element.role not in EDITABLE or {"disabled", "readonly"} & element.states:
        return False
    toolkit.device.journal.add("text", length=len(text))
    if toolkit.device.faults.active("text_lost") is None:
        screen.write(element, text)
    return True


async def show_keyboard(toolkit: Toolkit) -> bool:
    """The keyboard comes up for the field that has the focus."""
    machine = toolkit.device.machine
    machine.keyboard_shown = machine.focused_field is not None
    return machine.keyboard_shown


async def inject_key(toolkit: Toolkit, inputKeyEvent: str, holdDuration: float = 0) -> None:
    """A key goes down and, after so many milliseconds, up."""
    name = NAMES.get(int(inputKeyEvent))
    await anyio.sleep(holdDuration / 1000)
    if name is not None and toolkit.device.faults.active("inject_ignored", f"KEY_{name}") is None:
        press_key(toolkit.device.machine, name, holdDuration / 1000)


async def take_screenshot(toolkit: Toolkit) -> str:
    """A picture of the display, as PNG in base64."""
    if toolkit.device.faults.active("screenshot_empty") is not None:
        return ""
    data = await anyio.to_thread.run_sync(png, drawing(toolkit.device.machine))
    return base64.b64encode(data).decode()


async def start_recording(toolkit: Toolkit, timeLimitInSeconds: float = LONGEST) -> None:
    """Begins a film of the display."""
    machine = toolkit.device.machine
    if machine.recorder is not None:
        raise ToolkitError("Screen recording is already in progress")
    if not 0 < timeLimitInSeconds <= LONGEST:
        raise ValueError(f"timeLimitInSeconds has to be in (0, {LONGEST:g}]")
    machine.recorder = Recorder(machine, timeLimitInSeconds)
    await machine.recorder.look()


async def stop_recording(toolkit: Toolkit) -> None:
    """Ends the film; its file lies below the toolkit's own folder for temporary files."""
    machine, files = toolkit.device.machine, toolkit.device.files
    recorder, machine.recorder = machine.recorder, None
    if recorder is None:
        raise ToolkitError("No screen recording is in progress")
    found = sorted(files.host("/tmp").glob("*automation-toolkit.service*"))
    if found:
        folder = found[0]
    else:
        name = f"systemd-private-{secrets.token_hex(16)}-automation-toolkit.service-{secrets.token_hex(3)}"
        folder = files.host("/tmp") / name
    (folder / FILM).parent.mkdir(parents=True, exist_ok=True)
    data = b"" if toolkit.device.faults.active("film_empty") is not None else await recorder.finish()
    (folder / FILM).write_bytes(data)


# --- pointers: collected, and done by `perform` ---


def _collected(kind: str) -> Callable[..., Awaitable[None]]:
    async def collect(toolkit: Toolkit, inputSourceID: Any = "0", **step: Any) -> None:
        toolkit.pointers.setdefault(str(inputSourceID), []).append({"do": kind, **step})

    return collect


def _path(steps: list[dict[str, Any]]) -> tuple[list[touch.Spot], float, float]:
    """Where a pointer goes while it is down, how long it moves (s), and how long it stays before (s)."""
    path: list[touch.Spot] = []
    place: touch.Spot = (0.0, 0.0)
    down, moves, stays = False, 0.0, 0.0
    for step in steps:
        seconds = float(step.get("duration", 0)) / 1000
        if step["do"] == "pointerMove":
            place = (float(step["x"]), float(step["y"]))
            if down:
                path.append(place)
                moves += seconds
        elif step["do"] == "pointerDown":
            down, path = True, [place]
        elif step["do"] == "pause" and down:
            stays += seconds
        elif step["do"] == "pointerUp":
            down = False
    return path, moves, stays


async def perform(toolkit: Toolkit) -> None:
    """Does what was collected, all pointers at once."""
    collected, toolkit.pointers = list(toolkit.pointers.values()), {}
    paths = [found for found in map(_path, collected) if found[0]]
    machine = toolkit.device.machine
    if len(paths) == 1:
        path, moves, stays = paths[0]
        if len(path) == 1:
            await _tap(toolkit, path[0], moves + stays)
        elif machine.heeds_touch:
            await touch.swipe(machine, path[0], path[-1], moves, stays)
        else:
            machine.journal.add("swipe", start=list(path[0]), end=list(path[-1]), seconds=moves, hold=stays)
    elif paths:
        if machine.heeds_touch:
            await touch.fingers(machine, [path for path, _, _ in paths], max(moves for _, moves, _ in paths))
        else:
            machine.journal.add("fingers", count=len(paths), seconds=max(moves for _, moves, _ in paths))


async def _tap(toolkit: Toolkit, spot: touch.Spot, seconds: float) -> None:
    machine = toolkit.device.machine
    if machine.heeds_touch or machine.front.id == LAUNCHER:
        await touch.tap(machine, spot, seconds)
    else:
        machine.journal.add("tap", x=spot[0], y=spot[1], seconds=seconds)  # apps of televisions do not listen to it


METHODS: dict[str, Callable[..., Awaitable[Any]]] = {
    "getPageSource": get_page_source,
    "findObjects": find_objects,
    "isClickable": _flag("clickable"),
    "isFocusable": _flag("focusable"),
    "isFocused": _flag("focused"),
    "isSelectable": _flag("selectable"),
    "isSelected": _flag("selected"),
    "isEnabled": _flag("enabled", default=True),
    "isChecked": _flag("checked"),
    "getText": _word("text"),
    "getRole": _word("role"),
    "getTestId": _word("test_id"),
    "getDescription": _word("description"),
    "boundsOf": bounds_of,
    "visibilityOf": visibility_of,
    "getWindowRect": get_window_rect,
    "click": click,
    "clickCenter": click_center,
    "setFocus": set_focus,
    "setText": set_text,
    "showKeyboard": show_keyboard,
    "injectInputKeyEvent": inject_key,
    "takeScreenshot": take_screenshot,
    "startRecordingScreen": start_recording,
    "stopRecordingScreen": stop_recording,
    "pointerMove": _collected("pointerMove"),
    "pointerDown": _collected("pointerDown"),
    "pointerUp": _collected("pointerUp"),
    "pause": _collected("pause"),
    "perform": perform,
}
"""Every method by its name."""
