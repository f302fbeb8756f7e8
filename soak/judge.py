"""The verdict on a storm: pure functions over what devices, clients and the fault log wrote.

Devices are the witness that counts: what they accepted, for whom, from when to when. All times are CLOCK_MONOTONIC in
ns unless a name says seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .journals import Command

SECOND = 1_000_000_000


@dataclass(frozen=True)
class Violation:
    """Something that must never happen and did."""

    rule: str
    device: str
    detail: str


@dataclass(frozen=True)
class Taken:
    """A person had a device: from the answer that said so to the request that gave it back (or its latest end)."""

    device: str
    start: int
    end: int


@dataclass(frozen=True)
class Crash:
    """A process was killed. `devices` are those that must act again; empty = all."""

    who: str
    at: int
    devices: tuple[str, ...] = ()


@dataclass
class Verdict:
    """What came of it."""

    violations: list[Violation] = field(default_factory=list)
    figures: dict[str, float | int | str] = field(default_factory=dict)


def _by_device(commands: Iterable[Command]) -> dict[str, list[Command]]:
    found: dict[str, list[Command]] = defaultdict(list)
    for command in sorted(commands, key=lambda command: command.begin):
        found[command.device].append(command)
    return found


def overlaps(commands: Iterable[Command]) -> list[Violation]:
    """Two holders never have a command accepted for one device at one time."""
    out = []
    for device, rows in _by_device(commands).items():
        running: list[Command] = []
        for row in rows:
            running = [other for other in running if other.end is None or other.end > row.begin]
            out += [
                Violation("two drivers", device, f"{row.grant} began while {other.grant} was still driving")
                for other in running
                if other.grant != row.grant
            ]
            running.append(row)
    return out


def returns(commands: Iterable[Command]) -> list[Violation]:
    """Once somebody else has driven, an earlier grant never drives again."""
    out = []
    for device, rows in _by_device(commands).items():
        over: set[str] = set()
        last = None
        for row in rows:
            if last is not None and row.grant != last:
                over.add(last)
            if row.grant in over:
                out.append(Violation("came back", device, f"{row.grant} drove again after {last}"))
            last = row.grant
    return out


def fences(commands: Iterable[Command]) -> list[Violation]:
    """From one grant to the next on a device the fence rises."""
    out = []
    for device, rows in _by_device(commands).items():
        highest: tuple[tuple[int, int], str] | None = None
        for row in rows:
            if row.fence is None or (highest is not None and highest[1] == row.grant):
                continue
            if highest is not None and row.fence <= highest[0]:
                out.append(Violation("fence fell", device, f"{row.grant} {row.fence} after {highest[1]} {highest[0]}"))
            if highest is None or row.fence > highest[0]:
                highest = (row.fence, row.grant)
    return out


def taken(commands: Iterable[Command], takeovers: Iterable[Taken]) -> list[Violation]:
    """While a person has a device, nobody else's command begins."""
    rows = _by_device(commands)
    return [
        Violation("over a person", window.device, f"{row.grant} began {(row.begin - window.start) / 1e6:.1f} ms after")
        for window in takeovers
        for row in rows.get(window.device, ())
        if window.start <= row.begin < window.end
    ]


