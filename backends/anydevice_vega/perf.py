"""Measuring an app by what the kernel counts of its processes. How it draws nobody tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from anydevice.driver import Perf
from anydevice_schemas.errors import AppNotRunning, UpstreamUnavailable

from .apps import VegaApps
from .packages import Packages
from .reach import Reach
from .reading import guest, measures


class VegaPerf(Perf):
    """See `Perf`; without an app it is the one in front."""

    def __init__(self, reach: Reach, packages: Packages, apps: VegaApps) -> None:
        self._reach, self._packages, self._apps = reach, packages, apps

    async def memory(self, app: str | None = None) -> Mapping[str, Any]:
        """See `Perf.memory`: `residentKb`, and where the kernel tells them `peakKb` and `swapKb`."""
        app, pids = await self._running(app)
        found = measures.memory(await self._read(*(f"/proc/{pid}/status" for pid in pids)))
        if not found:
            raise _silent("/proc/PID/status")
        return {"app": app, "pid": pids[0], "processes": len(pids), **found}

    async def cpu(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """See `Perf.cpu`."""
        app, pids = await self._running(app)
        paths = ("/proc/stat", *(f"/proc/{pid}/stat" for pid in pids))
        first = measures.ticks(await self._read(*paths))
        began = anyio.current_time()
        await anyio.sleep(seconds)
        took = round(anyio.current_time() - began, 3)
        last = measures.ticks(await self._read(*paths))
        whole = last[1] - first[1]
        if whole <= 0 or last[2] == 0:
            raise _silent("/proc/stat")
        percent = round(100 * last[2] * max(0, last[0] - first[0]) / whole, 1)
        return {"app": app, "pid": pids[0], "processes": len(pids), "seconds": took, "cpuPercent": percent}

    async def _read(self, *paths: str) -> str:
        return (await self._reach.run("cat", *paths, deadline=5.0)).text

    async def _running(self, app: str | None) -> tuple[str, list[int]]:
        rows = await self._packages.running()
        if app is None:
            app = str((await self._apps.state())["app"] or "")
        pids = [row.pid for row in guest.of_app(app, rows) if row.pid is not None] if app else []
        if not pids:
            names = await self._packages.names()
            if app and app not in names:
                raise self._packages.unknown(app, names)
            raise AppNotRunning("The app does not run.", app=app)
        return app, sorted(set(pids))


def _silent(what: str) -> UpstreamUnavailable:
    return UpstreamUnavailable("The device does not say it.", upstream=what, enable_hint="Open the app, then repeat.")
