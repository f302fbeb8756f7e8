"""Memory and processor time of processes, from `/proc` and `hidumper --mem`."""

from __future__ import annotations

import re
from typing import Final

_STATUS: Final = {"VmRSS": "residentKb", "VmHWM": "peakResidentKb", "VmSize": "virtualKb"}
_FIELD = re.compile(r"^(\w+):\s+(\d+) kB", re.M)
_PSS = re.compile(r"^\s*Total\s+(\d+)\s", re.M)
_CPU = re.compile(r"^cpu\d+ ", re.M)
_WHOLE = re.compile(r"^cpu +(.*)$", re.M)


def memory(status: str, hidumper: str = "") -> dict[str, int]:
    """Kilobytes by name, of `/proc/PID/status`, and of `hidumper --mem PID` where it tells them."""
    found = {_STATUS[name]: int(value) for name, value in _FIELD.findall(status) if name in _STATUS}
    total = _PSS.search(hidumper)
    if total is not None:
        found["proportionalKb"] = int(total[1])
    return found


def cores(stat: str) -> int:
    """How many cores `/proc/stat` counts."""
    return len(_CPU.findall(stat))


def ticks(text: str) -> tuple[dict[int, int], int]:
    """Ticks each process took, and all cores together, of `/proc/stat` followed by `/proc/PID/stat` lines."""
    whole = _WHOLE.search(text)
    total = sum(int(word) for word in whole[1].split()[:8] if word.isdigit()) if whole else 0
    taken: dict[int, int] = {}
    for row in text.splitlines():
        pid, _, rest = row.partition(" (")
        if not pid.isdigit() or not rest:
            continue
        words = rest.rpartition(")")[2].split()
        if len(words) > 12 and words[11].isdigit() and words[12].isdigit():
            taken[int(pid)] = int(words[11]) + int(words[12])
    return taken, total
