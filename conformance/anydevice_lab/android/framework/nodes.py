"""What accessibility tells of a screen: Android's nodes, with the classes, texts and flags an app of its toolkit has.

The practice app counts as one of the newer toolkit: its ids stand alone (`form.name`), a row's label sits in a child.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import EDITABLE, INTERACTIVE
from anydevice_schemas.practice import APP_ID

from ...handset.apps import HandsetPractice
from ...handset.geometry import Box
from ...handset.picture import pixels

W = "android.widget."
CLASSES = {
    "button": W + "Button",
    "textbox": W + "EditText",
    "searchbox": W + "EditText",
    "switch": W + "Switch",
    "checkbox": W + "CheckBox",
    "radio": W + "RadioButton",
    "slider": W + "SeekBar",
    "combobox": W + "Spinner",
    "spinbutton": W + "NumberPicker",
    "progressbar": W + "ProgressBar",
    "image": W + "ImageView",
    "region": "android.view.ViewGroup",
    "listitem": "android.view.ViewGroup",
    "option": W + "CheckedTextView",
    "tab": "androidx.appcompat.app.ActionBar$Tab",
}
"""Class of the node of a role; all others are texts."""
LABELLED = ("textbox", "searchbox", "slider", "combobox", "spinbutton", "progressbar", "image", "region", "status")
"""Roles whose name is the content description, because the text is the value."""


@dataclass(eq=False)
class UiNode:
    """One node.

    Attributes:
        element: Of the model; None for what only holds others.
    """

    cls: str
    package: str
    bounds: Box
    text: str = ""
    desc: str = ""
    rid: str = ""
    hint: str = ""
    enabled: bool = True
    clickable: bool = False
    checkable: bool = False
    checked: bool = False
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    long_clickable: bool = False
    password: bool = False
    selected: bool = False
    children: list[UiNode] = field(default_factory=list)
    element: FakeElement | None = None

    def walk(self) -> Iterator[UiNode]:
        """It and everything below, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


def tree_of(screen: FakeScreen, package: str, box: Box, scale: float, frame: Box | None = None) -> UiNode:
    """The nodes of a screen in a window.

    Args:
        screen: What is shown, in points.
        package: Whose it is.
        box: Where the window shows it, in pixels; what lies outside is left out, as it is on a device.
        scale: Pixels of a point.
        frame: The whole window, where its content does not fill it.
    """
    frame = frame or box
    practice = isinstance(screen, HandsetPractice)
    inner = [
        UiNode("android.widget.LinearLayout", package, frame),
        UiNode("android.widget.FrameLayout", package, box, rid="android:id/content"),
        UiNode("androidx.compose.ui.platform.ComposeView" if practice else "android.view.ViewGroup", package, box),
    ]
    root = UiNode("android.widget.FrameLayout", package, frame)
    above = root
    for node in inner:
        above.children.append(node)
        above = node
    rows = any(element.identifier.startswith("row") for element in screen.elements)
    holder = UiNode(
        "androidx.recyclerview.widget.RecyclerView" if rows else W + "ScrollView",
        package,
        box,
        rid=_id("content", package),
        scrollable=screen.content_height > screen.height,
    )
    above.children.append(holder)
    made: dict[FakeElement, UiNode] = {}
    for element in screen.elements:
        made_of = _node(screen, element, package, box, scale)
        if made_of is None:
            continue
        made[element] = made_of
        outer = made.get(element.parent) if element.parent is not None else None
        (outer or holder).children.append(made_of)
    return root


def _id(name: str, package: str) -> str:
    if not name:
        return ""
    return name if package == APP_ID or ":id/" in name else f"{package}:id/{name}"


def _node(screen: FakeScreen, element: FakeElement, package: str, box: Box, scale: float) -> UiNode | None:
    bounds = pixels(screen.place(element), box, scale).clip(box)
    if bounds is None or "hidden" in element.states:
        return None
    role, states = element.role, element.states
    practice = isinstance(screen, HandsetPractice)
    editable = role in EDITABLE and "readonly" not in states
    node = UiNode(
        CLASSES.get(role, W + "TextView"),
        package,
        bounds,
        rid=_id(element.identifier, package),
        enabled="disabled" not in states,
        clickable=(role in INTERACTIVE and (editable or role not in EDITABLE)) or element.on_press is not None,
        checkable=role in ("switch", "checkbox", "radio", "option"),
        checked="checked" in states,
        focused=element is screen.focus,
        selected="selected" in states,
        password=element.secure,
        element=element,
    )
    node.clickable = node.clickable or (practice and role == "image")
    node.focusable = node.clickable or editable
    node.long_clickable = role in EDITABLE or (isinstance(screen, HandsetPractice) and screen.hears(element, "hold"))
    _say(node, element)
    if role == "heading":
        return UiNode(W + "Toolbar", package, bounds, children=[node])
    return node


def _say(node: UiNode, element: FakeElement) -> None:
    """Puts name and value where a node of this role has them."""
    role, value = element.role, element.value or ""
    if role not in LABELLED or (role == "status" and element.value is None):
        node.text = element.name
    else:
        node.desc = element.name
        node.text = "•" * len(value) if element.secure else value
    if role in ("textbox", "searchbox"):
        node.hint = element.name
    elif role == "slider":
        node.text = f"{float(value or 0)}"
    elif role == "combobox":
        node.text = ""
        label = UiNode(W + "TextView", node.package, node.bounds, text=value, rid="android:id/text1")
        node.children.append(label)
    elif role == "spinbutton":
        node.text, node.clickable, node.focusable, node.long_clickable = "", False, False, False
        field_ = UiNode(
            W + "EditText", node.package, node.bounds, text=value, rid="android:id/numberpicker_input",
            clickable=True, focusable=True, focused=node.focused, long_clickable=True, enabled=node.enabled,
            element=element,
        )  # fmt: skip
        node.children.append(field_)
    elif role == "listitem":
        node.text = ""
        rid = "" if node.package == APP_ID else "android:id/title"
        node.children.append(UiNode(W + "TextView", node.package, node.bounds, text=element.name, rid=rid))
