"""The keeper: what a run leaves behind is seen and ended, also where orphans cannot be adopted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from anydevice.kit.pids import alive, descendants, program, started

KEEP = """
import os, subprocess, sys, time
from anydevice_conformance.keeper import Keeper, adopt_orphans, teller

def work():
{work}

adopts = adopt_orphans() if {adopts} else False
Keeper(work, teller(1), 0, adopts=adopts).keep()
"""


def kept(work: str, *, adopts: bool = True, hold: bool = True) -> tuple[list[dict[str, Any]], float]:
    """Keeps a run that does this; what was told, and how long it took."""
    source = KEEP.format(work=textwrap.indent(textwrap.dedent(work), "    "), adopts=adopts)
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    if not hold:
        process.stdin.close()
    out = process.stdout.read()
    process.wait(60)
    process.stdin.close()
    process.stdout.close()
    return [json.loads(line) for line in out.splitlines()], time.monotonic() - began


def by_word(events: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {event["event"]: event for event in events}


SLEEP = "subprocess.Popen(['sleep', '619'], start_new_session=True, stdout=subprocess.DEVNULL, env={})"


@pytest.mark.parametrize(("code", "status"), [("return 3", 3), ("os._exit(0)", 0), ("os.kill(os.getpid(), 9)", -9)])
def test_how_a_run_ended_is_told(code: str, status: int) -> None:
    told = by_word(kept(code)[0])
    assert told["ended"]["status"] == status and not told["ended"]["cut"]
    assert told["survivors"]["processes"] == []


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
def test_what_lost_its_parent_and_its_group_is_found_and_ended() -> None:
    events, _ = kept("subprocess.run(['sh', '-c', 'setsid sleep 619 >&- 2>&- & exit'], check=True)\nreturn 0")
    (left,) = by_word(events)["survivors"]["processes"]
    assert left["program"] == "sleep" and not alive(left["pid"])


@pytest.mark.parametrize("adopts", [True, False])
def test_a_child_that_outlives_the_run_is_found_and_ended(adopts: bool) -> None:
    events, _ = kept(f"{SLEEP}\ntime.sleep(3)\nreturn 0", adopts=adopts)
    (left,) = by_word(events)["survivors"]["processes"]
    assert left["program"] == "sleep" and not alive(left["pid"])
    assert by_word(events)["survivors"]["complete"] is (adopts and sys.platform == "linux")


def test_what_ends_by_itself_soon_after_is_nothing_left_behind() -> None:
    events, seconds = kept("subprocess.Popen(['sleep', '0.7'], start_new_session=True)\nreturn 0")
    assert by_word(events)["survivors"]["processes"] == [] and seconds > 0.6


def test_everything_ends_with_the_lifeline() -> None:
    tells = 'os.write(1, b\'{"event": "child", "pid": %d}\\n\' % child.pid)'
    events, _ = kept(f"child = {SLEEP}\n{tells}\ntime.sleep(600)", hold=False)
    told = by_word(events)
    assert told["ended"]["cut"] is True and not alive(told["started"]["pid"])
    assert "child" not in told or not alive(told["child"]["pid"])


def test_the_run_has_a_group_of_its_own() -> None:
    events, _ = kept('os.write(1, b\'{"event": "group", "is": %d}\\n\' % (os.getpgrp() == os.getpid()))\nreturn 0')
    assert by_word(events)["group"]["is"] == 1


# --- the process table ---


def test_descendants_are_told_parents_first_and_without_zombies(tmp_path: Path) -> None:
    shell = subprocess.Popen(["sh", "-c", "sh -c 'sleep 621 & wait' & true & wait"], start_new_session=True)
    try:
        until = time.monotonic() + 10
        while [program(pid) for pid in descendants(shell.pid)] != ["sh", "sleep"] and time.monotonic() < until:
            time.sleep(0.02)
        inner, sleeper = descendants(shell.pid)
        assert (program(inner), program(sleeper)) == ("sh", "sleep")
        assert [pid for pid in descendants(os.getpid()) if pid in (shell.pid, inner, sleeper)] == [
            shell.pid, inner, sleeper
        ]  # fmt: skip
        assert started(sleeper) is not None and started(2**22 + 1) is None
    finally:
        os.killpg(shell.pid, 9)
        shell.wait()
