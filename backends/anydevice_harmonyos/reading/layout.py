"""The layout that `uitest dumpLayout` writes: windows and their elements, or the reason why there is none.

A node is `{"attributes": {…}, "children": […]}` and every value a text. The top node is the display; its children are
windows: the one that has the focus, then the others from the topmost down. `bounds` is the part of an element that
nothing lies over; what is wholly covered is left out. Elements carry no app of their own: it is their window's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; may lie outside of the screen."""
DEEPEST: Final = 400
"""Levels of a layout that are read; anything deeper is none."""
_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
_FAILED = re.compile(r"^DumpLayout failed:(.*)$", re.M)
KEYBOARD: Final = ("inputmethod", "keyboard")
"""Words in the bundle of a window that is an on-screen keyboard."""
LAUNCHER: Final = "com.ohos.sceneboard"
"""The system's own windows: home screen, bars, recent apps."""


class NoLayout(Exception):
    """There is no layout; `said` is what was printed instead (untrusted)."""

    def __init__(self, why: str, said: str = "") -> None:
        super().__init__(why)
        self.why, self.said = why, said[-2000:]


@dataclass(slots=True)
class LayoutWindow:
    """One window of a layout.

    Attributes:
        attributes_of_window: The window's own.
        parents, attributes: Its elements in document order, the window itself left out: index of the parent in this
            very list (-1: directly in the window), and the attributes as they were written.
    """

    attributes_of_window: Mapping[str, str]
    bounds: Box | None
    parents: list[int] = field(default_factory=list)
    attributes: list[Mapping[str, str]] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Number of the window."""
        return self.attributes_of_window.get("hostWindowId", "")

    @property
    def bundle(self) -> str:
        """The app it belongs to."""
        return self.attributes_of_window.get("bundleName", "")

    @property
    def ability(self) -> str:
        """The ability it shows; empty for the system's own."""
        return self.attributes_of_window.get("abilityName", "")

    @property
    def page(self) -> str:
        """Path of the page it shows."""
        return self.attributes_of_window.get("pagePath", "")

    @property
    def scene(self) -> bool:
        """Whether it is one of the system's own scenes."""
        return self.attributes_of_window.get("type") == "WindowScene" or self.bundle == LAUNCHER

    @property
    def keyboard(self) -> bool:
        """Whether it is an on-screen keyboard."""
        return any(word in self.bundle.casefold() for word in KEYBOARD)


@dataclass(slots=True)
class Layout:
    """A layout: the display's bounds, and its windows, the one with the focus first, then the topmost first."""

    bounds: Box | None
    windows: list[LayoutWindow]

    @property
    def count(self) -> int:
        """Elements in it."""
        return sum(len(window.parents) for window in self.windows)


def bounds(text: str) -> Box | None:
    """Bounds as they are written: `[left,top][right,bottom]`."""
    found = _BOUNDS.fullmatch(text)
    if found is None:
        return None
    left, top, right, bottom = map(int, found.groups())
    return (left, top, right, bottom) if right >= left and bottom >= top else None


def parse_layout(text: str) -> Layout:
    """Reads a layout file.

    Raises:
        NoLayout: It is none.
    """
    failed = _FAILED.search(text)
    if failed is not None:
        raise NoLayout("failed", failed[1].strip())
    try:
        top = json.loads(text)
    except (ValueError, RecursionError):
        raise NoLayout("cut off" if text.lstrip().startswith("{") else "no layout", text[:2000]) from None
    if not _is_node(top):
        raise NoLayout("no layout", text[:2000])
    windows = [_window(child) for child in top["children"] if _is_node(child)]
    return Layout(bounds(_text(top["attributes"], "bounds")), windows)


def _window(node: Mapping[str, Any]) -> LayoutWindow:
    made = LayoutWindow(_texts(node["attributes"]), bounds(_text(node["attributes"], "bounds")))
    # Not recursive: how deep a layout goes is an app's choice.
    waiting: list[tuple[Any, int, int]] = [(child, -1, 1) for child in reversed(node["children"])]
    while waiting:
        child, parent, depth = waiting.pop()
        if not _is_node(child) or depth > DEEPEST:
            continue
        made.parents.append(parent)
        made.attributes.append(_texts(child["attributes"]))
        at = len(made.parents) - 1
        waiting += [(inner, at, depth + 1) for inner in reversed(child["children"])]
    return made


def _is_node(node: Any) -> bool:
    return (
        isinstance(node, dict)
        and isinstance(node.get("attributes"), dict)
        and isinstance(node.setdefault("children", []), list)
    )


def _texts(attributes: Mapping[str, Any]) -> Mapping[str, str]:
    if all(isinstance(value, str) for value in attributes.values()):
        return attributes
    return {str(name): value if isinstance(value, str) else json.dumps(value) for name, value in attributes.items()}


def _text(attributes: Mapping[str, Any], name: str) -> str:
    value = attributes.get(name, "")
    return value if isinstance(value, str) else ""
