"""A browser that runs before the daemon is replaced by a newer version runs after it: same process, same page."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anydevice.client import Client
from anydevice_schemas.errors import AnydeviceError

from ..support.daemons import VERSION, Home, eventually, greeting, only
from ..support.versions import Version, installed

pytestmark = [pytest.mark.daemon, pytest.mark.chromium]

BODY = """<!doctype html><title>kept</title><label>Name <input></label>
<button onclick="window.n=(window.n||0)+1; this.textContent='pressed '+window.n">Press</button>
<button onclick="setTimeout(()=>this.textContent='said '+confirm('Really?'),300)">Ask</button>
<a href="about:blank" target="_blank">More</a>"""
PAGE = "data:text/html;base64," + base64.b64encode(BODY.encode()).decode()


@pytest.fixture(scope="module")
def newer() -> Iterator[Version]:
    with tempfile.TemporaryDirectory(prefix="ad-v-") as folder:
        yield installed(Path(folder), "99.0")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with Home.made(only("web")) as made:
        made.extra = {"PYTHONPATH": str(made.plugins)}
        for name in ("ANYDEVICE_HOME", "PYTHONPATH"):
            monkeypatch.setenv(name, made.environ[name])
        made.serve()
        yield made


@pytest.fixture
def client(home: Home) -> Iterator[Client]:
    with Client() as made:
        made.open(url=PAGE, device="chromium", boot=True)
        yield made


def processes(home: Home) -> set[tuple[int, str]]:
    """Every process of a browser of this home that is no zombie, by id and start."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line, fields = (entry / "cmdline").read_bytes(), (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if str(home.path).encode() in line and b"anydevice.host" not in line and fields[0] not in "ZX":
                found.add((int(entry.name), fields[19]))
    return found


def browser_process(home: Home) -> tuple[int, str]:
    """The browser itself: the child of the daemon."""
    for pid, stamp in processes(home):
        with contextlib.suppress(OSError):  # one of its helpers that has ended
            if int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) == home.pid:
                return pid, stamp
    raise AssertionError("the daemon has no browser")


def shown(client: Client) -> str:
    return json.dumps(client.snapshot().data)


def hand_over(home: Home, newer: Version) -> None:
    pid = home.pid
    assert newer.json(home, "say", "x")["data"]["pid"] == pid
    assert (home.record or {})["version"] == "99.0"


def row(client: Client) -> dict[str, Any]:
    rows: list[dict[str, Any]] = client.devices().data["devices"]
    return next(row for row in rows if row["id"] == "chromium")


def test_a_browser_goes_on_with_its_page_and_what_was_done_on_it(home: Home, newer: Version, client: Client) -> None:
    client.fill(target="Name", text="Ada")
    client.press(target="Press")
    before = browser_process(home)
    session = client.appstate().session
    tabs = client.tabs(action="list").data
    hand_over(home, newer)
    assert browser_process(home) == before
    assert row(client)["state"] == "ready"
    told = client.appstate()
    assert told.session == session
    restarted = [notice for notice in told.notices if notice.kind == "daemon_restarted"]
    assert len(restarted) == 1, told.notices
    assert client.tabs(action="list").data == tabs
    page = shown(client)
    assert "Ada" in page and "pressed 1" in page
    client.press(target="pressed 1")
    assert "pressed 2" in shown(client)


def test_a_browser_that_was_taken_up_is_ended_like_any_other(home: Home, newer: Version, client: Client) -> None:
    hand_over(home, newer)
    pid, _ = browser_process(home)
    client.shutdown(device="chromium")
    eventually(lambda: not processes(home), "nothing of it is left")
    eventually(lambda: not Path(f"/proc/{pid}").exists(), "it is reaped")
    assert not list((home.path / "run" / "web").glob("boot-*"))
    client.open(url=PAGE, device="chromium", boot=True)
    assert "kept" in shown(client)


def test_a_browser_that_was_taken_up_ends_with_its_daemon(home: Home, newer: Version, client: Client) -> None:
    hand_over(home, newer)
    assert processes(home)
    os.kill(home.pid, signal.SIGKILL)
    eventually(lambda: not processes(home), "the browser is gone")


def test_a_dialog_that_is_open_stays_open_and_can_be_answered(home: Home, newer: Version, client: Client) -> None:
    client.press(target="Ask")
    eventually(lambda: dialog_is_open(client), "the dialog is open")
    hand_over(home, newer)
    assert dialog_is_open(client)
    client.alert(action="accept")
    eventually(lambda: "said true" in shown(client), "the page went on")


def dialog_is_open(client: Client) -> bool:
    try:
        client.snapshot()
    except AnydeviceError as error:
        assert error.code == "dialog_open", error
        return True
    return False


def test_tabs_opened_before_keep_their_names_and_later_ones_get_new_names(
    home: Home, newer: Version, client: Client
) -> None:
    client.press(target="More")
    before = eventually(lambda: two_tabs(client), "both tabs are there")
    hand_over(home, newer)
    assert two_tabs(client) == before
    client.press(target="More")
    after = eventually(lambda: {r["tab"] for r in client.tabs(action="list").data["tabs"]} - before, "a third tab")
    assert len(after) == 1


def two_tabs(client: Client) -> set[str] | None:
    found = {row["tab"] for row in client.tabs(action="list").data["tabs"]}
    return found if len(found) == 2 else None


def test_a_hand_over_that_fails_at_the_last_moment_leaves_the_browser_where_it_was(
    home: Home, newer: Version, client: Client, tmp_path: Path
) -> None:
    before = browser_process(home)
    client.press(target="Press")
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nrm -- "$0"\nexec {newer.python} "$@"\n')
    script.chmod(0o700)
    wire = home.connect()
    wire.send(greeting(version="99.0", python=str(script)))
    assert "handing_over" in wire.receive()
    assert wire.receive()["ok"] is False
    assert (home.record or {})["version"] == VERSION
    assert browser_process(home) == before
    client.press(target="pressed 1")
    assert "pressed 2" in shown(client)
    client.shutdown(device="chromium")
    eventually(lambda: not processes(home), "nothing of it is left")


def test_a_browser_that_dies_during_the_hand_over_is_told_as_lost(home: Home, client: Client, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    edit = {
        "anydevice/host/daemon.py": (
            "    home = str(settings.home)\n",
            f"    while heritage is not None and not os.path.exists({str(gate)!r}):\n        time.sleep(0.01)\n"
            "    home = str(settings.home)\n",
        )
    }
    with tempfile.TemporaryDirectory(prefix="ad-v-") as folder:
        slow = installed(Path(folder), "99.0", edits=edit)
        upgrade = slow.spawn(home, "say", "x")
        eventually(lambda: b"--took-over" in Path(f"/proc/{home.pid}/cmdline").read_bytes(), "it was replaced")
        os.kill(browser_process(home)[0], signal.SIGKILL)
        eventually(lambda: not processes(home), "the browser is gone")
        gate.touch()
        assert upgrade.wait(30) == 0
        listing = client.devices()
        told = next(notice for notice in listing.notices if notice.kind == "sessions_lost")
        assert "web:chromium" in json.dumps(told["lost"])
        assert row(client)["state"] == "shutdown"
        client.open(url=PAGE, device="chromium", boot=True)
        assert "kept" in shown(client)
