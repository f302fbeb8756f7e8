"""The command line's own commands: the daemon, versions, logs."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from anydevice.commands import all_commands
from anydevice.host import record
from anydevice_cli.own import COMMANDS

from ..support.daemons import PATIENCE, VERSION, Home, eventually, only

pytestmark = pytest.mark.daemon


def test_status_tells_who_runs_and_what_it_holds(home: Home, tmp_path: Path) -> None:
    assert home.json("status")["data"] == {"running": False}
    assert "no daemon runs" in home.cli("status").stdout
    home.json("appstate", "--device", "fake-1", cwd=tmp_path)
    data = home.json("status")["data"]
    assert (data["running"], data["pid"], data["version"]) == (True, home.pid, VERSION)
    assert data["uptime"] > 0
    assert [(s["device"], s["cwd"]) for s in data["sessions"]] == [("fake:fake-1", str(tmp_path))]
    assert [h["device"] for h in data["held"]] == ["fake:fake-1"]
    text = home.cli("status").stdout
    assert f"process {home.pid}" in text and "fake:fake-1" in text and str(tmp_path) in text


def test_stop_if_idle_leaves_a_daemon_alone_that_has_sessions(home: Home, tmp_path: Path) -> None:
    session = home.json("appstate", "--device", "fake-1", cwd=tmp_path)["session"]
    refused = home.json("stop", "--if-idle", code=6)["error"]
    assert session in refused["message"]
    assert home.running()
    home.json("session", "end", session, cwd=tmp_path)
    assert home.json("stop", "--if-idle")["data"]["stopped"] is True


def test_version_tells_both_sides(home: Home) -> None:
    assert home.json("version")["data"]["version"] == VERSION
    assert "daemon" not in home.json("version")["data"]
    home.serve()
    assert home.json("version")["data"]["daemon"] == VERSION
    found = home.record
    assert found is not None
    record.write_record(str(home.path), found | {"version": "99.0"})
    assert "the daemon that runs is 99.0" in home.cli("version").stdout


def test_no_command_of_the_command_line_hides_one_of_the_catalogue() -> None:
    catalogue = {word for spec in all_commands() for word in (spec.command.name, *spec.command.aliases)}
    assert catalogue & COMMANDS.keys() == set()


def test_daemon_log_shows_the_end_of_the_log(home: Home) -> None:
    assert home.cli("daemon-log").stdout == "no log yet\n"
    home.serve()
    eventually(lambda: '"event": "ready"' in home.cli("daemon-log", "-n", "5").stdout, "the log tells")
    assert len(home.json("daemon-log", "-n", "1")["data"]["lines"]) == 1


# --- HTTP that was asked for ---


@pytest.fixture
def served() -> Iterator[Home]:
    with Home.made(only("mcp")) as made:
        yield made


@pytest.fixture
def taken() -> Iterator[int]:
    """A port somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_serve_fails_where_http_was_asked_for_and_there_is_none_and_leaves_no_daemon(served: Home, taken: int) -> None:
    asked = ([f"--http={taken}"], ["--set", f"mcp.http.port={taken}"], ["--http=0.0.0.0:0"])
    for words, why in zip(asked, (str(taken), str(taken), "hosts"), strict=True):
        error = served.json("serve", *words, code=1)["error"]
        assert error["code"] == "upstream_unavailable"
        assert why in error["message"] and "stopped again" in error["message"]
        assert not served.running()
    found = served.json("serve", "--http=0")["data"]
    assert found["started"] and found["http"].startswith("http://127.0.0.1:")


def test_serve_in_the_foreground_ends_too_where_there_is_no_http(served: Home, taken: int) -> None:
    process = served.spawn("serve", "--foreground", f"--http={taken}", stderr=subprocess.PIPE)
    said = process.communicate(timeout=PATIENCE)[1].decode()
    assert process.returncode == 1
    assert "upstream_unavailable: No MCP over HTTP: " in said and str(taken) in said
    assert not served.running()


# --- what everybody tries first ---


def test_the_version_and_help_may_be_asked_for_in_the_ways_of_other_programs(home: Home) -> None:
    assert home.cli("--version").stdout == home.cli("version").stdout
    assert home.json("--version")["data"]["version"] == VERSION
    assert home.cli("help", "token", "add").stdout == home.cli("token", "add", "--help").stdout
    assert home.record is None
    home.serve()
    for words in ([], ["press"], ["serve"], ["lab"]):
        done = home.cli("help", *words)
        assert (done.returncode, done.stdout) == (0, home.cli(*words, "--help").stdout)
        assert "Usage: anydevice" in done.stdout
    assert home.json("help", "pres", code=2)["error"]["details"]["nearest"][0] == "press"


@pytest.mark.parametrize("name", ["token", "lab", "completion"])
def test_what_needs_another_word_prints_its_help_and_no_error(home: Home, name: str) -> None:
    done = home.cli(name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"Usage: anydevice {name} ") and "invalid_argument" not in done.stderr


def test_a_refusal_says_one_thing_once(home: Home) -> None:
    said = home.cli("token", "remove", "nobody").stderr
    assert said == "refused: there is no token nobody\n"
    error = json.loads(home.cli("--json", "token", "remove", "nobody").stdout)["error"]
    assert error["details"]["reason"] == error["message"] == "there is no token nobody"
