"""What programs that were started here wrote to stdout and stderr: the newest lines of each, in memory."""

from __future__ import annotations

import json
import re
import secrets
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from anydevice.driver import LogLine
from anydevice.kit import pids

BYTES_MOST: Final = 512 << 10
"""Bytes of one program's lines that are kept."""
LINES_MOST: Final = 5_000
LINE_MOST: Final = 8 << 10
"""Bytes after which a line is broken."""
PROGRAMS_MOST: Final = 32
"""Programs whose lines are kept; those that have ended go first, and of them those that wrote nothing."""
KEPT_OVER: Final = 64 << 10
"""Bytes of one program's lines that survive a hand-over."""

Level = Literal["debug", "info", "warning", "error"]
_LEVELS: dict[str, Level] = {
    "DEBUG": "debug", "VERBOSE": "debug", "INFO": "info", "MESSAGE": "info", "WARNING": "warning",
    "CRITICAL": "error", "ERROR": "error", "FATAL": "error",
}  # fmt: skip
_SAID = re.compile(
    r"\A(?:\([^()]{1,80}:\d+\): )?(?:[\w.+-]{1,60}-| ?\*\* ?(?:\([^()]{1,80}:\d+\): )?)?"
    r"(WARNING|CRITICAL|ERROR|MESSAGE|Message|INFO|DEBUG)(?: \*\*)?: "
    r"|\A\[\d+:\d+:\d{4}/\d{6}\.\d+:(INFO|WARNING|ERROR|FATAL|VERBOSE)\d?:"
)
"""How GLib and Chromium say the level of a line."""


@dataclass(slots=True)
class Line:
    """One line: its number among all of a desktop, when it came (seconds since the epoch), what it says."""

    number: int
    time: float
    text: str


@dataclass(slots=True, eq=False)
class Ring:
    """The newest lines of one program.

    Attributes:
        app: Id of its application; empty until somebody says.
        pid: Of the process that was started; what it started itself writes here too.
        gone: Number of the last line that made room for others; 0 while all are there.
        rest: The beginning of a line that has not ended yet.
    """

    app: str = ""
    pid: int = 0
    lines: deque[Line] = field(default_factory=deque)
    size: int = 0
    gone: int = 0
    rest: bytes = b""

    def add(self, line: Line) -> None:
        """One more; the oldest make room."""
        self.lines.append(line)
        self.size += len(line.text)
        while self.size > BYTES_MOST or len(self.lines) > LINES_MOST:
            old = self.lines.popleft()
            self.size -= len(old.text)
            self.gone = old.number


class Page(NamedTuple):
    """Lines with their numbers, where to go on, whether there are more, and how many are gone from before them."""

    lines: list[tuple[int, LogLine]]
    number: int
    more: bool
    lost: int | None


