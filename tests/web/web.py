"""A browser under test, with the few helpers every test uses."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio

from anydevice.driver import Acted, Environment, HostServices, OpenRequest, TreeScope
from anydevice_schemas import Node, Tree, tree_faults
from anydevice_schemas.errors import AnydeviceError
from anydevice_web import WebBackend
from anydevice_web.cdp import Gone
from anydevice_web.driver import WebDriver

from .site import Site

ENV = Environment()
FLAGS = ["--disable-quic", "--site-per-process"]


class Web:
    """One booted browser and its driver."""

    def __init__(self, backend: WebBackend, driver: WebDriver, site: Site) -> None:
        self.backend = backend
        self.driver = driver
        self.site = site

    async def fresh(self) -> None:
        """One empty tab, no dialog, nothing told."""
        browser = self.driver.instance.browser()
        for tab in list(browser.tabs.values()):
            page = browser.known(tab)
            if page is not None and page.dialog is not None:
                await self.driver.apps.close(tab.id, force=True)
            elif tab is not browser.current or (page is not None and page.crashed):
                await browser.close_tab(tab)
        if browser.current is None:
            await self.driver.apps.open(OpenRequest(new=True))
        self.site.told.clear()

    async def show(self, html: str, *, mode: Any = "full") -> Tree:
        """Opens a page made of this HTML and reads it."""
        await self.driver.apps.open(OpenRequest(url=self.site.page(html)))
        return await self.tree(mode)

    async def write(self, html: str, *, mode: Any = "full") -> Tree:
        """Replaces what the page shows without a navigation: quicker, for pages without scripts of their own."""
        if not str((await self.driver.apps.state())["location"]).endswith("/scratch"):
            await self.open(self.site.page("", path="/scratch"))
        await self.evaluate(
            f"document.open(); document.write({json.dumps('<!doctype html>' + html)}); document.close()"
        )
        return await self.tree(mode)

    async def open(self, url: str, **more: Any) -> Acted:
        return await self.driver.apps.open(OpenRequest(url=url, **more))

    async def tree(self, mode: Any = "full", **more: Any) -> Tree:
        tree = await self.driver.screen.tree(TreeScope(mode=mode, **more))
        assert tree_faults(tree.nodes) == []
        return tree

    async def click(self, node: Node) -> Acted:
        probe = await self.driver.elements.probe(key_of(node))
        assert probe.point is not None
        assert probe.cover is None, probe.cover
        return await self.driver.pointer.click(probe.point)

    async def crash(self) -> None:
        """Ends the page's renderer, as the browser's own page for that does."""
        page = await self.driver.instance.page()
        with anyio.fail_after(30):
            with suppress(AnydeviceError, Gone):
                await page.session.call("Page.navigate", {"url": "chrome://crash"}, free=True)
            while not page.crashed:
                await page.change(0.05)

    async def evaluate(self, expression: str) -> Any:
        """Runs script in the page's own world, as the page would."""
        page = await self.driver.instance.page()
        answer = await page.session.call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
            free=True,
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")


def key_of(node: Node) -> str:
    assert node.key is not None
    return node.key


def one(tree: Tree, name: str | None = None, *, role: str | None = None, id: str | None = None) -> Node:
    """The one node that fits."""
    fits = [
        node
        for node in tree.nodes
        if (name is None or node.name == name)
        and (role is None or node.role == role)
        and (id is None or node.identifier == id)
    ]
    assert len(fits) == 1, f"{len(fits)} nodes fit {name=} {role=} {id=}: {outline(tree)}"
    return fits[0]


def outline(tree: Tree) -> list[str]:
    """A tree as lines a person can read in a failed test."""
    depth: list[int] = []
    lines = []
    for node in tree.nodes:
        depth.append(0 if node.parent < 0 else depth[node.parent] + 1)
        lines.append("  " * depth[-1] + f"{node.role} {node.name!r}" + (f" = {node.value!r}" if node.value else ""))
    return lines


@asynccontextmanager
async def running_web(site: Site, *, device: str = "chromium", **settings: Any) -> AsyncIterator[Web]:
    """A backend with folders of its own, and a browser of it, booted."""
    with tempfile.TemporaryDirectory(prefix="web-") as folder:
        async with running_backend(Path(folder), **settings) as backend:
            driver = await connect(backend, device)
            await driver.power.boot(headless=True, deadline=30)
            yield Web(backend, driver, site)


@asynccontextmanager
async def running_backend(folder: Path, **settings: Any) -> AsyncIterator[WebBackend]:
    services = HostServices(str(folder / "data"), str(folder / "run"), {"extra_args": FLAGS, **settings})
    backend = WebBackend(services)
    try:
        yield backend
    finally:
        with anyio.CancelScope(shield=True):
            await backend.aclose()


async def connect(backend: WebBackend, device: str = "chromium") -> WebDriver:
    rows = {row.id: row for row in await backend.devices(ENV)}
    return await backend.connect(rows[device], ENV)
