"""The device's log, by `hilog`.

A cursor is a time of the device's own clock, and how many lines of that very moment were seen.
"""

from __future__ import annotations

from typing import Final

from anydevice.driver import LogLine, LogPage, Logs
from anydevice.kit import moments
from anydevice_schemas.errors import AppNotFound

from .packages import Packages
from .reach import Reach
from .reading.hilog import parse_line

DEADLINE: Final = 20.0
MOST: Final = 16 << 20
"""Bytes of the log that are read at once, the newest."""


class HarmonyosLogs(Logs):
    """See `Logs`. An app's lines are those of its processes that live now."""

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages

    async def now(self) -> str:
        """See `Logs.now`."""
        rows = moments.numbered(await self._lines())
        return rows[-1][1] if rows else moments.cursor(await self._clock())

    async def read(
        self, cursor: str | None, *, app: str | None = None, most: int = 1000, until: str | None = None
    ) -> LogPage:
        """See `Logs.read`. How many lines the device dropped in between it does not tell.

        Raises:
            AppNotFound: The app is not installed, or does not run: its lines cannot be told from others.
            InvalidArgument: A cursor is none of ours.
        """
        pids = await processes_of(self._reach, self._packages, app) if app is not None else None
        since = moments.parts(cursor) if cursor is not None else None
        end = moments.parts(until) if until is not None else None
        rows = moments.numbered(await self._lines())
        if since is not None:
            rows = [row for row in rows if moments.parts(row[1]) > since]
        if end is not None:
            rows = [row for row in rows if moments.parts(row[1]) <= end]
        mine = [row for row in rows if pids is None or row[0].pid in pids]
        page, more = (mine[-most:], False) if since is None else (mine[:most], len(mine) > most)
        at = page[-1][1] if more else rows[-1][1] if rows else cursor or await self.now()
        return LogPage([line for line, _ in page], at, lost=None, more=more)

    async def _lines(self) -> list[LogLine]:
        done = await self._reach.hdc.shell("hilog -x -v epoch", deadline=DEADLINE, most=MOST)
        text = done.text
        if done.cut:
            text = text[text.find("\n") + 1 :]  # half a line is none
        # Not `splitlines`: a line may hold what Unicode takes for the end of one, and what follows is still the app's.
        return [line for row in text.split("\n") if (line := parse_line(row.rstrip("\r"))) is not None]

    async def _clock(self) -> float:
        text = (await self._reach.run("date", "+%s")).text.strip()
        return float(text) if text.isdigit() else 0.0


async def processes_of(reach: Reach, packages: Packages, app: str) -> list[int]:
    """Processes of an app, by which its lines are known.

    Raises:
        AppNotFound: It is not installed, or does not run.
    """
    pids = await reach.pids(app)
    if not pids:
        there = await packages.bundle(app) is not None
        raise AppNotFound(
            "The app does not run, so its lines cannot be told from others." if there else "No such app is installed.",
            hint="Open it first, or read the whole log without app.",
            nearest_matches=[],
            app=app,
        )
    return pids
