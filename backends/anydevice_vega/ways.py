"""The remote control, and the ways back and home."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio

from anydevice.driver import Acted, Navigation, Remote
from anydevice_schemas.errors import DeviceNotReady, UpstreamUnavailable

from .codes import BACK, HOME, button
from .glance import compare
from .guarding import may_ask, refuse
from .reach import Reach
from .reading.page import Page
from .routes import Routes
from .tree import at_home, build

ARRIVAL: Final = 3.0
"""Seconds the screen before, or the home screen, may take to come up."""
STEP: Final = 0.05


class VegaRemote(Remote):
    """See `Remote`. Every press says whether the screen was seen to change."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes

    async def press(self, button_word: str, *, seconds: float = 0.0) -> Acted:
        """See `Remote.press`: held for exactly so long.

        Raises:
            InvalidArgument: There is no such button.
            PermissionMissing: Developer mode is off, and there is no other road.
        """
        road, seen = await self._routes.press(button(button_word), seconds=seconds)
        return Acted("remote", verified=seen, data={"road": road})

    async def repeat(self, button_word: str, *, count: int) -> Acted:
        """See `Remote.repeat`: one look for all of them. Errors as `press`."""
        road, seen = await self._routes.repeat(button(button_word), count)
        return Acted("remote", verified=seen, data={"road": road})

    async def hold(self, button_word: str, *, seconds: float) -> Acted:
        """See `Remote.hold`; errors as `press`."""
        return await self.press(button_word, seconds=seconds)


class VegaNavigation(Navigation):
    """See `Navigation`."""

    def __init__(self, reach: Reach, routes: Routes) -> None:
        self._reach, self._routes = reach, routes

    async def back(self) -> Acted:
        """See `Navigation.back`.

        Raises:
            DialogOpen: A dialog has to be answered first.
        """
        before = await self._look()
        if before is not None and may_ask(before):
            refuse(build(before))
        road, seen = await self._routes.press(BACK)
        if seen is not True and before is not None:
            seen = await self._until(lambda now: compare(before, now).any)
        return Acted("back", verified=seen, data={"road": road})

    async def home(self) -> Acted:
        """See `Navigation.home`: by the button, and where that leads nowhere by the system's own address of it."""
        await self._routes.press(HOME)
        if await self._until(at_home):
            return Acted("home", verified=True)
        await self._reach.run("vmsgr", "send", "os://home")
        return Acted("home-address", verified=await self._until(at_home))

    async def _until(self, holds: Callable[[Page], bool]) -> bool | None:
        """Whether the screen comes to be as it should; None where it cannot be read all the while."""
        read = False
        with anyio.move_on_after(ARRIVAL):
            while True:
                now = await self._look()
                if now is not None and holds(now):
                    return True
                read = read or now is not None
                await anyio.sleep(STEP)
        return False if read else None

    async def _look(self) -> Page | None:
        try:
            return await self._reach.page()
        except (DeviceNotReady, UpstreamUnavailable):
            return None
