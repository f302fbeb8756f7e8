"""A child process goes on over an exec of its parent: known, read from, ended and reaped by what comes after."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import anyio
import pytest

from anydevice.kit import processes

pytestmark = pytest.mark.anyio

FIRST = """
import anyio, json, os, sys
from anydevice.kit import processes

async def main():
    child = await processes.start(["/bin/sh", "-c", {script!r}])
    await anyio.sleep(0.3)
    state = json.dumps(processes.hand_over(child))
    os.execv(sys.executable, [sys.executable, "-c", {second!r}, state])

anyio.run(main, backend={backend!r})
"""
SECOND = """
import anyio, json, os, sys
from anydevice.kit import processes

async def main():
    child = processes.adopt(json.loads(sys.argv[1]))
    await anyio.sleep(0.3)
    before = child.code
    %s
    try:
        os.waitpid(child.pid, os.WNOHANG)
        left = True
    except ChildProcessError:
        left = False
    print(json.dumps({"before": before, "code": code, "tail": child.tail, "left": left, "pid": child.pid}))

anyio.run(main, backend="asyncio")
"""


def over_an_exec(script: str, then: str, backend: str = "asyncio") -> dict[str, Any]:
    first = FIRST.format(script=script, second=SECOND % then, backend=backend)
    done = subprocess.run([sys.executable, "-c", first], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_is_ended_with_its_group_and_reaped() -> None:
    told = over_an_exec(
        "echo before >&2; sleep 0.4; echo after >&2; sleep 60 & wait", "code = await processes.stop(child)"
    )
    assert (told["before"], told["code"], told["left"]) == (None, -15, False)
    assert told["tail"].startswith("before\n")


@pytest.mark.parametrize("seconds", [0.35, 2.0])  # before it is adopted, and after
def test_its_own_end_and_what_it_wrote_until_then_are_seen(seconds: float) -> None:
    script = f"echo before >&2; sleep {seconds}; echo after >&2; exit 7"
    told = over_an_exec(script, "code = await child.wait(); await anyio.sleep(0.5)", "trio")
    assert (told["code"], told["tail"], told["left"]) == (7, "before\nafter\n", False)


async def test_another_process_of_that_id_is_not_adopted() -> None:
    child = await processes.start(["/bin/sleep", "60"])
    try:
        state = processes.hand_over(child)
        with pytest.raises(ChildProcessError):
            processes.adopt(state | {"started": "1"})
        with pytest.raises(OSError):
            os.fstat(state["stderr"])  # given up
    finally:
        await processes.stop(child)


async def test_a_child_that_was_not_adopted_after_all_is_still_its_first_parents() -> None:
    child = await processes.start(["/bin/sh", "-c", "echo here >&2; exec sleep 60"])
    processes.take_back(processes.hand_over(child))
    with anyio.fail_after(20):
        while child.tail != "here\n":
            await anyio.sleep(0.01)
    assert await processes.stop(child) == -15
