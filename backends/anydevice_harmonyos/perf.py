"""Measuring an app: memory and processor time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from anydevice.driver import Perf
from anydevice_schemas.errors import AppNotFound, AppNotRunning, UpstreamUnavailable

from .packages import Packages
from .reach import Reach
from .reading import measures


class HarmonyosPerf(Perf):
    """See `Perf`; without an app it is the one in front."""

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages

    async def memory(self, app: str | None = None) -> Mapping[str, Any]:
        """See `Perf.memory`: `residentKb`, and what else the device tells of the first process.

        Raises:
            AppNotFound, AppNotRunning: There is nothing to measure.
            UpstreamUnavailable: The device does not say it.
        """
        app, pids = await self._running(app)
        status, told = await self._reach.several(
            f"cat /proc/{pids[0]}/status", f"hidumper --mem {pids[0]}", deadline=20
        )
        found = measures.memory(status, told)
        if "residentKb" not in found:
            raise _silent("/proc", status)
        return {"app": app, "pid": pids[0], "processes": len(pids), **found}

    async def cpu(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """See `Perf.cpu`: by the kernel's own count, else as long as the device's program takes.

        Raises:
            AnydeviceError: As `memory`.
        """
        app, pids = await self._running(app)
        words = "cat " + " ".join(f"/proc/{pid}/stat" for pid in pids)
        first = measures.ticks((await self._reach.hdc.shell(words)).text)
        began = anyio.current_time()
        if not first:
            return await self._told(app, pids)
        await anyio.sleep(seconds)
        last = measures.ticks((await self._reach.hdc.shell(words)).text)
        took = anyio.current_time() - began
        if not set(first) & set(last):
            raise AppNotRunning("The app ended while it was measured.", app=app)
        used = sum(last[pid] - first[pid] for pid in last if pid in first)
        percent = round(100 * used / (measures.TICKS * took), 1)
        return {"app": app, "pid": pids[0], "processes": len(pids), "seconds": round(took, 3), "cpuPercent": percent}

    async def _told(self, app: str, pids: list[int]) -> Mapping[str, Any]:
        """As the device's own program measures it, over a time of its own: a build that shows no `/proc` of others."""
        words = [f"hidumper --cpuusage {pid}" for pid in pids]
        told = await self._reach.several(*words, deadline=20.0)
        found = [measures.usage(text, pid) for text, pid in zip(told, pids, strict=False)]
        known = [one for one in found if one is not None]
        if not known:
            raise _silent("hidumper --cpuusage", told[0])
        percent, seconds = sum(one[0] for one in known), max(one[1] for one in known)
        return {
            "app": app, "pid": pids[0], "processes": len(pids), "seconds": seconds, "cpuPercent": round(percent, 1),
        }  # fmt: skip

    async def _running(self, app: str | None) -> tuple[str, list[int]]:
        if app is None:
            front = await self._reach.front()
            if front is None:
                raise AppNotRunning("No app is in front.", app="")
            app = front.app
        bundle = await self._packages.bundle(app)
        if bundle is None:
            raise AppNotFound(
                "No such app is installed.", hint="Call apps to see what is installed.", nearest_matches=[], app=app
            )
        pids = await self._reach.pids(app)
        if not pids:
            raise AppNotRunning("The app does not run.", app=app)
        return app, pids


def _silent(what: str, said: str) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The device does not say it.", upstream=what, enable_hint="See details.", said=said[-1000:]
    )
