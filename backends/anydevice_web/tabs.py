"""Tabs, as the backend's own command `tabs` drives them."""

from __future__ import annotations

from typing import Any

from anydevice.driver import Acted, Capability

from .acting import happened
from .apps import WebApps, find_tab, select_tab
from .instance import Instance


class Tabs(Capability):
    """Tabs of one browser. Ids (`t3`) are never given twice."""

    name = "tabs"

    def __init__(self, instance: Instance, apps: WebApps) -> None:
        self._instance = instance
        self._apps = apps

    async def list(self) -> list[dict[str, Any]]:
        """Every tab: id, title, location (both untrusted), whether it is the current one, and what opened it."""
        browser = self._instance.browser()
        rows = []
        for tab in browser.tabs.values():
            row: dict[str, Any] = {"tab": tab.id, "title": tab.title, "location": tab.url}
            if tab is browser.current:
                row["current"] = True
            if tab.opener is not None:
                row["opener"] = tab.opener
            page = browser.known(tab)
            if page is not None and page.crashed:
                row["crashed"] = True
            if page is not None and page.dialog is not None:
                row["dialog"] = page.dialog.dialog.kind
            rows.append(row)
        return rows

    async def select(self, tab: str) -> Acted:
        """Makes a tab the one commands go to; verified by asking the attached tab who it is.

        Raises:
            AppNotFound: No such tab.
            CallTimeout: It does not answer; the current tab stays what it was.
        """
        browser = self._instance.browser()
        found = find_tab(browser, tab)
        before = browser.current
        verified = await select_tab(browser, found)
        page = await browser.page()
        data = {"tab": found.id, "title": found.title, "location": found.url}
        if before is not None and before is not found:
            data["previous"] = before.id
        return Acted("activate", await happened(page, page.mark()), verified, data)

    async def close(self, tab: str) -> Acted:
        """Closes a tab and sees it gone. Raises as `Apps.close`."""
        return await self._apps.close(tab)
