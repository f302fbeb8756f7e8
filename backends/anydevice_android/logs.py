"""The device's log, by `logcat`.

A cursor is a time of the device's own clock, and how many lines of that very moment were seen.
"""

from __future__ import annotations

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

    async def now(self) -> str:
        """See `Logs.now`."""
        lines = await self._lines("-t 1", None)
        return _cursor(lines, None) or f"{(await self._clock()):.3f}+0"

    async def read(
        self, cursor: str | None, *, app: str | None = None, most: int = 1000, until: str | None = None
    ) -> LogPage:
        """See `Logs.read`. How many lines the device dropped in between it does not tell.

        Raises:
            AppNotFound: The app is not installed, or does not run: its lines cannot be told from others.
            InvalidArgument: The cursor is none of ours.
        """
        pids = await self._pids(app) if app is not None else None
        if cursor is None:
            lines = _before(await self._lines(f"-t {most}", pids), until)
            return LogPage(lines, _cursor(lines, None) or await self.now(), lost=None)
        time, seen = _parts(cursor)
        lines = await self._lines(f"-T {time:.3f}", pids)
        # The device gives everything from this very moment on again.
        fresh = [line for line in lines if line.time is None or line.time >= time]
        same = 0
        while same < len(fresh) and same < seen and fresh[same].time == time:
            same += 1
        fresh = _before(fresh[same:], until)
        page = fresh[:most]
        return LogPage(page, _cursor(page, (time, seen)) or cursor, lost=None, more=len(fresh) > most)

    async def _lines(self, words: str, pids: list[int] | None) -> list[LogLine]:
        wanted = f" --pid={pids[0]}" if pids and len(pids) == 1 else ""
        done = await self._reach.adb.shell(f"logcat -d -v epoch {words}{wanted}", deadline=DEADLINE, most=MOST)
        lines = [line for text in done.text.splitlines() if (line := parse_line(text)) is not None]
        return lines if pids is None else [line for line in lines if line.pid in pids]

    async def _pids(self, app: str) -> list[int]:
        pids = await self._reach.pids(app)
        if not pids:
            running = await self._packages.installed(app)
            raise AppNotFound(
                "The app does not run, so its lines cannot be told from others."
                if running
                else "No such app is installed.",
                hint="Open it first, or read the whole log without app.",
                nearest_matches=[],
                app=app,
            )
        return pids

    async def _clock(self) -> float:
        text = (await self._reach.run("date", "+%s")).text.strip()
        return float(text) if text.isdigit() else 0.0


def _cursor(lines: list[LogLine], before: tuple[float, int] | None) -> str | None:
    timed = [line.time for line in lines if line.time is not None]
    if not timed:
        return None
    last = timed[-1]
    seen = sum(1 for time in timed if time == last)
    if before is not None and before[0] == last:
        seen += before[1]
    return f"{last:.3f}+{seen}"


def _before(lines: list[LogLine], until: str | None) -> list[LogLine]:
    """The lines up to a cursor."""
    if until is None:
        return lines
    time, seen = _parts(until)
    kept, same = [], 0
    for line in lines:
        if line.time is not None and line.time > time:
            break
        same += line.time == time
        if same > seen:
            break
        kept.append(line)
    return kept


def _parts(cursor: str) -> tuple[float, int]:
    time, _, seen = cursor.partition("+")
    try:
        return float(time), int(seen)
    except ValueError:
        raise InvalidArgument(
            "This is no cursor of the log.", param="cursor", expected="one that was answered"
        ) from None
