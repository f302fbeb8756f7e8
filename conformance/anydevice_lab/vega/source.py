"""The page source: what the automation toolkit tells of the screen, as a tree of elements with 64-bit ids.

An app is told with its windows, those above first; the launcher is always there, behind or in front. Most elements only
hold others. A label sits in a child of what it labels, and much is told twice: in attributes, and in `<traits>`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import EDITABLE, INTERACTIVE

from ..handset.apps import HandsetPractice
from ..handset.geometry import Box
from ..handset.picture import pixels
from .apps import LAUNCHER, VegaApp

if TYPE_CHECKING:
    from .machine import VegaMachine

ROLES = {
    "heading": "header", "textbox": "edit", "searchbox": "search", "slider": "adjustable", "status": "text",
    "region": "", "window": "",
}  # fmt: skip
"""What a role of the practice app is called here, where it is called otherwise; "" = it has none."""
DESCRIBED = ("textbox", "searchbox", "slider", "combobox", "spinbutton", "progressbar", "image", "region", "status")
"""Roles whose name is the description, because the text is the value."""
SELECTABLE = ("button", "tab", "option", "listitem", "radio")
CHECKABLE = ("switch", "checkbox", "radio", "option")
HOLDERS = 1 << 30
"""Numbers of elements that only hold others begin here; below are those of the model."""
BEHIND = 2147483647
"""Place of the launcher's window, which is below all others."""
_QUOTE = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


