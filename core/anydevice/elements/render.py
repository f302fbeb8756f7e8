"""A tree as the compact text an agent reads. What comes out is untrusted and is fenced by the facade.

    "Sign in — Example" at "https://example.org/" · 800x600 points · 42 elements, 9 to act on
    @e3 form "Sign in"
      @e4 textbox "Name" [required] ="Ann"
      @e5 button "Sign in" [disabled]
    off screen: 12 above, 30 below (scroll, or ask for all of it)

Everything that cannot be seen in a text (control, bidirectional, zero width characters) is written as an escape.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from anydevice_schemas import INTERACTIVE, Node, Rect, Tree

from ..text import fold_text, quoted, visible
from .search import interactive

DIGEST_REFS = 12
DEEPEST = 24
"""Indentation stops growing here."""

_RESERVE = 40
"""Characters kept for saying that something was cut."""

BARE = frozenset({"generic", "group"})
"""Containers that say nothing by themselves."""

_TEXT_MOST = {"digest": 60, "default": 160, "full": 2000}
_ORDER = {
    state: place
    for place, state in enumerate(
        (
            "disabled", "readonly", "required", "invalid", "busy", "focused", "selected", "checked", "mixed",
            "unchecked", "pressed", "expanded", "collapsed", "modal", "multiline", "editable", "offscreen", "hidden",
        )
    )
}  # fmt: skip


@dataclass(slots=True)
class _Page:
    """The lines of a page within its size, and what did not fit."""

    room: int
    lines: list[str]
    left_out: int = 0

    def add(self, text: str) -> None:
        """Adds a line while there is room; once there is none, only counts."""
        if self.left_out or len(text) + 1 > self.room:
            self.left_out += 1
            return
        self.lines.append(text)
        self.room -= len(text) + 1


def render(
    tree: Tree, *, level: str = "default", max_chars: int = 16_000, off_screen: bool = False
) -> tuple[str, list[str]]:
    """The tree as text, and what was cut from it.

    Hidden elements are left out, and so are off-screen ones, which are counted by direction instead; level `full` shows
    both, with identifiers, descriptions and places. A container without name and with one child is left out, and so is
    a text that only repeats the name above it.

    Args:
        tree: A stamped tree.
        level: digest (counts and the first elements to act on), default, or full.
        max_chars: Size of the text at most, in characters; 200 or more.
        off_screen: Show off-screen elements at every level, for a reader who asked for all of it.

    Returns:
        The text, and one entry for everything that was cut.
    """
    full = level == "full"
    unseen = ("hidden",) if off_screen else ("hidden", "offscreen")
    shown = [full or node.states.isdisjoint(unseen) for node in tree.nodes]
    acting = [i for i, node in enumerate(tree.nodes) if shown[i] and not node.root and interactive(node)]
    tail = [] if full or off_screen else _off_screen(tree)
    page = _Page(max_chars - sum(len(text) + 1 for text in tail) - _RESERVE, [])
    page.add(_head(tree, len(acting)))
    cuts: list[str] = []
    if level == "digest":
        roles = Counter(tree.nodes[i].role for i in acting)
        if roles:
            page.add(", ".join(f"{count} {role}" for role, count in sorted(roles.items(), key=lambda r: (-r[1], r[0]))))
        for index in acting[:DIGEST_REFS]:
            page.add(line(tree.nodes[index], name_most=_TEXT_MOST[level]))
        more = len(acting) - DIGEST_REFS
        if more > 0:
            cuts.append(f"{more} elements to act on (digest shows {DIGEST_REFS})")
    else:
        most = _TEXT_MOST[level]
        depths = _depths(tree, shown)
        for index, depth in enumerate(depths):
            if depth is not None:
                indent = "  " * min(depth, DEEPEST)
                page.add(indent + line(tree.nodes[index], name_most=most, full=full))
        long = sum(1 for i, d in enumerate(depths) if d is not None and _longest(tree.nodes[i]) > most)
        if long:
            cuts.append(f"{long} texts after {most} characters")
    if page.left_out:
        cuts.insert(0, f"{page.left_out} lines of the text (limit {max_chars} characters)")
        tail.append(f"… {page.left_out} more lines")
    return "\n".join([*page.lines, *tail]), cuts


def line(node: Node, *, name_most: int = 160, full: bool = False) -> str:
    """One element as one line: ref, role, name, states, value."""
    text = f"{node.ref} {node.role}"
    if node.name:
        text += f" {quoted(node.name, name_most)}"
    marks = _marks(node)
    if marks:
        text += f" [{', '.join(marks)}]"
    if node.value and node.value != node.name:
        text += f" ={quoted(node.value, name_most)}"
    if full:
        text += _details(node, name_most)
    return text


def _marks(node: Node) -> list[str]:
    states = node.states
    if not states and not node.secure and node.hittable:
        return []
    marks = sorted(states - {"editable"} if node.role in INTERACTIVE else states, key=lambda s: (_ORDER.get(s, 99), s))
    if node.secure:
        marks.append("secure")
    if not node.hittable and states.isdisjoint(("offscreen", "hidden")):
        marks.append("covered")
    return marks


def _details(node: Node, most: int) -> str:
    text = ""
    if node.identifier:
        text += f" id={quoted(node.identifier, most)}"
    if node.native_role:
        text += f" native={quoted(node.native_role, 60)}"
    if node.description:
        text += f" about={quoted(node.description, most)}"
    if node.actions:
        text += f" actions={','.join(visible(action) for action in node.actions[:8])}"
    if node.rect is not None:
        text += f" at {_rect(node.rect)}"
    return text


def _rect(rect: Rect) -> str:
    return f"{rect.x:.6g},{rect.y:.6g} {rect.width:.6g}x{rect.height:.6g}"


def _longest(node: Node) -> int:
    return max(len(node.name), len(node.value or ""))


def _head(tree: Tree, acting: int) -> str:
    parts = [quoted(tree.title, 120) if tree.title else "untitled"]
    if tree.location:
        parts[0] += f" at {quoted(tree.location, 300)}"
    if tree.viewport is not None:
        parts.append(f"{tree.viewport.width:.6g}x{tree.viewport.height:.6g} points")
    parts.append(f"{len(tree.nodes)} elements, {acting} to act on")
    if tree.quality != "complete":
        parts.append(tree.quality)
    return " · ".join(parts)


def _off_screen(tree: Tree) -> list[str]:
    """One line that says what lies off screen, and where; nothing when nothing does."""
    sides: Counter[str] = Counter()
    for node in tree.nodes:
        if "offscreen" in node.states and "hidden" not in node.states:
            sides[_side(node.rect, tree.viewport)] += 1
    if omitted := tree.omitted.get("offscreen", 0):
        sides["not listed"] += omitted
    if not sides:
        return []
    order = ("above", "below", "left", "right", "elsewhere", "not listed")
    counted = ", ".join(f"{sides[side]} {side}" for side in order if sides[side])
    return [f"off screen: {counted} (scroll, or ask for all of it)"]


def _side(rect: Rect | None, viewport: Rect | None) -> str:
    if rect is None or viewport is None:
        return "elsewhere"
    if rect.y + rect.height <= viewport.y:
        return "above"
    if rect.y >= viewport.y + viewport.height:
        return "below"
    if rect.x + rect.width <= viewport.x:
        return "left"
    if rect.x >= viewport.x + viewport.width:
        return "right"
    return "elsewhere"


def _depths(tree: Tree, shown: list[bool]) -> list[int | None]:
    """How deep each node is indented; None for those that get no line."""
    nodes = tree.nodes
    children: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes):
        if node.parent >= 0 and shown[index]:
            children[node.parent].append(index)
    depths: list[int | None] = [None] * len(nodes)
    below = [0] * len(nodes)  # depth of what is inside a node
    for index, node in enumerate(nodes):
        depth = below[node.parent] if node.parent >= 0 else 0
        if not shown[index] or _hollow(node, children[index]) or _echo(nodes, children, index):
            below[index] = depth
        else:
            depths[index], below[index] = depth, depth + 1
    return depths


def _hollow(node: Node, inside: list[int]) -> bool:
    """A container that says nothing and holds at most one thing."""
    return (
        node.role in BARE
        and len(inside) <= 1
        and not (node.name or node.value or node.identifier or node.actions)
        and node.states.isdisjoint(("focused", "selected", "expanded", "collapsed", "modal", "editable"))
    )


def _echo(nodes: list[Node], children: list[list[int]], index: int) -> bool:
    """A text that only repeats the name of the element around it."""
    node = nodes[index]
    if node.role != "text" or node.parent < 0 or children[index] or len(children[node.parent]) != 1:
        return False
    above = nodes[node.parent]
    text = node.name or node.value or ""
    return bool(text) and not above.root and fold_text(above.name) == fold_text(text)
