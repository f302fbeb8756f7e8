"""The system's question which app is meant: a start that nothing takes leaves it on the screen."""

from __future__ import annotations

from typing import Final

import anyio

from anydevice_schemas.errors import AnydeviceError

from .guarding import SYSTEM
from .looking import Looking
from .reach import Reach

GONE: Final = 3.0
"""Seconds it may take to go away."""
STEP: Final = 0.1


class Choosers:
    """Takes such questions away, so that none is left for somebody to run into."""

    def __init__(self, reach: Reach, looking: Looking) -> None:
        self._reach, self._looking = reach, looking

    async def away(self) -> bool:
        """Takes the question away, if one is open; whether there was one."""
        try:
            if not await self._open():
                return False
            await self._reach.input("uitest uiInput keyEvent Back")
            with anyio.move_on_after(GONE):
                while await self._open():  # noqa: ASYNC110 - the device tells nobody when it goes
                    await anyio.sleep(STEP)
        except AnydeviceError:
            return False  # what cannot be seen now is told by whoever looks next
        return True

    async def _open(self) -> bool:
        layout, _ = await self._looking.take()
        return any(window.bundle == SYSTEM for window in layout.windows)