class Output:
    """What the programs of one desktop wrote. Outlives connections, and a hand-over by `save` and `load`."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(4)
        self.number = 0
        self._rings: list[Ring] = []

    def ring(self) -> tuple[Ring, Callable[[bytes], None]]:
        """A ring for a program that is about to start, and what its output is to be given to."""
        while len(self._rings) >= PROGRAMS_MOST:
            ended = [ring for ring in self._rings if not ring.pid or not pids.group_alive(ring.pid)]
            silent = [ring for ring in ended if not ring.lines]
            self._rings.remove((silent or ended or self._rings)[0])
        made = Ring()
        self._rings.append(made)
        return made, self.sink(made)

    def sink(self, ring: Ring) -> Callable[[bytes], None]:
        """What the output of a ring's program is to be given to."""
        return lambda chunk: self._take(ring, chunk)

    def of(self, pid: int) -> Ring | None:
        """The ring of a program by the process that was started."""
        return next((ring for ring in reversed(self._rings) if ring.pid == pid), None)

    def clear(self) -> None:
        """The desktop ended: cursors of before name nothing any more."""
        self.mark, self.number, self._rings = secrets.token_hex(4), 0, []

    def apps(self) -> set[str]:
        """The applications of which there is a log."""
        return {ring.app for ring in self._rings if ring.app}

    def after(self, number: int, app: str | None, until: int) -> Iterable[tuple[Ring, Line]]:
        """Lines after one number, up to another, of one app or all, in their order."""
        parts = (_between(ring, number, until) for ring in self._rings if app in (None, ring.app))
        return merge(*parts, key=lambda part: part[1].number)

    def page(self, number: int, app: str | None, most: int, until: int | None = None) -> Page:
        """At most `most` lines after a number, and up to another."""
        end = self.number if until is None else min(until, self.number)
        found = list(islice(self.after(number, app, end), most + 1))
        more = len(found) > most
        lines = [(line.number, _told(ring, line)) for ring, line in found[:most]]
        dropped = any(ring.gone > number for ring in self._rings if app in (None, ring.app))
        return Page(lines, lines[-1][0] if more else max(number, end), more, None if dropped else 0)

    def newest(self, app: str | None, most: int) -> list[LogLine]:
        """The newest lines, oldest first."""
        return [_told(ring, line) for ring, line in deque(self.after(0, app, self.number), maxlen=most)]

    # --- over a hand-over ---

    def save(self, path: Path) -> None:
        """Writes the newest of it down. Blocks for a moment."""
        rings = []
        for ring in self._rings:
            kept: deque[Line] = deque()
            size = 0
            for line in reversed(ring.lines):
                size += len(line.text)
                if size > KEPT_OVER:
                    break
                kept.appendleft(line)
            gone = ring.gone if len(kept) == len(ring.lines) else ring.lines[-len(kept) - 1].number
            rest = ring.rest.decode("utf-8", "replace")
            rings.append(
                {"app": ring.app, "pid": ring.pid, "gone": gone, "rest": rest, "lines": [asdict(one) for one in kept]}
            )
        new = path.with_suffix(".new")
        new.write_text(json.dumps({"mark": self.mark, "number": self.number, "rings": rings}))
        new.replace(path)

    def load(self, path: Path) -> None:
        """Goes on with what `save` wrote, and removes it; what cannot be read is as if it had never been there."""
        try:
            state: dict[str, Any] = json.loads(path.read_text())
            rings = []
            for told in state["rings"]:
                ring = Ring(str(told["app"]), int(told["pid"]), gone=int(told["gone"]), rest=told["rest"].encode())
                for line in told["lines"]:
                    ring.add(Line(int(line["number"]), float(line["time"]), str(line["text"])))
                rings.append(ring)
            self.mark, self.number, self._rings = str(state["mark"]), int(state["number"]), rings
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return
        finally:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    # --- inside ---

    def _take(self, ring: Ring, chunk: bytes) -> None:
        *whole, ring.rest = (ring.rest + chunk).split(b"\n")
        while len(ring.rest) > LINE_MOST:
            whole.append(ring.rest[:LINE_MOST])
            ring.rest = ring.rest[LINE_MOST:]
        now = time.time()
        if len(whole) > LINES_MOST:  # only the newest of a flood can stay
            self.number += len(whole) - LINES_MOST
            ring.gone = self.number
            whole = whole[-LINES_MOST:]
        for raw in whole:
            for at in range(0, max(1, len(raw)), LINE_MOST):
                text = raw[at : at + LINE_MOST].decode("utf-8", "replace").rstrip("\r")
                if text:
                    self.number += 1
                    ring.add(Line(self.number, now, text))


def _between(ring: Ring, number: int, until: int) -> Iterator[tuple[Ring, Line]]:
    """Lines of one ring after one number, up to another."""
    start = bisect_right(ring.lines, number, key=lambda line: line.number)
    for line in islice(ring.lines, start, None):
        if line.number > until:
            return
        yield ring, line


def _told(ring: Ring, line: Line) -> LogLine:
    return LogLine(line.text, level_of(line.text), ring.app, ring.pid or None, line.time)


def level_of(text: str) -> Level | None:
    """The level a line says it has, as GLib and Chromium write it; None where it says none."""
    said = _SAID.match(text)
    return _LEVELS.get((said[1] or said[2]).upper()) if said is not None else None
