"""What XCUITest tells of a screen: elements of its types, with the names, values and flags UIKit gives them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, floor
from typing import TYPE_CHECKING

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import EDITABLE, Rect

from ...handset.windows import Window
from .apps import ApplePractice

if TYPE_CHECKING:
    from .machine import Machine

TYPES = {
    "button": "Button", "textbox": "TextField", "searchbox": "SearchField", "spinbutton": "TextField",
    "switch": "Switch", "checkbox": "CheckBox", "slider": "Slider", "combobox": "PickerWheel", "image": "Image",
    "region": "Other", "progressbar": "ActivityIndicator", "listitem": "Cell", "icon": "Icon", "card": "Other",
    "tab": "Button", "option": "Button",
}  # fmt: skip
"""Types by role; everything else is a StaticText."""
TRAITS = {
    "Button": "Button", "StaticText": "StaticText", "Image": "Image", "SearchField": "SearchField",
    "Slider": "Adjustable", "PickerWheel": "Adjustable", "Switch": "Button, ToggleButton",
    "CheckBox": "Button, ToggleButton", "ActivityIndicator": "UpdatesFrequently",
}  # fmt: skip


@dataclass(eq=False)
class XNode:
    """One element.

    Attributes:
        type: Without `XCUIElementType`.
        key: Tells it from all others, and stays the same for as long as it is the same element.
        label, value, identifier, placeholder: As an app gives them; `wd_value` is what WebDriverAgent makes of it.
        rect: In points of the screen as it is turned.
        element, screen: What of the model it shows.
        window: In which window of the model it lies.
    """

    type: str
    key: str
    rect: Rect
    label: str = ""
    value: str = ""
    identifier: str = ""
    placeholder: str = ""
    enabled: bool = True
    visible: bool = True
    accessible: bool = False
    focused: bool = False
    selected: bool = False
    header: bool = False
    children: list[XNode] = field(default_factory=list)
    element: FakeElement | None = None
    screen: FakeScreen | None = None
    window: Window | None = None

    def walk(self) -> Iterator[XNode]:
        """It and everything below, in order."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def name(self) -> str:
        """The identifier, else the label."""
        return self.identifier or self.label

    @property
    def wd_value(self) -> str:
        """The value: a text without one has its label, a field without one its placeholder."""
        if self.type == "StaticText":
            return self.value or self.label
        if self.type == "Button":
            return self.value or ("1" if self.selected else "")
        return self.value or self.placeholder

    @property
    def traits(self) -> str:
        """Its traits, as one text."""
        found = [TRAITS[self.type]] if self.type in TRAITS else []
        more = (("Header", self.header), ("Selected", self.selected), ("NotEnabled", not self.enabled))
        return ", ".join([*found, *(name for name, holds in more if holds)])

    @property
    def box(self) -> tuple[int, int, int, int]:
        """x, y, width, height in whole points around it."""
        left, top = floor(self.rect.x + 1e-6), floor(self.rect.y + 1e-6)
        right, bottom = ceil(self.rect.x + self.rect.width - 1e-6), ceil(self.rect.y + self.rect.height - 1e-6)
        return left, top, right - left, bottom - top


def tree_of(machine: Machine, *, nested: int = 0, system: bool = False) -> XNode:
    """The application in front with everything in it.

    Args:
        nested: So many elements deeper than it is.
        system: The alert of the system, if there is one, instead of the app.
    """
    geometry = machine.screen_geometry
    whole = Rect(0, 0, geometry.width, geometry.height)
    windows = machine.windows()
    popup = machine.current_popup()
    asked = popup.screen if popup is not None and popup is machine.system else None
    if asked is not None and system:
        root = XNode("Application", "app:system", whole, label=" ")
        for window in windows:
            if window.screen is asked:
                root.children.append(_alert(window, whole, "alert"))
        return root
    front = machine.front
    root = XNode("Application", f"app:{front.id}:{front.pid}", whole, label=front.label)
    main = XNode("Window", f"{root.key}/w0", whole)
    root.children.append(main)
    for window in reversed(windows):
        if window.keyboard:
            root.children.append(_keyboard(window, whole, f"{root.key}/keyboard"))
        elif window.title == "EditMenu":
            root.children.append(_menu(window, whole, f"{root.key}/menu"))
        elif window.title == "NavigationBar":
            bar = XNode("NavigationBar", f"{root.key}/bar", _rect(window), identifier=front.screen.title)
            bar.children = [_node(window, element, bar.rect) for element in window.screen.elements]
            main.children.insert(0, bar)
        elif window.modal and window.screen is not asked:
            root.children.append(_alert(window, whole, f"{root.key}/popup"))
        elif window.screen is front.screen:
            _content(main, window, whole, nested)
    return root


def _rect(window: Window) -> Rect:
    scale, box = window.scale, window.box
    return Rect(box.left / scale, box.top / scale, box.width / scale, box.height / scale)


