"""A newer version takes a running daemon over: same process, same lock and socket, and whatever it holds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anydevice.client import Client
from anydevice.host import protocol, record
from anydevice_schemas.errors import ConnectionLost, Refused

from ..support.daemons import PATIENCE, VERSION, Home, eventually, greeting, only
from ..support.mcp_host import McpHost
from ..support.versions import Version, installed

pytestmark = pytest.mark.daemon

CONFIG = only("mcp")
MAIN = "anydevice/host/__main__.py"
ENTRY = "    options = parser.parse_args(argv)\n"


@pytest.fixture(scope="module")
def newer() -> Iterator[Version]:
    """A later version, with an interpreter of its own."""
    with tempfile.TemporaryDirectory(prefix="ad-v-") as folder:
        yield installed(Path(folder), "99.0")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home whose programs find the tests' plugin, and anydevice where their own interpreter has it."""
    with Home.made(CONFIG) as made:
        made.extra = {"PYTHONPATH": str(made.plugins)}
        for name in ("ANYDEVICE_HOME", "PYTHONPATH"):
            monkeypatch.setenv(name, made.environ[name])
        yield made


def runs(home: Home) -> str:
    """The version of the daemon that runs."""
    found = home.record
    assert found is not None and record.lives(found), found
    return str(found["version"])


def test_a_newer_client_is_served_by_its_own_version_in_the_same_process(home: Home, newer: Version) -> None:
    pid = home.serve()
    before = home.record
    assert before is not None and before["version"] == VERSION
    assert newer.json(home, "say", "x")["data"]["pid"] == pid
    after = home.record
    assert after is not None
    assert (after["pid"], after["started"], after["version"]) == (pid, before["started"], "99.0")
    assert newer.json(home, "status")["data"]["version"] == "99.0"
    eventually(lambda: '"event": "handed_over"' in home.log(), "the log tells")
    # It is an ordinary daemon from then on: found, refused a second one, stopped.
    assert newer.json(home, "serve")["data"] == {"started": False, "pid": pid, "version": "99.0"}
    assert newer.json(home, "stop")["data"]["stopped"] is True
    assert not record.lives(after)


def test_an_older_client_is_refused_and_nothing_is_handed_back(home: Home, newer: Version) -> None:
    newer.json(home, "serve")
    refused = home.json("say", "x", code=6)["error"]
    assert (refused["code"], refused["details"]["running"]) == ("refused", "99.0")
    assert runs(home) == "99.0"


def test_what_runs_ends_first_and_what_is_asked_meanwhile_is_done_by_the_new_version(
    home: Home, newer: Version, tmp_path: Path
) -> None:
    home.serve()
    answers: dict[str, Any] = {}
    with Client() as client, Client() as other:

        def slow() -> None:
            answers["slow"] = client.vendor_slow(mark=str(tmp_path / "slow"), until=str(tmp_path / "enough")).data

        def later() -> None:
            answers["later"] = other.vendor_slow(mark=str(tmp_path / "later"), seconds=0.1).data
            answers["version"] = other.host.status()["version"]

        first, second = threading.Thread(target=slow), threading.Thread(target=later)
        first.start()
        eventually((tmp_path / "slow").exists, "it runs")
        upgrade = newer.spawn(home, "say", "x", "--json")
        eventually(lambda: (home.record or {}).get("state") == "handing over", "it is handing over")
        second.start()
        time.sleep(0.3)
        assert not (tmp_path / "later").exists()
        (tmp_path / "enough").touch()
        out, err = upgrade.communicate(timeout=PATIENCE)
        assert upgrade.returncode == 0, err
        first.join(PATIENCE)
        second.join(PATIENCE)
        assert json.loads(out)["ok"]
        assert answers == {"slow": {"slept": 60.0}, "later": {"slept": 0.1}, "version": "99.0"}
        assert (tmp_path / "slow").read_text().split() == ["started", "done"]
        assert (tmp_path / "later").read_text().split() == ["started", "done"]
        # Both are older than the daemon by now, and go on: they were here before it was replaced.
        assert client.say(text="on").data["said"] == "on"


def test_sessions_and_leases_go_on_and_the_next_answer_says_what_happened(home: Home, newer: Version) -> None:
    home.serve()
    with Client() as client, Client() as other:
        mine = client.appstate(device="fake-1")
        newer.json(home, "say", "x")
        with pytest.raises(Exception) as held:
            other.appstate(device="fake-1")
        assert held.value.code == "lease_held"  # type: ignore[attr-defined]
        again = client.appstate()
        assert again.session == mine.session
        assert any(notice.kind == "daemon_restarted" for notice in again.notices)
        assert not [notice for notice in client.appstate().notices if notice.kind == "daemon_restarted"]


