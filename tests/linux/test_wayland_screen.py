"""Pictures and clipboard of a Wayland session, compared with what other programs see and get."""

from __future__ import annotations

import io
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from PIL import Image, ImageChops

from anydevice.driver import RecordRequest
from anydevice.kit import encoders
from anydevice_linux.driver import LinuxDriver
from anydevice_linux.wayland.clipboard import WClipboard
from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import CallTimeout, InvalidArgument, Unsupported

from .a11y import await_, launched
from .desktop import Seat
from .session import ask, output_of, running_session
from .wayland import driving, press, shows, window

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def driver(wayland: Seat, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxDriver]:
    async with driving(wayland, tmp_path_factory.mktemp("driver")) as made:
        yield made


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[tuple[LinuxDriver, Seat]]:
    """A session of its own, whose screens may be changed."""
    with running_session(tmp_path / "other") as seat:
        async with driving(seat, tmp_path) as made:
            await made.screen.geometry()
            yield made, seat


@pytest.fixture
async def clipboard(wayland: Seat) -> AsyncIterator[WClipboard]:
    path = Path(wayland.env["XDG_RUNTIME_DIR"]) / wayland.env["WAYLAND_DISPLAY"]
    opened = await WClipboard.open(str(path))
    yield opened
    await opened.aclose()


def same(one: bytes, other: bytes) -> bool:
    """Whether two pictures show the same."""
    first, second = (Image.open(io.BytesIO(data)).convert("RGB") for data in (one, other))
    return first.size == second.size and ImageChops.difference(first, second).getbbox() is None


def copy(seat: Seat, given: bytes, *options: str) -> None:
    """Has another program of the session put something on the clipboard, and keep it there."""
    nowhere = subprocess.DEVNULL  # what it leaves behind would hold our pipes open
    subprocess.run(["wl-copy", *options], env=seat.env, input=given, stdout=nowhere, stderr=nowhere, check=True)


async def test_a_picture_is_what_another_program_sees(driver: LinuxDriver, wayland: Seat) -> None:
    async with launched(wayland, "a11y_gtk3.py"):
        await shows(driver, "Increment", "button")

        async def pair() -> bool:
            whole = await driver.screen.image()
            assert (whole.width, whole.height, whole.scale, whole.mime) == (1280, 800, 1.0, "image/png")
            return same(whole.data, output_of(wayland, "grim", "-"))

        await await_(pair, lambda equal: equal)  # a window may still be drawing

        async def cut() -> bool:
            whole = Image.open(io.BytesIO((await driver.screen.image()).data)).convert("RGB")
            part = await driver.screen.image(Rect(300.4, 90.2, 200, 150))
            assert part.area == Rect(300, 90, 201, 151)
            found = Image.open(io.BytesIO(part.data)).convert("RGB")
            return ImageChops.difference(found, whole.crop((300, 90, 501, 241))).getbbox() is None

        await await_(cut, lambda equal: equal)
        edge = await driver.screen.image(Rect(1200, 700, 500, 500))
        assert edge.area == Rect(1200, 700, 80, 100)
    with pytest.raises(InvalidArgument):
        await driver.screen.image(Rect(2000, 10, 10, 10))
    with pytest.raises(Unsupported):
        await driver.screen.image(full=True)


@pytest.mark.skipif(not encoders.candidates(), reason="no encoder")
async def test_the_screen_is_recorded(driver: LinuxDriver, wayland: Seat, tmp_path: Path) -> None:
    async with launched(wayland, "a11y_gtk3.py"):
        await driver.recording.start(RecordRequest(str(tmp_path / "film"), fps=10, longest=60))

        async def written() -> int:
            return int((await driver.recording.status() or {}).get("frames", 0))

        await await_(written, lambda count: count >= 5)
        film = await driver.recording.stop()
    assert (film.width, film.height, film.mime) == (1280, 800, "video/mp4")
    assert Path(film.path).stat().st_size > 1000


async def test_a_second_screen_is_part_of_the_picture(other: tuple[LinuxDriver, Seat]) -> None:
    driver, seat = other
    ask(seat, "create_output")
    ask(seat, "output HEADLESS-2 resolution 640x480 position 1280 100")

    async def size() -> tuple[float, float]:
        viewport = (await driver.screen.geometry()).viewport
        return viewport.width, viewport.height

    await await_(size, lambda found: found == (1920, 800))

    async def as_seen() -> bool:
        picture = await driver.screen.image()
        return (picture.width, picture.height) == (1920, 800) and same(picture.data, output_of(seat, "grim", "-"))

    await await_(as_seen, lambda equal: equal)
    part = await driver.screen.image(Rect(1300, 110, 100, 100))
    assert (part.width, part.height) == (100, 100)
    with pytest.raises(InvalidArgument):
        await driver.pointer.move(Point(1300, 20))  # above the second screen there is nothing
    await driver.pointer.move(Point(1300, 110))


