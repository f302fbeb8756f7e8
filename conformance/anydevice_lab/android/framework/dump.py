"""Node trees as XML, in the form of `uiautomator dump`, of its `--windows`, and of the accessibility server's jar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from xml.sax.saxutils import quoteattr

from .nodes import UiNode
from .windows import Window

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
NEWER = 34
"""Level from which on dumps have drawing-order and hint."""
_BAD = ((0x1, 0x8), (0xB, 0xC), (0xE, 0x1F), (0x7F, 0x84), (0x86, 0x9F), (0xFDD0, 0xFDDF))


def clean(text: str) -> str:
    """A text as a dump has it: each UTF-16 unit that the dumper takes for no XML becomes a dot, and so emoji do."""
    out: list[str] = []
    for letter in text:
        code = ord(letter)
        if code > 0xFFFF:
            out.append("..")
        elif code == 0 or any(low <= code <= high for low, high in _BAD):
            out.append(".")
        else:
            out.append(letter)
    return "".join(out)


def _attribute(name: str, value: str) -> str:
    return f"{name}={quoteattr(clean(value), {chr(10): '&#10;', chr(13): '&#13;', chr(9): '&#9;', chr(34): '&quot;'})}"


def _flag(name: str, value: bool) -> str:
    return f'{name}="{"true" if value else "false"}"'


def _unnamed(node: UiNode) -> bool:
    """Whether it can be acted on and nothing says what it is (NAF, "not accessibility friendly")."""
    return (
        node.clickable
        and node.enabled
        and not any(inner.text or inner.desc for inner in node.walk())
        and node.cls.rpartition(".")[2] not in ("ListView", "RecyclerView", "ScrollView", "EditText")
    )


def node_xml(node: UiNode, index: int, *, api: int, jar: bool = False, depth: int = 0) -> str:
    """A node and everything below.

    Args:
        index: Its place among its siblings.
        api: Level of the device.
        jar: In the form of the jar, which tells what is visible too.
        depth: Levels that may follow below it; 0 = all.
    """
    parts = ["<node"]
    if not jar and _unnamed(node):
        parts.append('NAF="true"')
    parts += [
        f'index="{index}"',
        _attribute("text", node.text),
        _attribute("resource-id", node.rid),
        _attribute("class", node.cls),
        _attribute("package", node.package),
        _attribute("content-desc", node.desc),
        _flag("checkable", node.checkable),
        _flag("checked", node.checked),
        _flag("clickable", node.clickable),
        _flag("enabled", node.enabled),
        _flag("focusable", node.focusable),
        _flag("focused", node.focused),
        _flag("scrollable", node.scrollable),
        _flag("long-clickable", node.long_clickable),
        _flag("password", node.password),
        _flag("selected", node.selected),
    ]
    if jar:
        parts.append('visible-to-user="true"')
    parts.append(f'bounds="{node.bounds}"')
    if api >= NEWER or jar:
        parts += [f'drawing-order="{index + 1}"', _attribute("hint", node.hint)]
    head = " ".join(parts)
    if not node.children or depth == 1:
        return head + " />"
    below = max(0, depth - 1)
    inner = "".join(node_xml(child, i, api=api, jar=jar, depth=below) for i, child in enumerate(node.children))
    return f"{head}>{inner}</node>"


def compress(node: UiNode) -> list[UiNode]:
    """A tree without what only lays out others: what `--compressed` leaves of it."""
    below = [inner for child in node.children for inner in compress(child)]
    tells = node.text or node.desc or node.clickable or node.checkable or node.scrollable or node.focusable
    if tells or (node.rid and node.element is not None):
        return [replace(node, children=below)]
    return below


def hierarchy(
    roots: Sequence[UiNode], rotation: int, *, api: int, jar: bool = False, depth: int = 0, head: bool = True
) -> str:
    """Roots under one `<hierarchy>`."""
    inner = "".join(node_xml(root, number, api=api, jar=jar, depth=depth) for number, root in enumerate(roots))
    text = f'<hierarchy rotation="{rotation}">{inner}</hierarchy>' if inner else f'<hierarchy rotation="{rotation}" />'
    return HEAD + text if head else text


def windows_xml(windows: Sequence[Window], rotation: int, *, api: int, display: int = 0) -> str:
    """The form of `--windows`: every window with its place and kind, the topmost first."""
    parts = [HEAD, f'<displays><display id="{display}">']
    for number, window in enumerate(windows):
        parts.append(
            f'<window index="{number}" {_attribute("title", window.title)} bounds="{window.frame or window.box}" '
            f'{_flag("active", window.active)} {_flag("focused", window.focused)} id="{window.id}" '
            f'layer="{window.layer}" type="{window.type}">'
        )
        parts.append(hierarchy([window.root], rotation, api=api, head=False))
        parts.append("</window>")
    parts.append("</display></displays>")
    return "".join(parts)