@dataclass(eq=False)
class Item:
    """One element of the page source.

    Attributes:
        tag: `app`, `window` or `child`.
        box: Its place, in pixels.
        facts: Attributes besides place and id, in order.
        text: Of its own.
        traits: What is told of it in `<traits>`.
        element, screen, app: Of the model, where it stands for something there.
    """

    tag: str
    id: int
    box: Box
    facts: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    traits: str = ""
    children: list[Item] = field(default_factory=list)
    element: FakeElement | None = None
    screen: FakeScreen | None = None
    app: VegaApp | None = None

    def walk(self) -> Iterator[Item]:
        """It and everything below, in order."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def words(self) -> str:
        """All text in it."""
        return " ".join(dict.fromkeys(item.text for item in self.walk() if item.text))

    def xml(self) -> str:
        """It as the page source has it."""
        place = ""
        if self.tag != "app":
            box = self.box
            place = f'x="{box.left}" y="{box.top}" width="{box.width}" height="{box.height}" '
        facts = "".join(f' {name}="{escape(value, _QUOTE)}"' for name, value in self.facts.items())
        text = f"<text>{escape(_clean(self.text))}</text>" if self.text is not None else ""
        inner = "".join(child.xml() for child in self.children)
        return f'<{self.tag} {place}id="{self.id}"{facts}>{text}<traits>{self.traits}</traits>{inner}</{self.tag}>'


def _clean(text: str) -> str:
    """A text without what no XML can hold."""
    return "".join(letter for letter in text if letter in "\t\n\r" or ord(letter) >= 32)


def look(machine: VegaMachine, *, by_selected: bool = False) -> list[Item]:
    """What is told of now: one item an app.

    Args:
        by_selected: The cursor is told by `selected` only, and nothing is `focused`, as apps of some toolkits do.
    """
    windows = machine.windows()
    front = machine.front
    found = []
    if front.id != LAUNCHER and front.told:
        item = _app(front)
        for number, window in enumerate(windows):
            z = len(windows) - 1 - number
            item.children.append(_window(front, window.screen, window.box, z, by_selected))
        found.append(item)
    launcher = machine.apps[LAUNCHER]
    item = _app(launcher)
    item.children.append(_window(launcher, launcher.screen, machine.geometry.whole, BEHIND, by_selected))
    return [*found, item]


def page_source(items: list[Item], *, declared: bool = True) -> str:
    """The page source of what is told.

    Args:
        declared: Whether the XML declaration is there; some builds leave it out.
    """
    head = '<?xml version="1.0"?>\n' if declared else ""
    return f'{head}<root id="1">{"".join(item.xml() for item in items)}</root>'


def _id(app: VegaApp, number: int) -> int:
    return app.run << 32 | number


def _app(app: VegaApp) -> Item:
    publisher = (
        f'<publisherRoot uccVersionMajor="0" uccVersionMinor="7" uccProtocolVersionMajor="0" toolkitVersion="1.0" '
        f'parentElementId="0" uccProtocolVersionMinor="8" keplerAppId="{app.number}" toolkitName="UIToolkit" '
        f'applicationName="{app.id}"/>'
    )
    return Item("app", _id(app, 1), Box(0, 0, 0, 0), {"appName": app.id}, traits=publisher, app=app)


def _holder(app: VegaApp, box: Box, number: int) -> Item:
    return Item("child", _id(app, number), box, {"test_id": str(number % HOLDERS)}, traits=_traits(), app=app)


def _traits(*, merges: bool = False, more: str = "") -> str:
    merged = "true" if merges else "false"
    return f'<compoundComponent mergeDescendants="{merged}"/><visibility alpha="100"/>{more}'


def _window(app: VegaApp, screen: FakeScreen, box: Box, z: int, by_selected: bool) -> Item:
    first = HOLDERS + 16 * (z % 1000)
    index = BEHIND if z == BEHIND else 0
    facts = {"index": str(index), "alpha": "100", "zOrder": str(z), "test_id": "1"}
    traits = (
        f'<compoundComponent mergeDescendants="false"/><visibility alpha="100" zOrder="{z}"/>'
        f'<window id="3" index="{index}"/>'
    )
    window = Item("window", _id(app, first), box, facts, traits=traits, app=app)
    outer, inner = _holder(app, box, first + 1), _holder(app, box, first + 2)
    window.children.append(outer)
    outer.children.append(inner)
    if app.web:
        page = Item("app", _id(app, first + 3), box, {"appName": "Webview"}, app=app)
        inner.children.append(page)
        inner = Item("window", _id(app, first + 4), box, {"zOrder": "0", "test_id": "1"}, traits=_traits(), app=app)
        page.children.append(inner)
    made: dict[FakeElement, Item] = {}
    for element in screen.elements if app.blank_until <= time.monotonic() else ():
        item = _element(app, screen, element, box, by_selected)
        if item is None:
            continue
        made[element] = item
        above = made.get(element.parent) if element.parent is not None else None
        (above or inner).children.append(item)
    return window


def _element(app: VegaApp, screen: FakeScreen, element: FakeElement, box: Box, by_selected: bool) -> Item | None:
    """An element of the model; None for one that cannot be seen."""
    bounds = pixels(screen.place(element), box, 1.0)
    if "hidden" in element.states or bounds.clip(box) is None:
        return None
    role, states = element.role, element.states
    number = int(element.key[1:])
    enabled = "disabled" not in states
    acts = role in INTERACTIVE or role == "listitem" or element.on_press is not None
    veil = isinstance(screen, HandsetPractice) and role == "image"  # it takes touches, and no focus
    cursor = element is screen.focus
    facts: dict[str, str] = {}
    more = ""
    if (acts or veil) and role not in EDITABLE:
        facts["clickable"] = "true"
        more += '<tappable handler="22"/>'
    if role in SELECTABLE:
        chosen = "true" if "selected" in states or (cursor and by_selected) else "false"
        facts |= {"selectable": "true", "selected": chosen}
        more += f'<selectable selected="{chosen}" selectFunction="19" hint=""/>'
    if acts or role in EDITABLE:
        focused = "true" if cursor and not by_selected else "false"
        facts |= {"focusable": "true" if enabled else "false", "focused": focused}
        more += f'<focusable setFocus="20" focused="{focused}"/>'
    if not enabled:
        facts["enabled"] = "false"
    if role in CHECKABLE:
        facts["checked"] = "true" if "checked" in states else "false"
    if {"expanded", "collapsed"} & states:
        facts["expanded"] = "true" if "expanded" in states else "false"
    if element.secure:
        facts["password"] = "true"
    facts["test_id"] = element.identifier or str(number)
    if called := ROLES.get(role, role):
        facts["role"] = called
    if role in DESCRIBED and element.name:
        facts["description"] = element.name
    item = Item("child", _id(app, number), bounds, facts, traits=_traits(merges=acts, more=more), element=element)
    item.screen, item.app = screen, app
    _say(item, element, number)
    return item


def _say(item: Item, element: FakeElement, number: int) -> None:
    """Puts texts where an element of this role has them."""
    role, value = element.role, element.value or ""
    if role in DESCRIBED:
        if role not in ("image", "region") or value:
            item.text = "•" * len(value) if element.secure else value
        return
    if role in ("text", "heading", "tooltip"):
        item.text = element.name
        return
    assert item.app is not None
    inset = Box(item.box.left, item.box.top, item.box.right, item.box.bottom)
    label = Item("child", _id(item.app, 2 * HOLDERS + number), inset, {"role": "text"}, text=element.name)
    label.traits, label.app = _traits(), item.app
    label.facts["test_id"] = f"{number}"
    item.children.append(label)
    if role in ("listitem", "option"):
        item.text = element.name  # told twice
    elif value:
        item.text = value
