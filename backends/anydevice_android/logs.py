"""The device's log, by `logcat`.

A cursor is a time of the device's own clock, and how many lines of that very moment were seen.
"""

from __future__ import annotations

import math

from anydevice.driver import LogLine, LogPage, Logs
from anydevice_schemas.errors import AppNotFound, InvalidArgument

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
            return f"{(await self._clock()):.3f}+0"
        # Several lines may be of one moment; all of them are over.
        rows = _numbered(await self._lines(f"-T {last[-1]:.3f}"), last[-1])
        return rows[-1][1] if rows else f"{last[-1]:.3f}+1"

    async def read(
        self, cursor: str | None, *, app: str | None = None, most: int = 1000, until: str | None = None
    ) -> LogPage:
        """See `Logs.read`. How many lines the device dropped in between it does not tell.

        Raises:
            AppNotFound: The app is not installed, or does not run: its lines cannot be told from others.
            InvalidArgument: A cursor is none of ours.
        """
        pids = await processes_of(self._reach, self._packages, app) if app is not None else None
        since = _parts(cursor) if cursor is not None else None
        end = _parts(until) if until is not None else None
        if since is None:
            rows = _numbered(await self._lines(f"-t {most}"), None)
        else:
            # The device gives everything of this very moment once more.
            rows = [
                row for row in _numbered(await self._lines(f"-T {since[0]:.3f}"), since[0]) if _parts(row[1]) > since
            ]
        if end is not None:
            rows = [row for row in rows if _parts(row[1]) <= end]
        mine = [row for row in rows if pids is None or row[0].pid in pids]
        page, more = mine[:most], len(mine) > most
        more_comes = self._cut and (end is None or not rows or _parts(rows[-1][1]) < end)
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


def _numbered(lines: list[LogLine], since: float | None) -> list[tuple[LogLine, str]]:
    """Lines with the cursor behind each: its moment, and its number among the lines of that moment.

    Lines before `since` are left out: a device may give some.
    """
    found: list[tuple[LogLine, str]] = []
    moment, number = 0.0, 0
    for line in lines:
        if line.time is None or (since is not None and line.time < since):
            continue
        if line.time != moment:
            moment, number = line.time, 0
        number += 1
        found.append((line, f"{moment:.3f}+{number}"))
    return found


def _parts(cursor: str) -> tuple[float, int]:
    time, _, seen = cursor.partition("+")
    try:
        moment, number = float(time), int(seen)
        if not math.isfinite(moment):
            raise ValueError
        return moment, number
    except ValueError:
        raise InvalidArgument(
            "This is no cursor of the log.", param="cursor", expected="one that was answered"
        ) from None
