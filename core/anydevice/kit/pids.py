"""Questions about processes by their id: does it run, does its group, what is below it, is it still the same one?"""

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


def descendants(pid: int) -> list[int]:
    """Ids of every process below one: its children, theirs, and so on, parents first. Zombies are left out.

    Only as far as the chain of parents holds: what lost its parent belongs to whoever adopted it.
    """
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    found: list[int] = []
    waiting = sorted(children.get(pid, ()))
    while waiting:
        found.append(waiting[0])
        waiting = [*waiting[1:], *sorted(children.get(waiting[0], ()))]
    return found


def program(pid: int) -> str:
    """What runs in a process: the first word of its command line without its folder; empty when that cannot be told."""
    if sys.platform.startswith("linux"):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            return Path((words[0] or Path(f"/proc/{pid}/comm").read_bytes()).decode("utf-8", "replace").strip()).name
        except OSError:
            return ""
    return Path(_ps("-o", "comm=", "-p", str(pid)).strip()).name


def _parents() -> list[tuple[int, int]]:
    if not sys.platform.startswith("linux"):
        rows = (line.split() for line in _ps("-axo", "pid=,ppid=,stat=").splitlines())
        return [(int(row[0]), int(row[1])) for row in rows if len(row) == 3 and not row[2].startswith("Z")]
    out = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            fields = _stat_fields(int(entry.name))
            if fields is not None and fields[0] not in "ZX":
                out.append((int(entry.name), int(fields[1])))
    return out


def _ps(*argv: str) -> str:
    import subprocess

    done = subprocess.run(["/bin/ps", *argv], capture_output=True, text=True, timeout=5, check=False)
    return done.stdout


async def started_at(pid: int) -> str | None:
    """When a process started, as an opaque stamp that tells it from a later process of the same id.

    None when there is no such process.
    """
    if sys.platform.startswith("linux"):
        return started(pid)
    from .processes import run

    result = await run(["/bin/ps", "-o", "lstart=", "-p", str(pid)], deadline=5)
    return result.text.strip() or None


def started(pid: int) -> str | None:
    """As `started_at`, for programs without an event loop; blocks for a moment where there is no /proc."""
    if sys.platform.startswith("linux"):
        fields = _stat_fields(pid)
        return None if fields is None or fields[0] in "ZX" else fields[19]
    return _ps("-o", "lstart=", "-p", str(pid)).strip() or None


def _stat_fields(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the third on (state, parent, group, ...); None when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
