"""Reading text in pictures: what is read, and the life of the engine's process."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.kit import ocr, pids
from anydevice.kit.ocr import Line, Reader, Word, engines, in_reading_order
from anydevice.kit.ocr_worker import tiles
from anydevice_schemas.errors import CallTimeout, ToolMissing, UpstreamUnavailable

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]
needs_ocr = pytest.mark.skipif("rapidocr" not in engines(), reason="no OCR engine")
needs_tesseract = pytest.mark.skipif("tesseract" not in engines(), reason="no tesseract")
SCREEN = (1280, 800)
LONG = 90.0
"""Seconds for a first reading on a machine under load."""


@pytest.fixture
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """The engine takes seconds to start: what only its answers are looked at runs on one loop."""
    return getattr(request, "param", "asyncio")


both_loops = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"], indirect=True)


@pytest.fixture
async def reader(anyio_backend: str) -> Any:
    made = Reader()
    yield made
    pid = made.pid
    await made.aclose()
    assert pid is None or not pids.alive(pid)


def picture(*rows: tuple[int, int, str], size: tuple[int, int] = (320, 120), height: int = 16) -> bytes:
    """A picture with texts at places."""
    images = pytest.importorskip("PIL.Image")
    from PIL import ImageDraw, ImageFont

    image = images.new("RGB", size, "white")
    font = ImageFont.load_default(height)
    for x, y, text in rows:
        ImageDraw.Draw(image).text((x, y), text, fill="black", font=font)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


@needs_ocr
async def test_lines_are_read_with_their_places_in_reading_order(reader: Reader) -> None:
    data = picture((900, 40, "Right of it"), (60, 40, "First line"), (60, 700, "At the bottom"), size=SCREEN)
    reading = await reader.read(data, deadline=LONG)
    assert [line.text for line in reading.lines] == ["First line", "Right of it", "At the bottom"]
    assert reading.engine == "rapidocr" and all(line.confidence > 0.8 for line in reading.lines)
    left, top, width, height = reading.lines[2].box
    assert 40 < left < 70 and 680 < top < 710 and 80 < width < 180 and 10 < height < 45
    first, second = reading.lines[0].words
    assert (first.text, second.text) == ("First", "line") and first.box[0] < second.box[0]


@needs_ocr
async def test_a_word_alone_on_an_empty_screen_and_in_a_small_picture_is_read(reader: Reader) -> None:
    for x, y in ((980, 650), (640, 430)):
        reading = await reader.read(picture((x, y, "Cancel"), size=SCREEN), deadline=LONG)
        assert [line.text for line in reading.lines] == ["Cancel"], (x, y)
    small = await reader.read(picture((10, 8, "Above the line"), size=(160, 36)), deadline=LONG)
    assert [line.text for line in small.lines] == ["Above the line"]
    left, top, width, height = small.lines[0].box
    assert left >= 0 and top >= 0 and left + width <= 175 and top + height <= 50


@needs_ocr
async def test_the_engine_stays_warm_and_is_never_loaded_here(reader: Reader) -> None:
    assert reader.pid is None
    await reader.read(picture((60, 60, "One")), deadline=LONG)
    pid = reader.pid
    assert pid is not None and pids.alive(pid)
    await reader.read(picture((60, 60, "Two")), deadline=LONG)
    assert reader.pid == pid
    assert {"rapidocr", "onnxruntime", "cv2"}.isdisjoint(sys.modules)


@needs_ocr
async def test_what_was_read_is_not_read_again(reader: Reader) -> None:
    data = picture((60, 60, "Same"))
    first = await reader.read(data, deadline=LONG)
    await reader.aclose()
    assert await reader.read(data, deadline=1.0) is first
    assert reader.pid is None


@needs_ocr
async def test_an_engine_that_was_idle_ends_and_is_started_anew(anyio_backend: str) -> None:
    reader = Reader(idle=0.3)
    try:
        await reader.read(picture((60, 60, "One")), deadline=LONG)
        first = reader.pid
        with anyio.fail_after(30):
            while reader.pid is not None:
                await anyio.sleep(0.05)
        again = await reader.read(picture((60, 60, "Two")), deadline=LONG)
        assert [line.text for line in again.lines] == ["Two"] and reader.pid != first
    finally:
        await reader.aclose()


@needs_ocr
@both_loops
async def test_an_engine_that_was_killed_is_started_anew(reader: Reader) -> None:
    await reader.read(picture((60, 60, "One")), deadline=LONG)
    assert reader.pid is not None
    os.kill(reader.pid, signal.SIGKILL)
    again = await reader.read(picture((60, 60, "Two")), deadline=LONG)
    assert [line.text for line in again.lines] == ["Two"]


@needs_ocr
async def test_one_that_hangs_is_ended_in_time_and_the_next_call_works(reader: Reader) -> None:
    await reader.read(picture((60, 60, "One")), deadline=LONG)
    pid = reader.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(CallTimeout):
        await reader.read(picture((60, 60, "Two")), deadline=0.5)
    assert not pids.alive(pid)
    again = await reader.read(picture((60, 60, "Two")), deadline=LONG)
    assert [line.text for line in again.lines] == ["Two"]


@needs_ocr
@both_loops
async def test_a_cancelled_call_does_not_leave_its_answer_to_the_next(reader: Reader) -> None:
    await reader.read(picture((60, 60, "One")), deadline=LONG)
    with anyio.move_on_after(0.05):
        await reader.read(picture((60, 60, "Cancelled")), deadline=LONG)
    next_one = await reader.read(picture((60, 60, "Next")), deadline=LONG)
    assert [line.text for line in next_one.lines] == ["Next"]


@needs_ocr
async def test_two_callers_at_once_each_get_their_own(reader: Reader) -> None:
    got: dict[str, list[str]] = {}

    async def ask(text: str) -> None:
        reading = await reader.read(picture((60, 60, text)), deadline=LONG)
        got[text] = [line.text for line in reading.lines]

    async with anyio.create_task_group() as group:
        for text in ("Alpha", "Beta", "Gamma"):
            group.start_soon(ask, text)
    assert got == {"Alpha": ["Alpha"], "Beta": ["Beta"], "Gamma": ["Gamma"]}


@needs_ocr
async def test_what_is_no_picture_is_refused_and_the_engine_goes_on(reader: Reader) -> None:
    for data in (b"", b"no picture", b"\x89PNG\r\n\x1a\n" + bytes(50)):
        with pytest.raises(UpstreamUnavailable):
            await reader.read(data, deadline=LONG)
    reading = await reader.read(picture((60, 60, "Fine")), deadline=LONG)
    assert [line.text for line in reading.lines] == ["Fine"]


async def test_without_an_engine_it_says_what_to_install(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "engines", list)
    with pytest.raises(ToolMissing) as caught:
        await reader.read(b"x", deadline=5.0)
    assert "pip install 'anydevice[ocr]'" in caught.value.hint


async def test_an_engine_that_is_asked_for_and_not_there_is_not_replaced(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "engines", lambda: ["rapidocr"])
    with pytest.raises(ToolMissing) as caught:
        await reader.read(b"x", engine="tesseract", deadline=5.0)
    assert caught.value.details["tools"] == ["tesseract"]


async def test_a_library_that_cannot_be_loaded_is_missing(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "rapidocr.py").write_text("raise ImportError('libGL.so.1: cannot open shared object file')\n")
    monkeypatch.setattr(ocr, "engines", lambda: ["rapidocr"])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    monkeypatch.setattr(ocr, "_environment", lambda: environment)
    with pytest.raises(ToolMissing) as caught:
        await reader.read(b"x", deadline=LONG)
    assert "libGL" in caught.value.details["reason"]


@needs_tesseract
async def test_tesseract_reads_too(reader: Reader) -> None:
    reading = await reader.read(picture((20, 40, "Hello world"), height=40), engine="tesseract", deadline=LONG)
    assert [line.text for line in reading.lines] == ["Hello world"] and reading.engine == "tesseract"
    assert [word.text for word in reading.lines[0].words] == ["Hello", "world"]
    with pytest.raises(UpstreamUnavailable):
        await reader.read(b"no picture", engine="tesseract", deadline=LONG)


def test_reading_order_goes_by_rows() -> None:
    def line(text: str, x: float, y: float) -> Line:
        return Line(text, (x, y, 50, 20), 1.0, (Word(text, (x, y, 50, 20)),))

    given = [line("d", 5, 100), line("b", 200, 12), line("c", 300, 8), line("a", 5, 10)]
    assert [one.text for one in in_reading_order(given)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (3840, 2160), (10_000, 300), (700, 500), (672, 449)])
def test_tiles_cover_all_of_a_picture_and_are_not_many(size: tuple[int, int]) -> None:
    width, height = size
    parts = tiles(width, height)
    assert 2 <= len(parts) <= 30
    for x in range(0, width, 7):
        assert any(left <= x < right for left, _, right, _ in parts)
    for y in range(0, height, 7):
        assert any(top <= y < bottom for _, top, _, bottom in parts)
    assert all(right > left and bottom > top for left, top, right, bottom in parts)
    assert tiles(320, 200) == []
