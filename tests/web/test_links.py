"""App events: given to the page, acknowledged by the page itself or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.driver import AppEvent

from .site import Site
from .web import Web

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]
PAYLOAD: dict[str, Any] = {"id": 7, "text": "</script>'\"\u2028 ünï 😀", "list": [1, None, {"deep": True}]}


@pytest.mark.parametrize(
    ("listener", "acknowledged"),
    [
        ("", False),
        ("addEventListener('anydevice:event', e => tell('got', e.detail))", False),
        ("addEventListener('anydevice:event', e => { tell('got', e.detail); e.preventDefault() })", True),
        ("addEventListener('anydevice:event', e => { tell('got', e.detail); e.detail.acknowledge() })", True),
        ("addEventListener('anydevice:event', e => { tell('got', e.detail); throw new Error('broken') })", False),
        ("addEventListener('anydevice:event', e => { setTimeout(() => e.detail.acknowledge()) })", False),
    ],
)
async def test_an_event_reaches_the_page_and_only_the_page_acknowledges_it(
    web: Web, site: Site, listener: str, acknowledged: bool
) -> None:
    await web.show(f"<script>{listener}</script>")
    acted = await web.driver.links.deliver_event(AppEvent("order.paid", PAYLOAD, "shop://event/order.paid"))
    assert (acted.method, acted.data["acknowledged"]) == ("page-event", acknowledged)
    assert acted.verified is (True if acknowledged else None)
    for got in site.data("got"):
        assert got == {"name": "order.paid", "payload": PAYLOAD, "url": "shop://event/order.paid"}
    assert len(site.data("got")) == ("tell" in listener)


async def test_an_event_with_a_web_address_is_opened(web: Web, site: Site) -> None:
    await web.show("<script>addEventListener('anydevice:event', () => tell('got'))</script>")
    url = site.page("<h1>event page</h1>")
    acted = await web.driver.links.deliver_event(AppEvent("go", None, url))
    assert (acted.method, acted.data["acknowledged"], acted.data["location"]) == ("navigate", "not_requested", url)
    assert site.told == []


async def test_an_event_goes_to_the_named_tab_without_switching(web: Web, site: Site) -> None:
    first = (
        await web.open(
            site.page("<script>addEventListener('anydevice:event', e => tell('first', e.detail.name))</script>")
        )
    ).data
    await web.open(site.page("<script>addEventListener('anydevice:event', e => tell('second'))</script>"), new=True)
    current = (await web.driver.apps.state())["app"]
    await web.driver.links.deliver_event(AppEvent("hello", None, "app://hello", app=first["tab"]))
    assert site.kinds() == ["first"]
    assert (await web.driver.apps.state())["app"] == current
