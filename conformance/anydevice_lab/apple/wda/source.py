"""The tree: how long it takes, how deep it goes, and how it is written."""

from __future__ import annotations

import time
from typing import Any
from xml.sax.saxutils import quoteattr

import anyio

from ..model.nodes import XNode, tree_of
from .errors import WdaError, stale
from .session import Request, Route

TYPE = "XCUIElementType"
DEEPEST = 62
"""Levels that the system can read; asked for more, it reads nothing."""
ALERT_SECONDS = 0.3
NESTED = 70
FORMATS = ("xml", "json", "description")
TEXT_FIELDS = ("TextField", "SecureTextField", "TextView", "SearchField")
GONE = "The application under test with bundle id '{}' is not running, possibly crashed"


def tree(request: Request, nested: int = 0) -> XNode:
    """What is shown now, whole and at once.

    Raises:
        WdaError: The app of the session is gone.
    """
    session, machine = request.session, request.machine
    if session is not None and session.bundle and session.expects:
        app = machine.apps.get(session.bundle)
        if app is None or not app.running:
            raise WdaError("invalid element state", GONE.format(session.bundle))
    return tree_of(machine, nested=nested, system=bool(request.setting("respectSystemAlerts")))


async def rest(request: Request) -> None:
    """Waits for an app that does not answer, and until what is in front is at rest, as long as the settings say."""
    machine = request.machine
    if machine.system is not None:
        stall = request.device.faults.active("alert_stall")
        await anyio.sleep(stall.seconds if stall is not None else ALERT_SECONDS)
    until = time.monotonic() + float(request.setting("waitForIdleTimeout"))
    while machine.front.screen is machine.practice and machine.practice.frozen_for:  # noqa: ASYNC110 - nothing tells
        await anyio.sleep(min(0.1, machine.practice.frozen_for))
    if request.session is None or request.session.waits:
        while machine.animated and time.monotonic() < until:  # noqa: ASYNC110 - nothing tells
            await anyio.sleep(0.05)


async def look(request: Request) -> XNode:
    """The tree as a session gets it: late, cut, or not at all.

    Raises:
        WdaError: It is too deep to be read.
    """
    await rest(request)
    faults = request.device.faults
    if slow := faults.active("source_slow"):
        await anyio.sleep(slow.seconds)
    deep = faults.active("deep")
    root = tree(request, (deep.code or NESTED) if deep is not None else 0)
    limit = int(request.setting("snapshotMaxDepth"))
    if limit > DEEPEST and _depth(root) > DEEPEST:
        raise stale(f'"{root.label}" Application')
    if faults.active("source_sparse"):
        root.children = []
    if faults.active("joined_label"):
        _join(root)
    if faults.active("label_text"):
        for node in root.walk():
            if node.type in TEXT_FIELDS and node.value:
                own = node.element
                told = own.value if own is not None and own.secure else node.value
                node.label, node.value, node.placeholder = str(told), "", ""
    _cut(root, limit, int(request.setting("snapshotMaxChildren")))
    return root


def _depth(node: XNode) -> int:
    return 1 + max((_depth(child) for child in node.children), default=0)


def _join(root: XNode) -> None:
    """The innermost wrapper of the whole screen says everything that is in it, as React Native's do."""
    wrappers = [node for node in root.walk() if node.type == "Other" and node.element is None and node.box == root.box]
    if wrappers:
        told = (node.label for node in wrappers[-1].walk() if node.label and node.accessible)
        wrappers[-1].label, wrappers[-1].accessible = " ".join(told), True


def _cut(node: XNode, levels: int, most: int) -> None:
    node.children = node.children[:most] if levels > 0 else []
    for child in node.children:
        _cut(child, levels - 1, most)


async def source(request: Request) -> Any:
    """`GET /source?format=xml|json|description&scope=&excluded_attributes=`."""
    query = request.message.query
    form = query.get("format", "xml").lower()
    if form not in FORMATS:
        listed = "".join(f"    {name},\n" for name in FORMATS).rstrip(",\n")
        text = f"Unknown source format '{form}'. Only (\n{listed}\n) source formats are supported."
        raise WdaError("invalid argument", text)
    root = await look(request)
    request.device.journal.add("source", format=form, nodes=sum(1 for _ in root.walk()))
    without = {name for name in query.get("excluded_attributes", "").split(",") if name}
    if form == "json":
        return {"tree": legacy(root)} if request.device.faults.active("source_legacy") else plain(root, without)
    if form == "xml":
        text = xml(root, without)
        if scope := query.get("scope"):
            text = f"<{scope}>\n{text}</{scope}>\n"
        elif request.device.faults.active("source_wrapped"):
            text = f"<AppiumAUT>\n{text}</AppiumAUT>\n"
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'
    return "\n".join(_described(root, 0))


PREFIXED = {
    "enabled": "isEnabled", "visible": "isVisible", "accessible": "isAccessible", "focused": "isFocused",
    "nativeAccessibilityElement": "isNativeAccessibilityElement",
}  # fmt: skip
"""Attributes that JSON has under another name than the one they are left out by."""


