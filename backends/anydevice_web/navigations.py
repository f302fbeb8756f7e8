"""Navigations of a page as its events tell them: begun, committed, drawn, given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .happenings import HappeningLog

CURRENT_TAB = "currentTab"


@dataclass(slots=True)
class Commit:
    """A document that replaced another.

    Attributes:
        loader: The browser's id of the load.
        unreachable: The address could not be loaded, an error page is shown.
        begun: How many navigations had begun when it committed; more later means another is under way.
        told: The data of the happening that was recorded for it.
    """

    loader: str
    url: str
    unreachable: bool
    begun: int
    told: dict[str, Any]


@dataclass(slots=True, frozen=True)
class NavigationMark:
    """A moment before an action."""

    requested: int
    started: int
    stopped: int
    committed: int


class Navigations:
    """Follows the main frame's navigations. Fed by the page's event handlers."""

    def __init__(self, frame_id: str, log: HappeningLog) -> None:
        self.frame_id = frame_id
        self.requested = 0
        self.started = 0
        self.stopped = 0
        self.loading = False
        self.url = ""
        self.wanted = ""
        self.commits: list[Commit] = []
        self.committed = 0
        self.ready: set[str] = set()
        self.loaded: set[str] = set()
        self._log = log

    def mark(self) -> NavigationMark:
        """The moment now."""
        return NavigationMark(self.requested, self.started, self.stopped, self.committed)

    def last_since(self, mark: NavigationMark) -> Commit | None:
        """The latest commit after a mark."""
        return self.commits[-1] if self.committed > mark.committed else None

    def begun_since(self, mark: NavigationMark) -> bool:
        """Whether any navigation was asked for, started or committed after a mark."""
        return self.requested > mark.requested or self.started > mark.started or self.committed > mark.committed

    def on_requested(self, params: dict[str, Any]) -> None:
        """Page.frameRequestedNavigation: the page itself asked for it."""
        if params["frameId"] == self.frame_id and params.get("disposition", CURRENT_TAB) == CURRENT_TAB:
            self.requested += 1
            self.wanted = params.get("url", "")

    def on_started(self, params: dict[str, Any]) -> None:
        """Page.frameStartedNavigating: the browser took it up."""
        if params["frameId"] == self.frame_id and "ame" not in params.get("navigationType", ""):
            self.started += 1
            self.wanted = params.get("url", "")

    def on_loading(self, params: dict[str, Any]) -> None:
        """Page.frameStartedLoading."""
        if params["frameId"] == self.frame_id:
            self.loading = True

    def on_stopped(self, params: dict[str, Any]) -> None:
        """Page.frameStoppedLoading: loaded, or given up."""
        if params["frameId"] == self.frame_id:
            self.loading = False
            self.stopped += 1

    def on_navigated(self, frame: dict[str, Any], *, restored: bool) -> None:
        """Page.frameNavigated of the main frame. `restored`: it came out of the browser's cache, whole."""
        unreachable = frame.get("unreachableUrl", "")
        self.url = unreachable or frame["url"] + frame.get("urlFragment", "")
        told = self._log.add("navigated", url=self.url)
        if unreachable:
            told["unreachable"] = True
        self.committed += 1
        self.commits.append(Commit(frame["loaderId"], self.url, bool(unreachable), self.requested + self.started, told))
        del self.commits[:-8]
        self.ready = {frame["loaderId"]} if restored else set()
        self.loaded = set(self.ready)

    def on_within(self, params: dict[str, Any]) -> None:
        """Page.navigatedWithinDocument: the address changed, the document stays."""
        if params["frameId"] == self.frame_id:
            self.url = params["url"]
            self._log.add("navigated", url=self.url, same_document=True)

    def on_lifecycle(self, params: dict[str, Any]) -> None:
        """Page.lifecycleEvent."""
        if params["frameId"] == self.frame_id:
            if params["name"] == "DOMContentLoaded":
                self.ready.add(params["loaderId"])
            elif params["name"] == "load":
                self.loaded.add(params["loaderId"])
