"""Addresses and app events handed to applications."""

from __future__ import annotations

import anyio
import anyio.to_thread

from anydevice.driver import Acted, AppEvent, Links
from anydevice_schemas.errors import CallTimeout

from .apps import LinuxApps
from .live import Lives
from .opening import Launch, Opening, find
from .running import Running

DEADLINE = 15.0
HANDED = 10.0
"""Seconds a running app may take to be handed an address."""
STEP = 0.02


class LinuxLinks(Links):
    """Links go to the application that is installed for their scheme, or to the one that is named."""

    def __init__(self, lives: Lives, running: Running, apps: LinuxApps, launch: Launch) -> None:
        self._lives, self._running, self._apps, self._launch = lives, running, apps, launch

    async def open_url(self, url: str, *, app: str | None = None) -> Acted:
        """See `Links.open_url`. Verified when the app took it: a running one ends the second start by itself.

        Raises:
            AppNotFound: No app opens it.
            CallTimeout: The app does not take it.
            AnydeviceError: As `Opening.go`.
        """
        live = await self._lives.get()
        entries = await self._apps.entries()
        if app is not None:
            entry = await anyio.to_thread.run_sync(find, app, entries)
        else:
            entry = await self._apps.handler(url)
        windows = await live.windows.list()
        runs = any(self._running.app_of(window, entries) == entry.id for window in windows)
        if not runs:
            opening = Opening(live, self._running, entries, entry, self._launch)
            return await opening.go([url], (), DEADLINE)
        child = await self._launch(entry.command([url]), entry.folder or None)
        self._running.note(entry.id, child)
        end = anyio.current_time() + HANDED
        known = {window.id for window in windows}
        while child.code is None:
            if any(window.id not in known for window in await live.windows.list()):
                break  # it shows the address in a window of its own
            if anyio.current_time() > end:
                raise CallTimeout(
                    "The app does not take the address.",
                    hint="The app may be busy or frozen; wait, then call appstate.",
                    after=HANDED,
                    waiting_for="app",
                )
            await anyio.sleep(STEP)
        return Acted("launch", (), child.code in (0, None), {"app": entry.id, "location": entry.id})

    async def deliver_event(self, event: AppEvent) -> Acted:
        """See `Links.deliver_event`: as a link, which has no way to be acknowledged."""
        acted = await self.open_url(event.url, app=event.app)
        return Acted(acted.method, acted.happenings, None, {**acted.data, "acknowledged": "not_requested"})
