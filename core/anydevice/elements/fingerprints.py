"""What tells an element from others where the platform gives no handle for it.

A fingerprint says what an element is: role, identifier, name, and the same of everything around it. That alone is not
enough to say that an element of a later look is the one of an earlier look: another row of a list may have moved up.
So two looks agree on an element only if its fingerprint is the only one of its kind in both, and if what is written
around it is still the same; outside of lists it is also enough that it is still in its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from anydevice_schemas import INTERACTIVE, Node, Rect, Tree

_MEASURES = frozenset({"progressbar", "meter", "timer", "status", "log", "marquee"})
_LISTS = frozenset(
    {
        "list", "listbox", "listitem", "option", "grid", "table", "treegrid", "rowgroup", "row", "cell", "gridcell",
        "tree", "treeitem", "feed", "article",
    }
)  # fmt: skip
"""Inside of these one element may take the place of another that looks the same."""

_LOOK_UP = 4
"""How many ancestors are asked for something written around an element."""
_MASK = (1 << 64) - 1


class Mark(NamedTuple):
    """What is remembered of one element without a key.

    Attributes:
        print: Its fingerprint: where it is in the tree, role, identifier, name.
        by_id: The same without names, for elements that have an identifier and are in no list; else None.
        around: What is written around it (or, in a container without name, inside it), as a number; 0 = nothing.
        rect: Its place.
        listed: It is in a list, where places change hands.
    """

    print: tuple[int, str, str, str]
    by_id: tuple[int, str, str] | None
    around: int
    rect: Rect | None
    listed: bool


def marks(tree: Tree) -> dict[int, Mark]:
    """The marks of all nodes without a key, by index."""
    nodes = tree.nodes
    said = [_said(node) for node in nodes]
    written = [hash(text) & _MASK if text else 0 for text in said]
    for i in range(len(nodes) - 1, 0, -1):
        parent = nodes[i].parent
        if parent >= 0:
            written[parent] = (written[parent] + written[i]) & _MASK
    paths, bare = [0] * len(nodes), [0] * len(nodes)
    listed = [False] * len(nodes)
    out: dict[int, Mark] = {}
    for i, node in enumerate(nodes):
        parent, role, identifier = node.parent, node.role, node.identifier
        above, above_bare, inside = (paths[parent], bare[parent], listed[parent]) if parent >= 0 else (0, 0, False)
        listed[i] = inside = inside or role in _LISTS
        if node.key is not None:
            paths[i] = bare[i] = hash((above, node.key))
            continue
        # titles of windows and pages change while the window stays
        name = "" if node.root else said[i]
        paths[i] = hash((above, role, identifier, name))
        bare[i] = hash((above_bare, role, identifier))
        out[i] = Mark(
            (above, role, identifier, name),
            (above_bare, role, identifier) if identifier and not inside else None,
            _around(nodes, written, i) if said[i] or not written[i] else hash(("inside", written[i])),
            node.rect,
            inside,
        )
    return out


def _said(node: Node) -> str:
    """What is written on an element, as opposed to what was entered into it."""
    if node.name or node.value is None or node.role in INTERACTIVE or node.role in _MEASURES:
        return node.name
    return "" if "editable" in node.states else node.value


def _around(nodes: Sequence[Node], written: Sequence[int], index: int) -> int:
    own, at = written[index], nodes[index].parent
    for step in range(_LOOK_UP):
        if at < 0:
            break
        rest = written[at] - own
        if rest:
            return hash((step, rest & _MASK))
        at = nodes[at].parent
    return 0


def pair(old: Mapping[int, Mark], new: Mapping[int, Mark]) -> dict[int, int]:
    """Which elements of a later look are those of an earlier look, as far as that is certain.

    Args:
        old: Marks of the earlier look by any number.
        new: Marks of the later look by index.

    Returns:
        The number in `old` for every index in `new` that is the same element.
    """
    same: dict[int, int] = {}
    for olds, news in _groups(old, old, new, new, _print):
        if len(olds) == len(news) == 1:
            if _sure(old[olds[0]], new[news[0]]):
                same[news[0]] = olds[0]
        elif _side_by_side(old, olds) and _side_by_side(new, news) and _unmoved(old, olds, new, news):
            same.update(zip(news, olds, strict=True))
        else:
            for some, others in _groups(olds, old, news, new, _surroundings):
                known = len(some) == len(others) == 1 and new[others[0]].around != 0
                if known or _unmoved(old, some, new, others):
                    same.update(zip(others, some, strict=True))
    taken = set(same.values())
    left_old = [n for n, mark in old.items() if mark.by_id is not None and n not in taken]
    left_new = [i for i, mark in new.items() if mark.by_id is not None and i not in same]
    for olds, news in _groups(left_old, old, left_new, new, _identifier):
        if len(olds) == len(news) == 1 and _sure(old[olds[0]], new[news[0]]):
            same[news[0]] = olds[0]
    return same


def _print(mark: Mark) -> Hashable:
    return mark.print


def _surroundings(mark: Mark) -> Hashable:
    return mark.around


def _identifier(mark: Mark) -> Hashable:
    return mark.by_id


def _groups(
    olds: Sequence[int] | Mapping[int, Mark],
    old: Mapping[int, Mark],
    news: Sequence[int] | Mapping[int, Mark],
    new: Mapping[int, Mark],
    kind: Callable[[Mark], Hashable],
) -> Iterator[tuple[list[int], list[int]]]:
    """Some of the old and some of the new marks by kind, for every kind that is among both."""
    left: dict[Hashable, list[int]] = defaultdict(list)
    right: dict[Hashable, list[int]] = defaultdict(list)
    for number in olds:
        left[kind(old[number])].append(number)
    for index in news:
        right[kind(new[index])].append(index)
    for each, own in right.items():
        if each in left:
            yield left[each], own


def _sure(old: Mark, new: Mark) -> bool:
    if old.around == new.around != 0:
        return True
    return not (old.listed or new.listed) and _in_place(old, new)


def _side_by_side(marks: Mapping[int, Mark], some: Sequence[int]) -> bool:
    """Whether twins stand in one surrounding, outside of any list, rather than each in one of its own."""
    first = marks[some[0]]
    return not first.listed and all(marks[n].around == first.around for n in some)


def _unmoved(old: Mapping[int, Mark], olds: Sequence[int], new: Mapping[int, Mark], news: Sequence[int]) -> bool:
    """Whether twins, which only their order tells apart, are as many as they were and each still in its place."""
    return len(olds) == len(news) and all(_in_place(old[n], new[i]) for n, i in zip(olds, news, strict=True))


def _in_place(old: Mark, new: Mark) -> bool:
    """Whether an element is where it was: of the same size, and its middle within the old place."""
    one, other = old.rect, new.rect
    if one is None or other is None:
        return False
    if abs(one.width - other.width) > 1 or abs(one.height - other.height) > 1:
        return False
    shift_x = abs(one.x + one.width / 2 - other.x - other.width / 2)
    shift_y = abs(one.y + one.height / 2 - other.y - other.height / 2)
    return shift_x <= max(1.0, one.width / 2) and shift_y <= max(1.0, one.height / 2)