def _content(main: XNode, window: Window, whole: Rect, nested: int) -> None:
    """The content of the app, a few wrappers deep as UIKit has it."""
    above = main
    for number in range(2 + nested):
        inner = XNode("Other", f"{main.key}/o{number}", whole)
        above.children.append(inner)
        above = inner
    screen, place = window.screen, _rect(window)
    rows = any(element.identifier.startswith("row") for element in screen.elements)
    # A view scrolls or does not, whether or not there is more than it shows.
    kind = "Table" if rows else "ScrollView" if isinstance(screen, ApplePractice) else "Other"
    holder = XNode(kind, f"{main.key}/content", place)
    above.children.append(holder)
    made: dict[FakeElement, XNode] = {}
    tabs: XNode | None = None
    for element in screen.elements:
        if "hidden" in element.states:
            continue
        node = _node(window, element, place)
        made[element] = node
        if element.role == "tab":
            if tabs is None:
                tabs = XNode("TabBar", f"{main.key}/tabs", node.rect, label="Tab Bar")
                holder.children.append(tabs)
            tabs.rect = _around(tabs.rect, node.rect)
            tabs.children.append(node)
            continue
        outer = made.get(element.parent) if element.parent is not None else None
        if outer is not None:
            node.accessible = False
        (outer or holder).children.append(node)


def _around(one: Rect, two: Rect) -> Rect:
    left, top = min(one.x, two.x), min(one.y, two.y)
    right, bottom = max(one.x + one.width, two.x + two.width), max(one.y + one.height, two.y + two.height)
    return Rect(left, top, right - left, bottom - top)


def _node(window: Window, element: FakeElement, clip: Rect) -> XNode:
    screen, corner = window.screen, _rect(window)
    place = screen.place(element)
    rect = Rect(corner.x + place.x, corner.y + place.y, place.width, place.height)
    role, value = element.role, element.value or ""
    kind = TYPES.get(role, "StaticText")
    if role == "textbox":
        long = "multiline" in element.states or "readonly" in element.states
        kind = "SecureTextField" if element.secure else "TextView" if long else kind
    node = XNode(
        kind, element.key, rect, label=element.name, identifier=element.identifier,
        enabled="disabled" not in element.states, visible=rect.intersect(clip) is not None, accessible=True,
        focused=element is screen.focus, selected=bool({"selected", "checked"} & element.states) and kind == "Button",
        header=role == "heading", element=element, screen=screen, window=window,
    )  # fmt: skip
    if role in EDITABLE:
        node.value = "•" * len(value) if element.secure else value
        node.placeholder = element.name if kind in ("TextField", "SecureTextField", "SearchField") else ""
    elif kind in ("Switch", "CheckBox"):
        node.value = str(int("checked" in element.states))
    elif kind == "Slider":
        node.value = f"{value}%"
    elif kind == "ActivityIndicator":
        node.value = value or "1"
    else:
        node.value = value
    if kind == "Cell":
        label = Rect(rect.x + 16, rect.y + 8, rect.width - 80, max(1.0, rect.height - 16))
        arrow = Rect(rect.x + rect.width - 32, rect.y + rect.height / 2 - 7, 9, 14)
        node.children = [
            XNode("StaticText", f"{element.key}/label", label, label=element.name, visible=node.visible, window=window,
                  element=element, screen=screen),
            XNode("Button", f"{element.key}/chevron", arrow, label="chevron", enabled=False, visible=False,
                  window=window, element=element, screen=screen),
        ]  # fmt: skip
    return node


def _alert(window: Window, whole: Rect, key: str) -> XNode:
    """A window with an alert, or with a list that dropped down."""
    top = XNode("Window", key, whole)
    rect = _rect(window)
    elements = window.screen.elements
    listed = all(element.role == "option" for element in elements)
    title = next((element.name for element in elements if element.role == "text"), "")
    box = XNode("CollectionView" if listed else "Alert", f"{key}/box", rect, label="" if listed else title)
    top.children.append(box)
    nodes = [_node(window, element, rect) for element in elements]
    if not listed:
        # Two buttons stand side by side, the one that says yes on the right.
        nodes.sort(key=lambda node: (node.type == "Button", node.rect.x if node.type == "Button" else node.rect.y))
    box.children = nodes
    return top


def _menu(window: Window, whole: Rect, key: str) -> XNode:
    top = XNode("Window", key, whole)
    bar = XNode("Menu", f"{key}/menu", _rect(window))
    top.children.append(bar)
    bar.children = [_node(window, element, bar.rect) for element in window.screen.elements]
    for node in bar.children:
        node.type = "MenuItem"
    return top


def _keyboard(window: Window, whole: Rect, key: str) -> XNode:
    top = XNode("Window", key, whole)
    board = XNode("Keyboard", f"{key}/keys", _rect(window))
    top.children.append(board)
    for element in window.screen.elements:
        node = _node(window, element, board.rect)
        node.type = "Button" if element.name in ("return", "delete") else "Key"
        board.children.append(node)
    return top
