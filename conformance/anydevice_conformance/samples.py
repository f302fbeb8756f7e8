"""Arguments with which an operation can be asked for on the driver itself."""

from __future__ import annotations

from typing import Any

from anydevice.driver import AppEvent, OpenRequest, TreeScope
from anydevice_schemas import Point

_A, _B = Point(5, 5), Point(60, 60)
_KEY = "no-such-element"

SAMPLES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "screen.tree": ((TreeScope(),), {}),
    "screen.image": ((), {}),
    "screen.geometry": ((), {}),
    "elements.probe": ((_KEY,), {}),
    "elements.at": ((_A,), {}),
    "elements.activate": ((_KEY,), {}),
    "elements.set_text": ((_KEY, "x"), {}),
    "elements.focus": ((_KEY,), {}),
    "elements.reveal": ((_KEY,), {}),
    "touch.tap": ((_A,), {}),
    "touch.hold": ((_A,), {"seconds": 0.1}),
    "touch.swipe": ((_A, _B), {"seconds": 0.1}),
    "touch.drag": ((_A, _B), {"hold": 0.1, "seconds": 0.1}),
    "touch.multi_touch": (([[_A, _B], [_B, _A]],), {"seconds": 0.1}),
    "pointer.move": ((_A,), {}),
    "pointer.click": ((_A,), {}),
    "pointer.drag": ((_A, _B), {"seconds": 0.1}),
    "pointer.wheel": ((_A,), {"dy": 10.0}),
    "keys.press": (("escape",), {}),
    "keys.type_text": (("x",), {}),
    "keys.keyboard_state": ((), {}),
    "keys.focused": ((), {}),
    "apps.list": ((), {}),
    "apps.open": ((OpenRequest(app="no.such.app", deadline=5.0),), {}),
    "apps.close": (("no.such.app",), {}),
    "apps.state": ((), {}),
    "apps.install": (("/nonexistent.package",), {"deadline": 5.0}),
    "apps.uninstall": (("no.such.app",), {}),
    "links.open_url": (("practice:///?screen=echo",), {}),
    "links.deliver_event": ((AppEvent("conformance", None, "practice:///?event=conformance"),), {}),
    "navigation.back": ((), {}),
    "navigation.home": ((), {}),
    "navigation.app_switcher": ((), {}),
    "power.boot": ((), {"headless": None, "deadline": 5.0}),
    "power.shutdown": ((), {"deadline": 5.0}),
    "power.erase": ((), {"deadline": 5.0}),
    "alerts.get": ((), {}),
    "alerts.accept": ((), {}),
    "alerts.dismiss": ((), {}),
}
"""Positional and named arguments, by operation. They change as little as the operation allows."""
