"""Acting on a page and saying what came of it. Every action of every capability goes through `act`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from anydevice.driver import Acted, Happening
from anydevice_schemas.errors import CallTimeout, DialogOpen, OutcomeUnknown

from .cdp import Gone, ProtocolError
from .frames import WorldLost
from .page import Mark, Page

INPUT_DEADLINE = 5.0
"""Seconds a page may take to take a piece of input; then nobody knows whether it did."""
ADDRESS_GRACE = 0.2
"""Seconds a tab that a page opened may take to tell its address."""


async def act(
    page: Page,
    method: str,
    work: Callable[[], Awaitable[Any]],
    *,
    follow: bool = True,
) -> Acted:
    """Does `work` on a page and reports what was seen to happen.

    A dialog that opens while the work is under way ends it and is reported as a happening. A navigation that
    the work started is waited for, briefly.

    Args:
        method: The road taken, for `Acted.method`.
        work: Sends the input. What it returns, if a dict, goes into the answer: `verified`, the rest as data.
        follow: Wait for a navigation.

    Raises:
        DialogOpen: A dialog was open before.
        OutcomeUnknown: The input was sent and the page did not answer it in time.
        AnydeviceError: As `Page.guard`.
    """
    page.guard()
    mark = page.mark()
    found: Any = None
    try:
        found = await work()
        if follow:
            await page.settle(mark)
    except DialogOpen:
        if page.browser.log.mark == mark.log:
            raise
    except CallTimeout as error:
        raise OutcomeUnknown(
            "The input was sent, and the page did not take it in time.",
            sent=method,
            reason=f"no answer in {error.details['after']:g} s; the page may be busy",
        ) from error
    except (Gone, WorldLost, ProtocolError) as error:
        page.browser.guard()
        if page.session.gone is None and isinstance(error, ProtocolError):
            raise OutcomeUnknown("The browser refused the input half way.", sent=method, reason=error.text) from error
    data = dict(found) if isinstance(found, dict) else {}
    verified = data.pop("verified", None)
    return Acted(method, await happened(page, mark), verified, data)


async def happened(page: Page, mark: Mark) -> list[Happening]:
    """What was seen since a mark, with the status of the page navigated to."""
    happenings = page.browser.log.since(mark.log)
    end = anyio.current_time() + ADDRESS_GRACE
    while any(one.kind == "tab_opened" and not one.data["url"] for one in happenings):
        if (left := end - anyio.current_time()) <= 0:
            break
        await page.change(left)
    commit = page.navigations.last_since(mark.navigation)
    if commit is not None and page.dialog is None and not page.crashed and page.session.gone is None:
        try:
            status = await page.main.ask("status", deadline=1.0)
        except (WorldLost, CallTimeout, DialogOpen, ProtocolError):
            return happenings
        told = commit.told
        if status["status"] is not None:
            told["status"] = status["status"]
    return happenings
