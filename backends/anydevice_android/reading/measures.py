"""Memory, processor time and frames, from `dumpsys meminfo`, `/proc` and `dumpsys gfxinfo`.

The whole outputs of these programs differ from release to release; only lines are read whose wording has been the same
in Android's source since API 21, and what is not there is left out of the answer.
"""

from __future__ import annotations

import re
from typing import Any

_TOTAL = re.compile(r"^\s*TOTAL(?: PSS)?:?\s+(?P<pss>\d+)", re.M)
_RESIDENT = re.compile(r"TOTAL RSS:\s+(\d+)")
_PARTS = {
    "javaHeapKb": r"Java Heap:\s+(\d+)", "nativeHeapKb": r"Native Heap:\s+(\d+)", "codeKb": r"Code:\s+(\d+)",
    "graphicsKb": r"Graphics:\s+(\d+)", "stackKb": r"Stack:\s+(\d+)",
}  # fmt: skip
_FRAMES = {
    "frames": r"Total frames rendered: (\d+)", "frameMsP50": r"50th percentile: (\d+)ms",
    "frameMsP90": r"90th percentile: (\d+)ms",
}  # fmt: skip
_JANK = re.compile(r"Janky frames: (\d+) \(([\d.]+)%\)")


def memory(text: str) -> dict[str, Any]:
    """Sizes in kB from `dumpsys meminfo PACKAGE`; empty where it tells no total."""
    total = _TOTAL.search(text)
    if total is None:
        return {}
    found: dict[str, Any] = {"proportionalKb": int(total["pss"])}
    resident = _RESIDENT.search(text)
    if resident is not None:
        found["residentKb"] = int(resident[1])
    for name, words in _PARTS.items():
        part = re.search(words, text)
        if part is not None:
            found[name] = int(part[1])
    return found


def frames(text: str) -> dict[str, Any]:
    """What `dumpsys gfxinfo PACKAGE` says of the frames since they were last counted; empty where it says nothing."""
    found: dict[str, Any] = {}
    for name, words in _FRAMES.items():
        part = re.search(words, text)
        if part is not None:
            found[name] = int(part[1])
    jank = _JANK.search(text)
    if jank is not None:
        found["jankyPercent"] = float(jank[2])
    return found


def ticks(text: str) -> tuple[dict[int, int], int]:
    """Processor time in ticks of each process (`/proc/PID/stat`), and of the machine (line `cpu` of `/proc/stat`)."""
    processes: dict[int, int] = {}
    whole = 0
    for row in text.splitlines():
        if row.startswith("cpu "):
            whole = sum(int(word) for word in row.split()[1:9] if word.isdigit())
            continue
        head, closed, rest = row.rpartition(") ")
        pid = head.partition(" ")[0]
        cells = rest.split()
        if closed and pid.isdigit() and len(cells) > 12 and cells[11].isdigit() and cells[12].isdigit():
            processes[int(pid)] = int(cells[11]) + int(cells[12])
    return processes, whole


def cores(text: str) -> int:
    """How many processors `/proc/stat` counts."""
    return len(re.findall(r"^cpu\d+ ", text, re.M))
