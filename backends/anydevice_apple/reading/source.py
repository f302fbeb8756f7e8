"""The source of a screen as WebDriverAgent tells it: JSON of today and of old, and XML."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from xml.parsers import expat

from .elements import DEEPEST, Box, Element, NoSource, Source, box_of, text_of

PREFIXES: Final = ("XCUIElementType", "UIA")
NO_TRAITS: Final[frozenset[str]] = frozenset()
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
    elements: list[Element] = []
    stack: list[tuple[Mapping[str, Any], int, int]] = [(value, -1, 1)]
    deepest = 0
    while stack:
        node, parent, depth = stack.pop()
        at = len(elements)
        if at >= MOST or depth > DEEPEST:
            raise NoSource("larger than a screen")
        elements.append(_element(node, parent))
        deepest = max(deepest, depth)
        children = node.get("children")
        if children and isinstance(children, list):
            stack += [(child, at, depth + 1) for child in reversed(children) if isinstance(child, Mapping)]
    return Source(elements, text_of(value.get("bundleId")), deepest)


def _element(node: Mapping[str, Any], parent: int) -> Element:
    get = node.get
    name, label = get("name") or "", get("label") or ""
    if type(name) is not str or type(label) is not str:
        name, label = text_of(name), text_of(label)
    if label[-1:] == "\x00" or label[:1] == "\x00":
        label = label.strip("\x00")
    raw = get("rawIdentifier", False)
    identifier = (name if name != label else "") if raw is False else text_of(raw) if raw else ""
    kind = get("type")
    kind = short(kind if type(kind) is str else text_of(kind))
    if not label and kind == "NavigationBar":
        label = name
    words = get("traits")
    traits = traits_of(words) if words else NO_TRAITS
    focused = get("isFocused")
    if focused is None and isinstance(attributes := get("attributes"), Mapping):
        focused = attributes.get("hasKeyboardFocus")
    visible, value, enabled, placeholder = get("isVisible"), get("value"), get("isEnabled"), get("placeholderValue")
    # In the order of the fields, and what is usual without a call: this is done for every element of every look.
    return Element(
        kind,
        parent,
        identifier,
        label,
        None if value is None else text_of(value),
        box_of(get("rect")),
        enabled == "1" or flag(enabled, True),
        None if visible is None else visible == "1" or flag(visible, True),
        focused != "0" and focused is not None and flag(focused, False),
        (bool(traits) and "Selected" in traits) or ("isSelected" in node and flag(node["isSelected"], False)),
        traits,
        "" if placeholder is None else text_of(placeholder),
        value is not None,
    )


def flag(value: object, otherwise: bool) -> bool:
    """A flag, which the server writes as `"1"` and `"0"`, XML as `true` and `false`."""
    if value == "1":
        return True
    if value is None:
        return otherwise
    if isinstance(value, str):
        return value.lower() in ("1", "true", "yes")
    return bool(value)


def traits_of(value: object) -> frozenset[str]:
    """Traits: words in one text, or a list of them."""
    if not value:
        return NO_TRAITS
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    return frozenset(text_of(word).strip() for word in words)


@lru_cache(maxsize=256)
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
        value_told=get("value") is not None,
    )
