"""One running browser we are connected to: its tabs, the one we drive, and whether it still lives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from anydevice.kit import background
from anydevice_schemas.errors import AnydeviceError, AppNotRunning, CallTimeout, ConnectionLost, DeviceNotReady

from .cdp import CALL_DEADLINE, Connection, Gone, ProtocolError
from .handing_over import page_of, page_state
from .happenings import HappeningLog
from .page import Page

HIDDEN_SCHEMES = ("devtools:", "chrome-extension:", "chrome-untrusted:")
"""Pages of the browser itself; never a tab of ours."""
FOLLOW_UP_SECONDS = 2.0
"""How long what event handlers began may take to end before a browser is handed over."""


@dataclass(slots=True)
class Tab:
    """A page target, under a name of ours that is never given twice. `title` and `url` are untrusted.

    `told` is the data of the happening that reported it; its address comes a moment after the tab.
    """

    id: str
    target: str
    url: str
    title: str
    opener: str | None
    told: dict[str, Any] | None = None


class Browser:
    """A connected browser. Made by `Browser.start` over a fresh connection.

    Attributes:
        connection: The protocol connection.
        version: What the browser says it is, e.g. `Chrome/156.0.8078.114`.
        log: What was seen to happen, in order.
        current: The tab commands go to; None when there is none.
        downloads: Folder that downloads go to, on browsers we launched.
        view: Size (points) that pages of a browser without a screen are to have; None = as its windows are.
    """

    def __init__(self, connection: Connection, downloads: str | None) -> None:
        self.connection = connection
        self.version = ""
        self.log = HappeningLog()
        self.tabs: dict[str, Tab] = {}
        self.current: Tab | None = None
        self.downloads = downloads
        self.view: tuple[int, int] | None = None
        self.loss_told = False
        self._pages: dict[str, Page] = {}
        self._given = 0
        self._work: set[background.Background] = set()
        self._attaching = anyio.Lock()
        self._started = False

    @classmethod
    async def start(cls, connection: Connection, *, downloads: str | None = None, deadline: float = 10.0) -> Browser:
        """Gets to know a browser: its version and its tabs. Attaches to none of them.

        Raises:
            ConnectionLost: It ended meanwhile.
            CallTimeout: It did not answer in time.
        """
        browser = cls(connection, downloads)
        browser._listen()
        behaviour: dict[str, Any] = {"behavior": "default", "eventsEnabled": True}
        if downloads is not None:
            behaviour |= {"behavior": "allow", "downloadPath": downloads}
        try:
            answers = await connection.root.gather(
                [
                    ("Browser.getVersion", {}),
                    ("Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]}),
                    ("Browser.setDownloadBehavior", behaviour),
                ],
                deadline=deadline,
            )
        except Gone as error:
            raise ConnectionLost("The browser ended while it started.", restarted=False) from error
        browser.version = answers[0]["product"]
        browser._started = True
        browser.current = next(iter(browser.tabs.values()), None)
        return browser

    def _listen(self) -> None:
        root = self.connection.root
        root.on("Target.targetCreated", lambda params: self._on_target(params["targetInfo"]))
        root.on("Target.targetInfoChanged", lambda params: self._on_target(params["targetInfo"]))
        root.on("Target.targetDestroyed", lambda params: self._on_destroyed(params["targetId"]))
        root.on("Target.detachedFromTarget", self._on_detached)
        root.on("Browser.downloadWillBegin", self._on_download)
        self.connection.on_end(self._on_end)

    # --- handing over --------------------------------------------------------------------------------

    async def hand_over(self) -> dict[str, Any]:
        """All that is known of it, for `taken_up`; from then on nothing of it is read here."""
        with anyio.move_on_after(FOLLOW_UP_SECONDS):
            for work in self._work:
                await work.wait()
        connection = await self.connection.hand_over()
        tabs = [
            {"id": tab.id, "target": tab.target, "url": tab.url, "title": tab.title, "opener": tab.opener}
            for tab in self.tabs.values()
        ]
        return {
            "connection": connection,
            "version": self.version,
            "downloads": self.downloads,
            "view": self.view,
            "given": self._given,
            "tabs": tabs,
            "current": self.current.target if self.current is not None else None,
            "pages": [page_state(page) for page in self._pages.values()],
        }

    @classmethod
    def taken_up(cls, state: Mapping[str, Any]) -> Browser:
        """The browser of a state. What happened meanwhile is told by the connection, of which nothing was read yet.

        The browser's side has kept everything (targets it tells of, sessions on tabs), so nothing is asked of it.
        """
        browser = cls(Connection.taken_up(state["connection"]), state["downloads"])
        browser._listen()
        browser.version, browser._given = state["version"], state["given"]
        browser.view = (state["view"][0], state["view"][1]) if state["view"] is not None else None
        browser.tabs = {row["target"]: Tab(**row) for row in state["tabs"]}
        browser.current = browser.tabs.get(state["current"])
        for row in state["pages"]:
            if (tab := browser.tabs.get(row["target"])) is not None:
                browser._pages[tab.target] = page_of(browser, tab, row)
        browser._started = True
        return browser

    # --- calls ---------------------------------------------------------------------------------------

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, deadline: float = CALL_DEADLINE
    ) -> dict[str, Any]:
        """A call on the browser itself (not on a page).

        Raises:
            ConnectionLost: The browser is gone.
            ProtocolError: It refused.
            CallTimeout: No answer in time.
        """
        self.guard()
        try:
            return await self.connection.root.call(method, params, deadline=deadline)
        except Gone:
            self.guard()
            raise

    def guard(self) -> None:
        """Raises when the browser is gone: the first time as a loss, then as a device that is not running.

        Raises:
            ConnectionLost, DeviceNotReady
        """
        if not self.connection.ended.is_set():
            return
        if not self.loss_told:
            self.loss_told = True
            raise ConnectionLost(
                "The browser ended; its pages and their state are lost.",
                hint="Call boot with this device, then open; nothing was started again by itself.",
                restarted=False,
                lost=["tabs", "session state"],
            )
        raise DeviceNotReady("The browser is not running.", state="shutdown", fix="Call boot with this device.")

    async def page(self) -> Page:
        """The current tab, attached.

        Raises:
            AppNotRunning: No tab is open, or the current one was closed.
            CallTimeout: The tab does not answer.
            ConnectionLost, DeviceNotReady: The browser is gone.
        """
        self.guard()
        if self.current is None:
            raise AppNotRunning(
                "No page is open in this browser, or the one in use was closed.",
                hint="Call open with a URL, or tabs with action select.",
                app=None,
                tabs=[tab.id for tab in self.tabs.values()],
            )
        return await self.attached(self.current)

    async def attached(self, tab: Tab) -> Page:
        """The page of a tab, attached on first use. Raises as `Page.attach`."""
        page = self._pages.get(tab.target)
        if page is None:
            async with self._attaching:
                page = self._pages.get(tab.target)
                if page is None:
                    page = await Page.attach(self, tab)
                    self._pages[tab.target] = page
        return page

    def known(self, tab: Tab) -> Page | None:
        """The page of a tab if we are attached to it."""
        return self._pages.get(tab.target)

    def elsewhere(self, document: str) -> Tab | None:
        """The tab, other than the current one, that shows a document."""
        for page in self._pages.values():
            if document in page.documents and page.tab is not self.current:
                return page.tab
        return None

    async def open_tab(self, *, deadline: float) -> Tab:
        """A new empty tab, made the current one.

        Raises:
            CallTimeout: The browser did not open it in time.
        """
        answer = await self.call("Target.createTarget", {"url": "about:blank"}, deadline=deadline)
        target = answer["targetId"]
        with anyio.move_on_after(deadline):
            while target not in self.tabs:  # its event comes first or right after  # noqa: ASYNC110
                await anyio.sleep(0.002)
        if target not in self.tabs:
            raise CallTimeout("The browser did not open a tab.", after=deadline, waiting_for="tab")
        self.current = self.tabs[target]
        if self.view is not None:
            await self.size_window(self.current)
        return self.current

    async def size_window(self, tab: Tab) -> None:
        """Gives a tab's pages the size of `view`; a window's own size counts its (invisible) toolbars in."""
        assert self.view is not None
        try:
            window = (await self.call("Browser.getWindowForTarget", {"targetId": tab.target}))["windowId"]
            size = {"windowId": window, "width": self.view[0], "height": self.view[1]}
            await self.call("Browser.setContentsSize", size)
        except ProtocolError:
            return  # an older browser without the call: pages are as large as its window leaves them

    async def close_tab(self, tab: Tab, *, force: bool = False, deadline: float = 5.0) -> bool:
        """Closes a tab and sees it gone. False when it stays (a page that asks before it is left).

        No other tab becomes the current one.
        """
        page = self._pages.get(tab.target)
        try:
            if page is None or page.crashed or force:
                await self.call("Target.closeTarget", {"targetId": tab.target}, deadline=deadline)
            else:
                # Unlike closeTarget it lets the page ask; the answer may come after the tab is gone.
                pending = await page.session.post("Page.close", free=True)
                pending.wake = page.stir
        except (ProtocolError, Gone):
            return tab.target not in self.tabs
        end = anyio.current_time() + deadline
        while tab.target in self.tabs and (left := end - anyio.current_time()) > 0:
            if page is None:
                await anyio.sleep(0.005)
            elif page.dialog is not None and not force:
                return False
            else:
                await page.change(min(left, 0.05))
        return tab.target not in self.tabs

    def background(self, work: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Runs work of an event handler beside the calls; it ends with the browser at the latest."""
        self._work = {one for one in self._work if not one.done}
        self._work.add(background.start(work, *args, name="devtools follow-up"))

    async def aclose(self) -> None:
        """Lets go of the browser: pages are detached, the connection is closed."""
        if not self.connection.ended.is_set() and self.downloads is None:
            # Somebody else's browser goes on: what we changed in its pages is put back.
            for page in list(self._pages.values()):
                try:
                    await page.session.call(
                        "Emulation.setFocusEmulationEnabled", {"enabled": False}, deadline=0.5, free=True
                    )
                except (Gone, ProtocolError, AnydeviceError):
                    continue
        for work in self._work:
            work.cancel()
        await self.connection.aclose()

    # --- events --------------------------------------------------------------------------------------

    def _on_target(self, info: dict[str, Any]) -> None:
        if info["type"] != "page" or info.get("subtype") or info["url"].startswith(HIDDEN_SCHEMES):
            return
        known = self.tabs.get(info["targetId"])
        if known is not None:
            known.url, known.title = info["url"] or known.url, info["title"]
            if known.told is not None:
                known.told["url"] = known.url
                for page in self._pages.values():
                    page.stir()
            return
        self._given += 1
        opener = self.tabs.get(info.get("openerId", ""))
        tab = Tab(
            f"t{self._given}", info["targetId"], info["url"], info["title"], opener.id if opener is not None else None
        )
        self.tabs[tab.target] = tab
        if self._started and opener is not None:
            asked = self._pages.get(opener.target)
            tab.url = tab.url or (asked.opening if asked is not None else "")
            tab.told = self.log.add("tab_opened", tab=tab.id, url=tab.url, opener=opener.id)

    def _on_destroyed(self, target: str) -> None:
        tab = self.tabs.pop(target, None)
        page = self._pages.pop(target, None)
        if page is not None:
            page.end("the tab was closed")
        if tab is not None:
            self.log.add("closed", tab=tab.id)
            if tab is self.current:
                self.current = None

    def _on_detached(self, params: dict[str, Any]) -> None:
        for target, page in list(self._pages.items()):
            if page.session.id == params["sessionId"]:
                del self._pages[target]
                page.end("the browser detached us from the tab")

    def _on_download(self, params: dict[str, Any]) -> None:
        self.log.add("download", state="started", file=params.get("suggestedFilename", ""), url=params.get("url", ""))
        for page in self._pages.values():
            page.stir()

    def _on_end(self) -> None:
        for page in self._pages.values():
            page.end("the browser ended")
        self._pages.clear()
        self.tabs.clear()
        self.current = None
