"""How elements are shown in answers and errors, and the errors of looking for one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from anydevice_schemas import Node, Tree
from anydevice_schemas.errors import AmbiguousElement, ElementNotFound

from ..text import fold_text, nearest, visible
from .query import FLAGS, Alternative, Query, Term
from .search import Folded, has, interactive, search

CANDIDATES = 10
NEAREST = 5
ON_SCREEN = 20
NAME_MOST = 60
TEXT_MOST = 200

_ITEMS = frozenset({"row", "listitem", "treeitem", "option", "article", "cell", "gridcell", "figure"})
"""Containers that are told by what is written in them, when they have no name of their own."""


def cut(text: str, most: int) -> str:
    """The text with at most `most` characters; a cut is shown by a last `…`."""
    return text if len(text) <= most else text[: most - 1] + "…"


def describe_node(node: Node) -> dict[str, Any]:
    """An element as answers and errors show it: ref, role, name, value, states, place. Untrusted; texts are cut."""
    wire = node.to_wire()
    for field in ("name", "value", "identifier"):
        if field in wire:
            wire[field] = cut(wire[field], TEXT_MOST)
    return wire


# --- queries that name one node --------------------------------------------------------------------


def query_for(folded: Folded, index: int) -> str | None:
    """A query that means this node and no other, tried on the tree; None when none of ours does."""
    node = folded.tree.nodes[index]
    label = node.name or node.value or ""
    ways: list[Alternative] = []
    role = Term("role", node.role)
    if node.identifier:
        ways.append(Alternative((Term("id", node.identifier),)))
    if fold_text(label) and len(label) <= TEXT_MOST:
        ways.append(Alternative((Term("label", label), role)))
    if "hidden" in node.states:
        ways = [Alternative((*way.terms, Term("hidden", True))) for way in ways]
    for way in ways:
        found = search(folded, way).indices
        if found == [index]:
            return str(way)
        if way.terms[-1].key != "id" and index in found:
            return str(Alternative(way.terms, found.index(index)))
    return None


# --- candidates of an ambiguity ------------------------------------------------------------------------


def ambiguous(tree: Tree, query: Query, found: Sequence[int]) -> AmbiguousElement:
    """Several elements match: each numbered as `index` counts, with what tells it from the others."""
    shown = list(found[:CANDIDATES])
    contexts = _telling_apart(tree, shown)
    candidates: list[dict[str, Any]] = []
    for number, index in enumerate(shown):
        candidate: dict[str, Any] = {"index": number} | describe_node(tree.nodes[index])
        if contexts[number] is not None:
            candidate["context"] = contexts[number]
        candidates.append(candidate)
    return AmbiguousElement(
        f"{len(found)} elements match {_typed(query)}.",
        candidates=candidates,
        matches=len(found),
    )


def _typed(query: Query) -> str:
    """A query as it could be typed, on one line: it quotes its texts itself, so none are put around it."""
    text = str(query)
    return visible(text[:120]).replace('\\"', '"') + ("…" if len(text) > 120 else "")


def _telling_apart(tree: Tree, shown: Sequence[int]) -> list[dict[str, str] | None]:
    """For each candidate the nearest surrounding that not all of them share."""
    children = tree.children()
    headings = [(i, node.name) for i, node in enumerate(tree.nodes) if node.role == "heading" and node.name]
    all_of_them = [_surroundings(tree, children, headings, index) for index in shown]
    out: list[dict[str, str] | None] = []
    for own in all_of_them:
        telling = (each for each in own if not all(each in other for other in all_of_them))
        out.append(next(telling, own[0] if own else None))
    return out


def _surroundings(
    tree: Tree, children: list[list[int]], headings: list[tuple[int, str]], index: int
) -> list[dict[str, str]]:
    """What surrounds a node, nearest first: named containers, items by their text, the heading before it."""
    nodes = tree.nodes
    own = fold_text(nodes[index].name or nodes[index].value or "")
    out: list[dict[str, str]] = []
    for at in tree.ancestors(index):
        above = nodes[at]
        text = above.name
        if not fold_text(text) and above.role in _ITEMS | {"generic", "group"}:
            text = _first_text(nodes, children, at, index, own)
        if fold_text(text) not in ("", own):
            out.append({"role": above.role, "name": cut(text, NAME_MOST)})
    before = [name for i, name in headings if i < index]
    if before and nodes[index].role != "heading":
        out.insert(min(1, len(out)), {"role": "heading", "name": cut(before[-1], NAME_MOST)})
    return out


def _first_text(nodes: list[Node], children: list[list[int]], top: int, avoid: int, own: str) -> str:
    """The first text inside a node that is not the candidate's own; looks at 50 nodes at most."""
    stack, looked = list(reversed(children[top])), 0
    while stack and looked < 50:
        at = stack.pop()
        looked += 1
        if at == avoid:
            continue
        text = nodes[at].name or nodes[at].value or ""
        if fold_text(text) not in ("", own):
            return text
        stack.extend(reversed(children[at]))
    return ""


