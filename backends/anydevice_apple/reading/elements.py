"""A screen as engines tell it, in one form: elements in document order, parents before children."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Box = tuple[float, float, float, float]
"""x, y, width, height, in points."""
DEEPEST = 400
"""Levels a tree may have; deeper is no screen."""


@dataclass(slots=True)
class Element:
    """One element.

    Attributes:
        type: Without the prefix of its family: `Button`, `StaticText`, `Other`.
        parent: Index of its parent; -1 for the root.
        value: None where it has none.
        visible: As the engine says; None where it was not asked, or cannot tell.
        value_told: Whether the engine told a value, be it an empty one; JSON of today has null where XML has nothing.
        pid: Process it belongs to, where that is told.
    """

    type: str
    parent: int
    identifier: str = ""
    label: str = ""
    value: str | None = None
    box: Box | None = None
    enabled: bool = True
    visible: bool | None = None
    focused: bool = False
    selected: bool = False
    traits: frozenset[str] = frozenset()
    placeholder: str = ""
    value_told: bool = True
    pid: int | None = None


@dataclass(slots=True)
class Source:
    """A screen.

    Attributes:
        app: Id of the app, where it is told.
        depth: Levels it has.
    """

    elements: list[Element]
    app: str = ""
    depth: int = 0
    more: Mapping[str, Any] = field(default_factory=dict)


class NoSource(ValueError):
    """The answer holds no screen."""


def box_of(found: object) -> Box | None:
    """A rectangle: `{x, y, width, height}`, or the older `{origin, size}`; None where it is none that can be."""
    if type(found) is dict:  # as every element of every look has it
        try:
            x, y, width, height = found["x"], found["y"], found["width"], found["height"]
            if (x + y + width + height) * 0.0 == 0.0:
                return float(x), float(y), float(max(0, width)), float(max(0, height))
        except (KeyError, TypeError):
            pass
    if not isinstance(found, Mapping):
        return None
    if "origin" in found and "size" in found:
        found = {**found["origin"], **found["size"]}
    try:
        x, y, width, height = (float(found[name]) for name in ("x", "y", "width", "height"))
    except (KeyError, TypeError, ValueError):
        return None
    total = x + y + width + height
    if total != total or total in (float("inf"), float("-inf")):  # noqa: PLR0124
        return None  # some elements have no place at all
    return x, y, max(0.0, width), max(0.0, height)


def text_of(found: object) -> str:
    """A text that may be missing, or a number."""
    if type(found) is str:
        return found
    if found is None:
        return ""
    if isinstance(found, bool):
        return "1" if found else "0"
    return found if isinstance(found, str) else str(found)