@pytest.mark.parametrize("factor", [2.0, 1.5])
async def test_a_larger_scale_gives_more_pixels_a_point(other: tuple[LinuxDriver, Seat], factor: float) -> None:
    driver, seat = other
    ask(seat, f"output HEADLESS-1 scale {factor}")

    async def viewport() -> Rect:
        return (await driver.screen.geometry()).viewport

    await await_(viewport, lambda found: found == Rect(0, 0, int(1280 / factor), int(800 / factor)))
    assert (await driver.screen.geometry()).scale == pytest.approx(factor, abs=0.01)
    picture = await driver.screen.image(Rect(0, 0, 100, 50))
    assert (picture.width, picture.height, picture.scale) == (100 * factor, 50 * factor, factor)
    async with launched(seat, "a11y_gtk3.py", "--title", "Large") as started:
        await driver.windows.move((await window(driver, "Large")).id, Point(0, 0))
        await press(driver, "Increment", "button")
        await started.says("count 1")


async def test_text_files_and_pictures_are_handed_to_other_programs(
    driver: LinuxDriver, wayland: Seat, tmp_path: Path
) -> None:
    text = "Grüße 世界 🙂\n" * 20_000
    await driver.clipboard.write_text(text)
    assert output_of(wayland, "wl-paste", "--no-newline").decode() == text
    assert (await driver.clipboard.read()).text == text
    files = [tmp_path / "a b.txt", tmp_path / "ü"]
    await driver.clipboard.write_files([str(path) for path in files])
    listed = output_of(wayland, "wl-paste", "--type", "text/uri-list").decode().split()
    assert listed == [path.as_uri() for path in files]
    assert (await driver.clipboard.read("files")).files == [str(path) for path in files]
    file = io.BytesIO()
    Image.new("RGB", (40, 30), "purple").save(file, "PNG")
    await driver.clipboard.write_image(file.getvalue())
    assert output_of(wayland, "wl-paste", "--type", "image/png") == file.getvalue()
    await driver.clipboard.clean()
    assert (await driver.clipboard.read()).kinds == frozenset()


async def test_what_other_programs_copied_is_read(clipboard: WClipboard, wayland: Seat) -> None:
    copy(wayland, "von dort: ß 🙂".encode())

    async def text() -> str | None:
        return await clipboard.read_text()

    await await_(text, lambda found: found == "von dort: ß 🙂")
    assert await clipboard.kinds() == ["text"]
    file = io.BytesIO()
    Image.new("RGB", (9, 7), "green").save(file, "PNG")
    copy(wayland, file.getvalue(), "--type", "image/png")
    await await_(clipboard.kinds, lambda found: found == ["png"])
    picture = await clipboard.read_png()
    assert picture == file.getvalue()
    assert await clipboard.read_text() is None
    copy(wayland, b"", "--clear")
    await await_(clipboard.kinds, lambda found: found == [])
    assert await clipboard.read_text() is None


async def test_a_program_that_hands_nothing_out_costs_its_deadline_only(clipboard: WClipboard, wayland: Seat) -> None:
    holder = subprocess.Popen(
        ["wl-copy", "--foreground", "stuck"], env=wayland.env, stdin=subprocess.DEVNULL, start_new_session=True
    )
    try:
        await await_(clipboard.read_text, lambda found: found == "stuck")
        holder.send_signal(signal.SIGSTOP)
        with anyio.fail_after(20), pytest.raises(CallTimeout):
            await clipboard.read_text()
        await clipboard.write_text("anew")
        assert output_of(wayland, "wl-paste", "--no-newline") == b"anew"
    finally:
        holder.kill()
        holder.wait()


async def test_text_that_is_none_is_refused(clipboard: WClipboard) -> None:
    for text in ("a\0b", "\ud800"):
        with pytest.raises(InvalidArgument):
            await clipboard.write_text(text)
    with pytest.raises(InvalidArgument):
        await clipboard.write_png(b"no picture")
