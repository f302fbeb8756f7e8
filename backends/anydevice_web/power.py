"""Starting and stopping a browser of this host."""

from __future__ import annotations

from anydevice.driver import Acted, Power

from .instance import Instance


class WebPower(Power):
    """The browser's process. Endpoints belong to somebody else and refuse."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """See `Power.boot`. A browser without a name starts with a fresh profile, a named one with its own.

        Raises:
            DeviceNotReady: The profile is in use, or the browser ended while starting.
            HostAtCapacity: As many browsers run as the configuration allows.
            Unsupported, ToolMissing, CallTimeout: As `Instance.boot`.
        """
        started = await self._instance.boot(headless=headless, deadline=deadline)
        browser, running = self._instance.browser(), self._instance.running
        data = {"version": browser.version, "headless": running.headless if running is not None else None}
        if not started:
            data["already_running"] = True
        return Acted("launch", (), True, data)

    async def shutdown(self, *, deadline: float) -> Acted:
        """See `Power.shutdown`; returns once no process of the browser's group is left."""
        data = await self._instance.shutdown(deadline=deadline)
        return Acted("close", (), True, data)
