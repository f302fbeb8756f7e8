"""ocr and find via=ocr: what counts as a match, where it is in points, and what is refused."""

from __future__ import annotations

import io
from typing import Any

import pytest

from anydevice.commands._reading import Seen, matches
from anydevice.driver import Image
from anydevice.elements import parse
from anydevice.kit import ocr
from anydevice.kit.ocr import Line, Word, engines
from anydevice.testing import FakeBackend, call, fake_router
from anydevice.testing import driver as parts
from anydevice_schemas import Answer, Rect
from anydevice_schemas.errors import InvalidArgument

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]
needs_ocr = pytest.mark.skipif("rapidocr" not in engines(), reason="no OCR engine")


def line(text: str, x: float = 0, y: float = 0) -> Line:
    """A line of words, ten pixels a character."""
    words, at = [], x
    for word in text.split(" "):
        words.append(Word(word, (at, y, len(word) * 10, 20)))
        at += len(word) * 10 + 10
    return Line(text, (x, y, len(text) * 10, 20), 0.9, tuple(words))


def seen(*lines: Line, scale: float = 1.0, area: Rect | None = None) -> Seen:
    area = area or Rect(0, 0, 800 / scale, 600 / scale)
    return Seen(lines, Image(b"", "image/png", 800, 600, scale, area), "rapidocr", 0)


def boxes(shown: Seen, query: str) -> list[tuple[float, ...]]:
    return [one.box for one in matches(shown, parse(query))]


def test_a_whole_line_beats_parts_of_others() -> None:
    shown = seen(line("Save as copy", 0, 0), line("save", 0, 50), line("SAVE", 300, 50))
    assert [one.text for one in matches(shown, parse("Save"))] == ["Save", "save", "SAVE"]
    assert [one.text for one in matches(seen(line("Saved", 0, 0), line("save", 0, 50)), parse("Save"))] == ["save"]


def test_whole_words_of_a_line_have_their_own_place() -> None:
    shown = seen(line("File Edit View Help", 100, 10))
    assert boxes(shown, "Edit") == [(150, 10, 40, 20)]
    assert boxes(shown, "edit view") == [(150, 10, 90, 20)]
    assert boxes(shown, "File Edit View Help") == [(100, 10, 190, 20)]


def test_a_part_of_a_word_has_the_place_of_the_word() -> None:
    assert boxes(seen(line("File Edit View", 0, 0)), "Vie") == [(100, 0, 40, 20)]


def test_a_line_without_words_gives_a_share_of_its_place() -> None:
    bare = Line("設定を開く", (0, 0, 100, 20), 0.9)
    assert boxes(seen(bare), "開く") == [(60, 0, 40, 20)]


def test_every_place_of_a_text_is_told_and_index_picks_one() -> None:
    shown = seen(line("Delete Delete", 0, 0), line("Delete", 0, 40))
    assert len(boxes(shown, "Delete")) == 3
    assert boxes(shown, "label=Delete index=1") == [(70, 0, 60, 20)]
    assert boxes(shown, "label=Delete index=9") == []


def test_alternatives_are_tried_in_their_order() -> None:
    shown = seen(line("Accept", 0, 0), line("Agree", 0, 40))
    assert [one.text for one in matches(shown, parse("label=OK || label=Agree || label=Accept"))] == ["Agree"]


@pytest.mark.parametrize("query", ["role=button", "label=OK role=button", "id=home.ok", "@e12", "label=OK enabled"])
def test_what_a_picture_cannot_tell_is_refused(query: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        matches(seen(line("OK")), parse(query))
    assert caught.value.details["param"] == "query"


def test_places_are_points_of_the_part_that_was_read() -> None:
    shown = seen(line("OK", 40, 60), scale=2.0, area=Rect(100, 200, 400, 300))
    rect = shown.rect(shown.lines[0].box)
    assert (rect.x, rect.y, rect.width, rect.height) == (120, 230, 10, 10)


# --- the commands ---


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """The engine takes seconds to start; how it is spoken to on both loops is in tests/kit."""
    return request.param


class Eyes:
    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, device="fake-1", **arguments))
        return answer

    async def refused(self, command: str, **arguments: Any) -> str:
        answer = await self(command, **arguments)
        assert answer.error is not None, answer.data
        return answer.error.code


