"""`dumpsys media.audio_flinger`: how loud each output was, in steps of 50 ms.

Since Android 9 the sound server keeps the power of what it hands to the hardware ("Signal power history", see
`PowerLog.cpp` of Android's `system/media`): rows of up to ten levels in dBFS, each with the local time of its first.
Steps in which nothing at all was played have no entry.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

STEP: Final = 0.05
"""Seconds of one level, where nothing else is said."""
_BLOCK: Final = re.compile(r"^(?=\s*(?:Output|Input) thread )", re.M)
_HISTORY: Final = re.compile(r"Signal power history(?: \(resolution: (?P<ms>[\d.]+) ms\))?:(?P<rows>.*)")
_ROW: Final = re.compile(
    r"^\s*(?P<at>\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}):\s*\[?\s*(?P<levels>-?\d+\.\d+(?:\s+-?\d+\.\d+)*)\s*(?:\].*)?$"
)
History = dict[float, float]
"""Levels in dBFS, by the time they begin: seconds of a leap year, on the device's own clock."""


def loudness(text: str) -> list[History] | None:
    """The history of each output; None where the device keeps none.

    Where one output is told in several resolutions it is the finest.
    """
    found: dict[int, tuple[float, History]] = {}
    kept = False
    output, step, now = -1, STEP, History()
    for number, block in enumerate(_BLOCK.split(text)):
        if not block.lstrip().startswith("Output thread "):
            continue
        output, within = number, False
        for line in block.splitlines():
            head = _HISTORY.search(line)
            if head is not None:
                kept = within = True
                step, now = (float(head["ms"]) / 1000 if head["ms"] else STEP), History()
                if output not in found or step < found[output][0]:
                    found[output] = step, now
                continue
            row = _ROW.match(line) if within else None
            if row is None:
                within = within and not line.strip()
                continue
            begun = _seconds(row["at"])
            for place, level in enumerate(row["levels"].split()):
                now[round(begun + place * step, 3)] = float(level)
    return [history for _, history in found.values()] if kept else None


def _seconds(at: str) -> float:
    return (datetime.strptime(f"2000-{at}", "%Y-%m-%d %H:%M:%S.%f") - datetime(2000, 1, 1)).total_seconds()
