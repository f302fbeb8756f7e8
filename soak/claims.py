"""What must be true after a crash: what clients were answered, compared with what the next daemon knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from .journals import lines, read_fence
from .judge import SECOND, Violation

PIN = 40.0
"""Seconds a command that was running when the daemon died may keep its lease beyond the TTL: its own deadline."""


def unwritten(ttl: float) -> float:
    """Seconds by which a renewal may be lost in a crash: shorter ones are kept in memory only."""
    return min(5.0, ttl / 5.0)


@dataclass(frozen=True)
class Claim:
    """What a client knows of one lease it was granted. Times are CLOCK_MONOTONIC, ns.

    Attributes:
        grant: The session's name.
        state: `held`; `over` once an answer said that it is released or lost; `unknown` while nobody can say.
        renewed: It was renewed then or later: when the last call that was answered well was sent.
        latest: It was renewed then at the latest: when the last answer came, or a call in flight could end.
    """

    grant: str
    device: str
    lease: str
    fence: tuple[int, int]
    ttl: float
    state: Literal["held", "over", "unknown"]
    renewed: int
    latest: int


@dataclass(frozen=True)
class Standing:
    """A lease as the daemon (or its database) has it now."""

    device: str
    lease: str
    fence: tuple[int, int]
    session: str


def claims(journals: Path) -> list[Claim]:
    """Every lease any client was answered, as far as the client knows."""
    found: dict[str, Claim] = {}
    for path in sorted(journals.glob("c*.jsonl")):
        asked = 0
        for line in lines(path):
            what, at = line["what"], line["t"]
            if what in ("want", "act", "releasing"):
                asked = at
            if what == "granted":
                fence = read_fence(line["fence"]) or (0, 0)
                found[line["grant"]] = Claim(
                    line["grant"], line["device"], line["lease"], fence, line["ttl"], "held", asked, at
                )
            claim = found.get(line.get("grant", ""))
            if claim is None:
                continue
            if what == "act":
                claim = replace(claim, latest=at + int(PIN * SECOND))
            elif what == "did":
                claim = replace(claim, renewed=asked, latest=at)
            elif what == "failed":
                claim = _failed(claim, line["code"], at)
            elif what == "releasing":
                claim = replace(claim, state="unknown")
            elif what == "released":
                claim = replace(claim, state="over")
            found[claim.grant] = claim
    return list(found.values())


def _failed(claim: Claim, code: str, at: int) -> Claim:
    if code in ("lease_expired", "lease_lost"):
        return replace(claim, state="over")
    if code == "connection_lost":
        return claim  # whether it was taken up is not known; `latest` says so already
    return replace(claim, latest=at)


def compare(
    known: Iterable[Claim],
    standing: Iterable[Standing],
    sessions: frozenset[str],
    asked: int,
    answered: int,
    *,
    slack: float = 0.5,
) -> list[Violation]:
    """Whether what stands after a crash agrees with what was answered before it.

    Args:
        known: What clients were answered.
        standing: Every lease that stands.
        sessions: Names of all sessions.
        asked, answered: When the daemon was asked what stands, and when it had said so.
        slack: Seconds of doubt at either end of a lease's time.
    """
    by_lease = {row.lease: row for row in standing}
    out = []
    for claim in known:
        row = by_lease.get(claim.lease)
        must = claim.renewed + int((claim.ttl - unwritten(claim.ttl) - slack) * SECOND)
        if claim.state == "held" and answered < must:
            left = (must - answered) / SECOND
            if row is None:
                out.append(Violation("grant lost", claim.device, f"{claim.grant} with {left:.1f} s to run"))
            elif row.device != claim.device or row.fence < claim.fence:
                out.append(Violation("grant changed", claim.device, f"{claim.grant} {claim.fence}: now {row}"))
            elif claim.grant not in sessions:
                out.append(Violation("session lost", claim.device, claim.grant))
        if row is None:
            continue
        if claim.state == "over":
            out.append(Violation("resurrected", claim.device, f"{claim.grant} had been released or lost"))
        elif asked > claim.latest + int((claim.ttl + slack) * SECOND):
            since = (asked - claim.latest) / SECOND - claim.ttl
            out.append(Violation("resurrected", claim.device, f"{claim.grant} had run out {since:.1f} s before"))
    return out


def risen(before: Mapping[str, tuple[int, int]], rows: Iterable[Standing | Claim]) -> list[Violation]:
    """Whether no device has a fence below one it had before."""
    return [
        Violation("fence fell", row.device, f"{row.fence} after {before[row.device]}")
        for row in rows
        if row.fence < before.get(row.device, (0, 0))
    ]
