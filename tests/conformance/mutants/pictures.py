"""Mutants of the cases about pictures and places."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from faults import operation, trees_told

from anydevice.driver import TreeScope
from anydevice.testing import ReferenceBackend
from anydevice_schemas import Rect, Tree

from . import Mutant


def says_another_size(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is told in pixels of the screen, whatever the picture was made in."""

    async def image(sound: Any, self: Any, area: Rect | None = None, **more: Any) -> Any:
        picture = await sound(self, area, **more)
        return replace(picture, width=picture.width * 2, height=picture.height * 2, scale=2.0)

    operation(monkeypatch, "screen.image", image)


def shows_the_viewport_for_all(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole content is what is on screen."""

    async def image(sound: Any, self: Any, area: Rect | None = None, *, full: bool = False) -> Any:
        return await sound(self, area)

    operation(monkeypatch, "screen.image", image)


def shows_the_screen_for_an_element(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part that is asked for is not heeded."""

    async def image(sound: Any, self: Any, area: Rect | None = None, *, full: bool = False) -> Any:
        return await sound(self, None, full=full)

    operation(monkeypatch, "screen.image", image)


def places_in_pixels(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places are told in pixels of a screen with three pixels a point."""

    def change(tree: Tree, scope: TreeScope) -> None:
        for node in tree.nodes[1:]:
            if node.rect is not None:
                node.rect = Rect(*(3 * v for v in (node.rect.x, node.rect.y, node.rect.width, node.rect.height)))

    trees_told(backend, monkeypatch, change)


MUTANTS: dict[str, Mutant] = {
    "pictures.are-what-they-say": says_another_size,
    "pictures.of-the-whole-content": shows_the_viewport_for_all,
    "pictures.of-one-element": shows_the_screen_for_an_element,
    "pictures.places-are-points": places_in_pixels,
}
