"""Memory and processor time from `/proc`."""

from __future__ import annotations

import re
from typing import Any

_SIZES = {"residentKb": r"^VmRSS:\s+(\d+) kB", "peakKb": r"^VmHWM:\s+(\d+) kB", "swapKb": r"^VmSwap:\s+(\d+) kB"}


def memory(text: str) -> dict[str, Any]:
    """Sizes in kB, added up over the `/proc/PID/status` of several processes; empty where there is none."""
    found = {}
    for name, words in _SIZES.items():
        sizes = re.findall(words, text, re.M)
        if sizes:
            found[name] = sum(map(int, sizes))
    return found


def ticks(text: str) -> tuple[int, int, int]:
    """Ticks of the processes (`/proc/PID/stat`), of the machine (`cpu` of `/proc/stat`), and how many processors."""
    whole = own = processors = 0
    for row in text.splitlines():
        if row.startswith("cpu "):
            whole = sum(int(word) for word in row.split()[1:9] if word.isdigit())
        elif re.match(r"cpu\d+ ", row):
            processors += 1
        else:
            cells = row.rpartition(") ")[2].split()
            if ") " in row and len(cells) > 12 and cells[11].isdigit() and cells[12].isdigit():
                own += int(cells[11]) + int(cells[12])
    return own, whole, processors
