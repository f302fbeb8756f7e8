"""Dialogs of pages: alert, confirm, prompt, and the question before a page is left."""

from __future__ import annotations

import anyio

from anydevice.driver import Acted, Alerts, Dialog
from anydevice_schemas.errors import ElementNotFound

from .acting import happened
from .cdp import Gone, ProtocolError
from .following import settle
from .instance import Instance
from .page import Page

ANSWER_DEADLINE = 3.0
"""Seconds the browser may take to close a dialog that was answered."""
LEAVE_DEADLINE = 2.0
"""Seconds a page that may be left now may take to begin to be left."""


class WebAlerts(Alerts):
    """The dialog of the current tab."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def get(self) -> Dialog | None:
        """See `Alerts.get`."""
        page = await self._instance.page()
        return page.dialog.dialog if page.dialog is not None else None

    async def accept(self, text: str | None = None) -> Acted:
        """See `Alerts.accept`; verified by the browser telling that it closed."""
        return await answer_dialog(await self._instance.page(), accept=True, text=text)

    async def dismiss(self) -> Acted:
        """See `Alerts.dismiss`; verified by the browser telling that it closed."""
        return await answer_dialog(await self._instance.page(), accept=False)


async def answer_dialog(page: Page, *, accept: bool, text: str | None = None) -> Acted:
    """Answers the dialog that is open on a page, and waits briefly for what that sets going.

    Raises:
        ElementNotFound: No dialog is open.
    """
    asked = page.dialog
    if asked is None:
        raise ElementNotFound(
            "No dialog is open.", hint="Call snapshot to see what is there.", nearest_matches=[], on_screen=[]
        )
    mark = page.mark()
    params: dict[str, object] = {"accept": accept}
    if text is not None:
        params["promptText"] = text
    try:
        await asked.session.call("Page.handleJavaScriptDialog", params, free=True, deadline=ANSWER_DEADLINE)
    except ProtocolError:
        page.guard_for_wait()  # it closed by itself just now
    except Gone:
        page.guard_for_wait()
    end = anyio.current_time() + ANSWER_DEADLINE
    while page.dialog is asked and (left := end - anyio.current_time()) > 0 and page.session.gone is None:
        await page.change(left)
    closed = page.dialog is not asked
    if accept and asked.dialog.kind == "beforeunload":
        # What asked goes on by itself now: the page is left, or the tab closed.
        end = anyio.current_time() + LEAVE_DEADLINE
        while not page.navigations.begun_since(mark.navigation) and page.session.gone is None and page.dialog is None:
            if (left := end - anyio.current_time()) <= 0:
                break
            await page.change(left)
    if page.dialog is None and page.session.gone is None:
        await settle(page, mark)
    return Acted("dialog", await happened(page, mark), closed)
