"""Logs, measures and network of a fake device."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import anyio

from anydevice_schemas.errors import AppNotFound, AppNotRunning, InvalidArgument

from .. import driver as d
from .launching import NAMES

if TYPE_CHECKING:
    from .driver import FakeDriver

OPERATIONS = [
    "logs.now", "logs.read", "perf.memory", "perf.cpu", "perf.frames", "network.requests",
]  # fmt: skip

Level = Literal["debug", "info", "warning", "error"]


@dataclass
class Diary:
    """What the apps of a fake device wrote and sent.

    Attributes:
        lines: The log; the first of it is number `gone` + 1 of all there ever were.
        gone: How many lines made room for newer ones.
        requests: What was sent over the network.
        busy: Processor time the app takes, in percent of one core.
        resident: Memory it takes, in KiB.
    """

    lines: list[d.LogLine] = field(default_factory=list)
    gone: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    busy: float = 3.0
    resident: int = 40_000

    def write(self, text: str, *, level: Level | None = "info", app: str = NAMES[0], at: float | None = None) -> None:
        """An app writes a line."""
        self.lines.append(d.LogLine(text, level, app, 4711, time.time() if at is None else at))

    def reported(self, what: str, element: str, url: str | None) -> None:
        """The practice app reports something, perhaps over the network."""
        self.write(f"practice {what} {element}".rstrip())
        if url is not None:
            self.requests.append({"method": "POST", "url": url})

    def rotate(self, keep: int) -> None:
        """The oldest lines go, all but the newest `keep`."""
        gone = max(0, len(self.lines) - keep)
        self.gone += gone
        del self.lines[:gone]


class FakeLogs(d.Logs):
    """The log of a fake device; a cursor is the number of the last line that was seen."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    @property
    def diary(self) -> Diary:
        """What was written."""
        return self.driver.model.diary

    async def now(self) -> str:
        """See `Logs`."""
        await self.driver.enter("logs.now", page=False)
        return str(self.diary.gone + len(self.diary.lines))

    async def read(
        self, cursor: str | None, *, app: str | None = None, most: int = 1000, until: str | None = None
    ) -> d.LogPage:
        """See `Logs`."""
        await self.driver.enter("logs.read", page=False)
        tag = _tag(app)
        diary = self.diary
        end = _number(until) if until is not None else diary.gone + len(diary.lines)
        start = _number(cursor) if cursor is not None else diary.gone
        wanted = [
            (number, line)
            for number, line in enumerate(diary.lines, diary.gone + 1)
            if start < number <= end and tag in (None, line.tag)
        ]
        if cursor is None:
            return d.LogPage([line for _, line in wanted[-most:]], str(end))
        kept = wanted[:most]
        more = len(wanted) > len(kept)
        last = kept[-1][0] if more and kept else start if more else max(start, end)
        return d.LogPage([line for _, line in kept], str(last), max(0, min(diary.gone, end) - start), more)


def _tag(app: str | None) -> str | None:
    """The tag of an app's lines.

    Raises:
        AppNotFound: There is no such app.
    """
    if app is None:
        return None
    if app.casefold() not in NAMES:
        raise AppNotFound("There is no such app.", nearest_matches=list(NAMES))
    return NAMES[0]


def _number(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdecimal()) or len(cursor) > 9:
        raise InvalidArgument("This is no place in a log.", param="after", expected="next of an earlier answer of logs")
    return int(cursor)


class FakePerf(d.Perf):
    """Measures that a test can set."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    async def memory(self, app: str | None = None) -> Mapping[str, Any]:
        """See `Perf`."""
        diary = await self._measured("perf.memory", app)
        return {"app": NAMES[0], "processes": 1, "residentKb": diary.resident}

    async def cpu(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """See `Perf`."""
        diary = await self._measured("perf.cpu", app)
        await anyio.sleep(seconds)
        return {"app": NAMES[0], "seconds": seconds, "cpuPercent": diary.busy}

    async def frames(self, app: str | None = None, *, seconds: float = 1.0) -> Mapping[str, Any]:
        """See `Perf`."""
        await self._measured("perf.frames", app)
        await anyio.sleep(seconds)
        frames = round(60 * seconds)
        return {"app": NAMES[0], "seconds": seconds, "frames": frames, "frameMsP50": 16.7, "frameMsP90": 16.9}

    async def _measured(self, operation: str, app: str | None) -> Diary:
        await self.driver.enter(operation, page=False)
        _tag(app)
        if not getattr(self.driver.model, "running", True):
            raise AppNotRunning("The app does not run.", app=app or NAMES[0])
        return self.driver.model.diary


class FakeNetwork(d.Network):
    """What the app sent."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    async def requests(self, *, app: str | None = None, most: int = 100) -> Sequence[Mapping[str, Any]]:
        """See `Network`."""
        await self.driver.enter("network.requests", page=False)
        _tag(app)
        return self.driver.model.diary.requests[-most:]
