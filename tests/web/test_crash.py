"""When a page or a browser dies: told at once, never papered over."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator

import anyio
import pytest

from anydevice.driver import OpenRequest
from anydevice.kit.pids import group_alive
from anydevice_schemas.errors import AppCrashed, ConnectionLost, DeviceNotReady

from .site import Site
from .web import ENV, Web, connect, key_of, one, running_web

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


async def crash(web: Web) -> None:
    page = await web.driver.instance.page()
    await page.session.post("Page.crash")


async def test_a_crash_ends_what_is_in_flight_at_once(web: Web) -> None:
    await web.show("<p>x</p>")
    page = await web.driver.instance.page()
    ended: list[float] = []
    crashed: list[float] = []
    page.session.on("Inspector.targetCrashed", lambda _: crashed.append(time.monotonic()))

    async def waits() -> None:
        with pytest.raises(AppCrashed):
            await page.main.ask("scrolled", {"patience": 60_000, "quiet": 100_000})
        ended.append(time.monotonic())

    async with anyio.create_task_group() as group:
        group.start_soon(waits)
        await anyio.sleep(0.2)
        await crash(web)
    assert ended[0] - crashed[0] < 5.0, "it would have been waited for for a minute"


async def test_after_a_crash_every_call_says_so_until_the_page_is_opened_again(web: Web, site: Site) -> None:
    tree = await web.show("<button>b</button>")
    await crash(web)
    page = await web.driver.instance.page()
    with anyio.fail_after(20):
        while not page.crashed:
            await anyio.sleep(0.01)
    driver = web.driver
    for call in (driver.screen.image, web.tree, driver.keys.focused, driver.navigation.back, driver.screen.geometry):
        with pytest.raises(AppCrashed), anyio.fail_after(10):
            await call()  # type: ignore[operator]
    with pytest.raises(AppCrashed):
        await driver.elements.probe(key_of(one(tree, "b")))
    assert (await driver.apps.state())["crashed"] is True
    assert (await driver.tabs.list())[0]["crashed"] is True
    acted = await web.open(site.page("<h1>well again</h1>"))
    assert acted.verified is True
    assert one(await web.tree(), "well again")


async def test_a_page_that_crashes_by_itself_is_a_crash(web: Web) -> None:
    await web.show("x")
    await web.crash()
    with pytest.raises(AppCrashed):
        await web.tree()


async def test_a_click_that_crashes_the_page_says_so(web: Web) -> None:
    tree = await web.show("<button onclick=\"tell('going')\">die</button>")
    page = await web.driver.instance.page()
    probe = await web.driver.elements.probe(key_of(one(tree, "die")))
    assert probe.point is not None

    async def crash_when_told() -> None:
        await web.site.wait("going")
        await page.session.post("Page.crash")

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(crash_when_told)
            with pytest.raises(AppCrashed):
                await web.driver.pointer.click(probe.point, hold=0.1)
                await page.main.ask("scrolled", {"patience": 60_000, "quiet": 100_000})


async def test_a_frame_of_another_site_that_crashes_leaves_the_page(web: Web, site: Site) -> None:
    inner = site.other(site.page("<button>far</button>"))
    await web.show(f"<button>near</button><iframe src='{inner}'></iframe>")
    page = await web.driver.instance.page()
    [session] = page.foreign.values()
    mark = page.browser.log.mark
    await session.post("Page.crash")
    with anyio.fail_after(20):
        while not page.browser.log.since(mark):
            await anyio.sleep(0.01)
    [happening] = page.browser.log.since(mark)
    assert (happening.kind, happening.data["frame"]) == ("crashed", True)
    tree = await web.tree()
    assert one(tree, "near")
    assert (tree.quality, tree.omitted) == ("degraded", {"frames": 1})


@pytest.fixture
async def mortal(anyio_backend: str, shared_site: Site) -> AsyncIterator[Web]:
    """A browser of its own, to be killed."""
    async with running_web(shared_site) as web:
        yield web


async def test_a_killed_browser_is_a_loss_told_once_then_a_device_that_is_down(mortal: Web) -> None:
    await mortal.show("<p>x</p>")
    running = mortal.driver.instance.running
    assert running is not None
    assert running.child is not None
    assert running.folder is not None
    page = await mortal.driver.instance.page()
    losses: list[ConnectionLost] = []

    async def waits() -> None:
        with pytest.raises(ConnectionLost) as caught:
            await page.main.ask("scrolled", {"patience": 60_000, "quiet": 100_000})
        losses.append(caught.value)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(waits)
            await anyio.sleep(0.2)
            os.kill(running.child.pid, signal.SIGKILL)
    assert losses[0].details["restarted"] is False
    for _ in range(2):
        with pytest.raises(DeviceNotReady) as caught:
            await mortal.tree()
        assert caught.value.details["state"] == "shutdown"
    [loss] = mortal.driver.losses()
    assert (loss["kind"], loss["restarted"]) == ("browser_ended", False)
    assert mortal.driver.losses() == []
    rows = {row.id: row for row in await mortal.backend.devices(ENV)}
    assert rows["chromium"].state == "shutdown"
    with anyio.fail_after(30):
        while running.folder.exists() or group_alive(running.child.pid):
            await anyio.sleep(0.02)
    # Only on request it starts again, and then empty.
    driver = await connect(mortal.backend)
    await driver.power.boot(headless=True, deadline=30)
    assert [app.data["location"] for app in await driver.apps.list()] == ["about:blank"]


async def test_a_browser_killed_between_calls_is_told_by_the_next_one(mortal: Web, site: Site) -> None:
    await mortal.driver.apps.open(OpenRequest(url=site.page("x")))
    running = mortal.driver.instance.running
    assert running is not None
    assert running.child is not None
    os.killpg(running.child.pid, signal.SIGKILL)
    with anyio.fail_after(20):
        await running.browser.connection.ended.wait()
    with pytest.raises(ConnectionLost):
        await mortal.driver.apps.state()
    with pytest.raises(DeviceNotReady):
        await mortal.driver.apps.state()
    assert (await mortal.driver.identify()).id == "chromium"
