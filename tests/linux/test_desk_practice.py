"""The practice app as a GTK program: it reports what it received, in order, and says truly what is on its screens."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

import anydevice_linux
from anydevice.driver import TreeScope
from anydevice_linux.a11y import A11y
from anydevice_linux.practicing import runs_here
from anydevice_linux.x11 import XDisplay, XKeys, XPointer
from anydevice_linux.x11.windows import Windows
from anydevice_schemas import Node, Point, Tree
from anydevice_schemas.practice import SCREENS, SECRET, as_data

from .a11y import FULL, reading
from .desktop import SYSTEM_PYTHON, Seat, end, missing

ABSENT = missing() or (None if runs_here() else "the system's Python has no GTK")
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(ABSENT is not None, reason=ABSENT or "")]
APP = Path(anydevice_linux.__file__).parent / "practice" / "practice_app.py"
PATIENCE = 30.0


class Witness:
    """What the app reports to."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/witness/x"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def said(self, what: str) -> list[Any]:
        return [report["value"] for report in self.reports if report["what"] == what]

    async def until(self, wanted: Callable[[], bool], seconds: float = PATIENCE) -> None:
        with anyio.move_on_after(seconds):
            while not wanted():
                await anyio.sleep(0.01)
        assert wanted(), "\n".join(map(str, self.reports))


class Practice:
    """The app on the test desktop, and hands on it."""

    def __init__(self, seat: Seat, spec: Path, a11y: A11y, display: XDisplay) -> None:
        self.seat, self.spec, self.a11y = seat, spec, a11y
        self.pointer, self.keys = XPointer(display), XKeys(display, a11y.focused)
        self.windows = Windows(display)
        self.witness = Witness()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return self.seat.launch([SYSTEM_PYTHON, APP, "--spec", self.spec, *words])

    async def show(self, screen: str, *words: str) -> Tree:
        """Begins a run on a screen."""
        self.witness.close()
        self.witness = Witness()
        process = self.start("--screen", screen, "--witness", self.witness.address, *words)
        if self.process is None or self.process.poll() is not None:
            self.process = process
        await self.witness.until(lambda: self.witness.said("ready") == [screen])
        with anyio.fail_after(PATIENCE):
            while (await self.windows.active() or self).title != SCREENS[screen].title:  # type: ignore[union-attr]
                await anyio.sleep(0.01)
        return await self.tree()

    title = ""

    async def tree(self) -> Tree:
        return await self.a11y.tree(FULL)

    async def node(self, id: str) -> Node:
        return named(await self.tree(), id)

    async def middle(self, id: str) -> Point:
        rect = (await self.node(id)).rect
        assert rect is not None
        return rect.center

    async def press(self, id: str) -> None:
        await self.pointer.click(await self.middle(id))


def named(tree: Tree, id: str) -> Node:
    """The element of an identifier."""
    found = [node for node in tree.nodes if node.identifier == id]
    assert len(found) == 1, (id, [(node.role, node.name, node.identifier) for node in tree.nodes])
    return found[0]


@pytest.fixture
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("practice") / "specification.json"
    path.write_text(json.dumps(as_data(), ensure_ascii=False), "utf-8")
    return path


@pytest.fixture
async def practice(seat: Seat, spec: Path) -> AsyncIterator[Practice]:
    display = await XDisplay.open(seat.display, None, deadline=PATIENCE)
    async with reading(seat) as a11y:
        made = Practice(seat, spec, a11y, display)
        yield made
        made.witness.close()
        if made.process is not None:
            seat.end(made.process)
    await display.aclose()


