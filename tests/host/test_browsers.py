"""What becomes of a real browser when its daemon, or the connection it was opened over, ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from anydevice.host import record

from ..support.daemons import Home, eventually, only

pytestmark = [pytest.mark.daemon, pytest.mark.chromium]


@pytest.fixture
def home() -> Iterator[Home]:
    with Home.made(only("web")) as made:
        yield made


def browsers(home: Home) -> list[int]:
    """Processes that were started with a folder of this home."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(home.path).encode() in line and b"anydevice.host" not in line:
                found.append(int(entry.name))
    return found


def test_a_stop_ends_the_browser_and_every_process_of_it(home: Home, tmp_path: Path) -> None:
    booted = home.json("boot", "chromium", cwd=tmp_path)
    assert booted["verified"] is True
    assert browsers(home)
    found = home.record
    assert found is not None
    os.kill(home.pid, signal.SIGTERM)
    eventually(lambda: not record.lives(found), "the daemon ends")
    eventually(lambda: not browsers(home), "the browser is gone")


def test_a_browser_that_lost_its_daemon_does_not_stay_for_ever(home: Home, tmp_path: Path) -> None:
    home.json("boot", "chromium", cwd=tmp_path)
    before = browsers(home)
    assert before
    os.kill(home.pid, signal.SIGKILL)
    eventually(lambda: not home.running(), "the daemon is gone")
    told = home.json("appstate", code=1, cwd=tmp_path)["error"]
    assert (told["code"], told["details"]["lost"][0]["device"]) == ("connection_lost", "web:chromium")
    home.json("boot", "chromium", cwd=tmp_path)
    eventually(lambda: not set(before) & set(browsers(home)), "the old browser is gone")


def test_what_a_connection_opened_is_let_go_when_it_ends(home: Home) -> None:
    home.serve()
    wire = home.hello()
    opened = wire.ask({"id": 1, "call": "open", "arguments": {"device": "chromium", "boot": True}})["answer"]
    assert opened["ok"], opened
    assert browsers(home)
    wire.send({"goodbye": True})
    wire.close()
    other = home.hello()
    row = eventually(
        lambda: next(
            (
                row
                for row in other.ask({"id": 1, "call": "devices"})["answer"]["data"]["devices"]
                if row["id"] == "chromium" and "lease" not in row
            ),
            None,
        ),
        "the device is free",
    )
    assert row["state"] in ("ready", "shutdown")
    again = other.ask({"id": 2, "call": "open", "arguments": {"device": "chromium", "boot": True}})["answer"]
    assert again["ok"], again
