"""Opening an address in a tab, and saying where it really led."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import anyio

from anydevice.driver import Acted
from anydevice_schemas.errors import AppNotFound, AppNotRunning, CallTimeout, DialogOpen, InvalidArgument, Refused

from .acting import happened
from .cdp import Gone, ProtocolError
from .following import follow
from .frames import WorldLost
from .navigations import Commit
from .page import Mark, Page

LOAD_GRACE = 1.0
"""Seconds an opened page may go on loading pictures and the like before it counts as open; it can be read before."""
CRASH_GRACE = 0.2
PAGE_SCHEMES = frozenset({"http", "https", "about", "data", "blob", "file", "view-source"})
"""Schemes that name pages; others name programs, and those a browser does not open for us."""
OWN_SCHEMES = frozenset(
    {"chrome", "chrome-untrusted", "chrome-search", "edge", "brave", "opera", "vivaldi", "devtools"}
)
"""Schemes of the browser's own pages: its settings, its saved passwords, pages that end it."""
_HAS_STATUS = "net::ERR_HTTP_RESPONSE_CODE_FAILURE"
_ABOUT = frozenset({"about://blank?", "about://srcdoc?"})
_NO_DOCUMENT = "net::ERR_ABORTED"


async def open_address(page: Page, url: str, *, deadline: float) -> Acted:
    """Navigates a tab and waits until the document can be read.

    `Acted.data` holds `location` (where it ended up), `title`, `status` (HTTP), `redirected`, and `loading` when
    it was not complete in time. A crashed page is opened anew by this. A dialog the new page opens while it loads
    is reported as a happening.

    Raises:
        AppNotFound: The address cannot be reached; `net_error` in details is the browser's word for why.
        CallTimeout: The server did not answer in time; loading was stopped.
        DialogOpen: A dialog is open, or the page left asks before it is left.
        InvalidArgument: It is no address.
        Refused: It is a page of the browser itself.
        AppNotFound: Also for an address that names a program (mailto:), not a page.
    """
    page.browser.guard()
    if page.session.gone is not None:
        raise AppNotRunning("The tab was closed.", app=page.tab.id)
    if page.dialog is not None:
        raise page.dialog_error(page.dialog.dialog)
    scheme, inner = _scheme_of(url), url
    while scheme == "view-source":
        inner = inner.partition(":")[2]
        scheme = _scheme_of(inner)
    if scheme in OWN_SCHEMES or (scheme == "about" and plain(inner) not in _ABOUT):
        raise Refused(
            "The browser's own pages are never opened.",
            reason="they hold its settings and secrets, and some of them end it",
            alternative="Use browser-profile for what a browser remembers, doctor for what it is.",
        )
    scheme = _scheme_of(url)
    if not scheme:
        raise InvalidArgument("This is no address.", param="url", expected="an address such as https://example.org/")
    if scheme not in PAGE_SCHEMES:
        raise AppNotFound(
            "No page has this kind of address.",
            hint="Give an address a browser shows: http or https.",
            nearest_matches=[],
            url=url,
            net_error="net::ERR_UNKNOWN_URL_SCHEME",
        )
    end = anyio.current_time() + deadline
    if page.deaf:
        # Only leaving the site closes a dialog of the browser's own.
        await page.session.call("Page.navigate", {"url": "about:blank"}, deadline=deadline)
        page.deaf = False
    mark = page.mark()
    was_crashed, page.crashed = page.crashed, False
    try:
        answer = await page.session.call("Page.navigate", {"url": url}, deadline=deadline)
    except DialogOpen:
        if page.navigations.last_since(mark.navigation) is None:
            raise  # the page that is left stands in the way
        answer = {}
    except CallTimeout as error:
        page.crashed = was_crashed
        await _stop_loading(page)
        raise CallTimeout(
            f"The page did not answer in {deadline:g} s.", after=deadline, waiting_for="page", url=url
        ) from error
    except ProtocolError as error:
        raise InvalidArgument(
            "The browser takes this for no address.", param="url", expected="an address it can open", reason=error.text
        ) from error
    except Gone:
        page.guard()
        raise
    trouble = answer.get("errorText", "")
    if trouble == _NO_DOCUMENT:
        return await _no_document(page, mark, url, bool(answer.get("isDownload")))
    if trouble and trouble != _HAS_STATUS:
        raise await _not_reached(page, mark, url, trouble)
    if "loaderId" in answer or page.navigations.last_since(mark.navigation) is not None:
        await follow(page, mark, deadline=max(end - anyio.current_time(), 0.05))
        await _loaded(page, end)
    return await _opened(page, mark, url)


