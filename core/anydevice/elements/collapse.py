"""Elements that are one thing to a person become one target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from anydevice_schemas import INTERACTIVE, Node, Tree

Said = Mapping[int, tuple[str, ...]]
"""Indices of matching nodes in document order, each with the folded texts that matched."""

_BARE = frozenset({"generic", "group"})
_PLAIN = frozenset({"text", "generic", "paragraph", "caption", "term", "group"})
_FIELDS = frozenset(
    {
        "textbox", "searchbox", "spinbutton", "combobox", "listbox", "checkbox", "radio", "switch", "slider", "date",
        "colorwell", "filechooser",
    }
)  # fmt: skip
"""Roles that are named by a text beside them."""

_BESIDE = 2
"""How many steps up a field's own text and the field may meet."""


def collapse(tree: Tree, said: Said) -> list[int]:
    """Leaves one target of each group that says the same along one line of descent.

    A label inside something that can be acted on and says the same is that thing; a wrapper around it is that thing
    too. Of two that can be acted on, one inside the other, the one that is so by its role is meant, else the inner one,
    as long as nothing else in the outer one says the same; otherwise both remain, and the caller has to choose. A
    plain text beside a field that it names is the field.

    Args:
        tree: The tree.
        said: The matches.

    Returns:
        Indices in document order.
    """
    if len(said) < 2:
        return list(said)
    inside: dict[int, list[int]] = defaultdict(list)
    tops: list[int] = []
    for index, texts in said.items():
        above = _above(tree, said, index, texts)
        (tops if above is None else inside[above]).append(index)
    kept = sorted(index for top in tops for index in _targets(tree.nodes, inside, top))
    return _without_labels(tree, said, kept)


def _above(tree: Tree, said: Said, index: int, texts: tuple[str, ...]) -> int | None:
    """The nearest ancestor that matches with the same texts."""
    at = tree.nodes[index].parent
    while at >= 0:
        if said.get(at) == texts:
            return at
        at = tree.nodes[at].parent
    return None


def _strength(node: Node) -> int:
    """2: one can act on it by its role; 1: because it offers actions; 0: not at all."""
    if node.role in INTERACTIVE:
        return 2
    return 1 if node.actions else 0


def _targets(nodes: list[Node], inside: Mapping[int, list[int]], top: int) -> list[int]:
    """The targets among a match and the matches inside it, worked out from the innermost outwards."""
    order: list[int] = [top]
    for index in order:
        order.extend(inside.get(index, ()))
    targets: dict[int, list[int]] = {}
    for index in reversed(order):
        branches = inside.get(index, ())
        below = [target for branch in branches for target in targets.pop(branch)]
        targets[index] = _merged(nodes, index, below, len(branches))
    return targets[top]


def _merged(nodes: list[Node], index: int, below: list[int], branches: int) -> list[int]:
    if not below:
        return [index]
    own = _strength(nodes[index])
    acting = [target for target in below if _strength(nodes[target])]
    if own and not acting:
        return [index]
    if own and branches == 1 and len(acting) == 1:
        return [index] if own > _strength(nodes[acting[0]]) else acting
    if own:
        return [index, *acting]
    if acting:
        return below
    if len(below) == 1:
        bare = nodes[index].role in _BARE and nodes[below[0]].role not in _BARE
        return below if bare else [index]
    return below


def _without_labels(tree: Tree, said: Said, kept: list[int]) -> list[int]:
    """Drops plain texts that stand beside a field they name."""
    fields = [index for index in kept if tree.nodes[index].role in _FIELDS]
    if not fields or len(fields) == len(kept):
        return kept
    around: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for field in fields:
        around[said[field]].update(tree.ancestors(field)[:_BESIDE])
    return [
        index
        for index in kept
        if tree.nodes[index].role not in _PLAIN
        or tree.nodes[index].actions
        or around.get(said[index], set()).isdisjoint(tree.ancestors(index)[:_BESIDE])
    ]
