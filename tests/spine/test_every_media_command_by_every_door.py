"""record, audio and ocr by every door: a fake phone is the witness of what was filmed, a page of what is read."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from anydevice.kit.movies import inspect
from anydevice.kit.ocr import engines

from ..support.daemons import Home, eventually
from .doors import Door
from .pages import Page

pytestmark = [pytest.mark.daemon, pytest.mark.chromium, pytest.mark.timeout(240)]
PHONE = "fake-1"


@pytest.fixture(autouse=True)
def phone_given_back(door: Door) -> Iterator[None]:
    """Whoever comes through the next door finds the phone free."""
    yield
    for row in door.do("session").data["sessions"]:
        if row["device"] == f"fake:{PHONE}":
            door.do("session", action="end", name=row["name"])


def test_record_gives_a_file_that_every_door_can_have(door: Door, module_home: Home) -> None:
    started = door.do("record", action="start", device=PHONE)
    assert started.device == f"fake:{PHONE}" and started.verified is True
    door.do("press", target="Increment", device=PHONE)
    running = door.do("record", device=PHONE)
    assert running.data["recording"] is True and running.data["name"] == started.data["name"]
    door.refused("refused", "record", action="start", device=PHONE)
    stopped = door.do("record", action="stop", device=PHONE)
    (file,) = stopped.wire["artefacts"]
    assert file["mime"] == "video/quicktime" and file["name"].startswith(started.data["name"])
    # A model is told the name; the file itself lies in the daemon's home.
    assert ("path" in file and file["path"] is not None) is (door.name != "mcp")
    movie = inspect(module_home.path / "artefacts" / file["name"])
    assert (movie.width, movie.height) == (390, 844) and movie.seconds == pytest.approx(
        stopped.data["seconds"], abs=0.01
    )
    door.refused("action_unverified", "record", action="stop", device=PHONE)


def test_audio_says_how_loud_it_is_and_stops(door: Door) -> None:
    assert door.do("audio", action="start", device=PHONE).data["listening"] is True
    assert door.do("audio", device=PHONE).data["silent"] is True
    stopped = door.do("audio", action="stop", device=PHONE)
    assert stopped.data["listening"] is False and stopped.data["peakDbfs"] <= 0
    door.refused("action_unverified", "audio", device=PHONE)


@pytest.mark.skipif("rapidocr" not in engines(), reason="no OCR engine")
def test_ocr_reads_a_page_and_a_press_where_it_is_read_reaches_the_page(page: Page) -> None:
    said = page.do("ocr", target="Increment")  # all of a page is read by the search, and by the test below
    assert [line["text"] for line in said.data["lines"]] == ["Increment"]
    found = page.do("find", query="Increment", via="ocr")
    assert found.data["count"] >= 1
    x, y = found.data["matches"][0]["point"]
    page.do("press", x=x, y=y)
    eventually(lambda: page.told("count") == [1], "the page heard of the press")
    if page.door.name == "cli":  # the refusal is one for all doors
        page.refused("element_not_found", "find", query="No such words anywhere", via="ocr", timeoutMs=0)


@pytest.mark.skipif("rapidocr" not in engines(), reason="no OCR engine")
def test_text_that_was_read_is_fenced_as_the_devices_own(page: Page) -> None:
    if page.door.name != "mcp":
        pytest.skip("only a model is told whose words they are")
    result = page.door.raw("command-run", {"name": "ocr", "arguments": {}})  # type: ignore[attr-defined]
    text = "\n".join(block.text for block in result.content if block.type == "text")
    assert "untrusted" in text.lower() and "Increment" in text


def test_a_video_can_be_fetched_as_bytes_by_the_library(door: Door) -> None:
    if door.name != "python":
        pytest.skip("only the library fetches bytes")
    door.do("record", action="start", device=PHONE)
    stopped = door.do("record", action="stop", device=PHONE)
    (data,) = stopped.pictures
    assert io.BytesIO(data).read(8)[4:] == b"ftyp"
