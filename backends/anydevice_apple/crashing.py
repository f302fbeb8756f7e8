"""Whether the app that was opened last is gone by itself. Asked when another app is in front, and at no other time."""

from __future__ import annotations

import anyio

from anydevice_schemas.errors import AppCrashed

from .reach import Reach
from .reading.elements import Source

LOOK_EVERY = 1.0
"""Seconds between two questions while another app is in front."""
AT_FIRST = 2.0
"""Seconds, since it is, in which each look asks: an app that dies leaves the screen before its process is gone."""


class Crashes:
    """Watches the app that was opened last."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._asked = 0.0
        self._left: float | None = None
        self._seen: tuple[int | None, str] = (None, "")

    async def check(self, source: Source) -> None:
        """Refuses while the app that was opened last is gone though nobody closed it here.

        Raises:
            AppCrashed: It is.
        """
        app, pid = self._reach.opened, self._reach.pid
        if app is None or pid is None:
            return
        # A source names its app by what people call it only. While that is what the opened app was seen to be called,
        # nobody else is asked.
        name = source.elements[0].label if source.elements else ""
        if source.app == app or (name and self._seen == (pid, name)):
            self._left = None
            return
        now = anyio.current_time()
        front = await self._reach.front()
        if front is None:
            return
        if front.app == app:
            self._seen, self._left = (pid, name), None
            return
        self._left = now if self._left is None else self._left
        if now - self._left > AT_FIRST and now - self._asked < LOOK_EVERY:
            return
        running = await self._reach.bundles.running()
        self._asked = now
        if running.get(app) == pid or (self._reach.simctl is None and app in running):
            return
        raise AppCrashed(
            "The app is gone, and nobody closed it here.",
            app=app,
            reason="its process has ended",
            hint=f"Call open app={app} again.",
        )
