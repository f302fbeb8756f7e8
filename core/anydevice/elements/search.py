"""Which elements a query leaves: the same rule for reading and for acting, on every platform.

1. Filters first: role, id, flags, app and window. Hidden elements take part only where the query says `hidden`.
2. Texts next: an exact match (folded) anywhere beats partial ones; partial ones count only when no element matches
   exactly, and only from the beginning of a word (`age` is not in "page"); one or two letters have to be a word of
   their own. Application, window and document are never the target of a text.
3. Then what is one thing to a person becomes one target: a container and the label inside it that say the same, and a
   field and the text beside it that names it.
4. `index` counts what is left, in document order. Of alternatives, the first that leaves anything counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from anydevice_schemas import EDITABLE, INTERACTIVE, Node, Rect, Tree

from ..text import fold_text
from .collapse import collapse
from .query import Alternative, Query, Term

SHORT = 2
"""Letters or digits of a text that has to be a whole word."""
SPACED_BEFORE = "\u0590"
"""Scripts before this character set words apart; of those behind it some join them, or what belongs to them."""
_TAKES_TEXT = EDITABLE - {"combobox"}


class Folded:
    """The texts of a tree in the form they are compared in, each folded once, when it is first needed.

    Give the same one to several calls about the same tree.
    """

    __slots__ = ("_descriptions", "_names", "_values", "tree")

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._names: list[str] | None = None
        self._values: list[str | None] | None = None
        self._descriptions: list[str] | None = None

    @property
    def names(self) -> list[str]:
        """Names, folded."""
        if self._names is None:
            self._names = [fold_text(node.name) if node.name else "" for node in self.tree.nodes]
        return self._names

    @property
    def values(self) -> list[str | None]:
        """Values, folded; None where there is none."""
        if self._values is None:
            self._values = [None if node.value is None else fold_text(node.value) for node in self.tree.nodes]
        return self._values

    @property
    def descriptions(self) -> list[str]:
        """Descriptions, folded."""
        if self._descriptions is None:
            self._descriptions = [fold_text(node.description) if node.description else "" for node in self.tree.nodes]
        return self._descriptions

    def fields(self, key: str) -> Sequence[Sequence[str | None]]:
        """The columns a text key looks at."""
        if key == "value":
            return (self.values,)
        if key == "label":
            return (self.names, self.values)
        return (self.names, self.values, self.descriptions)


@dataclass(frozen=True, slots=True)
class Found:
    """What an alternative means.

    Attributes:
        indices: The targets, in document order, before `index` picks one.
        index: Which of them is asked for; None = there must be only one.
    """

    indices: list[int]
    index: int | None

    @property
    def picked(self) -> list[int]:
        """The targets after `index`."""
        return self.indices if self.index is None else self.indices[self.index : self.index + 1]


def find(tree: Tree, query: Query, *, folded: Folded | None = None) -> list[int]:
    """Indices of the targets a query means, in document order; at most one when it says `index`.

    Args:
        tree: Where to look.
        query: What to look for.
        folded: Texts of the same tree from an earlier call.
    """
    folded = folded or Folded(tree)
    for alternative in query.alternatives:
        picked = search(folded, alternative).picked
        if picked:
            return picked
    return []


def search(folded: Folded, alternative: Alternative) -> Found:
    """What one alternative means."""
    tree = folded.tree
    passing = _filtered(tree, alternative.terms)
    texts = [term for term in alternative.terms if term.key in ("label", "text", "value")]
    if not texts:
        return Found(passing, alternative.index)
    said = _said(folded, texts, passing)
    return Found(collapse(tree, said), alternative.index)


# --- filters --------------------------------------------------------------------------------------


def _filtered(tree: Tree, terms: Iterable[Term]) -> list[int]:
    tests: list[Callable[[Node], bool]] = []
    hidden_asked = False
    for term in terms:
        if term.key == "role":
            tests.append(_is_role(str(term.value)))
        elif term.key == "id":
            tests.append(_is_id(str(term.value)))
        elif term.key == "appname":
            tests.append(_is_in(str(term.value), {node.app for node in tree.nodes}, lambda node: node.app))
        elif term.key == "windowtitle":
            tests.append(_is_in(str(term.value), {node.window for node in tree.nodes}, lambda node: node.window))
        elif isinstance(term.value, bool):
            hidden_asked = hidden_asked or term.key == "hidden"
            tests.append(_has_flag(term.key, term.value, tree.viewport))
    nodes = tree.nodes
    passing = [i for i, node in enumerate(nodes) if hidden_asked or "hidden" not in node.states]
    for test in tests:
        passing = [i for i in passing if test(nodes[i])]
    return passing


def _is_role(role: str) -> Callable[[Node], bool]:
    return lambda node: node.role == role


def _is_id(identifier: str) -> Callable[[Node], bool]:
    return lambda node: node.identifier == identifier


def _is_in(text: str, places: set[str], place: Callable[[Node], str]) -> Callable[[Node], bool]:
    """Apps and windows by name: exact ones where there are any, else those whose name contains the text."""
    wanted = fold_text(text)
    names = {name: fold_text(name) for name in places if name}
    accepted = {name for name, own in names.items() if own == wanted} or {
        name for name, own in names.items() if wanted in own
    }
    return lambda node: place(node) in accepted


def _has_flag(flag: str, wanted: bool, viewport: Rect | None) -> Callable[[Node], bool]:
    return lambda node: has(node, flag, viewport) is wanted


def has(node: Node, flag: str, viewport: Rect | None = None) -> bool:
    """Whether a flag of the query language holds for a node.

    Args:
        node: The node.
        flag: visible, hidden, editable, selected, focused, enabled, checked or hittable.
        viewport: What is on screen, in points, where that is known.
    """
    states = node.states
    match flag:
        case "visible":
            return _seen(node, viewport)
        case "hittable":
            return node.hittable and _seen(node, viewport)
        case "enabled":
            return "disabled" not in states
        case "editable":
            takes = "editable" in states or node.role in _TAKES_TEXT
            return takes and "readonly" not in states and "disabled" not in states
        case _:  # hidden, selected, focused, checked are states of the same name
            return flag in states


def _seen(node: Node, viewport: Rect | None) -> bool:
    rect = node.rect
    if rect is None or rect.width <= 0 or rect.height <= 0 or not node.states.isdisjoint(("hidden", "offscreen")):
        return False
    return viewport is None or rect.intersect(viewport) is not None


def interactive(node: Node) -> bool:
    """Whether a person can act on a node: by its role, or because it offers actions."""
    return node.role in INTERACTIVE or bool(node.actions)


# --- texts ----------------------------------------------------------------------------------------


def _said(folded: Folded, terms: Sequence[Term], passing: list[int]) -> dict[int, tuple[str, ...]]:
    """The nodes whose texts match all terms, exactly if any does, else in part, with the texts that matched."""
    nodes = folded.tree.nodes
    wanted = [(fold_text(str(term.value)), folded.fields(term.key)) for term in terms]
    exact: dict[int, tuple[str, ...]] = {}
    partial: dict[int, tuple[str, ...]] = {}
    for i in passing:
        texts: list[str] = []
        whole = True
        for text, columns in wanted:
            own = _best(text, columns, i)
            if own is None:
                break
            texts.append(own)
            whole = whole and own == text
        else:
            if not nodes[i].root:
                (exact if whole else partial)[i] = tuple(texts)
    return exact or partial


def _best(text: str, columns: Sequence[Sequence[str | None]], i: int) -> str | None:
    part: str | None = None
    for column in columns:
        own = column[i]
        if own == text:
            return own
        if part is None and text and own and _in_part(text, own):
            part = own
    return part


def _in_part(text: str, own: str) -> bool:
    """Whether a text is in another from the beginning of a word, for `age` is in every page and `no` in every note.

    One of a letter or two has to be the word. Scripts that do not set all words apart have no such beginnings.
    """
    at = own.find(text)
    while at >= 0:
        begins = at == 0 or not (_joins(own[at - 1]) and _joins(text[0]))
        end = at + len(text)
        if begins and (len(text) > SHORT or end == len(own) or not (_joins(own[end]) and _joins(text[-1]))):
            return True
        at = own.find(text, at + 1)
    return False


def _joins(char: str) -> bool:
    """Whether a character is one of words that are set apart by spaces: Latin, Greek, Cyrillic, Armenian; digits."""
    return char < SPACED_BEFORE and char.isalnum()
