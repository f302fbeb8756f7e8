"""The tree of a screen as AXe and idb print it: accessibility of the Mac's kind, keyboard and status bar apart."""

from __future__ import annotations

from typing import Any

from anydevice_schemas import Rect

from ..device import LabDevice
from ..model.geometry import PREDICTIVE
from ..model.nodes import XNode, tree_of

ROLES = {
    "Application": "AXApplication", "Button": "AXButton", "StaticText": "AXStaticText", "TextField": "AXTextField",
    "SecureTextField": "AXTextField", "TextView": "AXTextArea", "SearchField": "AXTextField", "Switch": "AXCheckBox",
    "CheckBox": "AXCheckBox", "Slider": "AXSlider", "Image": "AXImage", "Cell": "AXButton", "Icon": "AXButton",
    "Key": "AXButton",
}  # fmt: skip
NAMES = {"AXTextField": "TextField", "AXTextArea": "TextArea", "AXCheckBox": "CheckBox"}
SUGGESTED = ("I", "The", "I’m")
"""What the bar above the keys suggests before anything is typed: words that apps have as labels too."""
STATUS_BAR_PID = 77
"""The status bar belongs to another process."""


def tree(device: LabDevice) -> list[dict[str, Any]]:
    """The whole screen: an array with the application; keys and the status bar are at its top level."""
    machine = device.machine
    root = tree_of(machine, system=True)
    pid = machine.front.pid or 1
    upright = machine.geometry.rotation % 2 == 1 and device.faults.active("bars_upright") is not None
    top = _node(root, pid, children=[])
    for node in root.children:
        for child in node.walk():
            if child.type == "Keyboard":
                keys = _keyboard(child, pid, tv=machine.kind.tv)
                top["children"] += [_upright(device, row) for row in keys] if upright else keys
                break
        else:
            top["children"] += _below(node, pid)
    if machine.screen_geometry.status_bar is not None:
        for element in machine.windows():
            if element.title == "StatusBar":
                clock = element.screen.elements[0]
                rect = element.screen.place(clock)
                shown = _row("StaticText", rect, STATUS_BAR_PID, label=clock.name)
                top["children"].append(_upright(device, shown) if upright else shown)
    return [top]


def _upright(device: LabDevice, row: dict[str, Any]) -> dict[str, Any]:
    """A row with the frame it has on the display itself, which does not turn."""
    frame, kind = row["frame"], device.kind
    x, y, width, height = frame["x"], frame["y"], frame["width"], frame["height"]
    if device.machine.geometry.rotation == 1:
        x, y = kind.width - y - height, x
    else:
        x, y = y, kind.height - x - width
    return {**row, **_frame(Rect(x, y, height, width))}


def _frame(rect: Rect) -> dict[str, Any]:
    x, y, width, height = rect.x, rect.y, rect.width, rect.height
    return {
        "AXFrame": f"{{{{{x:.15g}, {y:.15g}}}, {{{width:.15g}, {height:.15g}}}}}",
        "frame": {"x": x, "y": y, "width": width, "height": height},
    }


def _keyboard(node: XNode, pid: int, *, tv: bool) -> list[dict[str, Any]]:
    """Suggestions, keys, and what they lie on: all beside each other, and no part of the app's own tree."""
    rect, bar = node.rect, 0 if tv else PREDICTIVE
    below = Rect(rect.x, rect.y + bar, rect.width, rect.height - bar)
    wide = rect.width / len(SUGGESTED)
    suggested = [
        _row("GenericElement", Rect(rect.x + number * wide, rect.y, wide, bar), pid, label=word)
        for number, word in enumerate(SUGGESTED)
    ]
    keys = [_node(key, pid) for key in node.children]
    return [*(suggested if bar else []), *keys, _row("GenericElement", below, pid, label=None)]


def _below(node: XNode, pid: int) -> list[dict[str, Any]]:
    """What accessibility tells of a node and what is in it: wrappers are left out, a row is one thing."""
    if node.rect.intersect(Rect(0, 0, 100_000, 100_000)) is None or not node.visible:
        return []
    if node.type in ("Cell", "Icon", "Button") or not node.children:
        return [_node(node, pid)] if node.label or node.element is not None else []
    inner = [row for child in node.children for row in _below(child, pid)]
    if node.type in ("Alert", "TabBar", "NavigationBar"):
        return [_node(node, pid, kind="Group", children=inner)]
    return inner


def _node(node: XNode, pid: int, *, kind: str = "", children: list[Any] | None = None) -> dict[str, Any]:
    label: str | None = node.label or None
    if node.type == "Cell":
        # A row is one element with everything it says, joined by commas.
        label = ", ".join(part for part in (node.label, node.value) if part) or None
    value = (
        node.value
        if node.type in ("Switch", "CheckBox")
        else node.wd_value
        if node.type != "StaticText"
        else node.value
    )
    kind = kind or node.type
    return _row(kind, node.rect, pid, label=label, value=value or None, unique=node.identifier or None,
                enabled=node.enabled, heading=node.header, children=children)  # fmt: skip


def _row(
    kind: str, rect: Rect, pid: int, *, label: str | None, value: str | None = None, unique: str | None = None,
    enabled: bool = True, heading: bool = False, children: list[Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    role = "AXHeading" if heading else "AXGroup" if kind == "Group" else ROLES.get(kind, "AXGenericElement")
    place = _frame(rect)
    return {
        "AXFrame": place["AXFrame"],
        "AXLabel": label,
        "AXUniqueId": unique,
        "AXValue": value,
        "children": children or [],
        "content_required": False,
        "custom_actions": [],
        "enabled": enabled,
        "frame": place["frame"],
        "help": None,
        "pid": pid,
        "role": role,
        "role_description": "" if role == "AXGenericElement" else role.removeprefix("AX").lower(),
        "subrole": "AXSecureTextField" if kind == "SecureTextField" else "AXSwitch" if kind == "Switch" else None,
        "title": None,
        "type": NAMES.get(role, role.removeprefix("AX")),
    }


def flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same without nesting."""
    found: list[dict[str, Any]] = []
    for row in rows:
        inner = row["children"]
        found.append({name: value for name, value in row.items() if name != "children"})
        found += flat(inner)
    return found


def walk(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every row, the outer before the inner."""
    return [one for row in rows for one in (row, *walk(row["children"]))]