def plain(node: XNode, without: set[str]) -> dict[str, Any]:
    """A node as JSON has it; flags are texts."""
    x, y, width, height = node.box
    found: dict[str, Any] = {
        "type": node.type,
        "rawIdentifier": node.identifier or None,
        "name": node.name or None,
        "value": node.wd_value or None,
        "label": node.label or None,
        "rect": {"x": x, "y": y, "width": width, "height": height},
        "customActions": None,
    }
    exact = node.rect
    more: dict[str, Any] = {
        "frame": f"{{{{{x}, {y}}}, {{{width}, {height}}}}}",
        "nativeFrame": f"{{{{{exact.x:g}, {exact.y:g}}}, {{{exact.width:g}, {exact.height:g}}}}}",
        "enabled": _flag(node.enabled),
        "visible": _flag(node.visible),
        "accessible": _flag(node.accessible),
        "nativeAccessibilityElement": _flag(node.accessible),
        "focused": _flag(node.focused),
        "traits": node.traits,
    }
    if node.type in TEXT_FIELDS:
        more["placeholderValue"] = node.placeholder or None
    if node.type == "Slider":
        more |= {"minValue": "0", "maxValue": "100"}
    found |= {PREFIXED.get(name, name): value for name, value in more.items() if name not in without}
    if node.children:
        found["children"] = [plain(child, without) for child in node.children]
    return found


def _flag(holds: bool) -> str:
    return "1" if holds else "0"


def legacy(node: XNode) -> dict[str, Any]:
    """A node as old builds wrote it."""
    x, y, width, height = node.box
    return {
        "rect": {"size": {"width": width, "height": height}, "origin": {"x": x, "y": y}},
        "isEnabled": _flag(node.enabled),
        "type": f"UIA{node.type}",
        "name": node.name or None,
        "label": node.label or " ",
        "value": node.wd_value or None,
        "isVisible": _flag(node.visible),
        "children": [legacy(child) for child in node.children],
    }


def attributes(node: XNode, index: int, without: set[str]) -> dict[str, str]:
    """The attributes of an element of the XML."""
    x, y, width, height = node.box
    found = {"type": TYPE + node.type}
    texts = {"value": node.wd_value, "name": node.name, "label": node.label}
    found |= {name: text for name, text in texts.items() if text}
    flags = {"enabled": node.enabled, "visible": node.visible, "accessible": node.accessible, "focused": node.focused}
    for name, holds in flags.items():
        if name not in without and (name != "focused" or holds):
            found[name] = str(holds).lower()
    found |= {"x": str(x), "y": str(y), "width": str(width), "height": str(height), "index": str(index)}
    if node.placeholder and "placeholderValue" not in without:
        found["placeholderValue"] = node.placeholder
    if node.traits and "traits" not in without:
        found["traits"] = node.traits
    return found


def xml(node: XNode, without: set[str], index: int = 0, indent: int = 0) -> str:
    """A node as XML has it."""
    pad, name = "  " * indent, TYPE + node.type
    # A character that XML cannot hold is written as the agent writes it.
    words = "".join(f" {key}={quoteattr(_clean(text))}" for key, text in attributes(node, index, without).items())
    if not node.children:
        return f"{pad}<{name}{words}/>\n"
    inner = "".join(xml(child, without, number, indent + 1) for number, child in enumerate(node.children))
    return f"{pad}<{name}{words}>\n{inner}{pad}</{name}>\n"


def _clean(text: str) -> str:
    return "".join(ch if ch in "\t\n\r" or ord(ch) >= 32 else "?" for ch in text)


def _described(node: XNode, indent: int) -> list[str]:
    x, y, width, height = node.box
    parts = [f"{node.type}, 0x{abs(hash(node.key)):x}, {{{{{x}.0, {y}.0}}, {{{width}.0, {height}.0}}}}"]
    for name, text in (("identifier", node.identifier), ("label", node.label), ("value", node.value)):
        if text:
            parts.append(f"{name}: '{text}'")
    rows = [" " * indent + ", ".join(parts)]
    for child in node.children:
        rows += _described(child, indent + 2)
    return rows


async def accessible(request: Request) -> Any:
    """`GET /wda/accessibleSource`: only what a person without eyes is told."""

    def told(node: XNode) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if node.accessible:
            if node.visible:
                found = {"value": node.wd_value or None, "label": node.label or None}
        elif inner := [row for child in node.children if (row := told(child))]:
            found = {"children": inner}
        if found:
            found |= {"type": node.type, "rawIdentifier": node.identifier or None, "name": node.name or None}
        return found

    return told(await look(request))


S = "/session/:session"
ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/source"): source,
    ("GET", f"{S}/source"): source,
    ("GET", "/wda/accessibleSource"): accessible,
    ("GET", f"{S}/wda/accessibleSource"): accessible,
}
