"""What a page is to the next version of the daemon, which goes on with it without asking it anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anydevice.driver import Dialog

from .page import OpenDialog, Page

if TYPE_CHECKING:
    from .browser import Browser, Tab


def page_state(page: Page) -> dict[str, Any]:
    """What `page_of` goes on from."""
    dialog = None
    if page.dialog is not None:
        told = page.dialog.dialog
        dialog = {
            "session": page.dialog.session.id,
            "kind": told.kind,
            "text": told.text,
            "buttons": list(told.buttons),
            "takes_text": told.takes_text,
        }
    return {
        "target": page.tab.target,
        "session": page.session.id,
        "crashed": page.crashed,
        "deaf": page.deaf,
        "url": page.navigations.url,
        "foreign": {frame: session.id for frame, session in page.foreign.items()},
        "resting": {frame: session.id for frame, session in page.resting.items()},
        "dialog": dialog,
    }


def page_of(browser: Browser, tab: Tab, state: Mapping[str, Any]) -> Page:
    """The page of a state, over the sessions it had."""
    of = browser.connection.session
    page = Page(browser, tab, of(state["session"]))
    page.foreign = {frame: of(session) for frame, session in state["foreign"].items()}
    page.resting = {frame: of(session) for frame, session in state["resting"].items()}
    page.crashed, page.deaf, page.navigations.url = state["crashed"], state["deaf"], state["url"]
    for session in page.sessions():
        page.listen(session)
    told = state["dialog"]
    if told is not None:
        dialog = Dialog(told["kind"], told["text"], tuple(told["buttons"]), takes_text=told["takes_text"])
        page.dialog = OpenDialog(dialog, of(told["session"]))
    return page
