"""Logs of a desktop: what programs that were opened wrote, in order, bounded, over a hand-over; and the journal."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import Environment, HostServices, LogLine
from anydevice.kit import processes
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.journal import Journal, _entry
from anydevice_linux.logs import Place, _together
from anydevice_linux.output import (
    BYTES_MOST,
    LINE_MOST,
    LINES_MOST,
    PROGRAMS_MOST,
    Output,
    Page,
    level_of,
)
from anydevice_linux.practicing import SYSTEM_PYTHON, runs_here
from anydevice_schemas import Answer

from .desktop import missing
from .through import PATIENCE, Seated, eventually, seated

ABSENT = missing() or (None if runs_here() else "the system's Python has no GTK")
needs_a_desktop = pytest.mark.skipif(ABSENT is not None, reason=ABSENT or "")
pytestmark = pytest.mark.anyio
PROGRAM = Path(__file__).parent / "programs" / "chatty_gtk.py"
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Seated]:
    async with seated(tmp_path_factory.mktemp("logs")) as made:
        yield made


class Chatty:
    """A program that writes what it is told to."""

    def __init__(self, desk: Seated, orders: Path, app: str) -> None:
        self.desk, self.orders, self.app = desk, orders, app

    def tell(self, order: str) -> None:
        with self.orders.open("a", encoding="utf-8") as file:
            file.write(order + "\n")

    async def lines(self, wanted: str, **arguments: Any) -> list[str]:
        """What the log has of it, once it has a line that ends so."""
        lines: list[str] = []
        with anyio.move_on_after(PATIENCE):
            while not any(line.endswith(wanted) for line in lines):
                lines = (await self.read(**arguments)).data["text"].splitlines()
                await anyio.sleep(0.03)
        assert any(line.endswith(wanted) for line in lines), lines[-5:]
        return lines

    async def read(self, **arguments: Any) -> Answer:
        return await self.desk.do("logs", action="read", app=self.app, **arguments)


@pytest.fixture
async def chatty(desk: Seated, tmp_path: Path) -> AsyncIterator[Chatty]:
    orders = tmp_path / "orders"
    orders.touch()
    app = f"dev.anydevice.test.chatty{next(numbers)}"
    desk.install(app, [SYSTEM_PYTHON, PROGRAM, orders])
    await desk.do("open", app=app)
    yield Chatty(desk, orders, app)
    await desk.do("close", app=app, force=True)
    await desk.do("logs", action="stop")


@needs_a_desktop
async def test_stdout_and_stderr_are_one_log_in_their_order(chatty: Chatty) -> None:
    await chatty.desk.do("logs", action="start", app=chatty.app)
    chatty.tell("out first\nerr (chatty:1): Gtk-WARNING **: 12:00:00.000: second\nchild third\nout Grüße 設定 👩‍👩‍👧")
    lines = await _said(chatty, "first", 4)
    assert [line.split("] ", 1)[1].split()[-1] for line in lines[:3]] == ["first", "second", "third"]
    assert " warning " in lines[1] and " warning " not in lines[0]
    assert "Grüße 設定" in lines[3]
    assert all(chatty.app in line for line in lines)
    entries = (await chatty.read(responseLevel="full")).data["entries"]
    assert entries[3]["text"] == "Grüße 設定 👩‍👩‍👧"


async def _said(chatty: Chatty, first: str, count: int) -> list[str]:
    lines: list[str] = []
    with anyio.move_on_after(PATIENCE):
        while len(lines) < count:
            lines = (await chatty.read()).data["text"].splitlines()
            await anyio.sleep(0.03)
    assert len(lines) >= count and lines[0].endswith(first), lines
    return lines


@needs_a_desktop
async def test_a_flood_is_bounded_and_what_is_gone_is_told(chatty: Chatty) -> None:
    await chatty.desk.do("logs", action="start", app=chatty.app)
    chatty.tell("many 20000\nout the end")
    with anyio.move_on_after(PATIENCE):
        while not (await chatty.read(contains="the end")).data["lines"]:
            await anyio.sleep(0.05)
    answer = await chatty.read(limit=5000)
    assert answer.truncated[0] == "some older lines, gone from the device's log"
    output = chatty.desk.backend._running["virtual"].output
    (ring,) = [ring for ring in output._rings if ring.app == chatty.app and ring.lines]
    assert ring.size <= BYTES_MOST and len(ring.lines) <= LINES_MOST
    assert ring.lines[-1].text == "the end"


@needs_a_desktop
async def test_bytes_that_are_no_text_and_lines_without_an_end_do_no_harm(chatty: Chatty) -> None:
    await chatty.desk.do("logs", action="start", app=chatty.app)
    chatty.tell("raw ff00fe0a\nraw " + "41" * 20 + "\nout  closing")
    lines = await chatty.lines("closing")
    assert "\\u0000" in lines[0]
    assert lines[-1].endswith("A" * 20 + " closing")


@needs_a_desktop
async def test_an_app_that_has_ended_keeps_its_log(chatty: Chatty) -> None:
    chatty.tell("out my last words")
    await chatty.lines("my last words")
    await chatty.desk.do("close", app=chatty.app, force=True, keepSession=True)
    await chatty.lines("my last words")


@needs_a_desktop
async def test_two_apps_have_two_logs_and_one_together(desk: Seated, chatty: Chatty, tmp_path: Path) -> None:
    orders = tmp_path / "more"
    orders.touch()
    desk.install("dev.anydevice.test.second", [SYSTEM_PYTHON, PROGRAM, orders])
    await desk.do("open", app="dev.anydevice.test.second")
    second = Chatty(desk, orders, "dev.anydevice.test.second")
    await desk.do("logs", action="start")
    chatty.tell("out of the first")
    await chatty.lines("of the first")
    second.tell("out of the second")
    lines = await second.lines("of the second")
    assert not any(line.endswith("of the first") for line in lines)
    both = (await desk.do("logs", action="read")).data["text"].splitlines()
    assert [line.rpartition(" ")[2] for line in both] == ["first", "second"]
    await desk.do("close", app="dev.anydevice.test.second", force=True)


@needs_a_desktop
async def test_apps_that_were_never_opened_have_no_log(desk: Seated) -> None:
    desk.install("dev.anydevice.test.silent", [sys.executable, "--version"])
    answer = await desk.do("logs", action="read", app="dev.anydevice.test.silent", expect="app_not_found")
    assert answer.error is not None and "open" in answer.error.hint
    await desk.do("logs", action="read", app="dev.anydevice.no-such-app", expect="app_not_found")
    await desk.do("logs", action="read", after="0:zzz", expect="invalid_argument")


@needs_a_desktop
async def test_a_desktop_that_was_started_anew_begins_a_new_log(tmp_path: Path) -> None:
    async with seated(tmp_path) as desk:
        before = desk.backend._running["virtual"].output.mark
        await desk.do("shutdown")
        await desk.do("boot")
        output = desk.backend._running["virtual"].output
        assert output.mark != before
        ring, sink = output.ring()
        ring.pid = 1
        sink(b"after\n")
        answer = await desk.do("logs", action="read", after=f"0:{before}.7.1")
        assert answer.data["text"].endswith("after")
        assert answer.truncated == ["some older lines, gone from the device's log"]


@needs_a_desktop
async def test_a_program_goes_on_writing_after_a_hand_over(tmp_path: Path) -> None:
    data, run = str(tmp_path / "data"), str(tmp_path / "run")
    first, second = LinuxBackend(HostServices(data, run)), LinuxBackend(HostServices(data, run))
    try:
        (row,) = [row for row in await first.devices(Environment()) if row.kind == "virtual"]
        driver = await first.connect(row, Environment())
        await driver.power.boot(headless=None, deadline=30)
        ready, go = tmp_path / "ready", tmp_path / "go"
        words = f"echo before; touch {ready}; while ! test -e {go}; do sleep 0.05; done; echo after"
        first._running["virtual"].note("writer", await driver._launch(["sh", "-c", words], None))
        await eventually(ready.exists, lambda: "it did not start")
        await eventually(lambda: first._running["virtual"].output.number == 1, lambda: "it wrote nothing")
        cursor = await driver.logs.now()
        state = json.loads(json.dumps(await first.hand_over()))
        for child in first.desktop("virtual")._programs:  # type: ignore[union-attr]
            for watcher in child._watchers:
                watcher.cancel()  # as the end of the first program does
        await second.take_up(state)
        taken = await second.connect(row, Environment())
        go.touch()
        output = second._running["virtual"].output
        await eventually(lambda: output.number == 2, lambda: "it wrote no more")
        page = await taken.logs.read(cursor, app="writer")
        assert [line.text for line in page.lines] == ["after"]
        assert [line.text for line in (await taken.logs.read(None, app="writer")).lines] == ["before", "after"]
        await taken.aclose()
    finally:
        await second.aclose()
        await first.aclose()


@needs_a_desktop
async def test_a_program_that_never_stops_writing_leaves_the_loop_to_others(desk: Seated) -> None:
    driver = await desk.router.services.connections.get(
        next(row for row in await desk.backend.devices(Environment()) if row.id == "virtual"), Environment()
    )
    child = await driver._launch(["yes"], None)  # type: ignore[attr-defined]
    output = desk.backend._running["virtual"].output
    try:
        await eventually(lambda: output.number > 50_000, lambda: output.number)
        ring = output.of(child.pid)
        assert ring is not None and len(ring.lines) <= LINES_MOST
        for _ in range(20):
            assert (await desk.do("logs", action="read", limit=1)).data["lines"] == 1
    finally:
        await processes.stop(child, grace=1.0)


# --- the ring ---


def written(*chunks: bytes, app: str = "a") -> Output:
    output = Output()
    ring, sink = output.ring()
    ring.app, ring.pid = app, 7
    for chunk in chunks:
        sink(chunk)
    return output


async def test_lines_are_joined_from_pieces_and_long_ones_are_broken() -> None:
    output = written(b"one\r\ntw", b"o\n\n", b"x" * (LINE_MOST * 2 + 5) + b"\nend\n")
    texts = [line.text for line in output.newest(None, 100)]
    assert texts[:2] == ["one", "two"] and texts[-1] == "end"
    assert [len(text) for text in texts[2:-1]] == [LINE_MOST, LINE_MOST, 5]


async def test_pages_go_on_where_they_ended_and_know_what_is_gone() -> None:
    output = written(b"".join(b"%d\n" % number for number in range(10)))
    page = output.page(0, "a", 4)
    assert [line.text for _, line in page.lines] == ["0", "1", "2", "3"]
    assert (page.number, page.more, page.lost) == (4, True, 0)
    assert [line.text for _, line in output.page(page.number, "a", 100).lines] == list("456789")
    assert output.page(10, "a", 5) == Page([], 10, False, 0)
    assert [line.text for _, line in output.page(0, "a", 100, until=2).lines] == ["0", "1"]
    assert output.page(0, "b", 5) == Page([], 10, False, 0)
    flooded = written(b"y" * 1000 + b"\n", *([b"z" * 1000 + b"\n"] * 2000))
    assert flooded.page(0, "a", 1).lost is None
    assert flooded.page(1900, "a", 1).lost == 0


async def test_the_newest_lines_survive_a_hand_over(tmp_path: Path) -> None:
    output = written(*(b"%06d " % number + b"x" * 90 + b"\n" for number in range(2000)), b"unfinished")
    path = tmp_path / "output.json"
    output.save(path)
    taken = Output()
    taken.load(path)
    assert not path.exists()
    assert (taken.mark, taken.number) == (output.mark, 2000)
    assert taken.newest("a", 1)[0].text.startswith("001999")
    assert taken.page(0, "a", 1).lost is None and taken.page(1999, "a", 5).lost == 0
    ring = taken.of(7)
    assert ring is not None
    taken.sink(ring)(b" line\n")
    assert taken.newest("a", 1)[0].text == "unfinished line"


async def test_a_program_that_runs_keeps_its_log_however_many_come_and_go() -> None:
    output = Output()
    mine, sink = output.ring()
    mine.app, mine.pid = "mine", os.getpgid(0)
    sink(b"still here\n")
    talker, say = output.ring()
    talker.app, talker.pid = "talker", 2**22 + 1
    say(b"last words\n")
    for _ in range(PROGRAMS_MOST * 2):
        output.ring()[0].pid = 2**22 + 1
    assert output.apps() >= {"mine", "talker"}
    assert [line.text for line in output.newest(None, 5)] == ["still here", "last words"]


async def test_pages_of_many_programs_are_in_the_order_of_the_lines() -> None:
    output = Output()
    sinks = []
    for name in "abc":
        ring, sink = output.ring()
        ring.app = name
        sinks.append(sink)
    for number in range(300):
        sinks[number * 7 % 3](b"%d\n" % number)
    got: list[str] = []
    page = Page([], 0, True, 0)
    while page.more:
        page = output.page(page.number, None, 7)
        got += [line.text for _, line in page.lines]
    assert got == [str(number) for number in range(300)]
    assert [line.text for _, line in output.page(290, "a", 99, until=297).lines] == ["291", "294"]


@pytest.mark.parametrize("text", ["", "no json", "{}", '{"mark": 1, "number": "x", "rings": []}', '{"rings": [{}]}'])
async def test_a_file_that_cannot_be_read_is_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "output.json"
    path.write_text(text)
    output = Output()
    mark = output.mark
    output.load(path)
    assert (output.mark, output.number, path.exists()) == (mark, 0, False)
    output.load(path)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("(gedit:12): Gtk-WARNING **: 00:00:00.000: x", "warning"),
        ("(gedit:12): GLib-GIO-CRITICAL **: 00:00:00.000: x", "error"),
        ("** (process:9): WARNING **: x", "warning"),
        ("** Message: x", "info"),
        ("(a:1): dconf-DEBUG: x", "debug"),
        ("[123:456:1201/003501.123456:ERROR:some_file.cc(12)] x", "error"),
        ("WARNING: x", "warning"),
        ("a WARNING: x", None),
        ("everything is fine", None),
        ("", None),
    ],
)
async def test_levels_are_read_where_a_line_says_one(text: str, level: str | None) -> None:
    assert level_of(text) == level


# --- the journal ---


async def test_two_logs_make_one_page_by_time_and_each_goes_on_from_its_own_line() -> None:
    own = [(number, LogLine(f"own{number}", time=float(number))) for number in (1, 3, 5)]
    theirs = [(number * 1_000_000, LogLine(f"theirs{number}", time=float(number))) for number in (2, 4, 6)]
    start = Place("ab", 0, 0)
    page = _together(Page(own, 9, False, 0), theirs, start, 8_000_000, 4, 0)
    assert [line.text for line in page.lines] == ["own1", "theirs2", "own3", "theirs4"]
    assert (page.cursor, page.more) == ("ab.3.4000000", True)
    page = _together(Page(own, 9, False, 0), theirs, start, 8_000_000, 6, 0)
    assert (page.cursor, page.more, len(page.lines)) == ("ab.9.8000000", False, 6)
    page = _together(Page([], 9, False, 0), theirs, start, 8_000_000, 2, 0)
    assert (page.cursor, page.more) == ("ab.9.4000000", True)


async def test_entries_of_the_journal_are_read_as_they_are_written() -> None:
    row: dict[str, Any] = {
        "__REALTIME_TIMESTAMP": "1764547200000001", "_PID": "42", "PRIORITY": "4", "MESSAGE": "two\nlines",
        "SYSLOG_IDENTIFIER": "gedit", "_COMM": "gedit",
    }  # fmt: skip
    entry = _entry(json.dumps(row).encode())
    assert entry is not None
    at, line = entry
    assert (at, line.text, line.level, line.tag, line.pid) == (1764547200000001, "two\nlines", "warning", "gedit", 42)
    as_bytes = _entry(json.dumps({**row, "MESSAGE": list("Grüße".encode())}).encode())
    assert as_bytes is not None and as_bytes[1].text == "Grüße"
    several = _entry(json.dumps({**row, "MESSAGE": ["one", "two"], "PRIORITY": "99"}).encode())
    assert several is not None and (several[1].text, several[1].level) == ("one", None)
    for broken in (b"", b"{", b"[]", b'{"MESSAGE": "x"}', b'{"__REALTIME_TIMESTAMP": "x"}', b"null"):
        assert _entry(broken) is None


@pytest.fixture
def journal_file(tmp_path: Path) -> Iterator[Path]:
    """A journal that systemd's own program wrote."""
    places = [Path(folder) / "systemd-journal-remote" for folder in ("/lib/systemd", "/usr/lib/systemd")]
    program = next((place for place in places if place.exists()), None)
    if program is None or shutil.which("journalctl") is None:
        pytest.skip("not installed: systemd-journal-remote")
    rows = []
    for number, (pid, text) in enumerate([(7, "one"), (8, "other"), (7, "two"), (7, "three")], 1):
        rows.append(
            f"__REALTIME_TIMESTAMP={1764547200000000 + number * 1_000_000}\n__MONOTONIC_TIMESTAMP={number}\n"
            f"_BOOT_ID=00000000000000000000000000000001\n_PID={pid}\nPRIORITY=3\nSYSLOG_IDENTIFIER=app\nMESSAGE={text}\n"
        )
    path = tmp_path / "test.journal"
    subprocess.run(
        [program, f"--output={path}", "-"], input="\n".join([*rows, ""]).encode(), check=True, capture_output=True,
        timeout=30,
    )  # fmt: skip
    yield path


async def test_the_journal_is_read_by_process_and_by_time(journal_file: Path) -> None:
    journal = Journal({"PATH": os.environ["PATH"]}, [f"--file={journal_file}"])
    first = 1764547200000000
    everything = await journal.newest([7], 100)
    assert [line.text for _, line in everything] == ["one", "two", "three"]
    assert [line.text for _, line in await journal.newest([7], 2)] == ["two", "three"]
    assert [line.text for _, line in await journal.newest([7, 8], 10)] == ["one", "other", "two", "three"]
    assert await journal.newest([], 10) == [] and await journal.newest([99], 10) == []
    part = await journal.between([7], first + 1_000_000, first + 3_000_000, 10)
    assert [line.text for _, line in part] == ["two"]
    assert [line.text for _, line in await journal.between([7], 0, first + 9_000_000, 2)] == ["one", "two"]
    assert (await journal.between([7], first, first, 10)) == []
    assert everything[0][1].level == "error" and everything[0][1].tag == "app"
