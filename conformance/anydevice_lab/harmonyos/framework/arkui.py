"""The layout of the display in ArkUI's words: components with attributes that are all texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import EDITABLE, INTERACTIVE

from ...handset.apps import HandsetPractice
from ...handset.geometry import Box
from ...handset.picture import pixels

if TYPE_CHECKING:
    from .machine import Machine, Window

TYPES = {
    "button": "Button",
    "textbox": "TextInput",
    "searchbox": "Search",
    "switch": "Toggle",
    "checkbox": "Checkbox",
    "radio": "Radio",
    "slider": "Slider",
    "combobox": "Select",
    "spinbutton": "Counter",
    "progressbar": "LoadingProgress",
    "image": "Image",
    "region": "Stack",
    "listitem": "ListItem",
    "option": "Option",
    "tab": "Column",
}
"""Component of a role; all others are texts."""
VALUED = ("slider", "combobox", "spinbutton", "progressbar", "image", "region", "status")
"""Roles whose name is the description, because the text is the value."""
HINTS = {"switch": "Switch", "checkbox": "Checkbox"}
EMPTY = (
    "accessibilityId", "backgroundColor", "backgroundImage", "blur", "bounds", "checkable", "checked", "clickable",
    "description", "enabled", "focused", "hitTestBehavior", "hostWindowId", "id", "key", "longClickable", "opacity",
    "origBounds", "scrollable", "selected", "text", "type", "zIndex",
)  # fmt: skip
"""Attributes of the topmost node, which are all empty save for the place of the display."""
NEWER = 20
"""Level from which on nodes have more attributes."""


@dataclass(eq=False)
class Node:
    """One node: attributes, and what is inside."""

    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """It and everything below, in order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def data(self) -> dict[str, Any]:
        """It as the layout file has it."""
        return {"attributes": self.attributes, "children": [child.data() for child in self.children]}

    def text(self) -> str:
        """The layout file."""
        return json.dumps(self.data(), ensure_ascii=False, separators=(",", ":"))


def _flag(value: bool) -> str:
    return "true" if value else "false"


class _Maker:
    """Makes the nodes of one window."""

    def __init__(self, machine: Machine, window: Window, frame: Box, *, raw: bool, fonts: bool) -> None:
        self.machine, self.window, self.frame, self.raw, self.fonts = machine, window, frame, raw, fonts

    def node(self, kind: str, box: Box, what: str, **given: Any) -> Node:
        """A node of a component.

        Args:
            box: Where it is; what is right of or below the window is cut off, what is above or left of it is not.
            what: Tells it from all others of the window, as long as it is there.
            given: Attributes; truths are written as texts.
        """
        window, frame = self.window, self.frame
        number = str(self.machine.number(f"{window.id}/{what}"))
        cut = Box(box.left, box.top, min(box.right, frame.right), min(box.bottom, frame.bottom))
        values = {
            name.rstrip("_"): _flag(value) if isinstance(value, bool) else str(value) for name, value in given.items()
        }
        attributes = {
            "accessibilityId": number,
            "backgroundColor": "#00000000",
            "backgroundImage": "empty source",
            "blur": "",
            "bounds": str(cut),
            "checkable": "false",
            "checked": "false",
            "clickable": "false",
            "description": "",
            "enabled": "true",
            "focused": "false",
            "hashcode": f"{window.id}:{number}",
            "hierarchy": "",
            "hint": "",
            "hitTestBehavior": "HitTestMode.Default",
            "hostWindowId": str(window.id),
            "id": "",
            "key": "",
            "longClickable": "false",
            "opacity": "1.000000",
            "origBounds": str(box),
            "scrollable": "false",
            "selected": "false",
            "text": "",
            "type": kind,
            "visible": "true",
            "zIndex": "0",
        }
        if self.machine.kind.api >= NEWER:
            attributes["originalText"] = values.get("text", "")
            attributes["boundsCenter"] = f"[{(cut.left + cut.right) // 2},{(cut.top + cut.bottom) // 2}]"
            attributes["displayId"], attributes["clip"] = "0", "false"
            attributes["uniqueId"] = f"{window.id}_{number}"
        if self.fonts and kind in ("Text", "Button", "TextInput", "TextArea"):
            attributes |= {"fontSize": "16.00fp", "fontColor": "#FF000000", "fontFamily": "HarmonyOS Sans"}
        attributes |= values
        attributes["key"] = attributes["id"]
        return Node(attributes)

    def fill(self, holder: Node, screen: FakeScreen, box: Box) -> None:
        """The elements of a screen become nodes below a holder."""
        made: dict[FakeElement, Node] = {}
        bar: Node | None = None
        for element in screen.elements:
            place = pixels(screen.place(element), box, self.window.scale)
            unseen = "hidden" in element.states or place.clip(self.frame) is None
            if unseen and not self.raw:
                continue
            outer = made.get(element.parent) if element.parent is not None else None
            above = outer or holder
            if element.role == "tab":
                if bar is None:
                    bar = self.node("TabBar", place, "tabs")
                    above.children.append(bar)
                above = bar
            node = self.element(screen, element, place, unseen=unseen)
            made[element] = node if element.role != "heading" else node.children[0]
            above.children.append(node)

    def element(self, screen: FakeScreen, element: FakeElement, box: Box, *, unseen: bool) -> Node:
        """The node of one element."""
        role, states, value = element.role, element.states, element.value or ""
        editable = role in EDITABLE and "readonly" not in states
        practice = screen if isinstance(screen, HandsetPractice) else None
        kind = "TextArea" if "multiline" in states else TYPES.get(role, "Text")
        shown = "*" * len(value) if element.secure else value
        acts = (role in INTERACTIVE and (editable or role not in EDITABLE)) or element.on_press is not None
        node = self.node(
            kind, box, element.key,
            id=element.identifier,
            enabled="disabled" not in states,
            visible=not unseen,
            clickable=acts or (practice is not None and role == "image"),
            longClickable=editable or (practice is not None and practice.hears(element, "hold")),
            checkable=role in ("switch", "checkbox", "radio"),
            checked=role in ("switch", "checkbox", "radio") and "checked" in states,
            selected="selected" in states or (role == "option" and "checked" in states),
            focused=element is screen.focus,
            hint=HINTS.get(role, ""),
        )  # fmt: skip
        told = node.attributes
        if role in ("textbox", "searchbox"):
            told["text"], told["hint"] = shown, element.name
        elif role in VALUED and not (role == "status" and element.value is None):
            told["description"], told["text"] = element.name, shown
        elif role in ("listitem", "option", "tab"):
            label = self.node("Text", box, f"{element.key}/label", text=element.name)
            node.children.append(label)
        else:
            told["text"] = element.name
        if role == "spinbutton":
            inner = self.node(
                "TextInput", box, f"{element.key}/value", text=value, clickable=True, focused=element is screen.focus
            )
            node.children.append(inner)
        if role == "heading":
            return Node(self.node("TitleBar", box, f"{element.key}/bar").attributes, [node])
        return node


