"""The device's log, by `logcat`.

A cursor is a time of the device's own clock, and how many lines of that very moment were seen.
"""

from __future__ import annotations

from anydevice.driver import LogLine, LogPage, Logs
from anydevice.kit import moments
from anydevice_schemas.errors import AppNotFound

from .packages import Packages
from .reach import Reach
from .reading.logcat import parse_line

DEADLINE = 20.0
MOST = 16 << 20
"""Bytes of the log that are read at once."""


class AndroidLogs(Logs):
    """See `Logs`. An app's lines are those of its processes that live now."""

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages
        self._cut = False

    async def now(self) -> str:
        """See `Logs.now`."""
        last = [line.time for line in await self._lines("-t 1") if line.time is not None]
        if not last:
            return moments.cursor(await self._clock())
        # Several lines may be of one moment; all of them are over.
        rows = moments.numbered(await self._lines(f"-T {last[-1]:.3f}"), since=last[-1])
        return rows[-1][1] if rows else moments.cursor(last[-1], 1)

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
        if since is None:
            rows = moments.numbered(await self._lines(f"-t {most}"))
        else:
            # The device gives everything of this very moment once more.
            rows = moments.numbered(await self._lines(f"-T {since[0]:.3f}"), since=since[0])
            rows = [row for row in rows if moments.parts(row[1]) > since]
        if end is not None:
            rows = [row for row in rows if moments.parts(row[1]) <= end]
        mine = [row for row in rows if pids is None or row[0].pid in pids]
        page, more = mine[:most], len(mine) > most
        more_comes = self._cut and (end is None or not rows or moments.parts(rows[-1][1]) < end)
        at = page[-1][1] if more else rows[-1][1] if rows else cursor or await self.now()
        return LogPage([line for line, _ in page], at, lost=None, more=more or more_comes)

    async def _lines(self, words: str) -> list[LogLine]:
        done = await self._reach.adb.shell(f"logcat -d -v epoch {words}", deadline=DEADLINE, most=MOST)
        self._cut = done.cut > 0
        text = done.text
        if self._cut:
            text = text[: text.rfind("\n") + 1]  # half a line is none
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
        there = await packages.installed(app)
        raise AppNotFound(
            "The app does not run, so its lines cannot be told from others." if there else "No such app is installed.",
            hint="Open it first, or read the whole log without app.",
            nearest_matches=[],
            app=app,
        )
    return pids
