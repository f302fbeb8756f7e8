"""Daemon, browser or page die: nothing of them stays, and the next answer says what was lost, once."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import threading
import time
from contextlib import ExitStack
from typing import Any

import anyio
import pytest

from anydevice.client import connect
from anydevice_schemas.errors import ConnectionLost

from ..support.daemons import VERSION, Home, eventually
from .conftest import caller
from .doors import DOORS, Door, Said, opened
from .processes import Process, below, browsers, needs_proc, of_home, renderers
from .witness import Witness

pytestmark = [pytest.mark.daemon, pytest.mark.chromium, needs_proc]

DEVICE = "chromium"
SOON = 2.0
"""Seconds after which nothing of a daemon that was killed may be left."""


def kill_daemon(home: Home, number: signal.Signals = signal.SIGKILL) -> list[Process]:
    """Ends the daemon and sees everything it had started gone; returns what that was."""
    found = home.record
    assert found is not None
    family = below(home.pid)
    os.kill(home.pid, number)
    eventually(lambda: not home.running(), "the daemon is gone", 10.0)
    eventually(lambda: not any(process.lives for process in family), f"nothing of it is left: {family}", SOON)
    assert of_home(home.path) == []
    return family


def lost_in(said: Said) -> set[tuple[str, str]]:
    """The sessions (name, device) an answer says were lost, by its error or by a notice."""
    rows = list(said.details.get("lost", ()))
    for notice in said.notices("daemon_restarted"):
        rows += notice["lost"]
    return {(row["session"], row["device"]) for row in rows}


# --- the daemon ---


@pytest.mark.parametrize("first", ["on the session", "on the host", "by its name"])
@pytest.mark.parametrize("name", DOORS)
def test_after_kill_9_the_caller_is_told_once_of_each_session_it_had(
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
        mine = {(implicit, f"web:{DEVICE}"), ("work", "fake:fake-1")}
        if first == "on the session":
            said = door.refused("connection_lost", "press", target="Increment")
            assert said.details["restarted"] is True
            assert lost_in(said) == mine
        elif first == "on the host":
            said = door.do("devices")
            assert lost_in(said) == mine
        else:
            said = door.refused("connection_lost", "press", target="Increment", session="work")
            assert lost_in(said) == {("work", "fake:fake-1")}
            assert lost_in(door.do("devices")) == mine - {("work", "fake:fake-1")}
        assert said.error.get("retryable") in (None, False)
        for again in (door.call("press", target="Increment"), door.do("session"), door.do("devices")):
            assert lost_in(again) == set()
            assert again.code != "connection_lost"
        nearest = door.refused("session_not_found", "press", target="Increment", session="work")
        assert lost_in(nearest) == set()
        assert witness.all(tag, "count") == []
        assert browsers(home.pid) == []


def test_every_caller_is_told_of_its_own_sessions_and_of_nobody_elses(home: Home) -> None:
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
            assert lost_in(stranger.do("devices")) == set()
        for name, device in homes.items():
            door = stack.enter_context(caller(home, name, f"in-{name}"))
            assert {session for session, _ in lost_in(door.do("devices"))} == {f"of-{name}"}, device
            assert lost_in(door.do("devices")) == set()


def test_a_named_session_is_told_to_whoever_names_it_first_from_anywhere(home: Home) -> None:
    home.serve()
    with caller(home, "cli", "here") as door:
        door.do("open", device="fake-1", session="shared")
    kill_daemon(home)
    with caller(home, "cli", "there") as door:
        assert lost_in(door.do("devices")) == set()
        assert lost_in(door.refused("connection_lost", "snapshot", session="shared")) == {("shared", "fake:fake-1")}
        door.refused("session_not_found", "snapshot", session="shared")


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
            eventually(lambda: watcher.host.status()["calls"] > 1, "the call runs")
        kill_daemon(home)
        thread.join(10)
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
        assert list((home.path / "run" / "web").glob("boot-*")) == []


# --- another version ---


OLD = "import anydevice; anydevice.__version__ = '0.0.1'; from anydevice.host.__main__ import main; main([])"


@pytest.mark.parametrize("name", DOORS)
def test_a_daemon_of_another_version_is_refused_with_the_command_that_replaces_it(home: Home, name: str) -> None:
    import subprocess

    process = subprocess.Popen(
        [sys.executable, "-c", OLD], env=home.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    home.started.append(process)
    eventually(lambda: (home.record or {}).get("state") == "ready", "the old daemon is up")
    hint = _hint_of_refusal(home, name)
    words = re.search(r"Run: anydevice ([^;]+?) ;", hint)
    assert words is not None, hint
    assert home.cli(*shlex.split(words[1])).returncode == 0
    assert process.wait(10) == 0
    with caller(home, name) as door:
        assert door.do("devices").data["devices"]
    assert (home.record or {})["version"] == VERSION


def _hint_of_refusal(home: Home, name: str) -> str:
    """What the caller of a door reads when the daemon that runs is another version's."""
    if name == "cli":
        with caller(home, name) as door:
            said = door.refused("refused", "devices")
            assert said.details["running"] == "0.0.1"
            return str(said.error["hint"])
    from mcp import MCPError

    from anydevice_schemas.errors import Refused

    with pytest.raises((MCPError, Refused, BaseExceptionGroup)) as refused, caller(home, name):
        pass
    error: Any = refused.value
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(getattr(error, "hint", error))


