"""What lies on the display: the keyboard, alerts, the system's bars, and the app in front."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import Rect

from ...handset import popups
from ...handset.windows import Window
from .apps import ApplePractice
from .geometry import NAVIGATION, PREDICTIVE

if TYPE_CHECKING:
    from .machine import Machine

NAMES = {"key_delete": ("delete", "delete"), "key_space": ("space", "space"), "key_done": ("return", "Return")}
"""Label and identifier of keys that are no letters."""


def windows(machine: Machine) -> list[Window]:
    """The windows, the topmost first."""
    geometry, scale, front = machine.screen_geometry, machine.geometry.scale, machine.front
    found: list[Window] = []
    if machine.menu is not None:
        found.append(machine.menu)
    if machine.keyboard_shown:
        box = geometry.keyboard
        keys = _keys(machine, box.width / scale, box.height / scale)
        found.append(Window("Keyboard", "", box, keys, scale, keyboard=True))
    popup = machine.current_popup()
    if popup is not None:
        over = Window(popup.title, popup.app, machine.popup_box(popup), popup.screen, scale, modal=True, focused=True)
        over.cancels = popup.cancels if popup.owner is None and popup is not machine.system else None
        found.append(over)
    if geometry.status_bar is not None:
        found.append(Window("StatusBar", machine.launcher, geometry.status_bar, _status(machine), scale, bar=True))
    if geometry.app_bar is not None and front.id != machine.launcher:
        found.append(Window("NavigationBar", front.id, geometry.app_bar, _bar(machine), scale, bar=True))
    box = geometry.content(keyboard=False)
    found.append(Window(front.label, front.id, box, front.screen, scale, focused=popup is None))
    return found


def _status(machine: Machine) -> FakeScreen:
    screen = FakeScreen(width=machine.geometry.size[0] / machine.geometry.scale, height=machine.kind.status_bar)
    screen.add(FakeElement("text", machine.status.get("time", time.strftime("%H:%M")), Rect(24, 4, 80, 20)))
    return screen


def _bar(machine: Machine) -> FakeScreen:
    screen = FakeScreen(width=machine.geometry.size[0] / machine.geometry.scale, height=NAVIGATION)
    if isinstance(machine.front.screen, ApplePractice) and machine.front.screen.can_go_back:
        button = FakeElement("button", "Back", Rect(8, 4, 60, 36), identifier="BackButton", on_press=machine.previous)
        button.key = "bar/back"
        screen.add(button)
    return screen


def _keys(machine: Machine, width: float, height: float) -> FakeScreen:
    """The keys, below the bar of suggestions, which takes taps and does nothing."""
    bar = 0 if machine.kind.tv else PREDICTIVE
    screen = popups.keyboard(width, height - bar, machine.key_on_screen)
    screen.height = height
    for element in screen.elements:
        element.key = f"keyboard/{element.identifier}"
        element.rect = Rect(element.rect.x, element.rect.y + bar, element.rect.width, element.rect.height)
        element.name, element.identifier = NAMES.get(element.identifier, (element.name, element.name))
    return screen