# --- nothing found ------------------------------------------------------------------------------------


def not_found(tree: Tree, query: Query) -> ElementNotFound:
    """No element matches: what comes near, and what is on screen."""
    folded = Folded(tree)
    for alternative in query.alternatives:
        if alternative.index is not None and (left := search(folded, alternative).indices):
            return ElementNotFound(
                f"index={alternative.index} is beyond the {len(left)} elements that match; it counts from 0.",
                hint=f"Use an index from 0 to {len(left) - 1}, or the ref of one candidate.",
                nearest_matches=_entries(folded, left[:NEAREST]),
                on_screen=on_screen(tree),
            )
    texts = [text for alternative in query.alternatives for text in alternative.texts()]
    unread = {why: count for why, count in tree.omitted.items() if why in UNREAD and count}
    if unread:
        return ElementNotFound(
            f"No element matches {_typed(query)} in what could be read of the screen; not all of it could.",
            hint="Scroll to where the element is, or open less at once; details.unread says what was left out.",
            nearest_matches=_near(folded, texts),
            on_screen=on_screen(tree),
            unread=unread,
        )
    return ElementNotFound(
        f"No element matches {_typed(query)}.",
        hint=_advice(query),
        nearest_matches=_near(folded, texts),
        on_screen=on_screen(tree),
    )


UNREAD = frozenset({"nodes", "depth", "unread", "frames"})
"""What `Tree.omitted` may say of elements that are there and were not looked at."""


def _advice(query: Query) -> str | None:
    """What a label that matched nothing may have been meant for."""
    if len(query.alternatives) != 1 or query.alternatives[0].index is not None:
        return None
    terms = query.alternatives[0].terms
    if len(terms) != 1 or terms[0].key != "label":
        return None
    word = str(terms[0].value).strip().lower()
    if re.fullmatch(r"e\d{1,9}", word):
        return f"For the ref write @{word}; else call snapshot and take the element from there."
    if word in FLAGS:
        return f"For a condition write {word}=true beside another term; a word alone is a label."
    return None


def nearest_names(tree: Tree, text: str) -> list[dict[str, Any]]:
    """The elements whose name, value or identifier is most like a text, each with a query that means it."""
    return _near(Folded(tree), [text])


def _near(folded: Folded, texts: Iterable[str]) -> list[dict[str, Any]]:
    """The elements that say something like one of the texts, hidden ones included: their states tell why."""
    nodes = folded.tree.nodes
    spoken: dict[str, list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        if not node.root:
            for text in {folded.names[i], folded.values[i] or "", fold_text(node.identifier)}:
                if text:
                    spoken[text].append(i)
    ranked: list[int] = []
    for text in texts:
        for like in nearest(fold_text(text), spoken, 2 * NEAREST, 0.5):
            ranked += sorted(spoken[like], key=lambda i: (not interactive(nodes[i]), i))[:NEAREST]
    chosen: list[int] = []
    for index in dict.fromkeys(ranked):
        # of a container and its label, which say the same, only one is worth a line
        if not any(_same_place(nodes, index, other) for other in chosen):
            chosen.append(index)
        if len(chosen) == NEAREST:
            break
    return _entries(folded, chosen)


def _same_place(nodes: list[Node], one: int, other: int) -> bool:
    first, second = min(one, other), max(one, other)
    return nodes[second].parent == first and nodes[second].name == nodes[first].name


def _entries(folded: Folded, indices: Iterable[int]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for index in indices:
        entry = describe_node(folded.tree.nodes[index])
        query = query_for(folded, index)
        out.append(entry if query is None else entry | {"query": query})
    return out


def on_screen(tree: Tree) -> list[dict[str, Any]]:
    """What there is to act on, in short: ref, role and name of the first elements that can be seen."""
    out: list[dict[str, Any]] = []
    for node in tree.nodes:
        name = node.name or (node.value or "") or node.identifier
        if name and not node.root and interactive(node) and has(node, "visible", tree.viewport):
            out.append({"ref": node.ref, "role": node.role, "name": cut(name, NAME_MOST)})
            if len(out) == ON_SCREEN:
                break
    return out


def candidates_like(tree: Tree, role: str, name: str) -> list[dict[str, Any]]:
    """Elements that look like one that is gone: the same role and name first, then the same name, then near names."""
    folded, text = Folded(tree), fold_text(name)
    same = [i for i, node in enumerate(tree.nodes) if node.role == role and not node.root and folded.names[i] == text]
    if text:
        same += [i for i, other in enumerate(folded.names) if other == text and not tree.nodes[i].root]
    entries = _entries(folded, list(dict.fromkeys(same))[:NEAREST])
    return entries or (_near(folded, [name]) if text else [])
