"""Opening addresses: where they lead, how they fail, how long they may take, and going back."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator

import anyio
import pytest

from anydevice.driver import OpenRequest
from anydevice_schemas import Point
from anydevice_schemas.errors import AppNotFound, AppNotRunning, CallTimeout, FocusUnavailable, InvalidArgument

from .site import Site, send
from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


async def test_an_opened_page_says_where_it_is(web: Web, site: Site) -> None:
    url = site.page("<title>Welcome</title>hello")
    acted = await web.open(url)
    assert (acted.method, acted.verified) == ("navigate", True)
    assert {key: acted.data[key] for key in ("location", "requested", "redirected", "title", "status")} == {
        "location": url, "requested": url, "redirected": False, "title": "Welcome", "status": 200,
    }  # fmt: skip
    assert [happening.kind for happening in acted.happenings] == ["navigated"]
    assert (await web.driver.apps.state())["location"] == url


async def test_a_redirect_is_told_with_where_it_ended(web: Web, site: Site) -> None:
    end = site.page("end")
    first = site.serve("/first", lambda r: send(r, b"", status=302, location=end))
    start = site.serve("/start", lambda r: send(r, b"", status=301, location=first))
    acted = await web.open(start)
    assert (acted.data["location"], acted.data["requested"], acted.data["redirected"]) == (end, start, True)
    assert (acted.data["status"], acted.verified) == (200, True)


async def test_a_page_that_sends_the_browser_on_at_once_is_followed(web: Web, site: Site) -> None:
    end = site.page("<h1>end</h1>")
    acted = await web.open(site.page(f"<script>location.replace('{end}')</script>"))
    assert acted.data["location"] == end
    assert acted.data["redirected"] is True
    assert one(await web.tree(), "end")


async def test_the_address_may_differ_in_form_without_being_a_redirect(web: Web, site: Site) -> None:
    site.page("root", path="/")
    acted = await web.open(site.url("").replace("http://", "HTTP://"))
    assert acted.data["redirected"] is False


@pytest.mark.parametrize("status", [404, 500])
@pytest.mark.parametrize("body", [b"<h1>sorry</h1>", b""])
async def test_an_error_status_is_told_and_no_error(web: Web, site: Site, status: int, body: bytes) -> None:
    url = site.serve(f"/error{status}", lambda r: send(r, body, status=status))
    acted = await web.open(url)
    assert (acted.data["status"], acted.data["location"], acted.verified) == (status, url, True)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that is taken, so that nobody else gets it, and at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("http://127.0.0.1:{port}/", "net::ERR_CONNECTION_REFUSED"),
        ("http://nosuch.invalid/", "net::ERR_NAME_NOT_RESOLVED"),
        ("nosuchscheme://x/", "net::ERR_UNKNOWN_URL_SCHEME"),
    ],
)
async def test_an_address_that_cannot_be_reached_is_not_found(
    web: Web, closed_port: int, address: str, error: str
) -> None:
    url = address.format(port=closed_port)
    with pytest.raises(AppNotFound) as caught:
        await web.open(url)
    assert caught.value.details["net_error"] == error
    assert caught.value.details["url"] == url
    assert url not in caught.value.message + caught.value.hint


async def test_a_page_that_asks_for_a_login_is_not_opened_and_the_status_is_told(web: Web, site: Site) -> None:
    url = site.serve("/login", lambda r: send(r, b"no", status=401, WWW_Authenticate='Basic realm="here"'))
    with pytest.raises(AppNotFound) as caught:
        await web.open(url)
    assert caught.value.details["status"] == 401


async def test_after_a_failed_open_the_next_one_works(web: Web, site: Site) -> None:
    with pytest.raises(AppNotFound):
        await web.open("http://nosuch.invalid/")
    assert (await web.driver.apps.state())["unreachable"] is True
    assert (await web.open(site.page("ok"))).verified is True


async def test_what_is_no_address_is_refused(web: Web) -> None:
    with pytest.raises(InvalidArgument):
        await web.open("not an address")


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes the request and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


async def test_a_server_that_never_answers_is_a_timeout_and_loading_is_stopped(
    web: Web, site: Site, silent: str
) -> None:
    await web.show("<button>still here</button>")
    with pytest.raises(CallTimeout) as caught:
        await web.open(silent, deadline=0.7)
    assert caught.value.details["after"] == 0.7
    assert one(await web.tree(), "still here")
    assert (await web.driver.apps.state())["loading"] is False


async def test_a_page_that_never_finishes_loading_is_open_and_says_so(web: Web, site: Site, silent: str) -> None:
    acted = await web.open(site.page(f"<h1>text first</h1><img src='{silent}'>"))
    assert (acted.verified, acted.data["loading"]) == (True, True)
    assert one(await web.tree(), "text first")
    assert (await web.driver.apps.state())["loading"] is True


def slow(seconds: float, html: str) -> http.server.BaseHTTPRequestHandler:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        threading.Event().wait(seconds)
        send(request, html.encode())

    return answer  # type: ignore[return-value]


async def test_a_click_waits_for_the_page_it_leads_to(web: Web, site: Site) -> None:
    url = site.serve("/slow", slow(0.5, "<h1>arrived</h1>"))  # type: ignore[arg-type]
    tree = await web.show(f"<a href='{url}'>go</a>")
    acted = await web.click(one(tree, "go"))
    [navigated] = acted.happenings
    assert (navigated.kind, navigated.data) == ("navigated", {"url": url, "status": 200})
    assert one(await web.tree(), "arrived")


async def test_a_click_that_sends_a_form_waits_too(web: Web, site: Site) -> None:
    site.page("<h1>thanks</h1>", path="/thanks")
    tree = await web.show("<form action=/thanks><input name=a value=1><button>Send</button></form>")
    acted = await web.click(one(tree, "Send"))
    assert [happening.kind for happening in acted.happenings] == ["navigated"]
    assert acted.happenings[0].data["url"].endswith("/thanks?a=1")


async def test_a_click_that_changes_the_address_only_says_so(web: Web) -> None:
    tree = await web.show(
        "<button onclick=\"history.pushState({}, '', '/pushed')\">push</button><a href='#part'>hash</a>"
    )
    acted = await web.click(one(tree, "push"))
    assert [(h.kind, h.data["same_document"]) for h in acted.happenings] == [("navigated", True)]
    assert acted.happenings[0].data["url"].endswith("/pushed")
    assert (await web.click(one(tree, "hash"))).happenings[0].data["url"].endswith("#part")


async def test_a_click_on_a_link_to_nowhere_tells_that_it_failed(web: Web) -> None:
    tree = await web.show("<a href='http://nosuch.invalid/'>go</a>")
    acted = await web.click(one(tree, "go"))
    [navigated] = acted.happenings
    assert (navigated.kind, navigated.data["unreachable"]) == ("navigated", True)


async def test_a_click_whose_page_does_not_come_in_time_says_it_is_under_way(
    web: Web, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_web.following.settle.__kwdefaults__", {"deadline": 0.6})
    tree = await web.show(f"<a href='{silent}'>go</a>")
    acted = await web.click(one(tree, "go"))
    assert [(h.kind, h.data["url"]) for h in acted.happenings] == [("navigating", silent)]


@pytest.mark.parametrize(
    "html",
    ["<a href='mailto:a@b.example'>go</a>", "<a href='otherapp://open'>go</a>",
     "<button onclick=\"location = 'otherapp://open'\">go</button>", "<form action='otherapp://open'><button>go</button></form>"],
)  # fmt: skip
async def test_a_link_to_another_program_is_kept_and_told_and_the_page_goes_on(web: Web, site: Site, html: str) -> None:
    tree = await web.show(html + "<button onclick=\"tell('pressed')\">next</button>")
    acted = await web.click(one(tree, "go"))
    [link] = acted.happenings
    assert (link.kind, link.data["opened"]) == ("external_link", False)
    assert link.data["url"].split(":")[0] in ("mailto", "otherapp")
    await web.evaluate("new Promise(r => setTimeout(r, 300))")
    await web.click(one(tree, "next"))
    assert site.kinds() == ["pressed"]


async def test_input_that_the_browser_swallows_is_no_success(web: Web, site: Site) -> None:
    # A redirect to another program brings up a dialog of the browser itself, which no event tells.
    url = site.serve("/out", lambda r: send(r, b"", status=302, location="otherapp://open"))
    tree = await web.show(f"<a href='{url}'>go</a><button onclick=\"tell('pressed')\">next</button>")
    await web.click(one(tree, "go"))
    with anyio.fail_after(30), pytest.raises(FocusUnavailable) as caught:
        while True:
            await web.click(one(tree, "next"))
            await anyio.sleep(0.1)
    assert "dialog" in caught.value.details["holder"]
    for call in (web.driver.keys.press("a"), web.driver.touch.tap(Point(5, 5))):
        with pytest.raises(FocusUnavailable):
            await call
    site.told.clear()
    tree = await web.show("<button onclick=\"tell('pressed')\">again</button>")
    await web.click(one(tree, "again"))
    assert site.kinds() == ["pressed"]


def attachment(request: http.server.BaseHTTPRequestHandler) -> None:
    send(request, b"a,b\n1,2\n", kind="text/csv", content_disposition='attachment; filename="figures.csv"')


async def test_a_download_is_told_whether_clicked_or_opened(web: Web, site: Site) -> None:
    url = site.serve("/figures", attachment)
    tree = await web.show(f"<a href='{url}'>get</a>")
    acted = await web.click(one(tree, "get"))
    downloads = [h.data for h in acted.happenings if h.kind == "download"]
    assert [(data["file"], data["state"]) for data in downloads] == [("figures.csv", "started")]
    opened = await web.open(url)
    assert (opened.verified, opened.data["download"]) == (True, True)
    assert one(await web.tree(), "get")
    folder = web.driver.instance.browser().downloads
    assert folder is not None


async def test_an_answer_without_content_leaves_the_page(web: Web, site: Site) -> None:
    url = site.serve("/empty", lambda r: send(r, b"", status=204))
    await web.show("<h1>before</h1>")
    acted = await web.open(url)
    assert (acted.verified, acted.data["document"]) == (False, False)
    assert one(await web.tree(), "before")


async def test_back_goes_one_step_and_reads_it_back(web: Web, site: Site) -> None:
    first, second = site.page("<h1>first</h1>"), site.page("<h1>second</h1>")
    await web.open(first, new=True)
    await web.open(second)
    await web.evaluate("history.pushState({}, '', '#more')")
    acted = await web.driver.navigation.back()
    assert (acted.method, acted.verified, acted.data["location"]) == ("history", True, second)
    acted = await web.driver.navigation.back()
    assert (acted.verified, acted.data["location"]) == (True, first)
    assert one(await web.tree(), "first")
    await web.driver.navigation.back()
    assert (await web.driver.navigation.back()).verified is False


async def test_an_address_can_be_opened_in_a_new_tab_or_a_named_one(web: Web, site: Site) -> None:
    first = (await web.open(site.page("<h1>one</h1>"))).data["tab"]
    second = (await web.open(site.page("<h1>two</h1>"), new=True)).data["tab"]
    assert second != first
    assert one(await web.tree(), "two")
    acted = await web.driver.apps.open(OpenRequest(app=first))
    assert acted.verified is True
    assert one(await web.tree(), "one")
    await web.driver.apps.open(OpenRequest(app=second, url=site.page("<h1>three</h1>")))
    assert one(await web.tree(), "three")
    with pytest.raises(AppNotFound) as caught:
        await web.driver.apps.open(OpenRequest(app="t999"))
    assert {row["tab"] for row in caught.value.details["nearest_matches"]} == {first, second}


async def test_closing_the_tab_leaves_no_page_and_selects_no_other(web: Web, site: Site) -> None:
    await web.open(site.page("other"))
    tab = (await web.open(site.page("mine"), new=True)).data["tab"]
    acted = await web.driver.apps.close(None)
    assert (acted.verified, acted.data["tab"], acted.data["tabs_left"]) == (True, tab, 1)
    for call in (web.driver.apps.state, web.driver.screen.image, web.tree, web.driver.navigation.back):
        with pytest.raises(AppNotRunning):
            await call()  # type: ignore[operator]
    assert (await web.driver.apps.close(None)).data == {"already_closed": True}
    await web.open(site.page("again"))
    assert one(await web.tree(), "again")


async def test_links_open_as_pages_do(web: Web, site: Site) -> None:
    url = site.page("<h1>linked</h1>")
    assert (await web.driver.links.open_url(url)).data["location"] == url


async def test_an_element_of_a_page_that_went_away_on_click_is_stale(web: Web, site: Site) -> None:
    tree = await web.show(f"<a href='{site.page('next')}'>go</a><button>other</button>")
    await web.click(one(tree, "go"))
    with pytest.raises(Exception, match="gone"):
        await web.driver.elements.probe(key_of(one(tree, "other")))