def test_who_waits_in_the_queue_holds_up_no_hand_over_and_keeps_the_place(home: Home, newer: Version) -> None:
    home.serve()
    refused: list[Any] = []
    with Client() as holder, Client() as waiting:
        holder.call("lease", action="acquire", device="fake-1")

        def wait() -> None:
            try:
                waiting.call("lease", action="acquire", device="fake-1", timeoutMs=60_000)
            except Exception as error:
                refused.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        eventually(lambda: holder.call("lease", action="queue").data["queue"], "it waits")
        began = time.monotonic()
        newer.json(home, "say", "x")
        thread.join(PATIENCE)
        assert time.monotonic() - began < protocol.HAND_OVER_DEADLINE, "it would have been waited for so long"
        assert refused[0].code == "lease_held" and refused[0].details["position"] == 1
        assert [row["position"] for row in waiting.call("lease", action="queue").data["queue"]] == [1]


def test_eight_newer_clients_at_once_make_one_hand_over(home: Home, newer: Version) -> None:
    pid = home.serve()
    programs = [newer.spawn(home, "say", "hi", "--json") for _ in range(8)]
    for program in programs:
        out, err = program.communicate(timeout=2 * PATIENCE)
        assert program.returncode == 0, err
        assert json.loads(out)["data"]["pid"] == pid
    eventually(lambda: home.log().count('"event": "ready"') == 2, "the log tells")
    assert home.log().count('"event": "handed_over"') == 1


def test_a_daemon_in_the_foreground_is_replaced_too(home: Home, newer: Version) -> None:
    process = home.spawn("serve", "--foreground")
    eventually(lambda: (home.record or {}).get("state") == "ready", "it is up")
    assert newer.json(home, "say", "x")["data"]["pid"] == process.pid
    assert newer.json(home, "status")["data"]["idleExit"] == 0
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert b"handed_over" in err and b"stopped" in err


# --- the new version does not start ---


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ({"anydevice/host/daemon.py": ("import signal\n", "import signal, no_such_module\n")}, "no_such_module"),
        ({MAIN: (ENTRY, ENTRY + "    os._exit(3)\n")}, "its interpreter cannot run it"),
        ({"anydevice/host/succession.py": ("FORMAT = 1\n", "FORMAT = 2\n")}, "cannot take over from this version"),
    ],
)
def test_a_version_that_would_not_start_is_refused_and_the_old_daemon_is_unharmed(
    home: Home, edits: dict[str, tuple[str, str]], why: str
) -> None:
    pid = home.serve()
    with Client() as client, tempfile.TemporaryDirectory(prefix="ad-v-") as folder:
        client.appstate(device="fake-1")
        broken = installed(Path(folder), "99.0", edits=edits)
        refused = broken.json(home, "say", "x", code=6)["error"]
        assert refused["code"] == "refused"
        assert why in refused["message"]
        assert (home.pid, runs(home)) == (pid, VERSION)
        assert client.appstate().notices == []
        # The remedy of the hint works for whoever wants the other version all the same.
        assert refused["hint"].startswith("Run: anydevice stop")


def test_an_interpreter_that_runs_another_version_than_its_client_is_refused(home: Home) -> None:
    pid = home.serve()
    wire = home.connect()
    wire.send(greeting(version="99.0"))
    assert "handing_over" in wire.receive()
    error = wire.receive()["error"]
    assert f"its interpreter runs version {VERSION}" in error["message"]
    assert (home.pid, runs(home)) == (pid, VERSION)


@pytest.mark.parametrize("python", [None, 7, "relative/python", "/no/such/python"])
def test_a_hello_without_an_interpreter_that_is_there_is_refused_as_before(home: Home, python: Any) -> None:
    home.serve()
    wire = home.connect()
    wire.send(greeting(version="99.0", python=python))
    reply = wire.receive()
    error = (wire.receive() if "handing_over" in reply else reply)["error"]
    assert (error["code"], error["details"]["alternative"]) == ("refused", "anydevice stop")
    assert runs(home) == VERSION


def test_an_exec_that_fails_leaves_the_old_daemon_as_it_was(home: Home, newer: Version, tmp_path: Path) -> None:
    """The interpreter goes away between the check and the exec."""
    pid = home.serve()
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nrm -- "$0"\nexec {newer.python} "$@"\n')
    script.chmod(0o700)
    with Client() as client:
        client.appstate(device="fake-1")
        wire = home.connect()
        wire.send(greeting(version="99.0", python=str(script)))
        assert "handing_over" in wire.receive()
        assert "FileNotFoundError" in wire.receive()["error"]["message"]
        assert (home.pid, runs(home)) == (pid, VERSION)
        assert (home.record or {})["state"] == "ready"
        assert client.appstate(device="fake-1").ok
        assert client.host.status()["pid"] == pid
    # And the next hand-over works.
    assert newer.json(home, "say", "x")["data"]["pid"] == pid
    assert runs(home) == "99.0"


