"""The command line's own commands: the daemon, versions, logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from anydevice.commands import all_commands
from anydevice.host import record
from anydevice_cli.own import COMMANDS

from ..support.daemons import VERSION, Home, eventually

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
