"""What is on a screen: nodes in a tree, in points.

Nodes are plain slotted dataclasses, not pydantic models: a tree may hold thousands of them and is read on
every element command. What a driver returns is checked by `tree_faults` where it enters core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .roles import Role

State = Literal[
    "disabled", "checked", "mixed", "unchecked", "expanded", "collapsed", "selected", "pressed", "focused",
    "required", "readonly", "editable", "offscreen", "hidden", "multiline", "busy", "invalid", "modal",
]  # fmt: skip


@dataclass(slots=True, frozen=True)
class Point:
    """A place in points, from the top left corner of the device's coordinate space."""

    x: float
    y: float


@dataclass(slots=True, frozen=True)
class Rect:
    """A rectangle in points."""

    x: float
    y: float
    width: float
    height: float

    @property
    def center(self) -> Point:
        """The middle of the rectangle."""
        return Point(self.x + self.width / 2, self.y + self.height / 2)

    def contains(self, point: Point) -> bool:
        """Whether the point lies inside (the right and bottom edges are outside)."""
        return self.x <= point.x < self.x + self.width and self.y <= point.y < self.y + self.height

    def intersect(self, other: Rect) -> Rect | None:
        """The common part, or None where there is none (a shared edge is none)."""
        left, top = max(self.x, other.x), max(self.y, other.y)
        right = min(self.x + self.width, other.x + other.width)
        bottom = min(self.y + self.height, other.y + other.height)
        if right <= left or bottom <= top:
            return None
        return Rect(left, top, right - left, bottom - top)


@dataclass(slots=True)
class Node:
    """One element of a tree.

    Attributes:
        key: The driver's own handle of the element's identity, stable for the element's life and never given
            to another element; None where the platform has none (identity is then judged by core).
        parent: Index of the parent in the tree's node list; -1 for a root. Parents come before children.
        role: One vocabulary for all platforms (ARIA role names and a few window words, see `roles`).
        name: Accessible name.
        value: Current value as text; None where the element has none. Always None for secure fields.
        rect: Bounds in points; None where the element has no place on screen.
        ref: The public ref (`@e12`), given by core; empty on trees as drivers return them.
    """

    role: Role
    name: str = ""
    value: str | None = None
    parent: int = -1
    key: str | None = None
    identifier: str = ""
    states: frozenset[str] = frozenset()
    rect: Rect | None = None
    actions: tuple[str, ...] = ()
    native_role: str = ""
    description: str = ""
    app: str = ""
    window: str = ""
    secure: bool = False
    hittable: bool = True
    ref: str = ""

    @property
    def root(self) -> bool:
        """Application, window and document roots are never the target of a text match."""
        return self.role in ("application", "window", "document") or self.parent < 0

    def to_wire(self, *, full: bool = False) -> dict[str, Any]:
        """The node as answers carry it; empty fields are left out."""
        wire: dict[str, Any] = {"ref": self.ref, "role": self.role}
        if self.name:
            wire["name"] = self.name
        if self.value is not None:
            wire["value"] = self.value
        if self.identifier:
            wire["identifier"] = self.identifier
        if self.states:
            wire["states"] = sorted(self.states)
        if self.rect is not None:
            wire["rect"] = [round(v, 1) for v in (self.rect.x, self.rect.y, self.rect.width, self.rect.height)]
        if self.secure:
            wire["secure"] = True
        if full:
            more = {
                "nativeRole": self.native_role,
                "description": self.description,
                "app": self.app,
                "window": self.window,
            }
            wire |= {key: text for key, text in more.items() if text}
            if self.actions:
                wire["actions"] = list(self.actions)
            if not self.hittable:
                wire["hittable"] = False
        return wire


Quality = Literal["complete", "truncated", "stale", "degraded"]


@dataclass(slots=True)
class Tree:
    """All nodes of one look at a screen, in document order, parents before children.

    Attributes:
        nodes: The nodes. `nodes[0]` is a root.
        generation: Changes whenever the whole content was replaced (a navigation, another app); refs of an
            earlier generation are stale without asking.
        quality: Whether the tree is all there is.
        viewport: The part of the coordinate space that is on screen, in points.
        title: Title of the window or page; untrusted.
        location: Address of the page, activity or window; untrusted.
        omitted: How many nodes were left out, by reason (`offscreen`, `nodes`, `depth`, `text`).
    """

    nodes: list[Node]
    generation: str = ""
    quality: Quality = "complete"
    viewport: Rect | None = None
    title: str = ""
    location: str = ""
    app: str = ""
    omitted: dict[str, int] = field(default_factory=dict)

    def children(self) -> list[list[int]]:
        """Indices of the children of every node, in order."""
        out: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            if node.parent >= 0:
                out[node.parent].append(index)
        return out

    def ancestors(self, index: int) -> list[int]:
        """Indices of the ancestors of a node, nearest first."""
        out: list[int] = []
        at = self.nodes[index].parent
        while at >= 0:
            out.append(at)
            at = self.nodes[at].parent
        return out


def tree_faults(nodes: Sequence[Node], *, limit: int = 5) -> list[str]:
    """What is wrong with a tree as a driver returned it; empty when it is sound.

    Checked: at least one node, parents before children, no repeated key, finite rectangles with no negative
    size, roles of the vocabulary, secure fields without a value.
    """
    from .roles import ROLES

    faults: list[str] = []
    seen: set[str] = set()
    if not nodes:
        faults.append("no nodes")
    for index, node in enumerate(nodes):
        if len(faults) >= limit:
            break
        if not -1 <= node.parent < index:
            faults.append(f"node {index}: parent {node.parent} does not come before it")
        if node.role not in ROLES:
            faults.append(f"node {index}: unknown role")
        if node.key is not None:
            if node.key in seen:
                faults.append(f"node {index}: key given twice")
            seen.add(node.key)
        if node.secure and node.value is not None:
            faults.append(f"node {index}: secure field with a value")
        if node.rect is not None:
            x, y, w, h = node.rect.x, node.rect.y, node.rect.width, node.rect.height
            total = x + y + w + h
            if total != total or total in (float("inf"), float("-inf")) or w < 0 or h < 0:  # noqa: PLR0124
                faults.append(f"node {index}: rectangle is not finite or has a negative size")
    return faults
