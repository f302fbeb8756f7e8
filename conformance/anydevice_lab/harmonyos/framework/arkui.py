"""The layout of the display in ArkUI's words: components with attributes that are all texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import EDITABLE, INTERACTIVE

from ...handset.apps import HandsetPractice
from ...handset.geometry import Box
from ...handset.picture import pixels
from .apps import SCENEBOARD

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
NEW = ("clip", "displayId", "originalText")
"""Attributes that newer builds have besides."""
NOWHERE = Box(0, 0, 0, 0)
NEWER = 20
"""Level from which on nodes have more attributes."""


@dataclass(eq=False)
class Node:
    """One node: attributes, what is inside, and attributes of fonts where those were asked for."""

    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)
    extra: dict[str, str] = field(default_factory=dict)

    def walk(self) -> Iterator[Node]:
        """It and everything below, in order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def data(self) -> dict[str, Any]:
        """It as the layout file has it."""
        told = {"attributes": self.attributes, "children": [child.data() for child in self.children]}
        return told | {"extraAttrs": self.extra} if self.extra else told

    def text(self, *, raw: bool = False) -> str:
        """The layout file; a raw one is a list of windows."""
        data = self.data()
        return json.dumps(data["children"] if raw else data, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Asked:
    """What `dumpLayout` is asked for.

    Attributes:
        raw: Windows as they are: nothing is cut and nothing left out (`-i`).
        fonts: With attributes of fonts (`-a`).
        merged: What other windows cover is cut away (not with `-m false`).
        unique: With `uniqueId` (`-e uniqueId`).
        bundle, window: Only windows of this bundle, or of this number (`-b`, `-w`).
    """

    raw: bool = False
    fonts: bool = False
    merged: bool = True
    unique: bool = False
    bundle: str = ""
    window: str = ""


def left_over(box: Box, over: Sequence[Box]) -> Box:
    """The largest rectangle of a box that nothing lies over; `NOWHERE` where everything is covered."""
    hit = next((one for one in over if one.clip(box) is not None), None)
    if hit is None:
        return box
    parts = (
        Box(box.left, box.top, box.right, hit.top), Box(box.left, hit.bottom, box.right, box.bottom),
        Box(box.left, box.top, hit.left, box.bottom), Box(hit.right, box.top, box.right, box.bottom),
    )  # fmt: skip
    found = [left_over(part, over) for part in parts if part.width > 0 and part.height > 0]
    return max(found, key=lambda one: one.width * one.height, default=NOWHERE)


def _flag(value: bool) -> str:
    return "true" if value else "false"


class _Maker:
    """Makes the nodes of one window. `over` is what lies over it."""

    def __init__(self, machine: Machine, window: Window, frame: Box, over: Sequence[Box], asked: Asked) -> None:
        self.machine, self.window, self.frame, self.over, self.asked = machine, window, frame, over, asked

    def seen(self, box: Box, inside: Box | None = None) -> Box:
        """What is to be seen of a box: inside of its window and of what cuts it, where no other window lies over."""
        if self.asked.raw:
            return box
        frame = self.frame if inside is None else self.frame.clip(inside) or NOWHERE
        cut = box.clip(frame)
        if cut is None:
            return NOWHERE
        if self.machine.kind.old:  # there what is left of it, or above, is told as it is
            cut = Box(box.left, box.top, cut.right, cut.bottom)
        return left_over(cut, self.over) if self.asked.merged else cut

    def node(self, kind: str, box: Box, what: str, *, inside: Box | None = None, **given: Any) -> Node:
        """A node of a component.

        Args:
            box: Where it is.
            what: Tells it from all others of the window, as long as it is there.
            inside: What cuts it, besides its window.
            given: Attributes; truths are written as texts.
        """
        window = self.window
        number = str(self.machine.number(f"{window.id}/{what}"))
        cut = self.seen(box, inside)
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
            attributes |= {"originalText": values.get("text", ""), "displayId": "0", "clip": "false"}
        if self.asked.unique:
            attributes["uniqueId"] = number
        attributes |= values
        attributes["key"] = attributes["id"]
        fonts = self.asked.fonts and kind in ("Text", "Button", "TextInput", "TextArea")
        return Node(attributes, extra={"FontSize": "16.00fp", "FontColor": "#FF000000"} if fonts else {})

    def fill(self, holder: Node, screen: FakeScreen, box: Box) -> None:
        """The elements of a screen become nodes below a holder, which cuts them."""
        made: dict[FakeElement, Node] = {}
        bar: Node | None = None
        for number, element in enumerate(screen.elements):
            place = pixels(screen.place(element), box, self.window.scale)
            unseen = "hidden" in element.states or self.seen(place, box) == NOWHERE
            if unseen and not self.asked.raw:
                continue
            outer = made.get(element.parent) if element.parent is not None else None
            above = outer or holder
            if element.role == "tab":
                if bar is None:
                    bar = self.node("TabBar", place, "tabs", inside=box)
                    above.children.append(bar)
                above = bar
            # What the system shows is made anew at each look here, and on a device is the same component all along.
            what = f"{number}/{element.identifier}" if self.window.app == SCENEBOARD or self.window.keyboard else ""
            node = self.element(screen, element, place, box, what or element.key, unseen="hidden" in element.states)
            made[element] = node if element.role != "heading" else node.children[0]
            above.children.append(node)

    def element(
        self, screen: FakeScreen, element: FakeElement, box: Box, inside: Box, what: str, *, unseen: bool
    ) -> Node:
        """The node of one element, which its holder cuts; `what` tells it from all others."""
        role, states, value = element.role, element.states, element.value or ""
        editable = role in EDITABLE and "readonly" not in states
        practice = screen if isinstance(screen, HandsetPractice) else None
        kind = "TextArea" if "multiline" in states else TYPES.get(role, "Text")
        shown = "*" * len(value) if element.secure else value
        acts = (role in INTERACTIVE and (editable or role not in EDITABLE)) or element.on_press is not None
        node = self.node(
            kind, box, what, inside=inside,
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
            label = self.node("Text", box, f"{what}/label", inside=inside, text=element.name)
            node.children.append(label)
        else:
            told["text"] = element.name
        if role == "spinbutton":
            inner = self.node(
                "TextInput", box, f"{what}/value", inside=inside, text=value, clickable=True,
                focused=element is screen.focus,
            )  # fmt: skip
            node.children.append(inner)
        if role == "heading":
            return Node(self.node("TitleBar", box, f"{what}/bar", inside=inside).attributes, [node])
        return node


def frame_of(machine: Machine, window: Window) -> Box:
    """The whole of a window: an app's is the display, whatever of that its content may use."""
    app = not (window.bar or window.keyboard) and window.type in (1, 2001, 2115)
    return machine.geometry.whole if app else window.box


def window_node(machine: Machine, window: Window, over: Sequence[Box], asked: Asked) -> Node:
    """The nodes of a window that others lie over, with what lies over its app inside of it."""
    geometry = machine.geometry
    frame = frame_of(machine, window)
    app = frame is not window.box
    maker = _Maker(machine, window, frame, over, asked)
    system = window.app == SCENEBOARD
    root = maker.node(
        "WindowScene" if system else "root", frame, "root", bundleName=window.app, abilityName=window.ability,
        pagePath=window.page, focused=window.focused, hitTestBehavior="", id=f"session{window.id}" if system else "",
    )  # fmt: skip
    holder_box = geometry.content(keyboard=False) if app else frame
    column = maker.node("Column", holder_box, "column")
    root.children.append(column)
    screen = window.screen
    rows = any(element.identifier.startswith("row") for element in screen.elements)
    scrolls = screen.content_height > screen.height
    holder = maker.node("List" if rows else "Scroll", window.box, f"holder/{screen.title}", scrollable=scrolls)
    column.children.append(holder)
    maker.fill(holder, screen, window.box)
    popup = window.popup
    if popup is not None:
        alert = any(element.role == "textbox" for element in popup.screen.elements)
        menu = any(element.role == "option" for element in popup.screen.elements)
        kind = "Menu" if menu else "Dialog" if alert else "AlertDialog"
        inner = maker.node(kind, popup.box, f"over/{id(popup.screen)}", zIndex="1")
        maker.fill(inner, popup.screen, popup.box)
        for node in inner.walk():
            node.attributes["id"] = node.attributes["key"] = ""  # what the toolkit draws by itself has none
        root.children.append(inner)
    _number(root, f"ROOT{window.id}")
    return root


def _number(node: Node, path: str) -> None:
    node.attributes["hierarchy"] = path
    for place, child in enumerate(node.children):
        _number(child, f"{path},{place}")


def display_node(machine: Machine, windows: Sequence[Window], asked: Asked) -> Node:
    """The topmost node: the display, with windows in it.

    The window that has the focus comes first, then the others from the topmost down; one that others cover is not told.
    """
    attributes = dict.fromkeys(EMPTY + (NEW if machine.kind.api >= NEWER else ()), "")
    over: list[Box] = []
    roots: list[tuple[bool, Node]] = []
    right = bottom = 0
    for window in windows:
        frame = frame_of(machine, window)
        hidden = left_over(frame, over) == NOWHERE
        wanted = asked.bundle in ("", window.app) and asked.window in ("", str(window.id))
        if wanted and not hidden:
            roots.append((not window.focused, window_node(machine, window, list(over), asked)))
            right, bottom = max(right, frame.right), max(bottom, frame.bottom)
        over.append(frame)
    attributes["bounds"] = str(Box(0, 0, right, bottom))
    return Node(attributes, [root for _, root in sorted(roots, key=lambda one: one[0])])
