"""Acting on a page and saying what came of it. Every action of every capability goes through `act`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from anydevice.driver import Acted, Happening
from anydevice_schemas.errors import CallTimeout, DialogOpen, FocusUnavailable, OutcomeUnknown, StaleRef

from .cdp import Gone, ProtocolError
from .frames import WorldLost
from .page import Mark, Page

INPUT_DEADLINE = 5.0
"""Seconds a page may take to take a piece of input; then nobody knows whether it did."""
LISTEN_DEADLINE = 1.0
CLOSING_GRACE = 1.0
"""Seconds a tab that closes itself may take to be gone."""
ADDRESS_GRACE = 0.2
"""Seconds a tab that a page opened may take to tell its address."""


async def act(
    page: Page,
    method: str,
    work: Callable[[], Awaitable[Any]],
    *,
    follow: bool = True,
    given: bool = False,
) -> Acted:
    """Does `work` on a page and reports what was seen to happen.

    A dialog that opens while the work is under way ends it and is reported as a happening. A navigation that
    the work started is waited for, briefly.

    Args:
        page: The page acted on.
        method: The road taken, for `Acted.method`.
        work: Sends the input. What it returns, if a dict, goes into the answer: `verified`, the rest as data.
        follow: Wait for a navigation.
        given: The page must be seen to have been given the input.

    Raises:
        DialogOpen: A dialog was open before.
        FocusUnavailable: The browser did not pass the input on to the page.
        OutcomeUnknown: The input was sent and the page did not answer it in time.
        AnydeviceError: As `Page.guard`.
    """
    page.guard()
    mark = page.mark()
    found: Any = None
    ears: Ears | None = None
    try:
        ears = await Ears.of(page) if given else None
        if ears is not None and page.deaf:
            await ears.confirm()
        found = await work()
        if follow:
            await page.settle(mark)
        if ears is not None:
            await ears.listen(mark)
    except DialogOpen:
        if page.browser.log.mark == mark.log:
            raise
    except CallTimeout as error:
        if ears is not None:
            await ears.confirm()
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


class Ears:
    """Whether a page is given the input that is sent to it.

    Dialogs of the browser itself (to open another program, to print) swallow all input to a page, and the
    protocol answers as if nothing were wrong. The browser counts the events each document was given; input that
    moved no count did not arrive.
    """

    def __init__(self, page: Page, before: dict[str, int]) -> None:
        self._page = page
        self._before = before

    @classmethod
    async def of(cls, page: Page) -> Ears | None:
        """The counts now; None where they say nothing, because some document was never looked into."""
        known = {frame.session for frame in page.frames.values() if frame.world is not None}
        if page.session not in known or any(session not in known for session in page.foreign.values()):
            return None
        before = await cls._counts(page)
        return cls(page, before) if before is not None else None

    @staticmethod
    async def _counts(page: Page) -> dict[str, int] | None:
        counts: dict[str, int] = {}
        for frame in list(page.frames.values()):
            if frame.world is None:
                continue
            document = frame.world.document
            try:
                told = await frame.ask("taken", document=document, deadline=LISTEN_DEADLINE)
            except (StaleRef, CallTimeout):
                return None
            counts[document] = told["count"]
            for url in told["kept"]:
                page.browser.log.add("external_link", url=url, opened=False)
            if told["closing"]:
                await _until_closed(page)
                return None
        return counts

    async def listen(self, mark: Mark) -> None:
        """Judges the input sent since `of`.

        Raises:
            FocusUnavailable: The page was not given it.
        """
        page = self._page
        if page.dialog is not None or page.session.gone is not None:
            return
        if page.navigations.last_since(mark.navigation) is not None:
            return  # it certainly was given it
        after = await self._counts(page)
        if (
            page.navigations.begun_since(mark.navigation)
            or after is None
            or after.keys() != self._before.keys()
            or after != self._before
        ):
            page.deaf = False
            return
        await self.confirm()

    async def confirm(self) -> None:
        """Sends a key that means nothing and looks whether that arrives; other input may count for nothing.

        Raises:
            FocusUnavailable: It did not arrive either.
        """
        page = self._page
        before = await self._counts(page)
        if before is None:
            return
        shift = {"key": "Shift", "code": "ShiftLeft", "windowsVirtualKeyCode": 16}
        calls = [("Input.dispatchKeyEvent", {"type": kind, **shift}) for kind in ("rawKeyDown", "keyUp")]
        try:
            await page.send(calls, deadline=LISTEN_DEADLINE)
        except CallTimeout:
            return  # the page is busy, not deaf
        page.deaf = await self._counts(page) == before
        if page.deaf:
            raise FocusUnavailable(
                "The browser does not pass input on to the page.",
                hint="Call open with the page's address; that closes the browser's own dialog.",
                holder="a dialog of the browser itself",
                fix="Open the page again, or close the dialog on the screen.",
            )


async def _until_closed(page: Page) -> None:
    end = anyio.current_time() + CLOSING_GRACE
    while page.session.gone is None and (left := end - anyio.current_time()) > 0:
        await page.change(left)


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
