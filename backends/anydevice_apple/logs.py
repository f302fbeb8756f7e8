"""The log of a simulator, by its own `log show`.

A cursor is a moment, and how many lines of that very moment were seen.
"""

from __future__ import annotations

import math
import time
from typing import Final

from anydevice.driver import LogLine, LogPage, Logs
from anydevice.kit import moments
from anydevice_schemas.errors import AppNotFound

from .reach import Reach
from .reading.unifiedlog import Line, parse

DIGITS: Final = 6
"""Digits of a second that the log tells."""
DEADLINE: Final = 45.0
"""Seconds of a look into the log, which is the slowest program of them all."""
BACK: Final = 300.0
"""Seconds that are looked back where no cursor says from when."""


class AppleLogs(Logs):
    """See `Logs`. An app's lines are those of its program, of processes that ended as well."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def now(self) -> str:
        """See `Logs.now`. A simulator has the clock of its host."""
        return moments.cursor(time.time(), digits=DIGITS)

    async def read(
        self, cursor: str | None, *, app: str | None = None, most: int = 1000, until: str | None = None
    ) -> LogPage:
        """See `Logs.read`. How many lines the system dropped in between it does not tell.

        Raises:
            AppNotFound: The app is not installed.
            InvalidArgument: A cursor is none of ours.
        """
        program = await self.program(app) if app is not None else None
        since = moments.parts(cursor) if cursor is not None else (time.time() - BACK, 0)
        end = moments.parts(until) if until is not None else None
        rows = [
            row for row in moments.numbered(await self.lines(since[0]), digits=DIGITS) if moments.parts(row[1]) > since
        ]
        if end is not None:
            rows = [row for row in rows if moments.parts(row[1]) <= end]
        mine = [row for row in rows if program is None or row[0].program == program]
        if cursor is None:
            mine = mine[-most:]
        page, more = mine[:most], len(mine) > most
        at = page[-1][1] if more else rows[-1][1] if rows else cursor or await self.now()
        lines = [LogLine(line.text, line.level, line.tag, line.pid, line.time) for line, _ in page]
        return LogPage(lines, at, lost=None, more=more)

    async def lines(self, since: float, predicate: str = "") -> list[Line]:
        """Its lines since a moment, in whole seconds, oldest first; `predicate` as `log` takes it."""
        only = ("--predicate", predicate) if predicate else ()
        done = await self._reach.sim.do(
            "spawn", "log", "show", "--style", "ndjson", "--info", "--debug", "--start", f"@{math.floor(since)}", *only,
            deadline=DEADLINE,
        )  # fmt: skip
        return parse(done.text)

    async def program(self, app: str) -> str:
        """The name of an app's program, which its lines bear.

        Raises:
            AppNotFound: It is not installed, or does not say which program it runs.
        """
        bundle = await self._reach.bundles.meant(app)
        if not bundle.executable:
            raise AppNotFound(
                "The app does not say which program it runs, so its lines cannot be told from others.",
                hint="Read the whole log without app.",
                nearest_matches=[],
                app=app,
            )
        return bundle.executable
