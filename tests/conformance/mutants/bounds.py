"""Mutants of the cases about bounds and what is told of cuts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from anydevice.catalogue import Catalogue
from anydevice.commands import _aim, look
from anydevice.context import Outcome
from anydevice.driver import TreeScope
from anydevice.testing import ReferenceBackend, driver, screen

from . import Mutant


def ignores(**caps: int) -> Mutant:
    """The driver does not keep a cap of the scope it is given."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        original = driver._Screen.tree

        async def tree(self: Any, scope: TreeScope) -> Any:
            return await original(self, replace(scope, **caps))

        monkeypatch.setattr(driver._Screen, "tree", tree)

    return mutant


def cuts_texts_in_silence(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts are cut and not counted."""
    original = screen._shorten

    def shorten(node: Any, most: int) -> int:
        original(node, most)
        return 0

    monkeypatch.setattr(screen, "_shorten", shorten)


def reads_the_beginning_only(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Get answers what the tree happens to hold of a text."""

    async def whole(ctx: object, node: Any) -> tuple[Any, list[str]]:
        return node, []

    monkeypatch.setattr(look, "_whole", whole)


def drops_lines_in_silence(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot that is too long loses lines, and does not say so."""
    original = look.render

    def render(tree: Any, **options: Any) -> tuple[str, list[str]]:
        return original(tree, **(options | {"max_chars": 600}))[0], []

    monkeypatch.setattr(look, "render", render)


def tells_no_cuts(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was left out is counted and not told."""
    monkeypatch.setattr(look, "Outcome", lambda truncated=(), **parts: Outcome(**parts))


def is_never_short(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The level of an answer is taken and has no effect."""
    original = look.render
    monkeypatch.setattr(look, "render", lambda tree, **options: original(tree, **(options | {"level": "default"})))


def looks_once(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look-up does not wait for what is not there yet."""

    async def patiently(ctx: object, attempt: Any, timeout: float) -> Any:
        return await attempt()

    monkeypatch.setattr(_aim, "patiently", patiently)


def lowers_in_silence(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cap beyond its bound becomes the bound, and nobody is told."""
    original = Catalogue.parse

    def parse(self: Catalogue, name: str, arguments: Mapping[str, Any]) -> Any:
        lowered = {key: min(value, 20_000) if key == "maxNodes" else value for key, value in arguments.items()}
        return original(self, name, lowered)

    monkeypatch.setattr(Catalogue, "parse", parse)


MUTANTS: dict[str, Mutant] = {
    "bounds.a-huge-text-is-cut-and-told": cuts_texts_in_silence,
    "bounds.one-text-is-read-whole-or-told": reads_the_beginning_only,
    "bounds.a-cap-on-elements-is-kept-and-told": ignores(max_nodes=100_000),
    "bounds.a-cap-on-depth-is-kept-and-told": ignores(max_depth=100),
    "bounds.a-list-of-500-rows-is-bounded": drops_lines_in_silence,
    "bounds.a-limit-on-matches-is-kept-and-told": tells_no_cuts,
    "bounds.a-short-answer-is-short": is_never_short,
    "bounds.waiting-ends-when-it-was-told-to": looks_once,
    "bounds.an-argument-beyond-its-bound-is-refused": lowers_in_silence,
}
