"""App events on a desktop: they reach the program that is installed for the scheme, told by that program itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from anydevice_linux.practicing import SYSTEM_PYTHON, runs_here

from .desktop import missing
from .through import Seated, eventually, seated

ABSENT = missing() or (None if runs_here() else "the system's Python has no GTK")
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(ABSENT is not None, reason=ABSENT or "")]
PROGRAM = Path(__file__).parent / "programs" / "opener_gtk.py"
APP = "dev.anydevice.test.opener"
PAYLOAD = {"items": 3, "note": "Grüße 設定 👩‍👩‍👧 &=?#%+ \"'", "nested": [1, None, True]}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Seated]:
    async with seated(tmp_path / "desk") as made:
        yield made


class Opener:
    """A program that opens addresses of the scheme `opener`, and writes down which."""

    def __init__(self, desk: Seated, told: Path) -> None:
        self.told = told
        desk.install(APP, [SYSTEM_PYTHON, PROGRAM, told])
        desktop = desk.backend.desktop("virtual")
        assert desktop is not None
        entry = Path(desktop.running().cwd) / ".local" / "share" / "applications" / f"{APP}.desktop"
        text = entry.read_text().replace(f'"{told}"', f'"{told}" %U')
        entry.write_text(f"{text}MimeType=x-scheme-handler/opener;\n")

    @property
    def addresses(self) -> list[str]:
        return self.told.read_text("utf-8").splitlines() if self.told.exists() else []

    async def got(self, count: int) -> list[dict[str, Any]]:
        """The events it was given, once there are `count`."""
        await eventually(lambda: len(self.addresses) >= count, lambda: self.addresses)
        asked = [parse_qs(urlsplit(one).query) for one in self.addresses]
        return [
            {"name": one["name"][0], "payload": json.loads(one["payload"][0]) if "payload" in one else None}
            for one in asked
        ]


async def test_an_event_starts_the_program_that_is_installed_for_its_scheme(desk: Seated, tmp_path: Path) -> None:
    opener = Opener(desk, tmp_path / "told")
    await desk.do("open", eventUrlTemplate="opener://event?name={event}&payload={payload}&on={platform}")
    answer = await desk.do("trigger-app-event", event="seed.cart", payload=PAYLOAD)
    assert (answer.data["acknowledged"], answer.verified) == ("not_requested", False)
    assert await opener.got(1) == [{"name": "seed.cart", "payload": PAYLOAD}]
    assert parse_qs(urlsplit(opener.addresses[0]).query)["on"] == ["linux"]
    state = (await desk.do("appstate")).data
    assert state["app"] == APP


async def test_an_event_reaches_the_program_that_runs_once_and_no_second_one(desk: Seated, tmp_path: Path) -> None:
    opener = Opener(desk, tmp_path / "told")
    first = await desk.do("open", app=APP, eventUrlTemplate="opener://event?name={event}&payload={payload}")
    for name in ("one", "two"):
        await desk.do("trigger-app-event", event=name)
    assert [event["name"] for event in await opener.got(2)] == ["one", "two"]
    assert len(opener.addresses) == 2
    windows = [window for window in await desk.windows() if window.title == "Opener"]
    assert [window.pid for window in windows] == [first.data["pid"]]


async def test_an_event_of_a_scheme_nobody_opens_is_refused(desk: Seated, tmp_path: Path) -> None:
    opener = Opener(desk, tmp_path / "told")
    await desk.do("open", eventUrlTemplate="nobody-opens-this://event?name={event}")
    answer = await desk.do("trigger-app-event", event="one", expect="app_not_found")
    assert answer.error is not None and answer.error.details["looked_for"] == "nobody-opens-this"
    assert opener.addresses == []
