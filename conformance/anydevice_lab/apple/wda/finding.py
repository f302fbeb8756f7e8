"""How elements are looked for: by id, type, predicate, class chain and XPath, as far as drivers use them."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

from ..model.nodes import XNode
from .errors import WdaError
from .source import TYPE, attributes

Test = Callable[[XNode], bool]
_COMPARE = re.compile(
    r"\s*(\w+)\s*(==|=|!=|CONTAINS|BEGINSWITH|ENDSWITH|LIKE|MATCHES|IN)(\[cd?\])?\s*(\"[^\"]*\"|'[^']*'|[\w.]+|\{[^}]*\})\s*",
    re.IGNORECASE,
)
_STEP = re.compile(r"(/?\*\*/|/)?(?:XCUIElementType)?(\w+|\*)((?:\[[^\]]*\])*)")

VALID = "name, label, value, type, rect, visible, enabled, accessible, selected, focused, hittable, placeholderValue"


def fact(node: XNode, name: str) -> str:
    """An attribute as a predicate compares it."""
    facts = {
        "name": node.name, "identifier": node.identifier, "rawidentifier": node.identifier, "label": node.label,
        "value": node.wd_value, "type": TYPE + node.type, "elementtype": node.type, "visible": str(int(node.visible)),
        "enabled": str(int(node.enabled)), "accessible": str(int(node.accessible)), "selected": str(int(node.selected)),
        "focused": str(int(node.focused)), "hasfocus": str(int(node.focused)), "placeholdervalue": node.placeholder,
        "wdname": node.name, "wdlabel": node.label, "wdvalue": node.wd_value, "wdtype": TYPE + node.type,
        "wdvisible": str(int(node.visible)), "wdenabled": str(int(node.enabled)),
    }  # fmt: skip
    if name.lower() not in facts:
        raise unknown_attribute(name)
    return facts[name.lower()]


def unknown_attribute(name: str) -> WdaError:
    """Nothing is called so. The agent's handler of exceptions does not know this one, so it is an unknown error."""
    return WdaError("unknown error", f"The attribute '{name}' is unknown. Valid attribute names are: {VALID}")


def predicate(text: str) -> Test:
    """A predicate: comparisons joined by AND and OR.

    Raises:
        WdaError: It cannot be read.
    """
    ways: list[list[Test]] = [
        [_comparison(part) for part in re.split(r"\s+(?:AND|&&)\s+", way, flags=re.IGNORECASE)]
        for way in re.split(r"\s+(?:OR|\|\|)\s+", text.strip().strip("()"), flags=re.IGNORECASE)
    ]
    return lambda node: any(all(test(node) for test in way) for way in ways)


def _comparison(text: str) -> Test:
    match = _COMPARE.fullmatch(text.strip().strip("()"))
    if match is None:
        # Foundation's own exception, which the agent knows nothing of.
        raise WdaError("unknown error", f'Unable to parse the format string "{text}"')
    name, how, loose, raw = match[1], match[2].upper(), bool(match[3]), match[4]
    if how == "IN":
        options = [item.strip().strip("\"'") for item in raw.strip("{}").split(",")]
        return lambda node: fact(node, name) in options
    want = (
        raw.strip("\"'")
        if raw[0] in "\"'"
        else {"true": "1", "yes": "1", "false": "0", "no": "0"}.get(raw.lower(), raw)
    )

    def holds(node: XNode) -> bool:
        have, wanted = fact(node, name), want
        if loose:
            have, wanted = have.lower(), wanted.lower()
        if how in ("==", "=", "!="):
            return (have == wanted) == (how != "!=")
        if how in ("LIKE", "MATCHES"):
            pattern = wanted if how == "MATCHES" else re.escape(wanted).replace(r"\*", ".*").replace(r"\?", ".")
            return re.fullmatch(pattern, have) is not None
        return {"CONTAINS": wanted in have, "BEGINSWITH": have.startswith(wanted), "ENDSWITH": have.endswith(wanted)}[
            how
        ]

    return holds


def find(root: XNode, using: str, value: str, *, inside: bool = False) -> list[XNode]:
    """The elements below a node that a locator finds, in the order of the tree.

    Raises:
        WdaError: The way or the value is none.
    """
    nodes = list(root.walk())[1 if inside else 0 :]
    if using in ("accessibility id", "id", "name"):
        return [node for node in nodes if node.name == value]
    if using == "class name":
        return [node for node in nodes if value in (TYPE + node.type, f"{TYPE}Any")]
    if using == "predicate string":
        test = predicate(value)
        return [node for node in nodes if test(node)]
    if using in ("link text", "partial link text"):
        parts = value.split("=")
        name, text = parts[0] if len(parts) > 1 else "name", parts[-1]
        part = using.startswith("partial")
        return [node for node in nodes if (text in fact(node, name) if part else fact(node, name) == text)]
    if using == "class chain":
        return _chain(root, value)
    if using == "xpath":
        return _xpath(root, value)
    raise WdaError("invalid argument", f"Invalid locator requested: {using}")


def _chain(root: XNode, value: str) -> list[XNode]:
    found, at = [root], 0
    while at < len(value):
        match = _STEP.match(value, at)
        if match is None or match.end() == at:
            shown = value[: at + 1]
            text = f"Unexpected character detected at position {at + 1}:\n{shown} <----"
            raise WdaError("invalid selector", f"Cannot parse class chain query '{value}'. {text}")
        at = match.end()
        deep, kind, filters = "**" in (match[1] or ""), match[2], re.findall(r"\[([^\]]*)\]", match[3])
        step: list[XNode] = []
        for node in found:
            below = list(node.walk())[1:] if deep else node.children
            chosen = [child for child in below if kind in ("*", "Any", child.type)]
            for text in filters:
                if re.fullmatch(r"-?\d+", text):
                    number = int(text)
                    chosen = chosen[number - 1 : number] if number > 0 else chosen[number:][:1]
                else:
                    test = predicate(text.strip("`$"))
                    chosen = [child for child in chosen if test(child)]
            step += [child for child in chosen if child not in step]
        found = step
    return found


def _xpath(root: XNode, value: str) -> list[XNode]:
    by_place: dict[int, XNode] = {}

    def build(node: XNode, index: int) -> ElementTree.Element:
        made = ElementTree.Element(TYPE + node.type, attributes(node, index, set()))
        by_place[id(made)] = node
        for number, child in enumerate(node.children):
            made.append(build(child, number))
        return made

    top = ElementTree.Element("AppiumAUT")
    top.append(build(root, 0))
    path = value if value.startswith("(") else "." + value if value.startswith("/") else value
    try:
        return [by_place[id(found)] for found in top.findall(path) if id(found) in by_place]
    except (SyntaxError, KeyError):
        raise WdaError("invalid selector", f'Cannot evaluate results for XPath expression "{value}"') from None
