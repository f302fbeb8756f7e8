"""How two looks at a screen differ, by ref."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from anydevice_schemas import Node, Rect, Tree

from ..text import quoted
from .render import BARE, line

NAME_MOST = 80


@dataclass(frozen=True, slots=True)
class Change:
    """One element that is in both looks and differs.

    Attributes:
        before, after: The element then and now.
        fields: What differs, from what to what: role, name, value, states, identifier, description, secure, parent.
    """

    before: Node
    after: Node
    fields: dict[str, tuple[Any, Any]]


@dataclass(slots=True)
class TreeDiff:
    """What came, what went, and what changed.

    Attributes:
        added: Elements only in the later look, in document order.
        removed: Elements only in the earlier look, in document order.
        altered: Elements in both that differ in more than their place.
        moved: How many differ in their place or size only.
        screen: What differs of the screen as a whole: title, location, generation, app.
    """

    added: list[Node] = field(default_factory=list)
    removed: list[Node] = field(default_factory=list)
    altered: list[Change] = field(default_factory=list)
    moved: int = 0
    screen: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether anything differs at all."""
        return bool(self.added or self.removed or self.altered or self.moved or self.screen)

    @property
    def counts(self) -> dict[str, int]:
        """How many elements were added, removed, changed and moved."""
        return {
            "added": len(self.added),
            "removed": len(self.removed),
            "changed": len(self.altered),
            "moved": self.moved,
        }

    def summary(self) -> list[str]:
        """One line of counts, or nothing when nothing differs."""
        parts = [f"{count} {word}" for word, count in self.counts.items() if count]
        if self.screen:
            parts.insert(0, "new screen" if "generation" in self.screen else "new " + " and ".join(self.screen))
        return [", ".join(parts)] if parts else []

    def lines(self, most: int) -> tuple[list[str], int]:
        """The differences, one a line: the screen, what changed, what came (`+`), what went (`-`). Untrusted text.

        Args:
            most: How many lines at most.

        Returns:
            The lines, and how many more there are.
        """
        total = self.lines_in_all
        out: list[str] = []
        for word, (old, new) in self.screen.items():
            if word != "generation":
                out.append(f"~ {word} {quoted(old, NAME_MOST)} -> {quoted(new, NAME_MOST)}")
        out += [f"~ {_change(change)}" for change in self.altered[: max(0, most - len(out))]]
        for sign, nodes in (("+", self.added), ("-", self.removed)):
            for node in nodes:
                if len(out) >= most:
                    break
                if _telling(node):
                    out.append(f"{sign} {line(node, name_most=NAME_MOST)}")
        if self.moved and len(out) < most:
            out.append(f"~ {self.moved} moved")
        out = out[: max(0, most)]
        return out, total - len(out)

    @property
    def lines_in_all(self) -> int:
        """How many lines it takes to tell all."""
        screen = sum(1 for word in self.screen if word != "generation")
        telling = sum(1 for nodes in (self.added, self.removed) for node in nodes if _telling(node))
        return screen + len(self.altered) + telling + (1 if self.moved else 0)


def diff(before: Tree, after: Tree) -> TreeDiff:
    """How `after` differs from `before`. Both must carry refs of one session.

    Raises:
        ValueError: A node has no ref.
    """
    out = TreeDiff(screen=_screen(before, after))
    old = {node.ref: node for node in before.nodes}
    if "" in old:
        raise ValueError("the earlier tree carries no refs")
    above, above_now = before.nodes, after.nodes
    for node in after.nodes:
        if not node.ref:
            raise ValueError("the later tree carries no refs")
        was = old.pop(node.ref, None)
        if was is None:
            out.added.append(node)
        elif was is not node:
            fields = _fields(was, node)
            parent_was = above[was.parent].ref if was.parent >= 0 else ""
            parent = above_now[node.parent].ref if node.parent >= 0 else ""
            if parent != parent_was:
                fields["parent"] = (parent_was, parent)
            if fields:
                out.altered.append(Change(was, node, fields))
            elif was.rect is not node.rect and _moved(was.rect, node.rect):
                out.moved += 1
    out.removed = list(old.values())
    return out


def _fields(was: Node, node: Node) -> dict[str, tuple[Any, Any]]:
    fields: dict[str, tuple[Any, Any]] = {}
    if was.name != node.name:
        fields["name"] = (was.name, node.name)
    if was.value != node.value:
        fields["value"] = (was.value, node.value)
    if was.states != node.states:
        fields["states"] = (sorted(was.states), sorted(node.states))
    if was.role != node.role:
        fields["role"] = (was.role, node.role)
    if was.identifier != node.identifier:
        fields["identifier"] = (was.identifier, node.identifier)
    if was.description != node.description:
        fields["description"] = (was.description, node.description)
    if was.secure is not node.secure:
        fields["secure"] = (was.secure, node.secure)
    return fields


def _moved(one: Rect | None, other: Rect | None) -> bool:
    """Whether two places differ by more than half a point."""
    if one is None or other is None:
        return one is not other
    return (
        abs(one.x - other.x) > 0.5
        or abs(one.y - other.y) > 0.5
        or abs(one.width - other.width) > 0.5
        or abs(one.height - other.height) > 0.5
    )


def _screen(before: Tree, after: Tree) -> dict[str, tuple[str, str]]:
    return {
        word: (old, new)
        for word in ("title", "location", "app", "generation")
        if (old := getattr(before, word)) != (new := getattr(after, word))
    }


def _telling(node: Node) -> bool:
    """Whether a line about the element says anything."""
    return bool(node.name or node.value or node.identifier or node.role not in BARE or node.actions)


def _change(change: Change) -> str:
    node, parts = change.after, []
    for word, (old, new) in change.fields.items():
        if word == "states":
            parts += [f"+{state}" for state in new if state not in old] + [
                f"-{state}" for state in old if state not in new
            ]
        elif word == "secure":
            parts.append("+secure" if new else "-secure")
        elif word in ("role", "parent"):
            parts.append(f"{word} {old or 'none'} -> {new or 'none'}")
        else:
            sides = [quoted(side, NAME_MOST) if side is not None else "none" for side in (old, new)]
            parts.append(f"{word} {sides[0]} -> {sides[1]}")
    name = f" {quoted(node.name, NAME_MOST)}" if node.name and "name" not in change.fields else ""
    return f"{node.ref} {node.role}{name}: {', '.join(parts)}"
