"""The device's log, by `loggingctl`.

A cursor is a time of the device's own clock, and how many lines of that very moment were seen.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from anydevice.driver import LogLine, LogPage, Logs
from anydevice_adb import line
from anydevice_schemas.errors import InvalidArgument, UpstreamUnavailable

from .packages import Packages
from .reach import Reach
from .reading.journal import FORM, parse_line

DEADLINE: Final = 20.0
MOST: Final = 16 << 20
"""Bytes of the log that are read at once."""
Row = tuple[LogLine, str]
Place = tuple[datetime, int]


class VegaLogs(Logs):
    """See `Logs`. An app's lines are those of its package, as the device tells them apart."""

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages
        self._cut = False

    async def now(self) -> str:
        """See `Logs.now`."""
        clock = await self._clock()
        rows = await self._rows(None, clock)
        return rows[-1][1] if rows else _cursor(clock, 0)

    async def read(
        self, cursor: str | None, *, app: str | None = None, most: int = 1000, until: str | None = None
    ) -> LogPage:
        """See `Logs.read`. What the device dropped in between it does not tell.

        Raises:
            AppNotFound: The app is not installed.
            InvalidArgument: A cursor is none of ours.
        """
        if app is not None:
            names = await self._packages.names()
            if app not in names:
                raise self._packages.unknown(app, names)
        since = _place(cursor) if cursor is not None else None
        end = _place(until) if until is not None else None
        clock = await self._clock()
        rows = await self._rows(since[0] if since is not None else None, clock)
        mine = rows if app is None else await self._of(app, since[0] if since is not None else None, clock, rows)
        fits = [row for row in rows if _between(row, since, end)]
        mine = [row for row in mine if _between(row, since, end)]
        if cursor is None:
            mine = mine[-most:]
        page, more = mine[:most], len(mine) > most
        at = page[-1][1] if more else fits[-1][1] if fits else cursor or _cursor(clock, 0)
        return LogPage([row[0] for row in page], at, lost=None, more=more or self._cut)

    async def _of(self, app: str, since: datetime | None, clock: datetime, rows: list[Row]) -> list[Row]:
        """The rows of an app. The device picks the lines; their places are those among all lines."""
        lines = await self._lines(since, clock, app)
        left: dict[tuple[datetime, str, str, int | None], int] = {}
        for moment, one in lines:
            key = (moment, one.tag, one.text, one.pid)
            left[key] = left.get(key, 0) + 1
        found = []
        for row in rows:
            one = row[0]
            key = (_place(row[1])[0], one.tag, one.text, one.pid)
            if left.get(key, 0) > 0:
                left[key] -= 1
                found.append(row)
        return found

    async def _rows(self, since: datetime | None, clock: datetime) -> list[Row]:
        """Lines with the cursor behind each."""
        found: list[Row] = []
        last, number = None, 0
        for moment, one in await self._lines(since, clock):
            if since is not None and moment < since:
                continue
            number = number + 1 if moment == last else 1
            last = moment
            found.append((one, _cursor(moment, number)))
        return found

    async def _lines(self, since: datetime | None, clock: datetime, app: str = "") -> list[tuple[datetime, LogLine]]:
        words = ["loggingctl", "log", "-o", "short_precise"]
        words += ["-S", since.strftime(FORM)] if since is not None else []
        words += ["--vpkg", app] if app else []
        done = await self._reach.patiently(lambda: self._reach.adb.shell(line(*words), deadline=DEADLINE, most=MOST))
        if done.status != 0 and not done.stdout:
            raise UpstreamUnavailable(
                "The device does not give its log.",
                upstream="loggingctl",
                enable_hint="See details.",
                said=done.both[-500:],
            )
        self._cut = done.cut > 0
        text = done.text[: done.text.rfind("\n") + 1] if self._cut else done.text
        return [found for row in text.split("\n") if (found := parse_line(row.rstrip("\r"), clock)) is not None]

    async def _clock(self) -> datetime:
        """The device's clock."""
        text = (await self._reach.sh("date '+%Y-%m-%d %H:%M:%S.000000'", deadline=5.0)).text.strip()
        try:
            return datetime.strptime(text, FORM).replace(tzinfo=UTC)
        except ValueError:
            return datetime.now(UTC)


def _between(row: Row, since: Place | None, end: Place | None) -> bool:
    place = _place(row[1])
    return (since is None or place > since) and (end is None or place <= end)


def _cursor(moment: datetime, number: int) -> str:
    return f"{moment.strftime(FORM)}+{number}"


def _place(cursor: str) -> Place:
    moment, _, number = cursor.rpartition("+")
    try:
        return datetime.strptime(moment, FORM).replace(tzinfo=UTC), int(number)
    except ValueError:
        raise InvalidArgument(
            "This is no cursor of the log.", param="cursor", expected="one that was answered"
        ) from None
