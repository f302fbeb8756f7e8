"""Reading the page: nodes, pictures, geometry."""

from __future__ import annotations

import base64
from typing import Any

from anydevice.driver import Geometry, Image, Screen, TreeScope
from anydevice.kit import images
from anydevice_schemas import Rect, Tree
from anydevice_schemas.errors import BackendBroken, CallTimeout, InvalidArgument

from .cdp import Gone, ProtocolError
from .frames import WorldLost
from .instance import Instance
from .page import Page
from .walker import ask_main, read_geometry, read_tree

CAPTURE_DEADLINE = 20.0
"""Seconds a picture may take; a full page of 45,000 points takes about one."""
FULL_HEIGHT = 32_000.0
"""Points of a page's height that one picture shows at most; `Image.area` says what it shows."""


class WebScreen(Screen):
    """The current page's screen. Points are CSS pixels of the page's viewport."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def tree(self, scope: TreeScope) -> Tree:
        """See `Screen.tree`."""
        return await read_tree(await self._instance.page(), scope)

    async def geometry(self) -> Geometry:
        """See `Screen.geometry`."""
        return await read_geometry(await self._instance.page())

    async def image(self, area: Rect | None = None, *, full: bool = False) -> Image:
        """See `Screen.image`. Size and scale are read from the picture itself."""
        page = await self._instance.page()
        now = await read_geometry(page)
        assert now.content is not None
        if full:
            area = Rect(now.content.x, now.content.y, now.content.width, min(now.content.height, FULL_HEIGHT))
        params: dict[str, Any] = {"format": "png"}
        if area is not None:
            if area.width <= 0 or area.height <= 0:
                raise InvalidArgument("The area is empty.", param="area", expected="a width and height above 0")
            # A clip is given in points of the document, ours in points of the viewport.
            params["clip"] = {
                "x": area.x - now.content.x,
                "y": area.y - now.content.y,
                "width": area.width,
                "height": area.height,
                "scale": 1,
            }
            params["captureBeyondViewport"] = area.intersect(now.viewport) != area
        shown = area or now.viewport
        if page.browser.view is not None:
            # Nobody watches this browser's windows; a tab behind another one may take seconds to be drawn.
            await page.call(page.session, "Page.bringToFront")
        data = base64.b64decode((await _capture(page, params))["data"])
        try:
            picture = images.inspect(data)
        except ValueError as error:
            raise BackendBroken("The browser's picture cannot be read.", backend="web", reason=str(error)) from error
        return Image(data, picture.mime, picture.width, picture.height, picture.width / shown.width, shown)


async def _capture(page: Page, params: dict[str, Any]) -> dict[str, Any]:
    for attempt in (1, 2):
        try:
            return await page.call(page.session, "Page.captureScreenshot", params, deadline=CAPTURE_DEADLINE)
        except (ProtocolError, Gone, WorldLost) as error:
            page.guard()
            if attempt == 2:  # the page was replaced twice while it was drawn
                raise CallTimeout(
                    "The page could not be drawn.", after=CAPTURE_DEADLINE, waiting_for="picture", reason=str(error)
                ) from error
            await ask_main(page, "turn")
    raise AssertionError("unreachable")
