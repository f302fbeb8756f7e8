"""Pressing an element the driver itself has found: by a finger on glass, by the remote control on a TV."""

from __future__ import annotations

from typing import Protocol

from anydevice_schemas import Node
from anydevice_schemas.errors import ElementOffscreen, FocusUnavailable

from . import codes
from .guarding import Guard
from .reach import Reach

MOST = 12
"""Presses of an arrow after which an element of a dialog counts as out of reach."""


class Presses(Protocol):
    """A way to press an element."""

    method: str

    async def press(self, node: Node) -> None:
        """Presses it."""


class ByTouch:
    """By a tap in its middle."""

    method = "touch"

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def press(self, node: Node) -> None:
        """See `Presses.press`.

        Raises:
            ElementOffscreen: It has no place on the screen.
            AnydeviceError: As `Reach.input`.
        """
        if node.rect is None:
            raise ElementOffscreen("The element has no place on the screen.", element=node.role)
        x, y = await self._reach.pixels(node.rect.center)
        await self._reach.input(f"uitest uiInput click {x} {y}")


class ByRemote:
    """By arrows until it has the focus, then by select; a dialog keeps the focus inside of itself."""

    method = "remote"

    def __init__(self, reach: Reach, guard: Guard) -> None:
        self._reach, self._guard = reach, guard

    async def press(self, node: Node) -> None:
        """See `Presses.press`.

        Raises:
            FocusUnavailable: The focus does not get there.
            AnydeviceError: As `Reach.input`.
        """
        for _ in range(MOST):
            tree = await self._guard.tree()
            holder = next((one for one in reversed(tree.nodes) if "focused" in one.states), None)
            if holder is not None and holder.key == node.key:
                await self._key("select")
                return
            await self._key(_towards(holder, node))
        raise FocusUnavailable(
            "The focus does not get to the element with the remote control.",
            hint="Call tv-remote to move the focus yourself, and snapshot to see where it is.",
            holder="something else",
            fix="Move the focus with tv-remote.",
        )

    async def _key(self, button: str) -> None:
        await self._reach.input(codes.line(codes.button(button)))


def _towards(holder: Node | None, node: Node) -> str:
    if holder is None or holder.rect is None or node.rect is None:
        return "down"
    dx = node.rect.center.x - holder.rect.center.x
    dy = node.rect.center.y - holder.rect.center.y
    if abs(dy) >= node.rect.height / 2 and abs(dy) > 1:
        return "down" if dy > 0 else "up"
    return "right" if dx > 0 else "left"