@pytest.mark.parametrize("how", ["os.kill(os.getpid(), 9)", "raise RuntimeError('no')"])
def test_a_hand_over_that_dies_half_way_is_recovered_from_like_a_crash(home: Home, how: str) -> None:
    edit = {
        "anydevice/host/daemon.py": (
            "    home = str(settings.home)\n",
            f"    if heritage is not None:\n        {how}\n    home = str(settings.home)\n",
        )
    }
    first = home.serve()
    found = home.record
    assert found is not None
    with Client() as client, tempfile.TemporaryDirectory(prefix="ad-v-") as folder:
        mine = client.appstate(device="fake-1")
        dying = installed(Path(folder), "99.0", edits=edit)
        assert dying.json(home, "say", "x")["data"]["pid"] != first  # started anew, by the very client that asked
        assert runs(home) == "99.0"
        assert not record.lives(found)
        assert client.appstate().session == mine.session


def test_what_does_not_end_in_time_is_told_so_and_the_hand_over_goes_on(newer: Version, tmp_path: Path) -> None:
    edit = {"anydevice/host/protocol.py": ("HAND_OVER_DEADLINE = 20.0", "HAND_OVER_DEADLINE = 0.5")}
    with Home.made(CONFIG) as home, tempfile.TemporaryDirectory(prefix="ad-v-") as folder:
        home.extra = {"PYTHONPATH": str(home.plugins)}
        hasty = installed(Path(folder), "50.0", edits=edit)
        hasty.json(home, "serve")
        wire = home.hello(version="50.0")
        wire.send({"id": 1, "call": "vendor-change", "arguments": {"mark": str(tmp_path / "wire")}})
        eventually((tmp_path / "wire").exists, "it runs")
        newer.json(home, "say", "x")
        told = wire.receive()
        while "progress" in told:
            told = wire.receive()
        error = told["answer"]["error"]
        assert error["code"] == "connection_lost"
        assert (error["details"]["may_have_acted"], error["details"]["restarted"]) == (True, True)
        assert wire.receive() == {"handed_over": True}
        assert (tmp_path / "wire").read_text().split() == ["started", "cancelled"]


def test_a_stop_during_a_hand_over_stops(home: Home, newer: Version, tmp_path: Path) -> None:
    home.serve()
    found = home.record
    assert found is not None
    wire = home.hello()
    wire.send({"id": 1, "call": "vendor-slow", "arguments": {"mark": str(tmp_path / "mark"), "seconds": 20}})
    eventually((tmp_path / "mark").exists, "it runs")
    upgrade = newer.spawn(home, "say", "x")
    eventually(lambda: (home.record or {}).get("state") == "handing over", "it is handing over")
    os.kill(found["pid"], signal.SIGTERM)
    eventually(lambda: not record.lives(found), "it is gone")
    assert wire.receive()["id"] == 1
    upgrade.communicate(timeout=PATIENCE)  # it may have started a daemon of its own by then


# --- MCP ---


def test_an_mcp_server_goes_on_over_a_hand_over_and_loses_no_request(home: Home, newer: Version, mark: Path) -> None:
    pid = home.serve()
    host = McpHost(home.spawn("mcp", stdin=subprocess.PIPE))
    assert host.hello()["serverInfo"]["version"] == VERSION
    first = host.call("appstate", device="fake-1")
    enough = mark.with_name("enough")
    running = host.begin_call("vendor-slow", mark=str(mark), until=str(enough))
    eventually(mark.exists, "it runs")
    upgrade = newer.spawn(home, "say", "x")
    eventually(lambda: (home.record or {}).get("state") == "handing over", "it is handing over")
    waiting = [host.begin_call("vendor-say", text=f"number {n}") for n in range(20)]
    enough.touch()
    assert upgrade.wait(PATIENCE) == 0
    assert not host.answer(running)["result"]["isError"]
    for n, request in enumerate(waiting):
        told = host.answer(request)["result"]
        assert f"number {n}" in json.dumps(told) and not told["isError"]
    assert (home.pid, runs(home)) == (pid, "99.0")
    again = host.call("appstate")
    assert not again["isError"], again
    assert first["content"] and "daemon_restarted" in json.dumps(again)
    for request in (running, *waiting):
        assert len(host.answers(request)) == 1
    assert host.end() == 0
    assert None not in host.lines


def test_a_newer_mcp_server_takes_over_as_well(home: Home, newer: Version) -> None:
    pid = home.serve()
    host = McpHost(newer.spawn(home, "mcp", stdin=subprocess.PIPE))
    assert host.hello()["serverInfo"]["version"] == "99.0"
    assert (home.pid, runs(home)) == (pid, "99.0")
    assert host.end() == 0


def test_refused_and_lost_are_the_only_errors_a_client_can_see(home: Home, newer: Version) -> None:
    """Calls made all the while, from four threads, are each answered once, by either version."""
    home.serve()
    stop, answered, failed = threading.Event(), [], []

    def work(number: int) -> None:
        with Client() as client:
            while not stop.is_set():
                try:
                    answered.append(client.say(text=str(number)).data["said"] == str(number))
                except (ConnectionLost, Refused) as error:
                    failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(answered) > 50, "they work")
    newer.json(home, "say", "x")
    before = len(answered)
    eventually(lambda: len(answered) > before + 50, "they go on")
    stop.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert all(answered) and not failed
    assert runs(home) == "99.0"
