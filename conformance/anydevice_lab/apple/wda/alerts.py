"""Alerts: of the app and of the system."""

from __future__ import annotations

from typing import Any

from anydevice.testing.screen import FakeElement, FakeScreen

from ...handset import keys
from ..model import input as hands
from .errors import NO_ALERT, NO_ALERT_NOW, WdaError
from .session import Request, Route


def _shown(request: Request, without: str = NO_ALERT) -> FakeScreen:
    popup = request.machine.current_popup()
    if popup is None or not any(element.role == "text" for element in popup.screen.elements):
        raise WdaError("no such alert", without)
    return popup.screen


def _buttons(screen: FakeScreen) -> list[FakeElement]:
    """From left to right: the one that says yes is the last."""
    return sorted((e for e in screen.elements if e.role == "button"), key=lambda element: element.rect.x)


async def text(request: Request) -> Any:
    """`GET /alert/text`."""
    return "\n".join(
        element.name or element.value or "" for element in _shown(request).elements if element.role == "text"
    )


async def write(request: Request) -> Any:
    """`POST S/alert/text {value}`: into the field of the alert, in place of what is there."""
    value = request.body.get("value")
    if value is None:
        raise WdaError("invalid argument", "Missing 'value' parameter")
    screen = _shown(request, NO_ALERT_NOW)
    field = next((element for element in screen.elements if element.role == "textbox"), None)
    if field is None:
        raise WdaError("unsupported operation", "The alert contains no input fields")
    screen.focus = field
    field.value = ""
    keys.type_text(request.machine, "".join(value) if isinstance(value, list) else str(value))


async def buttons(request: Request) -> Any:
    """`GET S/wda/alert/buttons`."""
    return [element.name for element in _buttons(_shown(request))]


def answer_alert(request: Request, *, accept: bool, name: str = "") -> None:
    """A button is pressed: the one of this name, else the last or the first.

    Raises:
        WdaError: There is no alert, or it has no such button.
    """
    found = _buttons(_shown(request, NO_ALERT_NOW))
    if name:
        button = next((element for element in found if element.name == name), None)
        if button is None:
            raise WdaError("invalid element state", f"Failed to find button with label '{name}' for alert")
    else:
        button = found[-1 if accept else 0]
    request.device.journal.add("alert_button", name=button.name)
    if request.device.faults.active("touch_ignored"):
        return
    if button.on_press is not None:
        button.on_press()
    hands.focus_something(request.machine)


async def accept(request: Request) -> Any:
    """`POST /alert/accept {name?}`."""
    answer_alert(request, accept=True, name=str(request.body.get("name") or ""))


async def dismiss(request: Request) -> Any:
    """`POST /alert/dismiss {name?}`."""
    answer_alert(request, accept=False, name=str(request.body.get("name") or ""))


S = "/session/:session"
ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/alert/text"): text,
    ("GET", f"{S}/alert/text"): text,
    ("POST", f"{S}/alert/text"): write,
    ("GET", f"{S}/wda/alert/buttons"): buttons,
    ("POST", "/alert/accept"): accept,
    ("POST", f"{S}/alert/accept"): accept,
    ("POST", "/alert/dismiss"): dismiss,
    ("POST", f"{S}/alert/dismiss"): dismiss,
}