def window_node(machine: Machine, window: Window, *, raw: bool = False, fonts: bool = False) -> Node:
    """The nodes of a window, with what lies over its app inside of it."""
    geometry = machine.geometry
    app = not (window.bar or window.keyboard) and window.type in (1, 2001, 2115)
    frame = geometry.app if app else window.box
    maker = _Maker(machine, window, frame, raw=raw, fonts=fonts)
    system = window.app == "com.ohos.sceneboard"
    root = maker.node(
        "WindowScene" if system else "root", frame, "root", bundleName=window.app, abilityName=window.ability,
        pagePath=window.page, focused=window.focused, hitTestBehavior="", id=f"session{window.id}" if system else "",
    )  # fmt: skip
    holder_box = Box(frame.left, frame.top, frame.right, geometry.content(keyboard=False).bottom) if app else frame
    column = maker.node("Column", holder_box, "column")
    root.children.append(column)
    screen = window.screen
    rows = any(element.identifier.startswith("row") for element in screen.elements)
    scrolls = screen.content_height > screen.height
    holder = maker.node("List" if rows else "Scroll", window.box, "holder", scrollable=scrolls)
    column.children.append(holder)
    maker.fill(holder, screen, window.box)
    over = window.popup
    if over is not None:
        alert = any(element.role == "textbox" for element in over.screen.elements)
        menu = any(element.role == "option" for element in over.screen.elements)
        kind = "Menu" if menu else "Dialog" if alert else "AlertDialog"
        inner = maker.node(kind, over.box, f"over/{id(over.screen)}", zIndex="1")
        maker.fill(inner, over.screen, over.box)
        for node in inner.walk():
            node.attributes["id"] = node.attributes["key"] = ""  # what the toolkit draws by itself has none
        root.children.append(inner)
    _number(root, f"ROOT{window.id}")
    return root


def _number(node: Node, path: str) -> None:
    node.attributes["hierarchy"] = path
    for place, child in enumerate(node.children):
        _number(child, f"{path},{place}")


def display_node(machine: Machine, roots: list[Node]) -> Node:
    """The topmost node."""
    attributes = dict.fromkeys(EMPTY, "")
    attributes["bounds"] = str(machine.geometry.whole)
    return Node(attributes, roots)