def recovery(
    commands: Iterable[Command],
    crashes: Iterable[Crash],
    devices: Sequence[str],
    *,
    end: int,
    limit: float,
    takeovers: Sequence[Taken] = (),
) -> Verdict:
    """After every crash every device it concerns acts again within `limit` seconds. A person's time does not count."""
    rows = _by_device(commands)
    verdict = Verdict()
    took: dict[str, list[float]] = defaultdict(list)
    for crash in crashes:
        for device in crash.devices or devices:
            after = next((row.begin for row in rows.get(device, ()) if row.begin > crash.at), None)
            until = max(crash.at, after if after is not None else end)
            away = _covered(crash.at, until, [window for window in takeovers if window.device == device])
            seconds = (until - crash.at - away) / SECOND
            if after is None and seconds < limit:
                continue  # the run ended before it had to
            took[crash.who].append(seconds)
            if after is None or seconds > limit:
                verdict.violations.append(
                    Violation("not recovered", device, f"{seconds:.1f} s after the {crash.who} was killed")
                )
    for who, values in took.items():
        values.sort()
        verdict.figures[f"recovered after {who} kill, median s"] = round(values[len(values) // 2], 2)
        verdict.figures[f"recovered after {who} kill, longest s"] = round(values[-1], 2)
    return verdict


def idle(
    commands: Iterable[Command],
    devices: Sequence[str],
    *,
    start: int,
    end: int,
    limit: float,
    takeovers: Sequence[Taken] = (),
) -> Verdict:
    """No device is without a command for longer than `limit` seconds while somebody waits (and somebody always does).

    The time a person had it does not count, nor does the time a command took.
    """
    verdict = Verdict()
    rows = _by_device(commands)
    longest = 0.0
    for device in devices:
        last = start
        gaps = []
        for row in rows.get(device, ()):
            if row.begin < start:
                last = max(last, row.end or row.begin)
                continue
            gaps.append((last, min(row.begin, end)))
            last = max(last, row.end if row.end is not None else row.begin)
        gaps.append((last, end))
        for begin, until in gaps:
            away = _covered(begin, until, [window for window in takeovers if window.device == device])
            seconds = max(0, until - begin - away) / SECOND
            longest = max(longest, seconds)
            if seconds > limit:
                verdict.violations.append(Violation("busy for ever", device, f"nobody drove it for {seconds:.1f} s"))
    verdict.figures["longest a device stood still while somebody waited, s"] = round(longest, 2)
    return verdict


def _covered(begin: int, until: int, windows: Iterable[Taken]) -> int:
    """How much of a time the windows cover together."""
    total, reached = 0, begin
    for window in sorted(windows, key=lambda window: window.start):
        start, end = max(window.start, reached), min(window.end, until)
        if end > start:
            total, reached = total + end - start, end
    return total


def fairness(grants: Mapping[str, int], held: Mapping[str, float], *, limit: float = 2.0) -> Verdict:
    """Tenants of equal demand get equally many grants and equally much time, within `limit` times."""
    verdict = Verdict()
    for what, values in (("grants", grants), ("held time", held)):
        low, high = min(values.values()), max(values.values())
        ratio = high / low if low else float("inf")
        verdict.figures[f"{what}, most to least of the tenants"] = round(ratio, 2)
        if ratio > limit:
            verdict.violations.append(Violation("unfair", "*", f"{what}: {dict(values)}"))
    return verdict


def judge(
    commands: Sequence[Command],
    devices: Sequence[str],
    *,
    start: int,
    end: int,
    takeovers: Sequence[Taken],
    crashes: Sequence[Crash],
    recover: float,
    still: float,
    given_back: float = 0.0,
) -> Verdict:
    """Everything the devices' journals can tell.

    Args:
        start, end: The time in which somebody waited for every device.
        given_back: Seconds for which whoever was interrupted by a person has the device again, dead or alive.
        recover: Seconds after a crash within which a device must act again.
        still: Seconds a device may stand still.
    """
    verdict = Verdict()
    if not commands:
        verdict.violations.append(Violation("nothing happened", "*", "no device was ever driven"))
    for violations in (overlaps(commands), returns(commands), fences(commands), taken(commands, takeovers)):
        verdict.violations += violations
    away = [replace(window, end=window.end + int(given_back * SECOND)) for window in takeovers]
    for part in (
        recovery(commands, crashes, devices, end=end, limit=recover, takeovers=away),
        idle(commands, devices, start=start, end=end, limit=still, takeovers=away),
    ):
        verdict.violations += part.violations
        verdict.figures |= part.figures
    verdict.figures["commands"] = len(commands)
    verdict.figures["grants driven"] = len({command.grant for command in commands})
    return verdict
