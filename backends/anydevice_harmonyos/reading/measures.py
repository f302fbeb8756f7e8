"""Memory and processor time of processes, from `/proc` and `hidumper --mem`."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

_STATUS: Final = {"VmRSS": "residentKb", "VmHWM": "peakResidentKb", "VmSize": "virtualKb"}
_FIELD = re.compile(r"^(\w+):\s+(\d+) kB", re.M)
_PSS = re.compile(r"^\s*Total\s+(\d+)\s", re.M)
TICKS: Final = 100
"""Ticks of `/proc/PID/stat` in a second (USER_HZ), on every machine."""
_PERCENT = re.compile(r"\d+(?:\.\d+)?%")
_FROM_TO = re.compile(r"CPU usage from (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) to (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")


def memory(status: str, hidumper: str = "") -> dict[str, int]:
    """Kilobytes by name, of `/proc/PID/status`, and of `hidumper --mem PID` where it tells them."""
    found = {_STATUS[name]: int(value) for name, value in _FIELD.findall(status) if name in _STATUS}
    total = _PSS.search(hidumper)
    if total is not None:
        found["proportionalKb"] = int(total[1])
    return found


def ticks(text: str) -> dict[int, int]:
    """Ticks (hundredths of a second) each process took so far, of `/proc/PID/stat` lines."""
    taken: dict[int, int] = {}
    for row in text.splitlines():
        pid, _, rest = row.partition(" (")
        if not pid.isdigit() or not rest:
            continue
        words = rest.rpartition(")")[2].split()
        if len(words) > 12 and words[11].isdigit() and words[12].isdigit():
            taken[int(pid)] = int(words[11]) + int(words[12])
    return taken


def usage(text: str, pid: int) -> tuple[float, float] | None:
    """Percent of one core that `hidumper --cpuusage PID` tells of a process, and over how many seconds; None = not."""
    for row in text.splitlines():
        words = row.split()
        if len(words) > 1 and words[0] == str(pid) and _PERCENT.fullmatch(words[1]):
            return float(words[1][:-1]), _span(text)
    return None


def _span(text: str) -> float:
    found = _FROM_TO.search(text)
    if found is None:
        return 0.0
    try:
        start, end = (datetime.fromisoformat(word) for word in found.groups())
    except ValueError:
        return 0.0
    return max(0.0, (end - start).total_seconds())
