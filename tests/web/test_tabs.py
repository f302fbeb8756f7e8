"""Tabs: told when they open, never switched to by themselves, selected on request and read back."""

from __future__ import annotations

import anyio
import pytest

from anydevice_schemas.errors import AppNotFound, CallTimeout

from .site import Site
from .web import Web, key_of, one

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


@pytest.mark.parametrize(
    "html",
    ["<button onclick=\"window.open('URL')\">open</button>", "<a target=_blank href='URL'>open</a>",
     "<a target=_blank rel=opener href='URL'>open</a>",
     "<a href='#' onclick=\"open('URL', 'w', 'width=300'); return false\">open</a>"],
)  # fmt: skip
async def test_a_tab_a_click_opens_is_told_and_not_switched_to(web: Web, site: Site, html: str) -> None:
    url = site.page("<h1>popup</h1>")
    tree = await web.show(html.replace("URL", url))
    acted = await web.click(one(tree, "open"))
    opened = [h.data for h in acted.happenings if h.kind == "tab_opened"]
    assert len(opened) == 1
    assert opened[0]["url"] == url
    assert one(await web.tree(), "open")
    rows = {row["tab"]: row for row in await web.driver.tabs.list()}
    assert rows[opened[0]["tab"]]["location"] == url
    assert [tab for tab, row in rows.items() if row.get("current")] == [opened[0]["opener"]]
    acted = await web.driver.tabs.select(opened[0]["tab"])
    assert (acted.method, acted.verified, acted.data["previous"]) == ("activate", True, opened[0]["opener"])
    assert one(await web.tree(), "popup")
    await web.driver.tabs.close(opened[0]["tab"])


async def test_a_tab_in_the_background_takes_input_and_pictures(web: Web, site: Site) -> None:
    first = (await web.open(site.page("<button onclick=\"tell('pressed')\">press</button><input id=t>"))).data["tab"]
    tree = await web.tree()
    browser = web.driver.instance.browser()
    other = await browser.open_tab(deadline=5)
    await browser.call("Target.activateTarget", {"targetId": other.target})
    browser.current = next(tab for tab in browser.tabs.values() if tab.id == first)
    await web.click(one(tree, "press"))
    assert await site.wait("pressed") == [None]
    await web.driver.elements.set_text(key_of(one(tree, id="t")), "typed")
    await web.driver.keys.type_text("!")
    assert await web.evaluate("t.value") == "typed!"
    assert (await web.driver.screen.image()).width == 1280


async def test_a_tab_that_closes_itself_is_told(web: Web, site: Site) -> None:
    await web.open(site.page("<h1>opener</h1>"))
    tree = await web.show(
        f"<button onclick=\"window.open('{site.page('<button onclick=window.close()>shut</button>')}')\">open</button>"
    )
    opened = (await web.click(one(tree, "open"))).happenings[0].data["tab"]
    await web.driver.tabs.select(opened)
    acted = await web.click(one(await web.tree(), "shut"))
    assert [(h.kind, h.data["tab"]) for h in acted.happenings] == [("closed", opened)]
    assert [row.get("current") for row in await web.driver.tabs.list()] == [None]


async def test_a_tab_that_does_not_answer_is_refused_and_the_current_one_stays(
    web: Web, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = site.page("<script>onload = () => setTimeout(() => { tell('busy'); while (true); }, 100)</script>")
    tree = await web.show(f"<button onclick=\"window.open('{busy}', '', 'noopener')\">open</button>")
    [opened] = [h.data["tab"] for h in (await web.click(one(tree, "open"))).happenings if h.kind == "tab_opened"]
    await site.wait("busy")
    monkeypatch.setattr("anydevice_web.page.ATTACH_DEADLINE", 0.5)
    with pytest.raises(CallTimeout) as caught, anyio.fail_after(20):
        await web.driver.tabs.select(opened)
    assert caught.value.details["tab"] == opened
    assert one(await web.tree(), "open")
    assert (await web.driver.tabs.close(opened)).verified is True


async def test_ids_of_tabs_are_never_given_twice(web: Web) -> None:
    seen = {row["tab"] for row in await web.driver.tabs.list()}
    for _ in range(3):
        tab = (await web.open("about:blank", new=True)).data["tab"]
        assert tab not in seen
        seen.add(tab)
        assert (await web.driver.tabs.close(tab)).verified is True


async def test_a_tab_that_is_not_there_is_refused_with_those_that_are(web: Web) -> None:
    [row] = await web.driver.tabs.list()
    for call in (web.driver.tabs.select, web.driver.tabs.close):
        with pytest.raises(AppNotFound) as caught:
            await call("t9999")
        assert [match["tab"] for match in caught.value.details["nearest_matches"]] == [row["tab"]]


async def test_apps_are_tabs(web: Web, site: Site) -> None:
    await web.open(site.page("<title>Shop</title>x"))
    [app] = await web.driver.apps.list()
    assert (app.name, app.running, app.foreground) == ("Shop", True, True)
