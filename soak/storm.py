"""The storm: one daemon, many clients, and everything going wrong at once."""

from __future__ import annotations

import heapq
import os
import random
import signal
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from anydevice.client import Client

from . import client, faults, person
from .ground import Ground, attempts
from .journals import Journal, commands, lines
from .judge import SECOND, Crash, Verdict, Violation, fairness, judge
from .sizes import TTL, Size

RECOVER = 15.0
"""Seconds after a crash within which a device must act again: a TTL, a restart on a busy machine, a hang."""

STILL = 15.0
"""Seconds a device may stand still while somebody waits."""

GRACE = 45.0
"""Seconds clients have to end after the storm: a turn in the queue, and the last commands."""

DEFECTS = frozenset({"internal", "backend_broken"})
"""What no fault of the storm explains."""


@dataclass
class Storm:
    """A running storm.

    Attributes:
        slots: Process of each client's current incarnation, by its number.
        log: What was really done, and when.
    """

    ground: Ground
    size: Size
    seed: str
    started: float = 0.0
    slots: dict[int, int] = field(default_factory=dict)
    incarnations: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    stalled: set[int] = field(default_factory=set)
    due: list[tuple[float, int, Any]] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    daemon_stalled: bool = False
    _order: int = 0

    def __post_init__(self) -> None:
        self.log = Journal(self.ground.folder / "faults.jsonl")
        self.dice = random.Random(f"{self.seed}/storm")

    @property
    def tenants(self) -> list[str]:
        """Names of the tenants; client n belongs to tenant n modulo their number."""
        return [f"t{number}" for number in range(self.size.tenants)]

    def run(self) -> None:
        """From the first client to the last one's end."""
        self.ground.serve()
        self.started = time.monotonic()
        self.log.note("started")
        for number in range(self.size.clients):
            self.start_client(number)
        planned = faults.schedule(self.seed, self.size)
        takeovers = [fault for fault in planned if fault.kind == "takeover"]
        if takeovers:
            act = partial(person.run, str(self.ground.home), self.ground.journals, takeovers, self.started)
            self.ground.children.fork("person", self.size.clients, act)
        for fault in planned:
            if fault.kind != "takeover":
                self.later(fault.at, partial(self.strike, fault))
        self.work_until(self.started + self.size.seconds)
        self.calm()

    def later(self, at: float, action: Any) -> None:
        """Something to do `at` seconds after the start."""
        self._order += 1
        heapq.heappush(self.due, (self.started + at, self._order, action))

    def after(self, seconds: float, action: Any) -> None:
        """Something to do in some seconds."""
        self.later(time.monotonic() - self.started + seconds, action)

    def work_until(self, until: float) -> None:
        """Does what is due, and sees to children that ended by themselves."""
        while (now := time.monotonic()) < until:
            while self.due and self.due[0][0] <= now:
                heapq.heappop(self.due)[2]()
            self.look()
            time.sleep(0.01)

    def look(self) -> None:
        """A client that ends badly is a fault of ours."""
        self.violations += self.ground.children.broken()

    def start_client(self, number: int) -> None:
        """Starts a client, or starts it again."""
        incarnation = self.incarnations[number]
        self.incarnations[number] += 1
        orders = client.Orders(
            home=str(self.ground.home),
            journals=self.ground.journals,
            seed=self.seed,
            number=number,
            tenant=self.tenants[number % self.size.tenants],
            incarnation=incarnation,
            until=self.started + self.size.seconds,
        )
        self.slots[number] = self.ground.children.fork(f"client {number}", number, partial(client.run, orders))

    # --- faults ---

    def strike(self, fault: faults.Fault) -> None:
        """One fault happens."""
        getattr(self, f"_{fault.kind}")(fault)

    def _done(self, kind: str, **more: Any) -> None:
        self.counts[kind] += 1
        self.log.note(kind, **more)

    def _client_kill(self, fault: faults.Fault) -> None:
        pid = self.slots[fault.target]
        if pid not in self.ground.children.running or fault.target in self.stalled:
            return
        self._done("client_kill", client=fault.target)
        self.ground.children.kill(pid)
        self.after(self.dice.uniform(0.1, 0.5), partial(self.start_client, fault.target))

    def _client_stall(self, fault: faults.Fault) -> None:
        pid = self.slots[fault.target]
        if pid not in self.ground.children.running or fault.target in self.stalled:
            return
        self.stalled.add(fault.target)
        os.kill(pid, signal.SIGSTOP)
        self._done("client_stall", client=fault.target, seconds=fault.seconds)
        self.after(fault.seconds, partial(self._resume, fault.target, pid))

    def _resume(self, number: int, pid: int) -> None:
        self.stalled.discard(number)
        if pid in self.ground.children.running:
            os.kill(pid, signal.SIGCONT)

    def _daemon_kill(self, fault: faults.Fault) -> None:
        pid = self.ground.signal_daemon(signal.SIGKILL)
        if pid is not None:
            self._done("daemon_kill", pid=pid)

    def _daemon_stall(self, fault: faults.Fault) -> None:
        pid = self.ground.signal_daemon(signal.SIGSTOP)
        if pid is not None:
            self._done("daemon_stall", pid=pid, seconds=fault.seconds)
            self.after(fault.seconds, partial(self._wake, pid))

    def _wake(self, pid: int) -> None:
        if self.ground.daemon() == pid:  # else it was killed meanwhile, and its number may be another's
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def _spoil(self, fault: faults.Fault) -> None:
        self.ground.spoil(fault.target, fault.kind, fault.seconds)
        self._done(fault.kind, device=fault.target, seconds=fault.seconds)

    _hang = _slow = _drop = _spoil

    def _jump(self, fault: faults.Fault) -> None:
        self.ground.children.jump(fault.target)
        self._done("jump")

    # --- afterwards ---

    def calm(self) -> None:
        """Everything that is stopped goes on; clients end by themselves; then nothing may be held any more."""
        self.due = [entry for entry in self.due if getattr(entry[2], "func", None) in (self._resume, self._wake)]
        for _, _, action in self.due:
            action()
        self.log.note("calm")
        until = time.monotonic() + GRACE
        while self.ground.children.running and time.monotonic() < until:
            self.look()
            time.sleep(0.01)
        for pid, what in list(self.ground.children.running.items()):
            self.violations.append(Violation("a client hangs", "*", f"{what} did not end within {GRACE:g} s"))
            self.ground.children.kill(pid)
        self.log.note("quiet")
        until = time.monotonic() + 2 * TTL + 5.0
        while (held := attempts(30.0, self.held)) and time.monotonic() < until:
            time.sleep(0.1)
        for device in held:
            self.violations.append(Violation("busy for ever", device, "still held though every client has ended"))

    def held(self) -> list[str]:
        """Keys of the devices somebody has."""
        with Client(home=str(self.ground.home), cwd="/", environ={}, transport="cli") as asked:
            return [row["device"] for row in asked.host.status()["held"]]


