"""Measures and network: of the app that was named, with units, and of nothing that does not run."""

from __future__ import annotations

from typing import Any

import anyio

from ..case import case
from ..trial import HEARD_WITHIN, Trial

UNITS = ("Kb", "Percent", "econds", "MsP50", "MsP90", "Ms", "frames", "processes")
KINDS: dict[str, dict[str, Any]] = {"memory": {}, "cpu": {"durationMs": 200}, "frames": {"durationMs": 200}}


def _kind(kind: str) -> dict[str, Any]:
    return {"command": "perf", "sample": {"kind": kind}, "bundle": "perf", "optional": True}


async def measured(t: Trial, kind: str) -> dict[str, float]:
    """The numbers of one kind about the practice app, each of which has to say its unit."""
    answer = await t.call("perf", kind=kind, app=t.manifest.practice.app, **KINDS[kind])
    t.equal(answer.data.get("kind"), kind, "the kind")
    numbers = {name: value for name, value in answer.data.items() if type(value) in (int, float)}
    t.require(numbers, "it tells no number")
    for name in numbers:
        t.require(name.endswith(UNITS) or name == "pid", f"{name} says no unit")
    return numbers


@case("perf.memory-is-told", "perf memory MUST tell how much memory the app takes, in KiB.", **_kind("memory"))
async def memory(t: Trial) -> None:
    numbers = await measured(t, "memory")
    t.require(numbers.get("residentKb", 0) > 100, f"residentKb is {numbers.get('residentKb')}")


@case(
    "perf.cpu-is-measured-over-the-time-asked-for",
    "perf cpu MUST measure for as long as it was asked to, and tell percent of one core.",
    **_kind("cpu"),
)
async def cpu(t: Trial) -> None:
    began = anyio.current_time()
    numbers = await measured(t, "cpu")
    took = anyio.current_time() - began
    t.require(took >= 0.15, f"it was asked to measure for 0.2 s and answered after {took:.3f} s")
    t.require(0.1 <= numbers.get("seconds", 0) <= took + 0.05, f"it says it measured for {numbers.get('seconds')} s")
    t.require(numbers.get("cpuPercent", -1) >= 0, f"cpuPercent is {numbers.get('cpuPercent')}")


@case("perf.frames-are-told", "perf frames MUST tell how smoothly the app draws, in milliseconds.", **_kind("frames"))
async def frames(t: Trial) -> None:
    numbers = await measured(t, "frames")
    t.require(any("Ms" in name for name in numbers), f"no time of a frame is told: {sorted(numbers)}")


@case(
    "perf.an-app-that-does-not-run-has-no-numbers",
    "An app that does not run MUST be refused as app_not_running, one that is not there as app_not_found.",
    needs=("apps.close",),
    **_kind("memory"),
)
async def not_running(t: Trial) -> None:
    await t.call("perf", app="dev.anydevice.no-such-app", expect="app_not_found")
    await t.call("close", keepSession=True)
    answer = await t.call("perf", app=t.manifest.practice.app, expect="app_not_running")
    t.detail(answer, "app")


@case(
    "network.requests-of-the-app-are-listed",
    "network MUST list what the app sent, with method and address, and nothing that another device sent.",
    command="network",
    sample={},
    bundle="network",
    mutates=True,
)
async def requests(t: Trial) -> None:
    await t.call("press", target="Increment")
    await t.heard("press", id="home.increment")
    mine, theirs = t.tokens[t.device.key], t.tokens[t.other.key]
    rows: list[dict[str, Any]] = []
    with anyio.move_on_after(HEARD_WITHIN):
        while not any(mine in str(row.get("url")) for row in rows):
            rows = (await t.call("network")).data["requests"]
            await anyio.sleep(0.05)
    sent = [row for row in rows if mine in str(row.get("url"))]
    t.require(sent, f"the app told its witness, and no request to it is listed: {str(rows[-2:])[:200]}")
    t.equal({row.get("method") for row in sent}, {"POST"}, "the method of what the app sent")
    t.require(not any(theirs in str(row.get("url")) for row in rows), "a request of the other device is listed")
    few = (await t.call("network", limit=1)).data
    t.equal((few["count"], len(few["requests"])), (1, 1), "how many there are of one")