@pytest.fixture
def lone(seat: Seat, spec: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> subprocess.Popen[bytes]:
        started.append(seat.launch([SYSTEM_PYTHON, APP, *words]))
        return started[-1]

    yield start
    for process in started:
        end(process)


async def test_it_says_what_it_needs(lone: Callable[..., subprocess.Popen[bytes]]) -> None:
    assert await anyio.to_thread.run_sync(lone("--screen", "home").wait) == 2


async def test_a_press_is_reported_before_what_it_does_in_order(practice: Practice) -> None:
    await practice.show("home")
    for _ in range(3):
        await practice.press("home.increment")
        await anyio.sleep(0.02)
    await practice.witness.until(lambda: practice.witness.said("count") == [1, 2, 3])
    reports = practice.witness.reports
    assert [report["seq"] for report in reports] == list(range(1, 8))
    assert [report["what"] for report in reports] == ["ready", *["press", "count"] * 3]
    assert {report["screen"] for report in reports} == {"home"}


async def test_going_leads_to_the_screen_and_its_way_back(practice: Practice) -> None:
    await practice.show("home")
    await practice.press("home.form")
    await practice.witness.until(lambda: practice.witness.said("ready") == ["home", "form"])
    await practice.keys.press("alt+left")
    await practice.witness.until(lambda: practice.witness.said("ready") == ["home", "form", "home"])


async def test_a_second_start_is_a_fresh_run_of_the_one_instance(practice: Practice) -> None:
    await practice.show("home")
    await practice.press("home.increment")
    await practice.witness.until(lambda: practice.witness.said("count") == [1])
    old = practice.witness
    await practice.show("home")
    assert practice.process is not None and practice.process.poll() is None
    await practice.press("home.increment")
    await practice.witness.until(lambda: practice.witness.said("count") == [1])
    assert practice.witness.reports[0]["seq"] == 1
    assert old.said("ready") == ["home"]


async def test_links_and_events_reach_the_running_instance(practice: Practice) -> None:
    await practice.show("echo", "one", "two words")
    link = "practice://x?event=a.b&payload=%7B%22n%22%3A%20%5B1%2C%20%22%C3%BC%22%5D%7D"
    assert await anyio.to_thread.run_sync(practice.start("practice://x?a=%C3%BC").wait) == 0
    assert await anyio.to_thread.run_sync(practice.start(link).wait) == 0
    await practice.witness.until(lambda: len(practice.witness.said("event")) == 1)
    assert practice.witness.said("link") == ["practice://x?a=%C3%BC", link]
    assert practice.witness.said("event") == [{"name": "a.b", "payload": {"n": [1, "ü"]}}]
    assert practice.witness.said("ready") == ["echo"]


async def test_what_is_on_the_screens_is_told_to_accessibility(practice: Practice) -> None:
    for screen, wanted in (
        ("home", {"home.title": "heading", "home.count": "status"}),
        ("form", {"form.name": "textbox", "form.volume": "slider", "form.colour": "combobox", "form.veil": "image"}),
        ("form", {"form.wifi": "switch"}),
        ("states", {"states.day": "tab", "states.agree": "checkbox", "states.more": "button"}),
        ("text", {"text.number": "spinbutton", "text.off": "textbox"}),
        ("gestures", {"gestures.zone": "region", "gestures.hold": "button"}),
    ):
        tree = await practice.show(screen)
        for id, role in wanted.items():
            assert named(tree, id).role == role, id
    tree = await practice.show("states")
    states = {
        spec.id: named(tree, spec.id).states for spec in SCREENS["states"].elements if "hidden" not in spec.states
    }
    assert "selected" in states["states.day"] and "selected" not in states["states.night"]
    assert "collapsed" in states["states.more"] and "checked" in states["states.agree"]
    assert "readonly" in states["states.fixed"] and "required" in states["states.needed"]
    secret = named(tree, "states.secret")
    assert secret.secure and SECRET not in repr(tree.nodes)
    ghosts = [node for node in tree.nodes if node.name == "Ghost"]
    assert all("hidden" in node.states for node in ghosts)


async def test_states_change_as_the_specification_says(practice: Practice) -> None:
    await practice.show("states")
    await practice.press("states.night")
    await practice.press("states.more")
    await practice.witness.until(lambda: len(practice.witness.said("press")) == 2)
    tree = await practice.tree()
    assert "selected" in named(tree, "states.night").states and "selected" not in named(tree, "states.day").states
    assert named(tree, "states.more").states & {"expanded", "collapsed"} == {"expanded"}


async def test_every_change_of_a_field_is_reported_and_a_secret_only_by_its_length(practice: Practice) -> None:
    await practice.show("form")
    await practice.press("form.name")
    await practice.keys.type_text("Adä ☃")
    await practice.witness.until(lambda: (practice.witness.said("fill") or [""])[-1] == "Adä ☃")
    assert not practice.witness.said("key")
    assert "disabled" not in (await practice.node("form.submit")).states
    await practice.press("form.submit")
    await practice.witness.until(lambda: practice.witness.said("submit") == ["Adä ☃"])
    await practice.press("form.password")
    await practice.keys.type_text("four")
    await practice.witness.until(lambda: practice.witness.said("fill")[-1] == 4)
    await practice.press("form.letters")
    await practice.keys.type_text("a1b2")
    await practice.witness.until(lambda: practice.witness.said("fill")[-1] == "ab")
    assert "four" not in repr(practice.witness.reports)


async def test_keys_sent_right_after_a_press_reach_what_was_pressed(practice: Practice) -> None:
    await practice.show("form")
    fields = {id: await practice.middle(id) for id in ("form.name", "form.letters")}
    wanted = ["form.name", "form.letters"] * 15
    for id in wanted:
        await practice.pointer.click(fields[id])
        await practice.keys.press("x")
    await practice.witness.until(lambda: len(practice.witness.said("fill")) >= len(wanted))
    assert [report["id"] for report in practice.witness.reports if report["what"] == "fill"] == wanted


async def test_a_field_that_is_replaced_reports_the_new_text_last(practice: Practice) -> None:
    await practice.show("form")
    for text in ("first", "second"):
        await practice.a11y.elements.set_text(str((await practice.node("form.name")).key), text)
        await practice.witness.until(lambda text=text: (practice.witness.said("fill") or [""])[-1] == text)  # type: ignore[misc]


async def test_keys_are_reported_in_the_words_of_the_specification(practice: Practice) -> None:
    await practice.show("echo")
    chords = ["ctrl+k", "ctrl+shift+k", "shift+tab", "tab", "enter", "pageup", "f5", "up", "alt+x", "meta+x"]
    for chord in chords:
        await practice.keys.press(chord)
    await practice.witness.until(lambda: len(practice.witness.said("key")) >= len(chords))
    assert practice.witness.said("key") == chords
    await practice.press("echo.field")
    await practice.keys.type_text("x!")
    await practice.keys.press("ctrl+a")
    await practice.witness.until(lambda: practice.witness.said("key")[-1] == "ctrl+a")
    assert practice.witness.said("key") == [*chords, "ctrl+a"]
    assert practice.witness.reports[-1]["id"] == "echo.field"


async def test_gestures_are_felt_as_what_they_are(practice: Practice) -> None:
    await practice.show("gestures")
    await practice.pointer.click(await practice.middle("gestures.hold"), hold=0.7)
    await practice.witness.until(lambda: len(practice.witness.said("hold")) == 1)
    assert 0.65 <= practice.witness.said("hold")[0] <= 1.5
    await practice.pointer.click(await practice.middle("gestures.hold"))
    await practice.witness.until(lambda: len(practice.witness.said("press")) == 1)
    card, zone = await practice.middle("gestures.source"), await practice.middle("gestures.zone")
    await practice.pointer.drag(card, zone, seconds=0.3)
    await practice.witness.until(lambda: practice.witness.said("drag") == [["gestures.source", "gestures.zone"]])
    pad = await practice.middle("gestures.pad")
    for way, to in (("left", (-60, 0)), ("right", (60, 0)), ("up", (0, -60)), ("down", (0, 60))):
        await practice.pointer.drag(pad, Point(pad.x + to[0], pad.y + to[1]), seconds=0.15)
        await practice.witness.until(lambda way=way: (practice.witness.said("swipe") or [""])[-1] == way)  # type: ignore[misc]
    await practice.pointer.move(await practice.middle("gestures.hover"))
    await practice.witness.until(lambda: len(practice.witness.said("hover")) >= 1)
    assert [report["id"] for report in practice.witness.reports if report["what"] == "press"] == ["gestures.hold"]
    assert "Hovered" in [node.name for node in (await practice.tree()).nodes if "hidden" not in node.states]


async def test_what_covers_takes_the_input(practice: Practice) -> None:
    await practice.show("form")
    await practice.press("form.covered")
    await practice.witness.until(lambda: len(practice.witness.said("press")) == 1)
    assert practice.witness.reports[-1]["id"] == "form.veil"


async def test_dialogs_report_their_answer(practice: Practice) -> None:
    await practice.show("alerts")
    for button, dismissed, told in (
        ("alerts.alert", True, "accept"),
        ("alerts.confirm", True, "dismiss"),
        ("alerts.confirm", False, "accept"),
        ("alerts.prompt", False, "Ada 👍"),
        ("alerts.prompt", True, "dismiss"),
    ):
        await practice.press(button)
        with anyio.fail_after(PATIENCE):
            while (dialog := await practice.a11y.alerts.get()) is None:
                await anyio.sleep(0.02)
        before = len(practice.witness.said("dialog"))
        if dismissed:
            await practice.a11y.alerts.dismiss()
        else:
            await practice.a11y.alerts.accept(told if dialog.takes_text else None)
        await practice.witness.until(lambda before=before: len(practice.witness.said("dialog")) > before)  # type: ignore[misc]
        assert practice.witness.said("dialog")[-1] == told


async def test_rows_exist_only_near_what_is_seen_and_come_back_new(practice: Practice) -> None:
    def rows(tree: Tree) -> dict[int, str | None]:
        return {int(n.name.split()[1]): n.key for n in tree.nodes if n.role == "listitem"}

    first = rows(await practice.show("list"))
    assert 0 in first and len(first) <= 60
    assert list(first) == sorted(first)
    active = await practice.windows.active()
    assert active is not None
    middle = active.client.center
    await practice.pointer.wheel(middle, dy=4000)
    with anyio.fail_after(PATIENCE):
        while set(first) & set(second := rows(await practice.tree())):
            await anyio.sleep(0.05)
    assert list(second) == sorted(second) and not set(first.values()) & set(second.values())
    await anyio.sleep(0.3)  # the wheel has been turned, and the list has come to rest
    second = rows(await practice.tree())
    number = min(second) + 12
    await practice.press(f"row.{number}")
    await practice.witness.until(lambda: len(practice.witness.said("press")) == 1)
    assert practice.witness.reports[-1]["id"] == f"row.{number}"
    await practice.pointer.wheel(middle, dy=-9000)
    with anyio.fail_after(PATIENCE):
        while 0 not in (third := rows(await practice.tree())):
            await anyio.sleep(0.05)
    assert third[0] != first[0]


async def test_a_row_off_screen_is_revealed_though_rows_come_and_go(practice: Practice) -> None:
    await practice.show("list")
    with anyio.fail_after(PATIENCE):  # it is in the tree before it has its place
        while "offscreen" not in (row := named(await practice.tree(), "row.38")).states:
            await anyio.sleep(0.02)
    assert (await practice.a11y.elements.reveal(str(row.key))).verified
    shown = named(await practice.tree(), "row.38")
    assert shown.key == row.key and "offscreen" not in shown.states


async def test_what_shows_text_besides_its_name_has_it_as_its_value(practice: Practice) -> None:
    assert named(await practice.show("home"), "home.count").value == "0"
    await practice.press("home.increment")
    await practice.witness.until(lambda: practice.witness.said("count") == [1])
    assert (await practice.node("home.count")).value == "1"


async def test_a_long_name_is_cut_at_the_source_and_told(practice: Practice) -> None:
    await practice.show("text")
    tree = await practice.a11y.tree(TreeScope(mode="full", max_text=100))
    assert len(named(tree, "text.long").name) == 100
    assert tree.omitted["text"] >= 1


async def test_renewing_gives_everything_a_new_identity(practice: Practice) -> None:
    old = named(await practice.show("list"), "list.refresh").key
    await practice.press("list.refresh")
    await practice.witness.until(lambda: len(practice.witness.said("press")) == 1)
    with anyio.fail_after(PATIENCE):
        while (await practice.node("list.refresh")).key == old:
            await anyio.sleep(0.02)


async def test_it_freezes_after_the_report_and_thaws(practice: Practice) -> None:
    await practice.show("busy")
    point = await practice.middle("busy.press")
    await practice.press("busy.pause")
    await practice.witness.until(lambda: practice.witness.said("press") == [None])
    began = time.monotonic()
    await anyio.sleep(0.2)
    await practice.pointer.click(point)
    await practice.witness.until(lambda: len(practice.witness.said("press")) == 2)
    assert 2.0 < time.monotonic() - began < PATIENCE


async def test_it_crashes_after_the_report(practice: Practice) -> None:
    await practice.show("busy")
    process = practice.process
    assert process is not None
    await practice.press("busy.crash")
    await practice.witness.until(lambda: practice.witness.said("press") == [None])
    assert await anyio.to_thread.run_sync(process.wait) == -6
    await practice.show("home")


async def test_a_witness_that_is_gone_bothers_nobody(practice: Practice) -> None:
    await practice.show("home")
    practice.witness.close()
    await practice.press("home.increment")
    await practice.press("home.form")
    with anyio.fail_after(PATIENCE):
        while (await practice.tree()).title != "Form":
            await anyio.sleep(0.02)
