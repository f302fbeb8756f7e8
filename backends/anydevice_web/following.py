"""Waiting for what an action set going: the page's own turn, and a navigation that it began."""

from __future__ import annotations

from typing import Any

import anyio

from .cdp import Gone, Pending, Session
from .page import Mark, Page

FOLLOW_DEADLINE = 5.0
"""Seconds an action waits for a navigation it started."""
TURN_DEADLINE = 0.5
"""Seconds an action waits for the page to have had its turn."""
FRAME_TURN = 0.1
"""Seconds more it waits for frames of other processes; one that is frozen is not waited for."""
TURN_SESSIONS = 8
"""Processes of one page that are given their turn."""
START_GRACE = 0.3
"""Seconds a navigation that was asked for may take to start; some never do."""
DOWNLOAD_GRACE = 0.15
"""Seconds after which a navigation that was given up is no download either."""


async def settle(page: Page, mark: Mark, *, deadline: float = FOLLOW_DEADLINE) -> None:
    """Waits for a navigation that began after `mark`, until its document can be read.

    Costs one short round trip when nothing began. Ends early on a dialog, a download, or when the navigation is
    given up; raises as `Page.guard` on a crash or a lost tab.
    """
    if not page.navigations.begun_since(mark.navigation):
        await _take_turn(page, mark)
    if page.dialog is None and page.navigations.begun_since(mark.navigation):
        await follow(page, mark, deadline=deadline)


async def _take_turn(page: Page, mark: Mark) -> None:
    """Lets the page do what it queued; a navigation that begins meanwhile ends the wait."""
    turns: list[Pending] = []
    end = anyio.current_time() + TURN_DEADLINE
    try:
        for session in [page.session, *page.foreign.values()][:TURN_SESSIONS]:
            pending = await session.post(*_turn_of(page, session))
            pending.wake = page.stir
            turns.append(pending)
        while (now := anyio.current_time()) < end:
            if page.dialog is not None or page.navigations.begun_since(mark.navigation):
                return
            if all(pending.done for pending in turns):
                return
            if turns[0].done and len(turns) > 1:
                end = min(end, now + FRAME_TURN)
            await page.change(end - now)
    except Gone:
        return  # the tab or a frame went away; the caller's next guard says which
    finally:
        for pending in turns:
            pending.owner.connection.forget(pending)


def _turn_of(page: Page, session: Session) -> tuple[str, dict[str, Any]]:
    if session is page.session and page.main.world is not None:
        return page.main.call_of("turn", None)
    return "Runtime.evaluate", {"expression": "0"}


async def follow(page: Page, mark: Mark, *, deadline: float) -> bool:
    """Waits for the navigation under way since `mark`; True when its document can be read."""
    since, seen = mark.navigation, page.navigations
    end = anyio.current_time() + deadline
    asked, given_up = anyio.current_time(), 0.0
    while (now := anyio.current_time()) < end:
        page.guard_for_wait()
        if page.dialog is not None or _downloaded(page, mark):
            return False
        commit = seen.last_since(since)
        if commit is not None:
            if commit.loader in seen.ready and seen.requested + seen.started <= commit.begun:
                return True
        elif seen.started > since.started:
            if seen.stopped > since.stopped and not seen.loading:
                # Answered without a document (204), or given up; or a download, which is told a moment later.
                end = min(end, (given_up := given_up or now) + DOWNLOAD_GRACE)
        elif now - asked > START_GRACE:
            return False
        await page.change(min(end - now, START_GRACE))
    if given_up:
        return False
    commit = seen.last_since(since)
    if commit is None and seen.started > since.started:
        page.browser.log.add("navigating", url=seen.wanted, after=deadline)
    return commit is not None and commit.loader in seen.ready


def _downloaded(page: Page, mark: Mark) -> bool:
    return any(happening.kind == "download" for happening in page.browser.log.since(mark.log))
