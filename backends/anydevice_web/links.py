"""Addresses and app events handed to the page."""

from __future__ import annotations

import json
from typing import Any

from anydevice.driver import Acted, AppEvent, Links
from anydevice_schemas.errors import BackendBroken

from .acting import act
from .apps import find_tab
from .instance import Instance
from .opening import open_address
from .page import Page

OPEN_DEADLINE = 20.0
EVENT = "anydevice:event"
"""Name of the event a page listens for."""
_DISPATCH = """(detail => {
  let acknowledged = false;
  detail.acknowledge = () => { acknowledged = true; };
  const event = new CustomEvent(%s, { detail, cancelable: true });
  const kept = window.dispatchEvent(event);
  return acknowledged || !kept;
})(%s)"""


class WebLinks(Links):
    """Links of the current tab, or of the tab named by `app`."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def open_url(self, url: str, *, app: str | None = None) -> Acted:
        """See `Links.open_url`. Opens the address in the tab; data and errors as `open_address`."""
        return await open_address(await self._page(app), url, deadline=OPEN_DEADLINE)

    async def deliver_event(self, event: AppEvent) -> Acted:
        """See `Links.deliver_event`.

        An event whose URL is http or https is opened by navigation, as a person following the link would;
        `acknowledged` is then `not_requested`. Any other URL (an app's own scheme) never leaves the page: it is
        dispatched on `window` as a cancelable `CustomEvent("anydevice:event")` whose `detail` holds `name`,
        `payload`, `url` and the function `acknowledge()`. `acknowledged` is true only if a listener called that
        function or `preventDefault()` before the dispatch ended.
        """
        if event.url.lower().startswith(("http://", "https://")):
            acted = await self.open_url(event.url, app=event.app)
            data = {**acted.data, "acknowledged": "not_requested"}
            return Acted(acted.method, acted.happenings, acted.verified, data)
        page = await self._page(event.app)
        detail = json.dumps({"name": event.name, "payload": event.payload, "url": event.url})
        script = _DISPATCH % (json.dumps(EVENT), detail)

        async def work() -> dict[str, Any]:
            answer = await page.call(
                page.session, "Runtime.evaluate", {"expression": script, "returnByValue": True}, deadline=5.0
            )
            if "exceptionDetails" in answer:
                raise BackendBroken(
                    "The page could not be given the event.", backend="web", reason="dispatch failed in the page"
                )
            acknowledged = answer["result"].get("value") is True
            return {"acknowledged": acknowledged, "verified": True if acknowledged else None}

        return await act(page, "page-event", work)

    async def _page(self, app: str | None) -> Page:
        browser = self._instance.browser()
        if app is not None and any(tab.id == app for tab in browser.tabs.values()):
            return await browser.attached(find_tab(browser, app))
        return await browser.page()
