"""Logs of a desktop: what programs that were started here wrote, and the journal of a session that has one."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

import anyio.to_thread

from anydevice.driver import LogLine, LogPage, Logs
from anydevice_schemas.errors import AppNotFound, InvalidArgument

from .apps import LinuxApps
from .journal import Journal
from .measuring import family
from .output import Output, Page

CURSOR: Final = re.compile(r"([0-9a-f]{8})\.(\d{1,15})\.(\d{1,18})")
NO_JOURNAL: Final = "it was not started here, and this host has no systemd journal (journalctl) to read"
HINT: Final = "Open the app with open: what it writes is kept from then on."


class Place(NamedTuple):
    """A cursor: which run of the desktop, the last line that was seen, and the moment (microseconds, UTC)."""

    mark: str
    number: int
    moment: int

    def __str__(self) -> str:
        return f"{self.mark}.{self.number}.{self.moment}"


class LinuxLogs(Logs):
    """Logs by application. On a virtual desktop everything is started here; elsewhere the journal has the rest."""

    def __init__(self, output: Output, apps: LinuxApps, journal: Journal | None, *, ours: bool) -> None:
        """`ours`: the desktop is a virtual one of ours, on which everything is started here."""
        self._output, self._apps, self._journal, self._ours = output, apps, journal, ours

    async def now(self) -> str:
        """See `Logs.now`."""
        return str(self._now())

    async def read(
        self, cursor: str | None, *, app: str | None = None, most: int = 1000, until: str | None = None
    ) -> LogPage:
        """See `Logs.read`.

        Raises:
            AppNotFound: No such app is installed, or nothing is kept of it.
            InvalidArgument: A cursor is none of ours.
        """
        id = await self._kept(app) if app is not None else None
        start, end = self._place(cursor), self._place(until)
        if start is None:
            return await self._newest(id, most)
        if start.mark != self._output.mark:
            start = start._replace(mark="", number=0)  # the desktop was started anew since
        stop = end.number if end is not None and end.mark == self._output.mark else None
        page = self._output.page(start.number, id, most, stop)
        lost = page.lost if start.mark else None
        if self._journal is None:
            place = Place(self._output.mark, page.number, start.moment)
            return LogPage([line for _, line in page.lines], str(place), lost, page.more)
        moment = end.moment if end is not None else self._now().moment
        theirs = await self._journal.between(await self._pids(id), start.moment, moment, most + 1)
        return _together(page, theirs, Place(self._output.mark, start.number, start.moment), moment, most, lost)

    # --- inside ---

    async def _pids(self, app: str | None) -> list[int]:
        """Every process of an app, or of all that have windows."""
        return sorted(await anyio.to_thread.run_sync(family, await self._apps.pids(app)))

    def _now(self) -> Place:
        return Place(self._output.mark, self._output.number, time.time_ns() // 1000)

    def _place(self, cursor: str | None) -> Place | None:
        if cursor is None:
            return None
        found = CURSOR.fullmatch(cursor)
        if found is None:
            raise InvalidArgument(
                "This is no place in the log of a desktop.", param="after", expected="next of an earlier answer of logs"
            )
        return Place(found[1], int(found[2]), int(found[3]))

    async def _kept(self, app: str) -> str:
        """Id of an application of which a log is kept."""
        kept = self._output.apps()
        if app in kept:
            return app
        id = await self._apps.meant(app)
        if id is None or (id not in kept and self._journal is None):
            raise AppNotFound(
                "No log is kept of this app: it was not started here.",
                hint=HINT,
                reason="it was not started here" if self._ours else NO_JOURNAL,
                nearest_matches=[{"app": one} for one in sorted(kept)][:10],
            )
        return id

    async def _newest(self, app: str | None, most: int) -> LogPage:
        now = self._now()
        lines = self._output.newest(app, most)
        if self._journal is not None:
            pids = await self._pids(app)
            lines = _sorted([*lines, *(line for _, line in await self._journal.newest(pids, most))])[-most:]
        return LogPage(lines, str(now))


def _together(  # noqa: PLR0917 - private, called once
    own: Page, theirs: Sequence[tuple[int, LogLine]], start: Place, moment: int, most: int, lost: int | None
) -> LogPage:
    """One page of two logs, by time. Each goes on from its own last line that is in it."""
    rows = [(line.time or 0.0, number, 0, line) for number, line in own.lines]
    rows += [(at / 1e6, 0, at, line) for at, line in theirs]
    rows.sort(key=lambda row: row[0])
    more = own.more or len(rows) > most
    kept = rows[:most]
    numbers = [number for _, number, _, _ in kept if number]
    moments = [at for _, _, at, _ in kept if at]
    number = own.number if len(numbers) == len(own.lines) else max(numbers, default=start.number)
    upto = moment if len(moments) == len(theirs) else max(moments, default=start.moment)
    return LogPage([line for _, _, _, line in kept], str(Place(start.mark, number, upto)), lost, more)


def _sorted(lines: Sequence[LogLine]) -> list[LogLine]:
    return sorted(lines, key=lambda line: line.time or 0.0)
