"""Pictures: what they show, how large they are, at which scale."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator

import pytest

from anydevice.driver import Image
from anydevice.kit import images
from anydevice_schemas import Rect
from anydevice_schemas.errors import InvalidArgument

from .site import Site, running_site
from .web import FLAGS, Web, running_web

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]
PAGE = (
    "<style>body{margin:0;background:#fff}div{position:absolute}</style>"
    "<div style='left:0;top:0;width:1px;height:3000px'></div>"
    "<div style='left:100px;top:200px;width:50px;height:40px;background:#f00'></div>"
    "<div style='left:100px;top:1500px;width:50px;height:40px;background:#00f'></div>"
)
RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)


async def pixels(web: Web, image: Image, *places: tuple[int, int]) -> list[tuple[int, ...]]:
    """Colours in a picture, read by the browser's own decoder."""
    url = "data:image/png;base64," + base64.b64encode(image.data).decode()
    script = (
        f"(async () => {{ const bits = await createImageBitmap(await (await fetch('{url}')).blob());"
        "const canvas = new OffscreenCanvas(bits.width, bits.height); const pen = canvas.getContext('2d');"
        "pen.drawImage(bits, 0, 0);"
        f"return {[list(p) for p in places]}.map(([x, y]) => [...pen.getImageData(x, y, 1, 1).data].slice(0, 3)) }})()"
    )
    return [tuple(colour) for colour in await web.evaluate(script)]


async def test_the_viewport_is_shown_as_it_is_scrolled(web: Web) -> None:
    await web.show(PAGE)
    await web.evaluate("scrollTo(0, 150)")
    image = await web.driver.screen.image()
    assert (image.mime, image.width, image.height, image.scale) == ("image/png", 1280, 720, 1.0)
    assert image.area == Rect(0, 0, 1280, 720)
    assert images.inspect(image.data) == images.Picture("image/png", 1280, 720)
    assert await pixels(web, image, (110, 60), (110, 100)) == [RED, WHITE]


async def test_an_area_is_given_in_points_of_the_viewport(web: Web) -> None:
    await web.show(PAGE)
    await web.evaluate("scrollTo(0, 150)")
    image = await web.driver.screen.image(Rect(90, 40, 80, 60))
    assert (image.width, image.height, image.area) == (80, 60, Rect(90, 40, 80, 60))
    assert await pixels(web, image, (5, 5), (20, 20)) == [WHITE, RED]


async def test_an_area_off_screen_is_shown_too_and_nothing_scrolls(web: Web) -> None:
    await web.show(PAGE)
    image = await web.driver.screen.image(Rect(100, 1500, 50, 40))
    assert (image.width, image.height) == (50, 40)
    assert await pixels(web, image, (25, 20)) == [BLUE]
    assert await web.evaluate("scrollY") == 0


async def test_a_full_page_shows_everything_from_the_top(web: Web) -> None:
    await web.show(PAGE)
    await web.evaluate("scrollTo(0, 150)")
    image = await web.driver.screen.image(full=True)
    assert (image.width, image.height) == (1280, 3000)
    assert image.area == Rect(0, -150, 1280, 3000)
    assert await pixels(web, image, (110, 210), (110, 1510)) == [RED, BLUE]
    assert await web.evaluate("[scrollY, innerHeight]") == [150, 720]


async def test_an_empty_area_is_refused(web: Web) -> None:
    await web.show(PAGE)
    with pytest.raises(InvalidArgument):
        await web.driver.screen.image(Rect(0, 0, 0, 10))


async def test_a_page_that_never_rests_is_drawn_and_read(web: Web) -> None:
    await web.show(
        "<style>@keyframes k{to{transform:rotate(360deg)}}#s{animation:k 1s linear infinite}</style>"
        "<div id=s>spin</div>"
        "<p id=n></p><script>let i = 0; (function f() { n.textContent = i++; requestAnimationFrame(f) })()</script>"
    )
    assert (await web.driver.screen.image()).width == 1280
    assert any(node.name == "spin" for node in (await web.tree()).nodes)


async def test_geometry_tells_size_scroll_and_content(web: Web) -> None:
    await web.show(PAGE)
    await web.evaluate("scrollTo(0, 150)")
    geometry = await web.driver.screen.geometry()
    assert (geometry.viewport, geometry.scale) == (Rect(0, 0, 1280, 720), 1)
    assert geometry.content == Rect(0, -150, 1280, 3000)


@pytest.fixture(scope="module")
async def dense(anyio_backend: str) -> AsyncIterator[Web]:
    with running_site() as site:
        async with running_web(site, extra_args=[*FLAGS, "--force-device-scale-factor=2"]) as web:
            yield web


async def test_on_a_dense_screen_points_stay_points_and_the_scale_is_told(dense: Web, shared_site: Site) -> None:
    await dense.show(PAGE)
    image = await dense.driver.screen.image(Rect(90, 190, 80, 60))
    assert (image.width, image.height, image.scale) == (160, 120, 2.0)
    assert await pixels(dense, image, (10, 10), (40, 40)) == [WHITE, RED]
    assert (await dense.driver.screen.geometry()).scale == 2
    view = (await dense.driver.screen.geometry()).viewport
    whole = await dense.driver.screen.image()
    assert (whole.width, whole.height) == (view.width * 2, view.height * 2)
    tree = await dense.show(
        "<style>body{margin:0}</style><button style='width:100px;height:40px' onclick='tell(`hit`)'>b</button>"
    )
    node = next(node for node in tree.nodes if node.name == "b")
    assert node.rect == Rect(0, 0, 100, 40)
    await dense.click(node)
    assert dense.site.kinds() == ["hit"]
