"""A mouse, which every HarmonyOS device takes whether one is attached or not; a TV's pointing remote is one."""

from __future__ import annotations

from typing import Final

from anydevice.driver import Acted, Button, Pointer
from anydevice_schemas import Point
from anydevice_schemas.errors import Unsupported

from .reach import Reach
from .touch import LONGEST

PRIMARY: Final = "primary"


class HarmonyosPointer(Pointer):
    """See `Pointer`. Clicking and dragging are left to fingers, which apps are made for."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def move(self, point: Point) -> Acted:
        """See `Pointer.move`.

        Raises:
            AnydeviceError: As `Reach.input`.
        """
        x, y = await self._reach.pixels(point)
        await self._reach.input(f"uinput -M -m {x} {y}")
        return Acted("mouse")


class RemotePointer(HarmonyosPointer):
    """See `Pointer`: a TV's pointing remote, which drags as well. Pressing is left to the arrows."""

    async def drag(self, start: Point, end: Point, *, seconds: float, button: Button = PRIMARY) -> Acted:
        """See `Pointer.drag`.

        Raises:
            Unsupported: Another button than the first is meant.
            AnydeviceError: As `Reach.input`.
        """
        if button != PRIMARY:
            raise Unsupported(
                "HarmonyOS's input program drags with the first button of a mouse only.",
                operation="pointer.drag",
                alternatives=[],
                reason="uinput -M -g names no button",
            )
        x, y, to_x, to_y = await self._reach.pixels(start, end, whole=True)
        way = min(max(1, round(seconds * 1000)), LONGEST)
        await self._reach.input(f"uinput -M -g {x} {y} {to_x} {to_y} {way}", seconds=seconds)
        return Acted("mouse")
