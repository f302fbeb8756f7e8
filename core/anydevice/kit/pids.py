"""Questions about processes by their id: does it run, does its group, is it still the same one?"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def group_alive(group: int) -> bool:
    """Whether any process of a group still runs. Zombies nobody has reaped do not count."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if not sys.platform.startswith("linux"):
        return True
    # In a container whose first process does not reap, a dead member stays visible to killpg for ever.
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            fields = _stat_fields(int(entry.name))
            if fields is not None and fields[0] not in "ZX" and int(fields[2]) == group:
                return True
    return False


def alive(pid: int) -> bool:
    """Whether a process of this id runs (a zombie does not)."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if sys.platform.startswith("linux"):
        fields = _stat_fields(pid)
        return fields is not None and fields[0] not in "ZX"
    return True


async def started_at(pid: int) -> str | None:
    """When a process started, as an opaque stamp that tells it from a later process of the same id.

    None when there is no such process.
    """
    if sys.platform.startswith("linux"):
        fields = _stat_fields(pid)
        return None if fields is None or fields[0] in "ZX" else fields[19]
    from .processes import run

    result = await run(["/bin/ps", "-o", "lstart=", "-p", str(pid)], deadline=5)
    return result.text.strip() or None


def _stat_fields(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the third on (state, parent, group, ...); None when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
