"""What accessibility lends from the pointer and the keyboard, for what a toolkit does not offer by itself."""

from __future__ import annotations

from typing import Protocol

from anydevice_schemas import Point

from .coords import Window


class Hands(Protocol):
    """Pointer and keyboard of the desktop. Whoever owns them sets `A11y.hands`; without, such elements are refused."""

    async def click(self, point: Point) -> None:
        """One press of the primary button."""

    async def wheel(self, point: Point, dx: float, dy: float) -> None:
        """Turns the wheel over a point, by so many points of content; positive `dy` shows what lies further down."""

    async def replace(self, text: str) -> None:
        """Replaces all text of the field that has the focus, by keys or by the clipboard."""

    async def front(self, window: Window) -> None:
        """Gives a window the focus."""
