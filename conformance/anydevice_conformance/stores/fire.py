"""What a store must stand: processes killed in the middle, processes that are stopped, clocks that are set back."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..racer import fence
from ..trial import CaseFailed
from .case import case
from .many import RACE_SECONDS, RACER
from .trial import StoreTrial

KILLS = 5


@contextmanager
def _racer(t: StoreTrial, job: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    """One process that has opened the store and begun its job; killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", RACER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    watchdog = threading.Timer(RACE_SECONDS, process.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        _say(process, json.dumps(job | {"store": t.name, "folder": str(t.folder), "now": t.now}))
        if _hear(process) != "ready":
            process.kill()
            raise CaseFailed("a process could not open the store: " + process.communicate()[1][-300:])
        _say(process, "go")
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def _say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def _hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def _answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    line = _hear(process)
    if not line:
        process.kill()
        raise CaseFailed("a process gave no answer: " + process.communicate()[1][-300:])
    answer: dict[str, Any] = json.loads(line)
    return answer


@case(
    "killed-in-the-middle",
    "Wherever a process is killed, what it was answered MUST hold: grants stand, releases are free, no fence again.",
    needs="durable",
    seconds=90.0,
)
def killed_in_the_middle(t: StoreTrial) -> None:
    chance = random.Random(1)
    t.close()
    highest = (0, 0)
    for number in range(KILLS):
        devices = [f"k{number}-{n}" for n in range(6)]
        with _racer(t, {"who": f"p{number}", "devices": devices, "endless": True}) as process:
            lines = [_hear(process)]
            time.sleep(chance.uniform(0.01, 0.1))
            os.kill(process.pid, signal.SIGKILL)
            assert process.stdout is not None
            lines += process.stdout.read().split("\n")
        last: dict[str, str] = {}
        for line in lines:
            if line.endswith("}"):
                said = json.loads(line)
                last[said["device"]] = said["code"]
                highest = max(highest, tuple(said.get("fence", (0, 0))))
        again = t.open()
        standing = {f"b:{name}" for name in t.standing(again)}
        for device, code in last.items():
            if code == "ok":
                t.require(device in standing, f"{device} was granted and does not stand after the kill")
            elif code == "released":
                t.require(device not in standing, f"{device} was released and stands after the kill")
        new = t.grant("after", f"after-{number}", on=again)
        t.require(fence(new) > highest, f"fence {fence(new)} came after {highest}")
        highest = fence(new)
        t.close()


@case(
    "a-stalled-process-holds-nothing",
    "A process that is stopped MUST hold up nobody once its lease ran out, and MUST be refused when it comes back.",
    needs="processes",
    seconds=60.0,
)
def a_stalled_process_holds_nothing(t: StoreTrial) -> None:
    with _racer(t, {"who": "stalled", "devices": ["d1", "d2"], "returns": True}) as process:
        t.equal([_answer(process)["code"] for _ in range(2)], ["ok", "ok"], "what it was answered")
        os.kill(process.pid, signal.SIGSTOP)
        t.refused("lease_held", lambda: t.grant("here", "d1"))
        t.wait(61)
        mine = t.grant("here", "d1")
        os.kill(process.pid, signal.SIGCONT)
        _say(process, str(t.now))
        answers = [_answer(process) for _ in range(2)]
        t.equal([answer["code"] for answer in answers], ["lease_lost", "ok"], "what it was answered when it came back")
        t.require(tuple(answers[1]["fence"]) > fence(mine), "what it is granted again must have a new fence")
        t.equal({name: lease.holder.session for name, lease in t.standing().items()}["d1"], "here", "who holds")


@case(
    "a-clock-set-back-lengthens-nothing",
    "A store that is opened again under a clock that was set back MUST NOT let a lease stand for longer than its TTL.",
    needs="durable",
)
def a_clock_set_back_lengthens_nothing(t: StoreTrial) -> None:
    t.grant("a", "d1")
    t.grant("a", "d2", ttl=30.0)
    t.close()
    t.wait(-3600)
    again = t.open()
    for name, lease in t.standing(again).items():
        t.require(lease.expires_at <= t.now + lease.ttl, f"{name} stands for longer than its TTL")
    t.wait(31)
    t.require("d2" not in t.standing(again), "a lease stands that has outlived its TTL")
    t.wait(30)
    t.equal(t.standing(again), {}, "what stands")
    t.equal(t.grant("b", "d1", on=again).holder.session, "b", "the next holder")
