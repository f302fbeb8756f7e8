"""Windows of a desktop, by ids that no other window ever gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from anydevice.driver import Acted, Happening, Windows
from anydevice.driver import Window as Told
from anydevice_schemas import Point

from .apps import LinuxApps
from .entries import Entry
from .live import Lives
from .naming import told_id
from .questions import question
from .running import Running, shows
from .x11 import Window
from .x11.arranging import BOTH
from .x11.windows import gone

KINDS: Final = {"dialog": "dialog", "utility": "utility", "toolbar": "utility", "menu": "utility", "dock": "panel"}
KEPT: Final = frozenset({"minimized", "fullscreen", "modal"})
"""States that have the same name here and there."""


class LinuxWindows(Windows):
    """Windows that programs show; panels and menus are none."""

    def __init__(self, lives: Lives, apps: LinuxApps, running: Running) -> None:
        self._lives, self._apps, self._running = lives, apps, running

    async def list(self) -> Sequence[Told]:
        """See `Windows.list`."""
        live = await self._lives.get()
        windows = [window for window in await live.windows.list() if shows(window)]
        active = await live.windows.active()
        entries = await self._apps.entries()
        ids = {window.id: told_id(window) for window in windows}
        return [self._told(window, active, entries, ids) for window in windows]

    async def number(self, id: str) -> int:
        """The display's own number of a window.

        Raises:
            AppNotFound: It is gone.
        """
        live = await self._lives.get()
        for window in await live.windows.list():
            if told_id(window) == id:
                return window.id
        raise gone()

    async def move(self, id: str, to: Point) -> Told:
        """See `Windows.move`."""
        live = await self._lives.get()
        await live.arranging.move(await self.number(id), to)
        return await self._now(id)

    async def resize(self, id: str, width: float, height: float) -> Told:
        """See `Windows.resize`."""
        live = await self._lives.get()
        await live.arranging.resize(await self.number(id), round(width), round(height))
        return await self._now(id)

    async def minimize(self, id: str) -> Told:
        """See `Windows.minimize`."""
        live = await self._lives.get()
        await live.arranging.minimize(await self.number(id))
        return await self._now(id)

    async def unminimize(self, id: str) -> Told:
        """See `Windows.unminimize`."""
        live = await self._lives.get()
        await live.arranging.unminimize(await self.number(id))
        return await self._now(id)

    async def maximize(self, id: str) -> Told:
        """See `Windows.maximize`."""
        live = await self._lives.get()
        await live.arranging.maximize(await self.number(id))
        return await self._now(id)

    async def unmaximize(self, id: str) -> Told:
        """See `Windows.unmaximize`."""
        live = await self._lives.get()
        await live.arranging.maximize(await self.number(id), on=False)
        return await self._now(id)

    async def bring_up(self, id: str) -> Told:
        """See `Windows.bring_up`."""
        live = await self._lives.get()
        await live.arranging.bring_up(await self.number(id))
        return await self._now(id)

    async def close(self, id: str) -> Acted:
        """See `Windows.close`."""
        live = await self._lives.get()
        closing = await live.arranging.close(await self.number(id))
        happenings = [Happening("dialog", await question(live, closing.asks))] if closing.asks is not None else []
        return Acted("close", happenings, closing.gone)

    # --- inside ------------------------------------------------------------------------------------------

    async def _now(self, id: str) -> Told:
        for window in await self.list():
            if window.id == id:
                return window
        raise gone()

    def _told(
        self, window: Window, active: Window | None, entries: Mapping[str, Entry], ids: Mapping[int, str]
    ) -> Told:
        states = set(window.state & KEPT)
        if window.state >= BOTH:
            states.add("maximized")
        if active is not None and active.id == window.id:
            states.add("active")
        if not window.shown and "minimized" not in states:
            states.add("hidden")
        return Told(
            id=ids[window.id],
            title=window.title,
            app=self._running.app_of(window, entries),
            rect=window.frame,
            states=frozenset(states),
            kind=KINDS.get(window.kind, "normal"),
            pid=window.pid,
            owner=ids.get(window.leader) if window.leader is not None else None,
        )