@pytest.fixture
async def phone(anyio_backend: str) -> Any:
    async with fake_router(FakeBackend(["fake-1", "other"])) as (router, backend):
        yield Eyes(router, backend)
        pid = router.services.reader.pid
    from anydevice.kit import pids

    assert pid is None or not pids.alive(pid), "the engine outlived its daemon"


def shows(monkeypatch: pytest.MonkeyPatch, *rows: tuple[int, int, str]) -> None:
    """The screens of fakes show texts at places, in points, with two pixels a point."""
    images = pytest.importorskip("PIL.Image")
    from PIL import ImageDraw, ImageFont

    async def image(self: Any, area: Rect | None = None, *, full: bool = False) -> Image:
        whole = self.model.viewport
        drawn = images.new("RGB", (round(whole.width * 2), round(whole.height * 2)), "white")
        for x, y, text in rows:
            ImageDraw.Draw(drawn).text((x * 2, y * 2), text, fill="black", font=ImageFont.load_default(32))
        shown = area or whole
        corners = (shown.x * 2, shown.y * 2, (shown.x + shown.width) * 2, (shown.y + shown.height) * 2)
        file = io.BytesIO()
        drawn = drawn.crop(tuple(round(v) for v in corners))
        drawn.save(file, "PNG")
        return Image(file.getvalue(), "image/png", drawn.width, drawn.height, 2.0, shown)

    monkeypatch.setattr(parts._Screen, "image", image)


@needs_ocr
async def test_text_is_found_where_it_is_and_a_press_there_reaches_it(
    phone: Eyes, monkeypatch: pytest.MonkeyPatch
) -> None:
    button = phone.backend.screen("fake-1").named("Increment")
    shows(monkeypatch, (round(button.rect.x) + 4, round(button.rect.y) + 8, "Plus one"), (40, 500, "Elsewhere"))
    found = await phone("find", query="Plus one", via="ocr")
    assert found.ok and found.data["count"] == 1 and found.data["unit"] == "points"
    x, y = found.data["matches"][0]["point"]
    assert button.rect.contains(type(button.rect.center)(x, y))
    assert (await phone("press", x=x, y=y)).ok
    assert phone.backend.screen("fake-1").text("Count") == "1"
    read = await phone("ocr")
    assert read.data["text"].splitlines() == ["Plus one", "Elsewhere"] and read.verified is None
    part = await phone("ocr", x=0, y=480, width=390, height=80)
    assert part.data["text"] == "Elsewhere"
    assert part.data["lines"][0]["rect"] == pytest.approx(read.data["lines"][1]["rect"], abs=5)
    missing = await phone("find", query="Elsewhen", via="ocr", timeoutMs=0)
    assert missing.error is not None and missing.error.code == "element_not_found"
    assert missing.error.details["nearest_matches"] == ["Elsewhere"]


@needs_ocr
async def test_either_prefers_elements(phone: Eyes, monkeypatch: pytest.MonkeyPatch) -> None:
    shows(monkeypatch, (40, 500, "Increment"), (40, 600, "Only drawn"))
    by_tree = await phone("find", query="Increment", via="either")
    assert "via" not in by_tree.data and by_tree.data["matches"][0]["ref"].startswith("@e")
    by_picture = await phone("find", query="Only drawn", via="either", timeoutMs=100)
    assert by_picture.data["via"] == "ocr"


async def test_without_an_engine_both_say_what_to_install(phone: Eyes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "engines", list)
    assert await phone.refused("ocr") == "tool_missing"
    assert await phone.refused("find", query="Increment", via="ocr") == "tool_missing"
    assert (await phone("find", query="Increment")).ok


async def test_what_cannot_be_asked_for_is_refused_by_name(phone: Eyes) -> None:
    assert await phone.refused("ocr", x=1, y=2) == "invalid_argument"
    assert await phone.refused("ocr", target="Increment", window="w") == "invalid_argument"
    assert await phone.refused("ocr", engine="magic") == "invalid_argument"
    assert await phone.refused("find", query="a", via="nose") == "invalid_argument"


async def test_a_device_without_pictures_cannot_be_read(phone: Eyes) -> None:
    phone.backend.down = {"screen.image": "no pictures today"}
    assert await phone.refused("ocr") == "unsupported"
    assert await phone.refused("find", query="Increment", via="ocr") == "unsupported"
    assert (await phone("find", query="Increment")).ok
