"""Reading a screen, acting on its elements, answering its dialogs."""

from __future__ import annotations

from anydevice_schemas import Node, Point, Rect, Tree

from ._base import Capability, undeclared
from ._data import Acted, Dialog, Geometry, Image, Probe, TreeScope


class Screen(Capability):
    """Reading what is on the screen."""

    name = "screen"

    async def tree(self, scope: TreeScope) -> Tree:
        """All nodes of the screen within `scope`, parents before children."""
        raise undeclared("screen", "tree")

    async def image(self, area: Rect | None = None, *, full: bool = False) -> Image:
        """A picture of `area` (points), of the viewport, or of the whole content when `full`."""
        raise undeclared("screen", "image")

    async def geometry(self) -> Geometry:
        """Size, scale and scroll position of the coordinate space."""
        raise undeclared("screen", "geometry")


class Elements(Capability):
    """Acting on one element by its key, through the platform's own idea of elements.

    A key that no longer names a living element raises `StaleRef`; it never acts on something else.
    """

    name = "elements"

    async def probe(self, key: str, *, at: Point | None = None) -> Probe:
        """A fresh look at the element, hit-tested at its visible middle (or at `at`)."""
        raise undeclared("elements", "probe")

    async def at(self, point: Point) -> Node | None:
        """The deepest element at a point, with its key, or None."""
        raise undeclared("elements", "at")

    async def activate(self, key: str) -> Acted:
        """Does what a press would do, through accessibility: no pointer moves, no window is raised."""
        raise undeclared("elements", "activate")

    async def set_text(self, key: str, text: str) -> Acted:
        """Replaces the whole value. `Acted.verified` says whether the source was seen to hold `text`."""
        raise undeclared("elements", "set_text")

    async def focus(self, key: str) -> Acted:
        """Gives the element the keyboard focus."""
        raise undeclared("elements", "focus")

    async def reveal(self, key: str) -> Acted:
        """Scrolls the element into view."""
        raise undeclared("elements", "reveal")


class Alerts(Capability):
    """Dialogs that block the app."""

    name = "alerts"

    async def get(self) -> Dialog | None:
        """The dialog that is open now, or None."""
        raise undeclared("alerts", "get")

    async def accept(self, text: str | None = None) -> Acted:
        """Answers yes, with `text` where the dialog takes one."""
        raise undeclared("alerts", "accept")

    async def dismiss(self) -> Acted:
        """Answers no."""
        raise undeclared("alerts", "dismiss")
