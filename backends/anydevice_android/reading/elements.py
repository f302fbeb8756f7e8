"""One element of a dump: what is used of its attributes, and those that are true or false as bits of one number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

CLICKABLE, LONG_CLICKABLE, SCROLLABLE, CHECKABLE, CHECKED, DISABLED, SELECTED, FOCUSED, PASSWORD = (
    1 << bit for bit in range(9)
)
_BITS: Final = {
    "clickable": CLICKABLE, "long-clickable": LONG_CLICKABLE, "scrollable": SCROLLABLE, "checkable": CHECKABLE,
    "checked": CHECKED, "selected": SELECTED, "focused": FOCUSED, "password": PASSWORD,
}  # fmt: skip
NAMES: Final = ("text", "resource-id", "class", "package", "content-desc", "hint", "bounds")
"""The attributes that are texts, in the order of an `Element`."""
Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels."""
_BOX: Final = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")


class Element(NamedTuple):
    """What a dump says of an element; empty where it says nothing.

    Attributes:
        kind: Its class.
        said: Its content description.
        bounds: As they were printed.
        flags: What is true of it; `DISABLED` only where the dump says so.
    """

    text: str
    id: str
    kind: str
    package: str
    said: str
    hint: str
    bounds: str
    flags: int

    @property
    def box(self) -> Box | None:
        """Its bounds; None where it has none."""
        return box(self.bounds)


def box(text: str) -> Box | None:
    """Bounds as they are printed: `[left,top][right,bottom]`."""
    found = _BOX.fullmatch(text)
    if found is None:
        return None
    left, top, right, bottom = map(int, found.groups())
    return left, top, right, bottom


def flags(attributes: Mapping[str, str]) -> int:
    """The flags of an element."""
    return _flags(*map(attributes.get, _BITS), attributes.get("enabled"))


@lru_cache(maxsize=1024)
def _flags(*said: str | None) -> int:
    bits = sum(bit for bit, word in zip(_BITS.values(), said, strict=False) if word == "true")
    return bits | DISABLED if said[-1] == "false" else bits


def element(attributes: Mapping[str, str]) -> Element:
    """An element of its attributes."""
    get = attributes.get
    text, id, kind, package, said, hint, bounds = (get(name, "") for name in NAMES)
    return Element(text, id, kind, package, said, hint, bounds, flags(attributes))


def boxes(elements: list[Element]) -> list[Box | None]:
    """The bounds of many elements, in their order."""
    joined = "".join(map(_BOUNDS, elements))
    if _ALL.fullmatch(joined) is None or joined.count("][") != 2 * len(elements) - 1:
        return [one.box for one in elements]
    numbers = list(map(int, joined[1:-1].replace("][", ",").split(",")))
    return list(zip(*[iter(numbers)] * 4, strict=True))


_BOUNDS: Final[Callable[[Element], str]] = itemgetter(Element._fields.index("bounds"))
_ALL: Final = re.compile(rf"(?:{_BOX.pattern.replace('(', '').replace(')', '')})*+")
