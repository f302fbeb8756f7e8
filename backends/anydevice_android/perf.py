"""Measuring an app: memory, processor time, frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from anydevice.driver import Perf
from anydevice_schemas.errors import AppNotFound, AppNotRunning, UpstreamUnavailable

from .packages import Packages
from .reach import Reach
from .reading import measures


class AndroidPerf(Perf):
    """See `Perf`; without an app it is the one in front."""

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages

    async def memory(self, app: str | None = None) -> Mapping[str, Any]:
        """See `Perf.memory`: `residentKb`, `proportionalKb` (what ending it would free), and parts."""
        app, pids = await self._running(app)
        done = await self._reach.run("dumpsys", "meminfo", app, deadline=20.0)
        found = measures.memory(done.text)
        if not found:
            raise _silent("meminfo", done.both)
        return {"app": app, "pid": pids[0], "processes": len(pids), **found}

    async def cpu(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """See `Perf.cpu`."""
        app, pids = await self._running(app)
        words = "cat /proc/stat " + " ".join(f"/proc/{pid}/stat" for pid in pids)
        first = (await self._reach.adb.shell(words)).text
        began = anyio.current_time()
        await anyio.sleep(seconds)
        took = round(anyio.current_time() - began, 3)
        last = (await self._reach.adb.shell(words)).text
        (before, whole_before), (after, whole_after) = measures.ticks(first), measures.ticks(last)
        whole, count = whole_after - whole_before, measures.cores(last)
        if whole <= 0 or count == 0:
            raise _silent("/proc/stat", last)
        used = sum(after[pid] - before[pid] for pid in after if pid in before)
        percent = round(100 * count * used / whole, 1)
        return {"app": app, "pid": pids[0], "processes": len(pids), "seconds": took, "cpuPercent": percent}

    async def frames(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """See `Perf.frames`: counted anew for `seconds`. An app that draws nothing has no frames."""
        app, pids = await self._running(app)
        await self._reach.run("dumpsys", "gfxinfo", app, "reset", deadline=10.0)
        await anyio.sleep(seconds)
        done = await self._reach.run("dumpsys", "gfxinfo", app, deadline=20.0)
        found = measures.frames(done.text)
        if "frames" not in found:
            raise _silent("gfxinfo", done.both)
        return {"app": app, "pid": pids[0], "processes": len(pids), "seconds": seconds, **found}

    async def _running(self, app: str | None) -> tuple[str, list[int]]:
        if app is None:
            focus = await self._reach.focus(wait=1.0)
            if focus is None:
                raise AppNotRunning("No app is in front.", app="")
            app = focus.app
        pids = await self._reach.pids(app)
        if not pids and not await self._packages.installed(app):
            raise AppNotFound(
                "No such app is installed.", hint="Call apps to see what is installed.", nearest_matches=[], app=app
            )
        if not pids:
            raise AppNotRunning("The app does not run.", app=app)
        return app, pids


def _silent(what: str, said: str) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The device does not say it.", upstream=what, enable_hint="See details.", said=said[-1000:]
    )
