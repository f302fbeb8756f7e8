"""Daemon, browser or page die: nothing of them stays, and the next answer says what was lost, once."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import threading
from contextlib import ExitStack
from typing import Any

import pytest

from anydevice.client import connect

from ..support.daemons import PATIENCE, VERSION, Home, eventually
from .conftest import caller
from .doors import DOORS, Said
from .processes import Process, below, browsers, needs_proc, of_home
from .witness import Witness

pytestmark = [pytest.mark.daemon, pytest.mark.chromium, needs_proc]

DEVICE = "chromium"
SOON = 10.0
"""Seconds after which nothing of a daemon that was killed may be left."""


def kill_daemon(home: Home, number: signal.Signals = signal.SIGKILL) -> list[Process]:
    """Ends the daemon and sees everything it had started gone; returns what that was."""
    found = home.record
    assert found is not None
    family = below(home.pid)
    os.kill(home.pid, number)
    eventually(lambda: not home.running(), "the daemon is gone")
    # What it started between the look above and its end is found by the home folder in its command line.
    eventually(
        lambda: not any(process.lives for process in family) and not of_home(home.path),
        f"nothing of it is left: {family}",
        SOON,
    )
    return family


def lost_in(said: Said) -> set[tuple[str, str]]:
    """The sessions (name, device) an answer says were lost, by its error or by a notice."""
    rows = list(said.details.get("lost", ()))
    for notice in said.notices("sessions_lost"):
        rows += notice["lost"]
    return {(row["session"], row["device"]) for row in rows}


def kept_in(said: Said) -> set[tuple[str, str]]:
    """The sessions (name, device) an answer says go on after a restart."""
    return {(notice["session"], notice["device"]) for notice in said.notices("daemon_restarted")}


# --- the daemon ---


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("cli", "on the session"), ("python", "on the session"), ("mcp", "on the session"), ("cli", "by its name"),
        ("python", "by opening it again"), ("mcp", "on the host"),
    ],
)  # fmt: skip
def test_after_kill_9_the_caller_is_told_once_of_the_session_whose_browser_died_and_the_other_goes_on(
    home: Home, witness: Witness, tag: str, name: str, first: str
) -> None:
    home.serve()
    with ExitStack() as before:
        door = before.enter_context(caller(home, name))
        implicit = door.do("open", url=witness.url(tag), device=DEVICE, boot=True).session or ""
        door.do("open", device="fake-1", session="work")
        family = kill_daemon(home)
        assert any("--type=renderer" in process.line for process in family)
        witness.no_page(tag)
        if name == "python":
            before.pop_all()  # this very connection goes on
        else:
            before.close()
            door = before.enter_context(caller(home, name))
        gone = {(implicit, f"web:{DEVICE}")}
        if first == "on the session":
            said = door.refused("connection_lost", "press", target="Increment")
            assert said.details["restarted"] is True
        elif first == "by its name":
            said = door.refused("connection_lost", "press", target="Increment", session=implicit)
        elif first == "on the host":
            said = door.do("devices")
        else:
            said = door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
            assert witness.all(tag, "loaded") == [None, None]
            door.do("shutdown", device=DEVICE)
        assert lost_in(said) == gone and kept_in(said) == set()
        assert said.error.get("retryable") in (None, False)
        for again in (door.call("press", target="Increment", device=DEVICE), door.do("session"), door.do("devices")):
            assert lost_in(again) == set()
            assert again.code != "connection_lost"
        assert witness.all(tag, "count") == []
        assert browsers(home.pid) == []
        goes_on = door.do("press", target="Increment", session="work")
        assert kept_in(goes_on) == {("work", "fake:fake-1")} and goes_on.device == "fake:fake-1"
        assert kept_in(door.do("press", target="Increment", session="work")) == set()


def test_every_caller_is_told_of_its_own_sessions_and_of_nobody_elses(home: Home, witness: Witness, tag: str) -> None:
    home.serve()
    homes = {"cli": "fake-1", "python": "fake-2", "mcp": DEVICE}
    with ExitStack() as stack:
        for name, device in homes.items():
            door = stack.enter_context(caller(home, name, f"in-{name}"))
            door.do("open", device=device, session=f"of-{name}", boot=True)
        kill_daemon(home)
        stack.close()
        for name in reversed(homes):
            stranger = stack.enter_context(caller(home, name, "nowhere"))
            said = stranger.do("devices")
            assert lost_in(said) == kept_in(said) == set()
        for name, device in homes.items():
            door = stack.enter_context(caller(home, name, f"in-{name}"))
            said = door.do("devices")
            assert lost_in(said) == ({("of-mcp", f"web:{DEVICE}")} if name == "mcp" else set())
            assert kept_in(said) == lost_in(door.do("devices")) == set()
            if name != "mcp":
                assert kept_in(door.do("appstate", session=f"of-{name}")) == {(f"of-{name}", f"fake:{device}")}


def test_a_named_session_is_told_to_whoever_names_it_first_from_anywhere(home: Home) -> None:
    home.serve()
    with caller(home, "cli", "here") as door:
        door.do("open", device=DEVICE, boot=True, session="shared")
        door.do("open", device="fake-1", session="other")
    kill_daemon(home)
    with caller(home, "cli", "there") as door:
        assert lost_in(door.do("devices")) == set()
        assert lost_in(door.refused("connection_lost", "snapshot", session="shared")) == {("shared", f"web:{DEVICE}")}
        door.refused("session_not_found", "snapshot", session="shared")
        assert kept_in(door.do("snapshot", session="other")) == {("other", "fake:fake-1")}


def test_a_call_that_runs_when_the_daemon_is_killed_fails_typed_and_at_once(
    home: Home, witness: Witness, tag: str
) -> None:
    home.serve()
    with caller(home, "python") as door:
        door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
        answers: list[Said] = []
        thread = threading.Thread(target=lambda: answers.append(door.call("wait", text="never", timeoutMs=60_000)))
        with connect(home=str(home.path), environ={}) as watcher:
            thread.start()
            eventually(lambda: watcher.host.status()["calls"], "the call runs")
        kill_daemon(home)
        thread.join(30)
        assert [answer.code for answer in answers] == ["connection_lost"]
        assert answers[0].details["may_have_acted"] is True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_daemon_that_is_asked_to_end_closes_its_browsers(
    home: Home, witness: Witness, tag: str, number: signal.Signals
) -> None:
    home.serve()
    with caller(home, "cli") as door:
        door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
    assert kill_daemon(home, number)
    witness.no_page(tag)
    assert list((home.path / "run" / "web").glob("boot-*")) == []


def test_what_a_killed_daemon_left_on_disk_is_swept_by_the_next(home: Home) -> None:
    home.serve()
    with caller(home, "cli") as door:
        door.do("boot", device=DEVICE)
        kill_daemon(home)
        assert len(list((home.path / "run" / "web").glob("boot-*"))) == 1
        door.do("devices")
        eventually(lambda: not list((home.path / "run" / "web").glob("boot-*")), "it is swept")


# --- another version ---


NEWER = "import anydevice; anydevice.__version__ = '99.0.1'; from anydevice.host.__main__ import main; main([])"


@pytest.mark.parametrize("name", DOORS)
def test_a_daemon_of_a_newer_version_is_refused_with_the_command_that_replaces_it(home: Home, name: str) -> None:
    import subprocess

    process = subprocess.Popen(
        [sys.executable, "-c", NEWER], env=home.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    home.started.append(process)
    eventually(lambda: (home.record or {}).get("state") == "ready", "the newer daemon is up")
    hint = _hint_of_refusal(home, name)
    words = re.search(r"Run: anydevice ([^;]+?) ;", hint)
    assert words is not None, hint
    assert home.cli(*shlex.split(words[1])).returncode == 0
    assert process.wait(PATIENCE) == 0
    with caller(home, name) as door:
        assert door.do("devices").data["devices"]
    assert (home.record or {})["version"] == VERSION


def _hint_of_refusal(home: Home, name: str) -> str:
    """What the caller of a door reads when the daemon that runs is a newer version's."""
    if name == "cli":
        with caller(home, name) as door:
            said = door.refused("refused", "devices")
            assert said.details["running"] == "99.0.1"
            return str(said.error["hint"])
    from mcp import MCPError

    from anydevice_schemas.errors import Refused

    with pytest.raises((MCPError, Refused, BaseExceptionGroup)) as refused, caller(home, name):
        pass
    error: Any = refused.value
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(getattr(error, "hint", error))
