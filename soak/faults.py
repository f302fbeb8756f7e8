"""The schedule of faults: what goes wrong when, as a pure function of a seed and a size."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from .sizes import TTL, Size

Kind = Literal["client_kill", "client_stall", "daemon_kill", "daemon_stall", "hang", "slow", "drop", "jump", "takeover"]
JUMP = 3600.0
"""Seconds a wall clock jumps, either way."""


@dataclass(frozen=True, order=True)
class Fault:
    """One fault.

    Attributes:
        at: Seconds after the start.
        kind: What happens.
        target: Number of the client or the device; for `jump` the seed of the clocks.
        seconds: How long it lasts.
    """

    at: float
    kind: Kind
    target: int = 0
    seconds: float = 0.0


def schedule(seed: str, size: Size) -> list[Fault]:
    """Every fault of a storm, in order.

    Clients are hit in turn over the tenants, so that fairness can be judged; daemons are not hit in the last
    tenth, so that recovery can.
    """
    dice = random.Random(f"{seed}/faults")
    faults: list[Fault] = []

    def times(count: int, start: float, end: float) -> list[float]:
        """One moment in each of `count` equal parts of the run."""
        part = (end - start) / max(1, count)
        return [start + part * (n + dice.random()) for n in range(count)]

    def client(number: int) -> int:
        """A client of each tenant in turn."""
        per_tenant = size.clients // size.tenants
        return (number % size.tenants) + size.tenants * dice.randrange(per_tenant)

    most = size.seconds
    wanted = size.faults
    kills, stalls = times(wanted.client_kills, 0.02 * most, 0.95 * most), times(wanted.client_stalls, 0, 0.9 * most)
    faults += [Fault(at, "client_kill", client(number)) for number, at in enumerate(kills)]
    faults += [Fault(at, "client_stall", client(n), TTL + dice.uniform(1.0, 3.0)) for n, at in enumerate(stalls)]
    faults += [Fault(at, "daemon_kill") for at in times(wanted.daemon_kills, 0.1 * most, 0.8 * most)]
    stalls = times(wanted.daemon_stalls, 0.1 * most, 0.9 * most)
    faults += [Fault(at, "daemon_stall", 0, dice.uniform(1.0, 3.0)) for at in stalls]
    sick: list[tuple[Kind, int]] = [("hang", wanted.hangs), ("slow", wanted.slows), ("drop", wanted.drops)]
    for kind, count in sick:
        moments = times(count, 0.02 * most, 0.9 * most)
        faults += [Fault(at, kind, dice.randrange(size.devices), dice.uniform(2.0, 4.0)) for at in moments]
    faults += [Fault(at, "jump", dice.randrange(2**31)) for at in times(wanted.jumps, 0.0, most)]
    persons = times(wanted.takeovers, 0.05 * most, 0.85 * most)
    faults += [Fault(at, "takeover", dice.randrange(size.devices), dice.uniform(1.5, 3.0)) for at in persons]
    return sorted(faults)


def offsets(seed: int, slots: int) -> dict[int, float]:
    """How wrong every clock is after a jump."""
    dice = random.Random(seed)
    return {slot: dice.choice((-JUMP, 0.0, JUMP)) for slot in range(slots)}
