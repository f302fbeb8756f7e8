"""Judges by others: the official conformance suite, the Inspector (a client of the TypeScript SDK), and TDQS.

They are fetched on first use (`tests/support/judges.py`); without npm or a network these tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anydevice_mcp.published import DEFAULT_TOOLS

from ..support.daemons import CLI, ROOT, Home
from ..support.judges import CONFIG, Judges, judges, let_in, official_home

pytestmark = [pytest.mark.daemon, pytest.mark.timeout(420)]

RUN_SECONDS = 120.0
BASELINE = ROOT / "tests" / "mcp" / "judges" / "baseline.yml"
ALLOWED = ("sampling", "roots", "logging", "tasks")

RUNS = [
    pytest.param(("2025", [], "logging", 30), id="latest"),
    pytest.param(("2026", ["--requirements", "2025-11-25"], "logging", 33), id="alpha-2025-11-25"),
    pytest.param(("2026", ["--requirements", "2026-07-28"], "tasks", 50), id="alpha-2026-07-28"),
]
"""Which suite, how it is asked, which lines of the baseline it meets, and how many scenarios it has at least."""

WARNED = {
    # Resuming a stream (an event store) is optional, and of no use to a call that holds a device: a client that is gone
    # has lost it. 2026-07-28 took it out of the protocol.
    "server-sse-polling": {"server-sse-priming-event", "server-sse-retry-field"},
}
"""What the suite recommends and we do not do, by scenario."""

NOTHING_TO_JUDGE = ("server-sse-polling", "tasks-status-notifications")
"""Scenarios that end before their first verdict: of a tool that closes its own stream, and of tasks."""


@pytest.fixture(scope="module")
def panel() -> Judges:
    return judges()


@pytest.fixture(scope="module")
def official(panel: Judges) -> Iterator[str]:
    with official_home() as (_, url, token), let_in(url, token) as address:
        yield address


@pytest.fixture(scope="module")
def home(panel: Judges) -> Iterator[Home]:
    with Home.made(CONFIG) as made:
        made.serve()
        yield made


def run(argv: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=RUN_SECONDS, check=False, stdin=subprocess.DEVNULL, **more
    )


def expected_failures() -> set[str]:
    lines = BASELINE.read_text("utf-8").splitlines()
    return {line.strip().removeprefix("- ") for line in lines if line.strip().startswith("- ")}


def verdicts(folder: Path) -> dict[str, dict[str, set[str]]]:
    """What a run of the suite wrote: scenario -> status -> ids of checks."""
    found: dict[str, dict[str, set[str]]] = {}
    for path in folder.glob("server-*/checks.json"):
        named = re.match(r"server-(.+)-\d{4}-\d\d-\d\dT", path.parent.name)
        assert named is not None, path
        by_status = found.setdefault(named[1], {})
        for check in json.loads(path.read_text("utf-8")):
            by_status.setdefault(check["status"], set()).add(check["id"])
    return found


def test_the_baseline_excuses_nothing_but_what_the_protocol_gave_up_or_leaves_to_extensions() -> None:
    for scenario in expected_failures():
        assert any(word in scenario for word in ALLOWED), scenario
    lines = BASELINE.read_text("utf-8").splitlines()
    reasons = [line for line in lines if line.strip().startswith("#")]
    assert len(reasons) >= 4, "each group says why"


@pytest.mark.parametrize("how", RUNS)
def test_the_official_suite_finds_nothing_wrong_beyond_the_baseline(
    panel: Judges, official: str, tmp_path: Path, how: tuple[str, list[str], str, int]
) -> None:
    which, argv, excused, least = how
    words = ["server", "--url", official, *argv, "--expected-failures", str(BASELINE), "-o", str(tmp_path)]
    done = run([*panel.conformance(which), *words])
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = verdicts(tmp_path)
    assert len(found) >= least, sorted(found)
    failed = {scenario for scenario, statuses in found.items() if "FAILURE" in statuses}
    # The line of a scenario that passes by now is out of date, and a failure without a line is ours.
    assert failed == {each for each in expected_failures() if excused in each}
    warned = {scenario: statuses["WARNING"] for scenario, statuses in found.items() if "WARNING" in statuses}
    assert warned == {scenario: ids for scenario, ids in WARNED.items() if scenario in found}
    judged = {scenario for scenario, statuses in found.items() if "SUCCESS" in statuses}
    assert judged >= set(found) - failed - set(NOTHING_TO_JUDGE), "a scenario without a verdict proves nothing"


# --- the Inspector ---


def door(home: Home, *options: str) -> list[str]:
    """Our program as a host starts it; these judges hand on next to nothing of their environment."""
    kept = {name: home.environ[name] for name in ("ANYDEVICE_HOME", "PYTHONPATH", "PATH")}
    return ["/usr/bin/env", *(f"{name}={value}" for name, value in kept.items()), *CLI, "mcp", *options]


def inspect(panel: Judges, home: Home, *argv: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(home.path)}
    return run([*panel.inspector, *door(home, *options), *argv], env=env)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_finds_every_definition_portable(panel: Judges, home: Home, era: str) -> None:
    done = inspect(panel, home, "--method", "tools/list", "--strict", "--protocol-era", era)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == "", "not even a warning"
    assert {tool["name"] for tool in json.loads(done.stdout)["tools"]} >= DEFAULT_TOOLS


def test_the_inspector_finds_the_whole_catalogue_portable(panel: Judges, home: Home) -> None:
    done = inspect(panel, home, "--method", "tools/list", "--strict", options=("--tools", "all"))
    assert done.returncode == 0 and done.stderr.strip() == "", done.stderr
    assert len(json.loads(done.stdout)["tools"]) > len(DEFAULT_TOOLS)


ERRORS: list[Any] = [
    pytest.param(("press", {"target": "x"}, "ambiguous_device", "candidates"), id="ambiguous"),
    pytest.param(("press", {"target": "x", "device": "no-such"}, "device_not_found", "nearest"), id="not-found"),
    pytest.param(("press", {"targt": "x", "device": "fake-1"}, "invalid_argument", "errors"), id="invalid"),
    pytest.param(("command-run", {"name": "no-such"}, "unknown_command", "nearest"), id="unknown"),
    pytest.param(("command-run", {"name": "vendor-wipe"}, "confirmation_required", "token"), id="confirmation"),
]


@pytest.mark.parametrize("asked", ERRORS)
def test_a_client_of_the_typescript_sdk_shows_our_typed_errors(
    panel: Judges, home: Home, asked: tuple[str, dict[str, Any], str, str]
) -> None:
    """It checks structured content against the output schema even of an error, and shows its own instead of ours where
    that does not fit."""
    tool, arguments, code, detail = asked
    said = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
    done = inspect(panel, home, *said, "--format", "json")
    result = json.loads(done.stdout)["result"]
    assert done.returncode != 0 and result["isError"] is True
    error = result["structuredContent"]["error"]
    assert error["code"] == code and detail in error["details"], error
    assert error["hint"] and isinstance(error["retryable"], bool)
    assert result["content"][0]["text"].startswith(f"{code}: ")


def test_a_client_of_the_typescript_sdk_reads_a_result(panel: Judges, home: Home) -> None:
    done = inspect(panel, home, "--method", "tools/call", "--tool-name", "devices", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["result"]["structuredContent"]["devices"]
    assert {row["id"] for row in rows} >= {"fake-1", "fake-2"}


# --- TDQS ---


def test_the_definitions_pass_tdqs_lint_without_a_warning(home: Home) -> None:
    pytest.importorskip("tdqs")
    argv = [sys.executable, "-m", "tdqs", "lint", "--command", shlex.join(door(home))]
    done = run([*argv, "--fail-on", "warning", "--format", "json"], env=home.environ)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert len(found["tools"]) >= len(DEFAULT_TOOLS)
