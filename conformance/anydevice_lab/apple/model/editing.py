"""The menu that a finger leaves behind that rested on a field: Cut, Copy, Paste, in the language of the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import EDITABLE, Rect

from ...handset import keys, touch
from ...handset.geometry import Box
from ...handset.windows import Window

if TYPE_CHECKING:
    from .machine import Machine

WORDS = {
    "en": ("Select", "Select All", "Copy", "Paste", "AutoFill"),
    "de": ("Auswählen", "Alles auswählen", "Kopieren", "Einsetzen", "Autom. ausfüllen"),
    "fr": ("Sélectionner", "Tout sélectionner", "Copier", "Coller", "Remplissage auto"),
    "ja": ("選択", "すべてを選択", "コピー", "ペースト", "自動入力"),
    "zz": ("Selu", "Selu tue", "Kopu", "Gluu", "Memplenigu"),
}
"""What its items are called, by language; `zz` is one that nobody speaks."""
ITEM, HEIGHT, ABOVE = 96.0, 44.0, 12.0


def rested(machine: Machine, spot: tuple[float, float], seconds: float) -> None:
    """A finger rested somewhere: on a field that is a menu; anywhere else the one there was is gone."""
    machine.menu = None
    window, place = touch.at(machine, spot)
    field = window.screen.hit(place) if window is not None else None
    if window is None or field is None or field.role not in EDITABLE or {"readonly", "disabled"} & field.states:
        return
    if seconds < touch.HELD or field is not window.screen.focus or machine.device.faults.active("no_menu"):
        return
    machine.menu = Window("EditMenu", machine.front.id, _box(machine, spot), _items(machine, field), window.scale)


def _box(machine: Machine, spot: tuple[float, float]) -> Box:
    """Above the finger, as wide as the display lets it be."""
    geometry, scale = machine.screen_geometry, machine.geometry.scale
    width = min(geometry.width - 16, ITEM * len(WORDS["en"]))
    left = max(8.0, min(spot[0] / scale - width / 2, geometry.width - width - 8))
    top = max(8.0, spot[1] / scale - HEIGHT - ABOVE)
    sides = (left, top, left + width, top + HEIGHT)
    return Box(*(round(side * scale) for side in sides))


def _items(machine: Machine, field: FakeElement) -> FakeScreen:
    select, every, copy, paste, fill = WORDS.get(machine.language, WORDS["en"])
    shown: list[tuple[str, Callable[[], None]]] = []
    if field.value:
        shown += [(select, _nothing), (every, _nothing), (copy, lambda: _copied(machine, field))]
    if machine.clipboard and not machine.device.faults.active("menu_without_paste"):
        shown.append((paste, lambda: keys.type_text(machine, machine.clipboard)))
    shown.append((fill, _nothing))
    screen = FakeScreen(width=ITEM * len(shown), height=HEIGHT)
    for at, (name, does) in enumerate(shown):
        element = FakeElement("button", name, Rect(at * ITEM * 0.75, 0, ITEM * 0.75, HEIGHT))
        element.key, element.on_press = f"menu/{name}", _chosen(machine, name, does)
        screen.add(element)
    return screen


def _chosen(machine: Machine, name: str, does: Callable[[], None]) -> Callable[[], None]:
    def chosen() -> None:
        machine.menu = None
        machine.journal.add("menu", item=name)
        does()

    return chosen


def _copied(machine: Machine, field: FakeElement) -> None:
    if not field.secure:
        machine.clipboard = field.value or ""


def _nothing() -> None:
    """Selecting is not modelled."""
