"""Tabs as apps: list, open, close, state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anydevice.driver import Acted, App, Apps, OpenRequest
from anydevice_schemas.errors import AppNotFound, AppNotRunning, CallTimeout, DialogOpen, InvalidArgument

from .alerts import answer_dialog
from .browser import Browser, Tab
from .cdp import Gone, ProtocolError
from .frames import WorldLost
from .instance import Instance
from .opening import open_address

CLOSE_DEADLINE = 5.0


class WebApps(Apps):
    """The browser's tabs. An app's id is a tab's (`t3`)."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def list(self) -> Sequence[App]:
        """See `Apps.list`. Titles and addresses are untrusted."""
        browser = self._instance.browser()
        return [
            App(tab.id, tab.title, True, tab is browser.current, {"location": tab.url, "opener": tab.opener})
            for tab in browser.tabs.values()
        ]

    async def open(self, request: OpenRequest) -> Acted:
        """See `Apps.open`. `app` is a tab's id: alone it is selected, with a URL the URL is opened in it.

        Raises:
            AppNotFound: No such tab, or the address cannot be reached (`net_error` in details).
            InvalidArgument: Launch arguments, which no page takes; or as `open_address`.
            CallTimeout, DialogOpen: As `open_address`.
        """
        browser = self._instance.browser()
        if request.arguments:
            raise InvalidArgument(
                "A page takes no launch arguments.", param="arguments", expected="no arguments; put them into the URL"
            )
        url = request.url
        if url is None and request.app is not None and request.app.startswith(("http://", "https://")):
            url = request.app
        elif request.app is not None:
            await select_tab(browser, find_tab(browser, request.app))
        if url is None:
            if browser.current is None or request.new:
                await browser.open_tab(deadline=request.deadline)
            page = await browser.page()
            return Acted("tab", (), True, {"tab": page.tab.id, "location": page.tab.url})
        if request.new or browser.current is None:
            await browser.open_tab(deadline=request.deadline)
        return await open_address(await browser.page(), url, deadline=request.deadline)

    async def close(self, app: str | None, *, force: bool = False) -> Acted:
        """See `Apps.close`. No other tab is selected in its place.

        Raises:
            AppNotFound: No such tab.
            DialogOpen: The page asks before it is left; with `force` it is left all the same.
        """
        browser = self._instance.browser()
        tab = browser.current if app is None else find_tab(browser, app)
        if tab is None:
            return Acted("tab", (), True, {"already_closed": True})
        running = self._instance.running
        if running is not None and running.headless is False and len(browser.tabs) == 1:
            # With its last window a browser on a screen would end, and with it the device.
            await browser.call("Target.createTarget", {"url": "about:blank"})
        mark = browser.log.mark
        page = browser.known(tab)
        if page is not None and page.dialog is not None and force:
            await answer_dialog(page, accept=True)
        closed = await browser.close_tab(tab, force=force, deadline=CLOSE_DEADLINE)
        if not closed and page is not None and page.dialog is not None:
            raise page.dialog_error(page.dialog.dialog)
        happenings = [one for one in browser.log.since(mark) if one.data.get("tab") != tab.id]
        return Acted("tab", happenings, closed, {"tab": tab.id, "tabs_left": len(browser.tabs)})

    async def state(self) -> Mapping[str, Any]:
        """See `Apps.state`. Answers also while a dialog is open and after a crash.

        Raises:
            AppNotRunning: No tab is selected.
        """
        browser = self._instance.browser()
        tab = browser.current
        if tab is None:
            raise AppNotRunning(
                "No page is open in this browser.", app=None, tabs=[one.id for one in browser.tabs.values()]
            )
        state: dict[str, Any] = {"app": tab.id, "title": tab.title, "location": tab.url, "tabs": len(browser.tabs)}
        page = browser.known(tab)
        if page is None:
            return state
        state["loading"] = page.navigations.loading
        if page.crashed:
            state["crashed"] = True
        elif page.dialog is not None:
            dialog = page.dialog.dialog
            state["dialog"] = {"kind": dialog.kind, "text": dialog.text, "buttons": list(dialog.buttons)}
        else:
            try:
                status = await page.main.ask("status", deadline=2.0)
            except (WorldLost, ProtocolError, Gone, CallTimeout, DialogOpen):
                return state
            state |= {"title": status["title"], "location": status["url"]}
            if status["url"].startswith("chrome-error:"):
                state |= {"location": tab.url, "unreachable": True}
        return state


def find_tab(browser: Browser, tab_id: str) -> Tab:
    """The tab of an id.

    Raises:
        AppNotFound: There is none; details list those there are.
    """
    for tab in browser.tabs.values():
        if tab.id == tab_id:
            return tab
    raise AppNotFound(
        "No open tab has this id.",
        hint="Call tabs with action list.",
        nearest_matches=[{"tab": tab.id, "title": tab.title} for tab in browser.tabs.values()],
        looked_for=tab_id[:256],
    )


async def select_tab(browser: Browser, tab: Tab) -> bool:
    """Makes a tab the current one; True when the browser itself then names it.

    Attaches to this tab alone; when it does not answer, the current tab stays what it was.

    Raises:
        CallTimeout, AppNotRunning: As `Page.attach`.
    """
    page = await browser.attached(tab)
    browser.current = tab
    await browser.call("Target.activateTarget", {"targetId": tab.target})
    named = await page.session.call("Target.getTargetInfo", free=True)
    told: str = named["targetInfo"]["targetId"]
    return told == tab.target
