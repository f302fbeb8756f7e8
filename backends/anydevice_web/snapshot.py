"""From the packed columns a page sends to nodes of a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anydevice_schemas import Node, Rect

STATES: tuple[str, ...] = (
    "disabled", "checked", "mixed", "unchecked", "expanded", "collapsed", "selected", "pressed", "focused",
    "required", "readonly", "editable", "offscreen", "hidden", "multiline", "busy", "invalid", "modal",
)  # fmt: skip
"""States by bit, in the order the page counts them."""
OFFSCREEN = 1 << STATES.index("offscreen")
_STATE_BITS = (1 << len(STATES)) - 1
_SECURE, _COVERED, _PRESS, _FILL = 1 << 20, 1 << 21, 1 << 22, 1 << 23
_STRIDE = 9

_states: dict[int, frozenset[str]] = {}
_ACTIONS: dict[int, tuple[str, ...]] = {
    0: (), _PRESS: ("press",), _FILL: ("set_text",), _PRESS | _FILL: ("press", "set_text"),
}  # fmt: skip


def states_of(mask: int) -> frozenset[str]:
    """The states of a bit mask; one set object for each mask ever seen."""
    mask &= _STATE_BITS
    found = _states.get(mask)
    if found is None:
        found = _states[mask] = frozenset(name for bit, name in enumerate(STATES) if mask >> bit & 1)
    return found


@dataclass(slots=True)
class Placement:
    """How points of one document map to points of the page, and what of it shows (points of the page)."""

    x: float = 0.0
    y: float = 0.0
    sx: float = 1.0
    sy: float = 1.0
    clip: Rect | None = None

    def outward(self, x: float, y: float) -> tuple[float, float]:
        """A point of the document as a point of the page."""
        return self.x + x * self.sx, self.y + y * self.sy

    def inward(self, x: float, y: float) -> tuple[float, float]:
        """A point of the page as a point of the document."""
        return (x - self.x) / self.sx, (y - self.y) / self.sy

    def inside(self, x: float, y: float, sx: float, sy: float, shown: Sequence[float]) -> Placement:
        """Placement of a document that lies in this one; `shown` is left, top, right, bottom of what shows."""
        left, top = self.outward(shown[0], shown[1])
        right, bottom = self.outward(shown[2], shown[3])
        clip = Rect(left, top, max(right - left, 0.0), max(bottom - top, 0.0))
        if self.clip is not None:
            clip = clip.intersect(self.clip) or Rect(left, top, 0.0, 0.0)
        origin = self.outward(x, y)
        return Placement(origin[0], origin[1], self.sx * sx, self.sy * sy, clip)


@dataclass(slots=True)
class Part:
    """The walk of one document: its packed answer, and the parts of the frames inside, by the frame's number."""

    document: str
    packed: Mapping[str, Any]
    inner: dict[int, Part] = field(default_factory=dict)


class Builder:
    """Puts the parts of a page together into one list of nodes, parents before children.

    Args:
        limit: Nodes at most; what is over is counted in `omitted`.
        drop_offscreen: Leave out what the frames around a document hide.
    """

    def __init__(self, limit: int, drop_offscreen: bool) -> None:
        self.nodes: list[Node] = []
        self.omitted: dict[str, int] = {}
        self._limit = limit
        self._drop = drop_offscreen

    def add(self, part: Part, up: int, placement: Placement, *, skip_root: bool) -> None:
        """Appends a part under row `up`; `skip_root` leaves out its document node (the frame stands for it)."""
        packed = part.packed
        for reason, count in packed["omitted"].items():
            self._omit(reason, count)
        numbers: list[int] = list(map(int, packed["numbers"].split(","))) if packed["numbers"] else []
        words: list[str] = packed["words"]
        names: list[str] = packed["names"]
        extras: dict[str, list[Any]] = packed["extras"]
        prefix = part.document + ":"
        frames = {entry[0]: entry for entry in packed["frames"]}
        moved = placement.x != 0 or placement.y != 0 or placement.sx != 1 or placement.sy != 1
        clip = placement.clip
        rows: list[int] = []
        nodes = self.nodes
        for row, at in enumerate(range(0, len(numbers), _STRIDE)):
            parent, number, role, native, mask, x, y, width, height = numbers[at : at + _STRIDE]
            parent = up if parent < 0 else rows[parent]
            if skip_root and row == 0:
                rows.append(up)
                continue
            rect = None
            if width >= 0:
                rect = Rect(x / 10, y / 10, width / 10, height / 10)
                if moved:
                    left, top = placement.outward(rect.x, rect.y)
                    rect = Rect(
                        round(left, 1),
                        round(top, 1),
                        round(rect.width * placement.sx, 1),
                        round(rect.height * placement.sy, 1),
                    )
                if clip is not None and not mask & OFFSCREEN and rect.intersect(clip) is None:
                    mask |= OFFSCREEN
                    if self._drop:
                        self._omit("offscreen", 1)
                        rows.append(parent)
                        continue
            if len(nodes) >= self._limit:
                self._omit("nodes", 1)
                rows.append(parent)
                continue
            node = Node(
                words[role],
                names[row],
                None,
                parent,
                prefix + str(number),
                "",
                states_of(mask),
                rect,
                _ACTIONS[mask & (_PRESS | _FILL)],
                words[native],
            )
            extra = extras.get(str(row)) if extras else None
            if extra is not None:
                node.value, node.identifier, node.description = extra
            if mask & _SECURE:
                node.secure = True
                node.value = None
            if mask & _COVERED:
                node.hittable = False
            rows.append(len(nodes))
            nodes.append(node)
            if row in frames:
                self._enter(part, frames[row], len(nodes) - 1, placement)

    def _enter(self, part: Part, entry: Sequence[Any], row: int, placement: Placement) -> None:
        number, _, x, y, sx, sy, *shown = entry[1:11]
        inner = part.inner.get(number)
        if inner is None:
            return
        self.add(inner, row, placement.inside(x, y, sx, sy, shown), skip_root=True)

    def _omit(self, reason: str, count: int) -> None:
        if count:
            self.omitted[reason] = self.omitted.get(reason, 0) + count


def single(packed: Mapping[str, Any], document: str, placement: Placement) -> Node:
    """The node of a look at one element."""
    builder = Builder(1, False)
    part = Part(document, {**packed, "frames": (), "omitted": {}})
    builder.add(part, -1, placement, skip_root=False)
    return builder.nodes[0]
