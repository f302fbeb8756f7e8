"""Text: typed, set, cleared; and the keyboard on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from ...handset import keys
from ..model import input as hands
from .elements import keyboard_focus, set_slider, set_wheel
from .errors import KEYBOARD, NO_FOCUS, WdaError, own
from .session import Request, Route
from .source import rest

if TYPE_CHECKING:
    from ..model.machine import Machine


def _text(request: Request) -> str:
    """The text of a request: a list of characters, or one text."""
    value = request.body.get("value")
    value = request.body.get("text") if value is None else value
    if isinstance(value, list):
        return "".join(str(item) for item in value)
    if isinstance(value, str):
        return value
    raise WdaError("invalid argument", "Neither 'value' nor 'text' parameter is provided")


async def _typed(request: Request, text: str) -> None:
    faults = request.device.faults
    if slow := faults.active("text_slow"):
        await anyio.sleep(slow.seconds)
    if faults.active("text_lost"):
        text = text[::2]
    if not hands.type_text(request.machine, text):
        raise WdaError("invalid element state", NO_FOCUS)


async def type_keys(request: Request) -> Any:
    """`POST S/wda/keys {value: [characters], frequency}`: to what has the keyboard; that nothing has it is an error."""
    await rest(request)
    await _typed(request, _text(request))


async def set_value(request: Request) -> Any:
    """`POST S/element/:element/value`: typed after what is there; wheels and sliders are set."""
    request.server.blocked(system=not request.setting("respectSystemAlerts"))
    await rest(request)
    node, text = request.element(), _text(request)
    if node.type == "PickerWheel":
        return set_wheel(request, node, text)
    if node.type == "Slider":
        return set_slider(node, text)
    await keyboard_focus(request, node)
    await _typed(request, text)
    return None


async def clear(request: Request) -> Any:
    """`POST S/element/:element/clear`."""
    request.server.blocked(system=not request.setting("respectSystemAlerts"))
    await rest(request)
    node = request.element()
    if node.element is None or not node.value:
        return None
    await keyboard_focus(request, node)
    for _ in range(len(node.element.value or "")):
        keys.press(request.machine, "backspace")
    request.device.journal.add("clear", id=node.identifier)
    return None


async def dismiss(request: Request) -> Any:
    """`POST S/wda/keyboard/dismiss {keyNames}`: a tablet has a key for it; a phone only where a named key does it."""
    machine = request.machine
    if not machine.keyboard_shown:
        return None
    if request.device.faults.active("keyboard_stays") is None:
        if machine.kind.tv:
            hands.button(machine, "menu")
        else:
            _by_keys(machine, {str(name) for name in request.body.get("keyNames") or []})
    if machine.keyboard_shown:
        raise WdaError("invalid element state", own(KEYBOARD))
    return None


def _by_keys(machine: Machine, names: set[str]) -> None:
    """Presses the keys of these names, one after the other, until the keyboard is gone."""
    board = next((window.screen for window in machine.windows() if window.keyboard), None)
    for key in board.elements if board is not None else []:
        if {key.name, key.identifier} & names and machine.keyboard_shown and key.on_press is not None:
            key.on_press()
    if machine.keyboard_shown and machine.kind.family == "iPad":
        machine.put_keyboard_away()


S = "/session/:session"
ROUTES: dict[tuple[str, str], Route] = {
    ("POST", f"{S}/wda/keys"): type_keys,
    ("POST", f"{S}/element/:element/value"): set_value,
    ("POST", f"{S}/element/:element/clear"): clear,
    ("POST", f"{S}/wda/keyboard/dismiss"): dismiss,
}
