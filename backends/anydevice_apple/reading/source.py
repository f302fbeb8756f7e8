"""The source of a screen as WebDriverAgent tells it: JSON of today and of old, and XML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from xml.parsers import expat

from .elements import DEEPEST, Box, Element, NoSource, Source, box_of, text_of

PREFIXES: Final = ("XCUIElementType", "UIA")
MOST: Final = 50_000
"""Elements that are read; more are no screen."""


def read_json(value: object) -> Source:
    """A screen from what `/source?format=json` answered.

    Raises:
        NoSource: It holds none.
    """
    if isinstance(value, Mapping) and isinstance(value.get("tree"), Mapping):
        value = value["tree"]  # the older shape
    if not isinstance(value, Mapping) or "type" not in value:
        raise NoSource("no element in it")
    found = Source([])
    stack: list[tuple[Mapping[str, Any], int, int]] = [(value, -1, 1)]
    while stack:
        node, parent, depth = stack.pop()
        if len(found.elements) >= MOST or depth > DEEPEST:
            raise NoSource("larger than a screen")
        found.elements.append(_element(node, parent))
        found.depth = max(found.depth, depth)
        at = len(found.elements) - 1
        children = node.get("children")
        if isinstance(children, list):
            stack += [(child, at, depth + 1) for child in reversed(children) if isinstance(child, Mapping)]
    found.app = text_of(value.get("bundleId"))
    return found


def _element(node: Mapping[str, Any], parent: int) -> Element:
    get = node.get
    name, label = text_of(get("name")), text_of(get("label")).strip("\x00")
    raw = get("rawIdentifier")
    identifier = text_of(raw) if "rawIdentifier" in node else (name if name != label else "")
    kind = short(text_of(get("type")))
    if not label and kind == "NavigationBar":
        label = name
    traits = traits_of(get("traits"))
    attributes = get("attributes")
    focused = get("isFocused")
    if focused is None and isinstance(attributes, Mapping):
        focused = attributes.get("hasKeyboardFocus")
    visible = get("isVisible")
    value = get("value")
    return Element(
        kind,
        parent,
        identifier,
        label,
        None if value is None else text_of(value),
        box_of(get("rect")),
        enabled=flag(get("isEnabled"), True),
        visible=None if visible is None else flag(visible, True),
        focused=flag(focused, False),
        selected="Selected" in traits or flag(get("isSelected"), False),
        traits=traits,
        placeholder=text_of(get("placeholderValue")),
        value_told="value" in node,
    )


def flag(value: object, otherwise: bool) -> bool:
    """A flag, which the server writes as `"1"` and `"0"`, XML as `true` and `false`."""
    if value is None:
        return otherwise
    if isinstance(value, str):
        return value.lower() in ("1", "true", "yes")
    return bool(value)


def traits_of(value: object) -> frozenset[str]:
    """Traits: words in one text, or a list of them."""
    if not value:
        return frozenset()
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    return frozenset(text_of(word).strip() for word in words)


def short(kind: str) -> str:
    """A type without the prefix of its family."""
    for prefix in PREFIXES:
        if kind.startswith(prefix):
            return kind.removeprefix(prefix)
    return kind


def read_xml(text: str) -> Source:
    """A screen from `/source?format=xml`. What is not told there (a label, a value) is not there.

    Raises:
        NoSource: It holds none.
    """
    found = Source([])
    stack: list[int] = []
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise NoSource("a document type")  # entities of one could be without end

    def start(tag: str, attributes: dict[str, str]) -> None:
        if not attributes.get("type"):
            stack.append(stack[-1] if stack else -1)  # a wrapper around the application
            return
        if len(found.elements) >= MOST or len(stack) > DEEPEST:
            raise NoSource("larger than a screen")
        found.elements.append(_from_xml(attributes, stack[-1] if stack else -1))
        stack.append(len(found.elements) - 1)
        found.depth = max(found.depth, len(stack))
        if not found.app:
            found.app = attributes.get("bundleId", "")

    def end(tag: str) -> None:
        stack.pop()

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(text, True)
    except expat.ExpatError:
        raise NoSource("no XML") from None
    if not found.elements:
        raise NoSource("no element in it")
    return found


def _from_xml(node: Mapping[str, str], parent: int) -> Element:
    get = node.get
    name, label = get("name", ""), get("label", "")
    kind = short(node["type"])
    if not label and kind == "NavigationBar":
        label = name
    traits = traits_of(get("traits"))
    box: Box | None = box_of(node)
    return Element(
        kind,
        parent,
        name if name != label else "",
        label,
        get("value"),
        box,
        enabled=flag(get("enabled"), True),
        visible=None if get("visible") is None else flag(get("visible"), True),
        focused=flag(get("focused"), False),
        selected="Selected" in traits or flag(get("selected"), False),
        traits=traits,
        placeholder=get("placeholderValue", ""),
        value_told="value" in node,
    )
