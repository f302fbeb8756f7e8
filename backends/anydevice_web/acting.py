"""Acting on a page and saying what came of it. Every action of every capability goes through `act`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from anydevice.driver import Acted, Happening
from anydevice_schemas import Point
from anydevice_schemas.errors import AppNotRunning, CallTimeout, DialogOpen, FocusUnavailable, OutcomeUnknown

from .cdp import Gone, ProtocolError
from .following import settle
from .frames import Frame, WorldLost
from .guarding import Guard, Spot
from .page import Mark, Page
from .walker import frame_at

INPUT_DEADLINE = 5.0
"""Seconds a page may take to take a piece of input; then nobody knows whether it did."""
LISTEN_DEADLINE = 0.25
"""Seconds a document may take to tell its counts; a busy one is not judged."""
CLOSING_GRACE = 1.0
"""Seconds a tab that closes itself may take to be gone."""
ADDRESS_GRACE = 0.5
"""Seconds a tab that a page opened may take to tell its address."""


async def act(
    page: Page,
    method: str,
    work: Callable[[], Awaitable[Any]],
    *,
    follow: bool = True,
    given: bool = False,
    at: Point | None = None,
    count: int = 1,
    seconds: float = 0.0,
    into: str | None = None,
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
        at: Where the input lands first; the document that shows there must be seen to have been given it. A `Spot`
            is meant for its element only: nothing else is given the input.
        count: How many presses it is.
        seconds: How long it takes.
        into: Key of the field that text is meant for; no other is given it.

    Raises:
        ElementCovered, ActionUnverified, FocusUnavailable: As `Guard.judge`.
        DialogOpen: A dialog was open before.
        FocusUnavailable: The browser did not pass the input on to the page.
        OutcomeUnknown: The input was sent and the page did not answer it in time.
        CallTimeout: The page is busy; nothing was sent.
        AnydeviceError: As `Page.guard`.
    """
    page.guard()
    # Up to here nothing is sent, so whatever stands in the way is an error.
    target = await frame_at(page, at) if at is not None else None
    ears = await Ears.of(page, target) if given else None
    if ears is not None and page.deaf:
        await ears.confirm()
    page.guard()
    guard: Guard | None = None
    if into is not None:
        guard = await Guard.on(page, into, seconds=seconds, keys=True)
    elif isinstance(at, Spot):
        guard = await Guard.on(page, at.key, count=count, seconds=seconds)
    mark = page.mark()
    found: Any = None
    try:
        found = await work()
        if guard is not None:
            await guard.judge()
        if follow:
            await settle(page, mark)
        if ears is not None:
            await ears.listen(mark)
    except DialogOpen:
        if page.browser.log.mark == mark.log:
            raise
    except AppNotRunning:
        page.browser.guard()  # else the tab closed while it was acted on, which is what happened
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

    def __init__(self, page: Page, before: dict[str, int], target: str | None) -> None:
        self._page = page
        self._before = before
        self._target = target

    @classmethod
    async def of(cls, page: Page, target: Frame | None = None) -> Ears | None:
        """The counts now; None where they say nothing, because some document was never looked into.

        Args:
            page: The page.
            target: The frame that input is meant for, where that is known and not the page itself.
        """
        known = {frame.session for frame in page.frames.values() if frame.world is not None}
        if page.session not in known or any(session not in known for session in page.foreign.values()):
            return None
        before = await cls._counts(page)
        document = target.world.document if target is not None and target.world is not None else None
        return cls(page, before, document) if before is not None else None

    @staticmethod
    async def _counts(page: Page) -> dict[str, int] | None:
        counts: dict[str, int] = {}
        try:
            asked = [
                (frame.world.document, await frame.session.post(*frame.call_of("taken", None)))
                for frame in list(page.frames.values())
                if frame.world is not None
            ]
            for document, pending in asked:
                told = (await pending.result(LISTEN_DEADLINE))["result"]["value"]
                counts[document] = told["count"]
                for url in told["kept"]:
                    page.browser.log.add("external_link", url=url, opened=False)
                if told["closing"]:
                    await _until_closed(page)
                    return None
        except (Gone, ProtocolError, CallTimeout, DialogOpen):
            return None  # busy, or on its way out: no judgement
        return counts

    async def listen(self, mark: Mark) -> None:
        """Judges the input sent since `of`.

        Raises:
            FocusUnavailable: The page was not given it.
            OutcomeUnknown: Another document was given it than the one it was meant for.
        """
        page = self._page
        if page.dialog is not None or page.session.gone is not None:
            return
        if page.navigations.last_since(mark.navigation) is not None:
            return  # it certainly was given it
        after = await self._counts(page)
        if page.navigations.begun_since(mark.navigation) or after is None or after.keys() != self._before.keys():
            return
        if after == self._before:
            await self.confirm()
            return
        page.deaf = False
        if self._target is not None and after.get(self._target) == self._before.get(self._target):
            raise OutcomeUnknown(
                "The input landed in another document than the one that shows there.",
                sent="pointer",
                reason="the browser sent the frame's input to the page around it",
            )

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
    """Waits until a tab that is on its way out is gone from the browser's list too."""
    end = anyio.current_time() + CLOSING_GRACE
    while page.tab.target in page.browser.tabs and anyio.current_time() < end:  # noqa: ASYNC110 - told elsewhere
        await anyio.sleep(0.005)


async def happened(page: Page, mark: Mark) -> list[Happening]:
    """What was seen since a mark, with the status of the page navigated to."""
    if page.session.gone is not None:
        await _until_closed(page)
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
