"""What an application holds: its accessible objects and how they lie in each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .states import bits

ROOT: Final = "/org/a11y/atspi/accessible/root"
"""Path of an application itself, the same in all of them."""
_NAMES: Final = (
    "Action", "Text", "EditableText", "Value", "Selection", "Component", "Collection", "Hypertext", "Image",
)  # fmt: skip
ACTION, TEXT, EDITABLE_TEXT, VALUE, SELECTION, COMPONENT, COLLECTION, HYPERTEXT, IMAGE = (1 << bit for bit in range(9))
"""Interfaces of an object, as bits."""
_BIT: Final = {f"org.a11y.atspi.{name}": 1 << bit for bit, name in enumerate(_NAMES)}
UNKNOWN: Final = -1
"""A child count that was not worked out (a menu that was never open)."""

_sets: dict[tuple[str, ...], int] = {}


@dataclass(slots=True)
class Item:
    """One accessible object, as far as it is told without asking it.

    Attributes:
        path: Where it is, within its application.
        parent: Path of its parent; empty for a child of the application itself.
        index: Place among its siblings.
        count: How many children it says it has; `UNKNOWN` where it does not say.
        faces: Its interfaces, as bits.
        name, description: As the program says them.
        role: AT-SPI's number.
        mask: Its states, as bits.
    """

    path: str
    parent: str
    index: int
    count: int
    faces: int
    name: str
    role: int
    description: str
    mask: int


@dataclass(slots=True)
class Shape:
    """All objects of one application.

    Attributes:
        items: By path, the application itself not among them.
        kids: Paths of the children, in order, by path of the parent; windows under the empty path.
        unread: How many objects are known to be there and were not read.
        places: What shows of it, judged by states, by window and whether that is hidden; filled in by who judges.
    """

    items: dict[str, Item] = field(default_factory=dict)
    kids: dict[str, list[str]] = field(default_factory=dict)
    unread: int = 0
    places: dict[tuple[str, bool], dict[str, str]] = field(default_factory=dict, compare=False)

    def line(self, path: str) -> list[Item]:
        """The object and everything around it, inmost first; empty where it is not known."""
        out: list[Item] = []
        at = self.items.get(path)
        while at is not None and len(out) < 1000:
            out.append(at)
            at = self.items.get(at.parent)
        return out


def faces_of(names: Sequence[str]) -> int:
    """The interfaces of an object as bits."""
    key = tuple(names)
    found = _sets.get(key)
    if found is None:
        if len(_sets) > 5000:
            _sets.clear()
        found = _sets[key] = sum(_BIT.get(name, 0) for name in set(key))
    return found


def decode(rows: Sequence[Any], bus_name: str) -> dict[str, Item]:
    """The items of a cache's answer, in either of its two forms.

    Args:
        rows: The answer.
        bus_name: Whose it is; objects of others are left out.
    """
    out: dict[str, Item] = {}
    if not rows:
        return out
    if isinstance(rows[0][3], int):
        for (name, path), _, (above, parent), index, count, faces, label, role, about, mask in rows:
            if name != bus_name or path == ROOT:
                continue
            up = "" if parent == ROOT or above != name else parent
            out[path] = Item(path, up, index, count, faces_of(faces), label, role, about, bits(mask))
        return out
    places: dict[str, int] = {}
    for row in rows:
        for index, (_, path) in enumerate(row[3]):
            places[path] = index
    for (name, path), _, (above, parent), children, faces, label, role, about, mask in rows:
        if name != bus_name or path == ROOT:
            continue
        up = "" if parent == ROOT or above != name else parent
        place = places.get(path, 0)
        out[path] = Item(path, up, place, len(children), faces_of(faces), label, role, about, bits(mask))
    return out


def shape_of(items: dict[str, Item], windows: Iterable[str]) -> tuple[Shape, list[str]]:
    """Puts items in their places.

    Args:
        items: By path.
        windows: Paths of the application's own children, in order.

    Returns:
        The shape, and the paths of parents (of what can be reached) that say they have other children than are known.
    """
    kids: dict[str, list[str]] = {}
    for path, item in items.items():
        if item.parent:
            kids.setdefault(item.parent, []).append(path)
    holes: list[str] = []
    for paths in kids.values():
        if len(paths) > 1:
            # Most caches are in order already.
            last = -1
            for path in paths:
                index = items[path].index
                if index <= last:
                    paths.sort(key=lambda one: items[one].index)
                    break
                last = index
    kids[""] = list(windows)
    reached = list(kids[""])
    for path in reached:
        found = items.get(path)
        if found is None:
            holes.append(path)
            continue
        own = kids.get(path, ())
        if found.count not in (UNKNOWN, len(own)):
            holes.append(path)
        reached.extend(own)
    return Shape(items, kids), holes