def _scheme_of(url: str) -> str:
    try:
        return urlsplit(url).scheme.lower()
    except ValueError as error:  # a host in brackets that is none
        raise InvalidArgument(
            "This is no address.", param="url", expected="an address such as https://example.org/", reason=str(error)
        ) from error


async def _not_reached(page: Page, mark: Mark, url: str, trouble: str) -> AppNotFound:
    details: dict[str, Any] = {"url": url, "net_error": trouble}
    # The browser's error page comes next; left to itself it would be taken for the next opened one.
    await follow(page, mark, deadline=1.0)
    try:
        status = (await page.main.ask("status", deadline=1.0))["status"]
    except (WorldLost, CallTimeout, DialogOpen, ProtocolError):
        status = None
    if status is not None:
        details["status"] = status  # a server did answer (401), but not with a page
    return AppNotFound(
        "The address could not be opened.",
        hint="Check the address and whether its server runs.",
        nearest_matches=[],
        **details,
    )


async def _loaded(page: Page, end: float) -> None:
    seen = page.navigations
    until = min(anyio.current_time() + LOAD_GRACE, end)
    while page.dialog is None and seen.commits and (now := anyio.current_time()) < until:
        page.guard_for_wait()
        if seen.commits[-1].loader in seen.loaded:
            return
        await page.change(until - now)


async def _opened(page: Page, mark: Mark, url: str) -> Acted:
    happenings = await happened(page, mark)
    commit = page.navigations.last_since(mark.navigation)
    location = page.navigations.url or page.tab.url
    data: dict[str, Any] = {"location": location, "requested": url, "redirected": plain(location) != plain(url)}
    verified = commit is None or not commit.unreachable
    if page.dialog is None:
        try:
            status = await page.main.ask("status", deadline=1.0)
        except (WorldLost, CallTimeout, DialogOpen, ProtocolError):
            status = {"url": location, "title": "", "status": None}
        if not _is_error_page(commit, status["url"]):
            data["location"] = status["url"]
            data["redirected"] = plain(status["url"]) != plain(url)
        data["title"] = page.tab.title = status["title"]
        page.tab.url = data["location"]
        if status["status"] is not None:
            data["status"] = status["status"]
            verified = True  # an error page that stands for an answer without a body (404, 500)
    if commit is not None and commit.loader not in page.navigations.loaded:
        data["loading"] = True
    data["tab"] = page.tab.id
    return Acted("navigate", happenings, verified, data)


async def _no_document(page: Page, mark: Mark, url: str, download: bool) -> Acted:
    """The address gave no document: a download, or an answer without content."""
    if not download:
        # Nothing to show may also be the first sign of a crash, which is told a moment later.
        end = anyio.current_time() + CRASH_GRACE
        while (left := end - anyio.current_time()) > 0:
            page.guard_for_wait()
            await page.change(left)
        page.guard_for_wait()
    happenings = await happened(page, mark)
    download = download or any(happening.kind == "download" for happening in happenings)
    data = {"location": page.navigations.url or page.tab.url, "requested": url, "document": False}
    if download:
        data["download"] = True
    return Acted("navigate", happenings, download, data)


def _is_error_page(commit: Commit | None, url: str) -> bool:
    return url.startswith("chrome-error:") or (commit is not None and commit.unreachable)


async def _stop_loading(page: Page) -> None:
    with anyio.CancelScope(shield=True):
        try:
            await page.session.call("Page.stopLoading", deadline=1.0, free=True)
        except (Gone, ProtocolError, CallTimeout):
            return


def plain(url: str) -> str:
    """An address without what browsers add or leave out: default port, empty path, fragment, case of the host."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    default = {"http": 80, "https": 443}.get(parts.scheme)
    host = (parts.hostname or "") + (f":{port}" if port and port != default else "")
    path = parts.path or ("/" if host else "")
    return f"{parts.scheme}://{host}{path}?{parts.query}"