def run(size: Size, seed: str, keep: Path | None = None) -> Verdict:
    """A storm and the verdict on it. With `keep` the journals are copied there."""
    with Ground.made(size.devices, size.clients, seed) as ground:
        storm = Storm(ground, size, seed)
        storm.run()
        verdict = judged(storm)
        if keep is not None:
            ground.copy(keep)
        return verdict


def judged(storm: Storm) -> Verdict:
    """The verdict on a storm that is over."""
    ground, size = storm.ground, storm.size
    log = list(lines(ground.folder / "faults.jsonl"))
    start = next(line["t"] for line in log if line["what"] == "started")
    crashes = [Crash("daemon", line["t"]) for line in log if line["what"] == "daemon_kill"]
    crashes += [
        Crash("client", line["t"], held)
        for line in log
        if line["what"] == "client_kill" and (held := held_by(ground.journals, line["client"], line["t"]))
    ]
    takeovers = person.windows(ground.journals / "person.jsonl")
    end = start + int(size.seconds * SECOND)
    seen = commands(ground.witnesses)
    verdict = judge(
        seen,
        ground.ids,
        start=start + 2 * SECOND,
        end=end,
        takeovers=takeovers,
        given_back=TTL,
        crashes=crashes,
        recover=RECOVER,
        still=STILL,
    )
    verdict.violations += storm.violations
    turns = grants(ground.journals)
    verdict.violations += twice(turns)
    fair = fairness(*shares(turns, end, storm.tenants))
    verdict.figures |= fair.figures
    if size.fair:
        verdict.violations += fair.violations
    verdict.figures["grants"] = len(turns)
    verdict.figures["takeovers"] = len(takeovers)
    for kind, count in sorted(storm.counts.items()):
        verdict.figures[f"{kind.replace('_', ' ')}s"] = count
    for code, count in sorted(refusals(ground.journals).items()):
        if code in DEFECTS:
            verdict.violations.append(Violation("a defect of ours", "*", f"clients were told {code}, {count} times"))
        verdict.figures[f"clients were told {code}"] = count
    return verdict


