"""Elements as callers of the accessibility server select them: by texts, flags, and what is in or beside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..handset import touch
from .framework.nodes import UiNode
from .framework.windows import SYSTEM, Window

if TYPE_CHECKING:
    from .u2 import Server

NOT_FOUND = "com.github.uiautomator.exceptions.UiObjectNotFoundException"
_TEXTS = {"text": "text", "description": "desc", "resourceId": "rid", "className": "cls", "packageName": "package"}
_FLAGS = {
    "checkable": "checkable", "checked": "checked", "clickable": "clickable", "enabled": "enabled",
    "focusable": "focusable", "focused": "focused", "scrollable": "scrollable", "selected": "selected",
    "longClickable": "long_clickable",
}  # fmt: skip


class RpcError(Exception):
    """The server's own failure, told to the caller."""


def windows(server: Server) -> list[Window]:
    """What is on the display, as far as the server is let see it."""
    faults = server.device.faults
    if faults.active("null_root") is not None:
        return []
    stale = faults.active("stale")
    found: list[Window] = stale.data if stale is not None else server.device.machine.seen()
    if faults.active("system_only") is not None:
        found = [window for window in found if window.type == SYSTEM] or found[-1:]
    return found


def _fits(node: UiNode, selector: dict[str, Any]) -> bool:
    for name, field in _TEXTS.items():
        value = getattr(node, field)
        if name in selector and value != selector[name]:
            return False
        if f"{name}Contains" in selector and selector[f"{name}Contains"] not in value:
            return False
        if f"{name}StartsWith" in selector and not value.startswith(selector[f"{name}StartsWith"]):
            return False
        if f"{name}Matches" in selector and not re.fullmatch(selector[f"{name}Matches"], value, re.DOTALL):
            return False
    return all(getattr(node, field) == selector[name] for name, field in _FLAGS.items() if name in selector)


def select(server: Server, selector: dict[str, Any]) -> list[tuple[Window, UiNode]]:
    """Every node a selector means, with its window."""
    every = [(window, node) for window in windows(server) for node in window.root.walk() if _fits(node, selector)]
    below = zip(selector.get("childOrSibling") or [], selector.get("childOrSiblingSelector") or [], strict=False)
    for how, inner in below:
        # From each of them to what is inside, or beside it under the same parent.
        every = [(window, found) for window, node in every for found in _near(window, node, how) if _fits(found, inner)]
    return every[selector["instance"] :] if isinstance(selector.get("instance"), int) else every


def _near(window: Window, node: UiNode, how: str) -> list[UiNode]:
    if how == "child":
        return list(node.walk())[1:]
    parent = next((other for other in window.root.walk() if node in other.children), None)
    return [one for one in parent.children if one is not node] if parent is not None else []


def only(server: Server, selector: dict[str, Any]) -> tuple[Window, UiNode]:
    """The first of them.

    Raises:
        RpcError: There is none.
    """
    found = select(server, selector)
    if not found:
        raise RpcError(f"{NOT_FOUND}: {selector}")
    return found[0]


def middle(node: UiNode) -> touch.Spot:
    """The middle of a node, in pixels."""
    return ((node.bounds.left + node.bounds.right) / 2, (node.bounds.top + node.bounds.bottom) / 2)


def info(node: UiNode) -> dict[str, Any]:
    """What is told of a node."""
    box = node.bounds
    bounds = {"left": box.left, "top": box.top, "right": box.right, "bottom": box.bottom}
    return {
        "bounds": bounds, "visibleBounds": bounds, "childCount": len(node.children), "className": node.cls,
        "contentDescription": node.desc, "packageName": node.package, "resourceName": node.rid or None,
        "text": node.text, "checkable": node.checkable, "checked": node.checked, "clickable": node.clickable,
        "enabled": node.enabled, "focusable": node.focusable, "focused": node.focused, "scrollable": node.scrollable,
        "longClickable": node.long_clickable, "selected": node.selected,
    }  # fmt: skip