# --- the browser ---


@pytest.fixture
def open_page(home: Home, witness: Witness, tag: str) -> Any:
    """A caller over MCP with a page in the browser, and another browser besides."""
    home.serve()
    with caller(home, "mcp") as door:
        door.do("browser-profile", action="add", name="second")
        door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
        door.do("open", url=witness.url(f"{tag}-two"), device="chromium:second", boot=True)
        yield door


def kill_browser(home: Home, device: str) -> None:
    """Ends a browser's main process, and sees all of it gone."""
    (main,) = [process for process in browsers(home.pid) if f"--anydevice-id={device} " in process.line]
    family = below(main.pid)
    os.kill(main.pid, signal.SIGKILL)
    eventually(lambda: not any(process.lives for process in [main, *family]), "nothing of it is left", SOON)


def told_of_death(said: Said) -> bool:
    """Whether an answer says that the browser ended by itself."""
    return bool(said.notices("browser_ended"))


@pytest.mark.parametrize("first", ["press", "snapshot", "appstate", "devices", "press by name", "open"])
def test_after_the_browser_was_killed_the_next_answer_says_so_and_nothing_is_started_again(
    open_page: Door, home: Home, witness: Witness, tag: str, first: str
) -> None:
    door = open_page
    kill_browser(home, DEVICE)
    if first == "devices":
        row = next(row for row in door.do("devices").data["devices"] if row["id"] == DEVICE)
        assert row["state"] == "shutdown"
    arguments: dict[str, Any] = {"device": DEVICE}
    command = first.partition(" ")[0].replace("devices", "press")
    if command == "press":
        arguments |= {"target": "Increment"}
    elif command == "open":
        arguments |= {"url": witness.url(tag)}
    said = door.call(command, **arguments)
    assert said.code in ("connection_lost", "device_not_ready"), said.wire
    assert told_of_death(said), said.wire
    assert "boot" in said.error["hint"]
    again = door.refused("device_not_ready", command, **arguments)
    assert not told_of_death(again)
    assert [f"--anydevice-id={DEVICE} " in process.line for process in browsers(home.pid)] == [False]
    assert witness.all(tag, "loaded") == [None]
    assert door.do("press", target="Increment", device="chromium:second").device == "web:chromium:second"
    said = door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
    assert not told_of_death(said) and said.data["booted"] is True
    assert witness.all(tag, "loaded") == [None, None]


def test_a_browser_that_dies_under_a_call_is_told_by_that_call(
    open_page: Door, home: Home, witness: Witness, tag: str
) -> None:
    door: Any = open_page
    answers: list[Said] = []

    def wait() -> None:
        answers.append(door.call("wait", text="never", timeoutMs=30_000, device=DEVICE))

    thread = threading.Thread(target=wait)
    thread.start()
    with connect(home=str(home.path), environ={}) as watcher:
        # The facade's own calls are not counted there; the lane of the device tells instead.
        eventually(lambda: any(s["device"] == f"web:{DEVICE}" and s["idle"] < 5 for s in watcher.host.status()["sessions"]), "x")
    began = time.monotonic()
    kill_browser(home, DEVICE)
    thread.join(15)
    assert [answer.code for answer in answers] == ["connection_lost"]
    assert told_of_death(answers[0])
    assert time.monotonic() - began < 10


def test_a_crashed_page_is_app_crashed_until_it_is_opened_again(
    open_page: Door, home: Home, witness: Witness, tag: str
) -> None:
    door = open_page
    (main,) = [process for process in browsers(home.pid) if f"--anydevice-id={DEVICE} " in process.line]
    family = {process.pid for process in below(main.pid)}
    ended = [process for process in renderers(home.pid) if process.pid in family]
    for process in ended:
        os.kill(process.pid, signal.SIGKILL)
    witness.no_page(tag)
    for command, arguments in (("snapshot", {}), ("press", {"target": "Increment"}), ("screenshot", {})):
        said = door.refused("app_crashed", command, device=DEVICE, **arguments)
        assert "open" in said.error["hint"]
    assert door.do("appstate", device=DEVICE).data["crashed"] is True
    assert door.do("press", target="Increment", device="chromium:second").device == "web:chromium:second"
    assert witness.all(tag, "count") == []
    door.do("open", url=witness.url(tag), device=DEVICE)
    assert door.do("press", target="Increment", device=DEVICE).device == f"web:{DEVICE}"
    assert witness.all(tag, "count") == [1]
