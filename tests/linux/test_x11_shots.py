"""Pictures of the display: the right pixels, the right part, quickly."""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest
from PIL import Image

from anydevice.kit import images
from anydevice_linux.x11 import Shots, Windows, XDisplay, authority
from anydevice_schemas import Rect
from anydevice_schemas.errors import AppNotFound, ConnectionLost, DeviceOffline, InvalidArgument

from .desktop import Seat, bare_server, end, missing, running_desktop
from .witnesses import Witness

pytestmark = pytest.mark.anyio
COLOUR = (0x33, 0x66, 0x99)
"""What the witness window is filled with."""
Make = Callable[..., Witness]


@pytest.fixture
async def shots(display: XDisplay) -> AsyncIterator[Shots]:
    made = Shots(display, Windows(display))
    yield made
    await made.aclose()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


async def steady(shots: Shots, id: int) -> None:
    """Waits until a window is painted."""
    for _ in range(1000):
        image = await shots.window(id)
        if opened(image.data).getpixel((image.width // 2, image.height // 2)) == COLOUR:
            return
        await anyio.sleep(0.02)
    raise AssertionError("the window was not painted")


async def test_the_whole_screen_is_shown_with_its_colours(shots: Shots, witness: Make, seat: Seat) -> None:
    made = witness(at=(200, 150), size=(300, 200))
    await steady(shots, made.id)
    image = await shots.image()
    assert images.inspect(image.data) == images.Picture("image/png", *seat.size)
    assert (image.width, image.height, image.scale, image.area) == (*seat.size, 1.0, Rect(0, 0, *seat.size))
    assert opened(image.data).getpixel((350, 250)) == COLOUR


async def test_geometry_is_the_screens(shots: Shots, seat: Seat) -> None:
    geometry = await shots.geometry()
    assert (geometry.viewport, geometry.scale, geometry.content) == (Rect(0, 0, *seat.size), 1.0, None)


async def test_a_window_is_shown_with_its_frame(shots: Shots, witness: Make, display: XDisplay) -> None:
    made = witness(at=(200, 150), size=(300, 200))
    await steady(shots, made.id)
    window = await Windows(display).get(made.id)
    image = await shots.window(made.id)
    assert image.area == window.frame
    picture = opened(image.data)
    assert picture.size == (window.frame.width, window.frame.height)
    left, _, top, _ = window.extents
    assert picture.getpixel((left + 1, top + 1)) == COLOUR
    assert picture.getpixel((left + 299, top + 199)) == COLOUR


async def test_a_window_half_beside_the_screen_shows_the_half_that_is_there(
    shots: Shots, witness: Make, seat: Seat
) -> None:
    made = witness("--popup", at=(seat.size[0] - 100, 700), size=(300, 200))
    area = Rect(seat.size[0] - 100, 700, 300, 200)
    for _ in range(1000):
        image = await shots.image(area)
        if opened(image.data).getpixel((50, 50)) == COLOUR:
            break
        await anyio.sleep(0.02)
    assert image.area == Rect(seat.size[0] - 100, 700, 100, 100)
    assert (image.width, image.height) == (100, 100)
    assert opened(image.data).getpixel((50, 50)) == COLOUR
    made.end()


async def test_a_part_of_a_pixel_counts_whole(shots: Shots) -> None:
    image = await shots.image(Rect(10.5, 20.2, 5.1, 1.0))
    assert image.area == Rect(10, 20, 6, 2) and (image.width, image.height) == (6, 2)


async def test_an_area_beside_the_screen_is_refused(shots: Shots) -> None:
    for area in (Rect(5000, 0, 10, 10), Rect(-50, 0, 10, 10), Rect(10, 10, 0, 0)):
        with pytest.raises(InvalidArgument):
            await shots.image(area)


async def test_a_window_that_is_not_there_is_told(shots: Shots) -> None:
    with pytest.raises(AppNotFound):
        await shots.window(0x7FFFFFF)


async def test_both_ways_show_the_same_pixels(shots: Shots, witness: Make) -> None:
    made = witness()
    await steady(shots, made.id)
    quick = await shots.image(Rect(90, 90, 500, 400))
    assert shots._grabber is not None
    shots._no_grabber = True
    plain = await shots.image(Rect(90, 90, 500, 400))
    assert opened(plain.data).tobytes() == opened(quick.data).tobytes()


async def test_steady_waits_for_two_equal_pictures_and_no_longer_than_asked(
    shots: Shots, witness: Make, display: XDisplay
) -> None:
    made = witness()
    await steady(shots, made.id)
    started = time.monotonic()
    await shots.image(Rect(100, 100, 50, 50), steady=5.0)
    assert 0.05 <= time.monotonic() - started < 4.9

    flicker = True

    async def paint() -> None:
        number = 0
        while flicker:
            number += 1
            await display.do(
                lambda connection, colour=number * 7919 & 0xFFFFFF: (
                    connection.create_resource_object("window", made.id).change_attributes(background_pixel=colour),
                    connection.create_resource_object("window", made.id).clear_area(),
                    connection.settle(),
                )
            )
            await anyio.sleep(0.005)

    async with anyio.create_task_group() as group:
        group.start_soon(paint)
        started = time.monotonic()
        await shots.window(made.id, steady=0.3)
        took = time.monotonic() - started
        flicker = False
    assert 0.3 <= took < 4.9


async def test_a_screen_of_ordinary_windows_takes_little_time(shots: Shots, witness: Make) -> None:
    witness(), witness(at=(300, 300), size=(700, 400))
    await shots.image()
    times = []
    for _ in range(5):
        started = time.monotonic()
        await shots.image()
        times.append(time.monotonic() - started)
    print(f"screen as PNG: {min(times) * 1000:.1f} ms")
    assert min(times) < 1.0


async def test_a_display_with_a_cookie_of_its_own_is_shown_too(tmp_path: Path) -> None:
    """The quick way knows the cookies of this process only; the plain way takes over."""
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    host = socket.gethostname().encode()
    cookie = os.urandom(16)
    parts = b"".join(len(part).to_bytes(2, "big") + part for part in (host, b"", authority.MAGIC_COOKIE, cookie))
    file = tmp_path / "authority"
    file.write_bytes((256).to_bytes(2, "big") + parts)
    with bare_server("-auth", str(file)) as (name, _):
        with pytest.raises(DeviceOffline):
            await XDisplay.open(name)
        with pytest.raises(DeviceOffline):
            await XDisplay.open(name, str(tmp_path / "no authority"))
        display = await XDisplay.open(name, str(file))
        shots = Shots(display, Windows(display))
        image = await shots.image()
        assert (image.width, image.height) == (320, 200)
        await shots.aclose()
        await display.aclose()


async def test_a_server_that_dies_between_two_pictures_is_told(tmp_path: Path) -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with running_desktop(tmp_path) as own:
        display = await XDisplay.open(own.display)
        shots = Shots(display, Windows(display))
        await shots.image()
        end(own.xserver, 0.0)
        with pytest.raises((ConnectionLost, DeviceOffline)):
            await shots.image()
        with pytest.raises(DeviceOffline):
            await shots.image()
        await shots.aclose()
        await display.aclose()
