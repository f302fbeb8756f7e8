"""Ways of putting one fault into the reference backend: into what its screens tell, or into one operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anydevice.driver import TreeScope
from anydevice.testing import ReferenceBackend
from anydevice.testing import driver as parts
from anydevice.testing.screen import FakeElement
from anydevice_schemas import Node, Tree


def nodes_told(
    backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch, change: Callable[[Node, FakeElement], None]
) -> None:
    """Every element is told changed: in trees, probes and wherever else it is told."""
    for screen in backend.screens.values():

        def node(element: FakeElement, parent: int = 0, sound: Any = screen.node) -> Node:
            told: Node = sound(element, parent)
            change(told, element)
            return told

        monkeypatch.setattr(screen, "node", node)


def trees_told(
    backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch, change: Callable[[Tree, TreeScope], Tree | None]
) -> None:
    """Every tree is told changed, and nothing else; `change` alters it or returns another."""
    for screen in backend.screens.values():

        def tree(scope: TreeScope, sound: Any = screen.tree) -> Tree:
            told: Tree = sound(scope)
            return change(told, scope) or told

        monkeypatch.setattr(screen, "tree", tree)


def states_lost(*words: str, only: str | None = None) -> Callable[[Tree, TreeScope], None]:
    """A change of trees: these states are never told (of one element alone, if it is named)."""

    def change(tree: Tree, scope: TreeScope) -> None:
        for node in tree.nodes:
            if only in (None, node.identifier):
                node.states = node.states - set(words)

    return change


def without(tree: Tree, lost: Callable[[Node], bool]) -> Tree:
    """Leaves out nodes (that have nothing inside) without a word."""
    gone = [index for index, node in enumerate(tree.nodes) if lost(node)]
    tree.nodes = [node for node in tree.nodes if not lost(node)]
    for node in tree.nodes:
        node.parent -= sum(1 for index in gone if index < node.parent)
    return tree


def operation(monkeypatch: pytest.MonkeyPatch, name: str, instead: Callable[..., Any]) -> None:
    """One operation of the driver does something else; `instead` is given the sound one first."""
    capability, _, method = name.partition(".")
    kind = getattr(parts, f"_{capability.capitalize()}")
    sound = getattr(kind, method)

    async def faulty(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await instead(sound, self, *args, **kwargs)

    monkeypatch.setattr(kind, method, faulty)