@dataclass(frozen=True)
class Turn:
    """One grant as its client knows it; times are CLOCK_MONOTONIC ns, `end` None where it never said."""

    name: str
    tenant: str
    device: str
    fence: str
    wanted: int
    start: int
    end: int | None = None


def grants(journals: Path) -> list[Turn]:
    """Every grant any client was answered, in order."""
    found: list[Turn] = []
    for path in journals.glob("c*.jsonl"):
        tenant, wanted, turn = "", 0, None
        for line in lines(path):
            if line["what"] == "start":
                tenant = line["tenant"]
            elif line["what"] == "want":
                wanted = line["t"]
            elif line["what"] == "granted":
                turn = Turn(line["grant"], tenant, line["device"], line["fence"], wanted, line["t"])
                found.append(turn)
            elif line["what"] == "released" and turn is not None and line["grant"] == turn.name:
                found[-1] = replace(turn, end=line["t"])
    return sorted(found, key=lambda turn: turn.start)


def held_by(journals: Path, number: int, at: int) -> tuple[str, ...]:
    """The device a client had at some time."""
    device: tuple[str, ...] = ()
    for line in lines(journals / f"c{number:02}.jsonl"):
        if line["t"] > at:
            break
        if line["what"] == "granted":
            device = (line["device"],)
        elif line["what"] in ("releasing", "left", "want"):
            device = ()
    return device


def twice(turns: list[Turn]) -> list[Violation]:
    """No fence is ever given twice."""
    seen: dict[str, Turn] = {}
    out = []
    for turn in turns:
        if turn.fence and turn.fence in seen:
            out.append(Violation("fence twice", turn.device, f"{turn.fence} for {seen[turn.fence].name}, {turn.name}"))
        seen[turn.fence] = turn
    return out


def shares(turns: list[Turn], end: int, tenants: list[str]) -> tuple[dict[str, int], dict[str, float]]:
    """Grants and held seconds by tenant. Who never said it was over had the device until the next one got it."""
    counts = dict.fromkeys(tenants, 0)
    seconds = dict.fromkeys(tenants, 0.0)
    following: dict[str, int] = {}
    for turn in reversed(turns):
        over = min(turn.end or end, following.get(turn.device, end), end)
        following[turn.device] = turn.start
        if turn.start < end:
            counts[turn.tenant] += 1
            seconds[turn.tenant] += max(0, over - turn.start) / SECOND
    return counts, {tenant: round(value, 1) for tenant, value in seconds.items()}


def refusals(journals: Path) -> dict[str, int]:
    """What clients were told, by code."""
    found: dict[str, int] = defaultdict(int)
    for path in journals.glob("*.jsonl"):
        for line in lines(path):
            if "code" in line:
                found[line["code"]] += 1
    return found
