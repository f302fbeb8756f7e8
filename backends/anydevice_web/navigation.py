"""Back, through the tab's history."""

from __future__ import annotations

import contextlib
from typing import Any

import anyio

from anydevice.driver import Acted, Navigation

from .acting import act
from .cdp import ProtocolError
from .following import FOLLOW_DEADLINE
from .instance import Instance


class WebNavigation(Navigation):
    """The history of the current tab."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def back(self) -> Acted:
        """See `Navigation.back`; verified by reading the place in the history back."""
        page = await self._instance.page()

        async def history() -> dict[str, Any]:
            return await page.call(page.session, "Page.getNavigationHistory")

        async def work() -> dict[str, Any]:
            before = await history()
            index = before["currentIndex"]
            if index <= 0:
                return {"verified": False, "location": before["entries"][index]["url"], "at_start": True}
            mark = page.mark()
            target = before["entries"][index - 1]
            await page.call(page.session, "Page.navigateToHistoryEntry", {"entryId": target["id"]})
            now = before
            end = anyio.current_time() + FOLLOW_DEADLINE
            while anyio.current_time() < end and page.dialog is None:
                if page.browser.log.mark > mark.log or page.navigations.begun_since(mark.navigation):
                    with contextlib.suppress(ProtocolError):  # between two documents there is no history to read
                        now = await history()
                    if now["currentIndex"] == index - 1:
                        break
                await page.change(0.05)
            return {
                "verified": now["currentIndex"] == index - 1,
                "location": now["entries"][now["currentIndex"]]["url"],
            }

        return await act(page, "history", work)
