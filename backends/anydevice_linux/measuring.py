"""Measuring an application: memory and processor time of its processes, as the kernel tells them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread

from anydevice.driver import Perf
from anydevice_schemas.errors import AppNotRunning

from .apps import LinuxApps

TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
PROC: Final = Path("/proc")


@dataclass(slots=True, frozen=True)
class Process:
    """One process as it was read.

    Attributes:
        parent: Pid of who started it, or took it over.
        started: When it was started, in clock ticks since the host was.
        ticks: Processor time it took itself, in clock ticks.
        resident: Pages in memory.
    """

    pid: int
    parent: int
    started: int
    ticks: int
    resident: int


class LinuxPerf(Perf):
    """Memory and processor time. How smoothly a program draws, X11 does not say: there is no `frames`."""

    def __init__(self, apps: LinuxApps) -> None:
        self._apps = apps

    async def memory(self, app: str | None = None) -> Mapping[str, Any]:
        """See `Perf.memory`.

        Raises:
            AppNotFound: No such app is known.
            AppNotRunning: It does not run.
        """
        id, roots = await self._running(app)
        table = await anyio.to_thread.run_sync(_table, roots)
        if not table:
            raise _ended(id)
        shares = await anyio.to_thread.run_sync(lambda: [_share(pid) for pid in table])
        told = {
            "app": id,
            "pids": sorted(table)[:50],
            "processes": len(table),
            "residentKb": sum(process.resident for process in table.values()) * PAGE // 1024,
        }
        known = [share for share in shares if share is not None]
        if len(known) == len(shares):
            told["proportionalKb"] = sum(known)
        return told

    async def cpu(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """See `Perf.cpu`. What ended while it was measured counts up to the first look only.

        Raises:
            AppNotFound: No such app is known.
            AppNotRunning: It does not run, or ended.
        """
        id, roots = await self._running(app)
        began = anyio.current_time()
        before = await anyio.to_thread.run_sync(_table, roots)
        if not before:
            raise _ended(id)
        await anyio.sleep(seconds)
        after = await anyio.to_thread.run_sync(_table, {*roots, *before})
        took = anyio.current_time() - began
        if not after:
            raise _ended(id)
        spent = sum(process.ticks - _earlier(process, before) for process in after.values()) / TICKS
        return {
            "app": id,
            "processes": len(after),
            "seconds": round(took, 3),
            "cpuSeconds": round(spent, 3),
            "cpuPercent": round(100 * spent / took, 1),
        }

    async def _running(self, app: str | None) -> tuple[str, set[int]]:
        """An app that runs, and the processes it begins with."""
        id = await self._apps.meant(app)
        if id is None:
            raise AppNotRunning("No app is open on this desktop.", hint="Call open with an app.", app=app)
        pids = await self._apps.pids(id)
        if not pids:
            raise _ended(id)
        return id, pids


def _ended(app: str) -> AppNotRunning:
    return AppNotRunning("The app does not run.", hint="Call open to start it.", app=app)


def _earlier(process: Process, before: Mapping[int, Process]) -> int:
    """Processor time a process had taken at the first look; none where it is another one, or a new one."""
    known = before.get(process.pid)
    return known.ticks if known is not None and known.started == process.started else 0


def family(roots: Iterable[int]) -> set[int]:
    """Some processes that run, with everything they started. Blocks for a moment."""
    return set(_table(roots))


def _table(roots: Iterable[int]) -> dict[int, Process]:
    """Some processes that run, with everything they started, as the kernel tells them now. Blocks for a moment."""
    every = {}
    for entry in os.scandir(PROC):
        process = _process(int(entry.name)) if entry.name.isdigit() else None
        if process is not None:
            every[process.pid] = process
    children: dict[int, list[int]] = {}
    for process in every.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: dict[int, Process] = {}
    todo = [pid for pid in roots if pid in every]
    while todo:
        pid = todo.pop()
        if pid not in found:
            found[pid] = every[pid]
            todo.extend(children.get(pid, ()))
    return found


def _process(pid: int) -> Process | None:
    """A process; None for one that has ended, also where nobody has taken note of that."""
    try:
        fields = (PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(") ")[2].split()
    except OSError:
        return None
    if fields[0] in ("Z", "X"):
        return None
    return Process(pid, int(fields[1]), int(fields[19]), int(fields[11]) + int(fields[12]), int(fields[21]))


def _share(pid: int) -> int | None:
    """A process's proportional share of memory in KiB; None where the kernel does not let us read it."""
    try:
        text = (PROC / str(pid) / "smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it ended just now
    except OSError:
        return None
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), None)
