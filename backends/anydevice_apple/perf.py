"""Measuring an app of a simulator: it is a process of this host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import anyio

from anydevice.driver import Perf
from anydevice.kit import processes
from anydevice_schemas.errors import AppNotRunning, UpstreamUnavailable

from .reach import Reach

_ROW: Final = re.compile(r"^\s*(?P<rss>\d+)\s+(?:(?P<days>\d+)-)?(?P<time>\d+(?::\d+)+(?:\.\d+)?)\s*$", re.M)


class ApplePerf(Perf):
    """See `Perf`; without an app it is the one in front."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def memory(self, app: str | None = None) -> Mapping[str, Any]:
        """See `Perf.memory`: `residentKb`.

        Raises:
            AppNotFound: No such app.
            AppNotRunning: It does not run.
        """
        name, pid = await self._running(app)
        resident, _ = await self._measured(name, pid)
        return {"app": name, "pid": pid, "residentKb": resident}

    async def cpu(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """See `Perf.cpu`; errors as `memory`. The host counts hundredths of a second."""
        name, pid = await self._running(app)
        _, before = await self._measured(name, pid)
        began = anyio.current_time()
        await anyio.sleep(seconds)
        took = anyio.current_time() - began
        _, after = await self._measured(name, pid)
        percent = round(100 * max(0.0, after - before) / took, 1)
        return {"app": name, "pid": pid, "seconds": round(took, 3), "cpuPercent": percent}

    async def _running(self, app: str | None) -> tuple[str, int]:
        if app is None:
            front = await self._reach.front()
            if front is None:
                raise AppNotRunning("No app is in front.", app="")
            app = front.app
        bundle = await self._reach.bundles.meant(app)
        pid = (await self._reach.bundles.running()).get(bundle.id)
        if pid is None:
            raise AppNotRunning("The app does not run.", app=bundle.id)
        return bundle.id, pid

    async def _measured(self, app: str, pid: int) -> tuple[int, float]:
        """Resident kilobytes, and seconds of processor time, of a process of this host."""
        done = await processes.run(["ps", "-o", "rss=,time=", "-p", str(pid)], deadline=5.0)
        row = _ROW.search(done.text)
        if row is None:
            if done.code != 0 and not done.text.strip():
                raise AppNotRunning("The app does not run any more.", app=app)
            raise UpstreamUnavailable(
                "The host does not say it.", upstream="ps", enable_hint="See details.", said=done.text[:200]
            )
        spent = 0.0
        for part in row["time"].split(":"):
            spent = spent * 60 + float(part)
        return int(row["rss"]), spent + 86400 * int(row["days"] or 0)
