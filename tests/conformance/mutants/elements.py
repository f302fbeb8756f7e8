"""Mutants of the cases about which element is meant, and what is told of it."""

from __future__ import annotations

from typing import Any

import pytest
from faults import nodes_told, operation, states_lost, trees_told

from anydevice.commands import _aim
from anydevice.driver import TreeScope
from anydevice.elements import search
from anydevice.testing import ReferenceBackend
from anydevice.testing.screen import FakeElement
from anydevice_schemas import Node, Tree

from . import Mutant


def takes_partial_with_exact(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements that only contain the label count as much as those that carry it."""

    def said(folded: Any, terms: Any, passing: list[int]) -> dict[int, tuple[str, ...]]:
        out = {}
        for i in passing:
            own = [search._best(search.fold_text(str(t.value)), folded.fields(t.key), i) for t in terms]
            if not folded.tree.nodes[i].root and all(text is not None for text in own):
                out[i] = tuple(text for text in own if text is not None)
        return out

    monkeypatch.setattr(search, "_said", said)


def takes_exact_alone(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the whole label is a label."""
    sound = search._best

    def best(text: str, columns: Any, i: int) -> str | None:
        own = sound(text, columns, i)
        return own if own == text else None

    monkeypatch.setattr(search, "_best", best)


def minds_case(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are compared as they are."""
    monkeypatch.setattr(search, "fold_text", lambda text: text)


def takes_the_first(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several, the first is taken."""
    sound = _aim.one

    def one(tree: Tree, query: Any) -> int:
        found = search.find(tree, query)
        return found[0] if found else sound(tree, query)

    monkeypatch.setattr(_aim, "one", one)


def counts_from_one(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """index=1 is the first."""

    def picked(self: search.Found) -> list[int]:
        if self.index is None:
            return self.indices
        return self.indices[max(0, self.index - 1) : self.index]

    monkeypatch.setattr(search.Found, "picked", property(picked))


def finds_it_again_by_its_looks(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver acts on the first element of the same role and name."""

    async def activate(sound: Any, self: Any, key: str) -> Any:
        meant = self.model.by_key(key)
        twin = next(e for e in self.model.elements if (e.role, e.name) == (meant.role, meant.name))
        return await sound(self, twin.key)

    operation(monkeypatch, "elements.activate", activate)


def counts_labels_apart(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container and its label are two elements that say the same."""
    monkeypatch.setattr(search, "collapse", lambda tree, said: list(said))


def calls_a_slider_a_progress_bar(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform has one word for both, and the driver takes the wrong one."""

    def change(node: Node, element: FakeElement) -> None:
        if node.role == "slider":
            node.role = "progressbar"

    nodes_told(backend, monkeypatch, change)


def matches_part_of_an_id(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """id= is looked for anywhere in an identifier."""
    monkeypatch.setattr(search, "_is_id", lambda text: lambda node: text in node.identifier)


def drops_flags(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """State filters are read and not applied."""
    monkeypatch.setattr(search, "_has_flag", lambda flag, wanted, viewport: lambda node: True)


def tells_no_disabled(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees have no word for what is disabled."""
    trees_told(backend, monkeypatch, states_lost("disabled"))


def tells_no_checked(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkbox is told as it was when the screen opened."""

    def change(tree: Tree, scope: TreeScope) -> None:
        for node in tree.nodes:
            if node.identifier == "states.agree":
                node.states = node.states | {"checked"}

    trees_told(backend, monkeypatch, change)


def tells_no_selected(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees have no word for what is selected."""
    trees_told(backend, monkeypatch, states_lost("selected"))


def tells_no_expanded(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees tell what is collapsed, and never what is expanded."""
    trees_told(backend, monkeypatch, states_lost("expanded"))


def tells_no_readonly(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only field is told as any other."""

    def change(node: Node, element: FakeElement) -> None:
        if "readonly" in node.states:
            node.states = node.states - {"readonly"} | {"editable"}

    nodes_told(backend, monkeypatch, change)


def tells_an_old_focus(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees tell what had the focus first on a screen, whatever has it now."""
    first: dict[str, str] = {}

    def change(tree: Tree, scope: TreeScope) -> None:
        for node in tree.nodes:
            if "focused" in node.states and node.key is not None:
                first.setdefault(tree.location, node.key)
        for node in tree.nodes:
            node.states = node.states - {"focused"}
            if node.key is not None and node.key == first.get(tree.location):
                node.states = node.states | {"focused"}

    trees_told(backend, monkeypatch, change)


def tells_no_choice(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a select holds is not told by trees."""

    def change(tree: Tree, scope: TreeScope) -> None:
        for node in tree.nodes:
            if node.role == "combobox":
                node.value = None

    trees_told(backend, monkeypatch, change)


def tells_no_hidden(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be seen is told like everything else."""
    trees_told(backend, monkeypatch, states_lost("hidden"))


MUTANTS: dict[str, Mutant] = {
    "elements.exact-beats-partial": takes_partial_with_exact,
    "elements.part-of-a-label-is-enough": takes_exact_alone,
    "elements.labels-are-folded": minds_case,
    "elements.several-are-numbered": takes_the_first,
    "elements.index-picks": counts_from_one,
    "elements.ref-of-a-candidate-picks": finds_it_again_by_its_looks,
    "elements.container-and-label-are-one": counts_labels_apart,
    "elements.roles-are-of-the-vocabulary": calls_a_slider_a_progress_bar,
    "elements.ids-are-exact": matches_part_of_an_id,
    "elements.filters-narrow": drops_flags,
    "elements.tells-what-is-disabled": tells_no_disabled,
    "elements.tells-what-is-checked": tells_no_checked,
    "elements.tells-what-is-selected": tells_no_selected,
    "elements.tells-what-is-expanded": tells_no_expanded,
    "elements.tells-fields-apart": tells_no_readonly,
    "elements.tells-what-has-the-focus": tells_an_old_focus,
    "elements.names-and-values": tells_no_choice,
    "elements.unseen-are-not-matched": tells_no_hidden,
}
