"""Addresses that are handed to the device, and app events, which are such addresses."""

from __future__ import annotations

from anydevice.driver import Acted, AppEvent, Links, OpenRequest

from .apps import VegaApps


class VegaLinks(Links):
    """See `Links`."""

    def __init__(self, apps: VegaApps) -> None:
        self._apps = apps

    async def open_url(self, url: str, *, app: str | None = None) -> Acted:
        """See `Links.open_url`; errors as `VegaApps.open`."""
        return await self._apps.open(OpenRequest(app=app, url=url))

    async def deliver_event(self, event: AppEvent) -> Acted:
        """See `Links.deliver_event`: an event is a link; no app can acknowledge it."""
        return await self.open_url(event.url, app=event.app)
