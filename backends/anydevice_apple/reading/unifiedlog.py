"""Lines of the unified log, as `log show --style ndjson` prints them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

Level = Literal["debug", "info", "warning", "error"]
LEVELS: Final[Mapping[str, Level]] = {
    "Debug": "debug", "Info": "info", "Default": "info", "Error": "error", "Fault": "error", "Warning": "warning",
}  # fmt: skip


@dataclass(slots=True, frozen=True)
class Line:
    """One line: its moment in seconds since the epoch, its process, and what it says."""

    time: float
    text: str
    level: Level | None
    pid: int | None
    program: str
    tag: str


def parse(text: str) -> list[Line]:
    """The lines of a log, oldest first; what is no line of it (a heading, the count at the end) is left out."""
    found: list[Line] = []
    for row in text.splitlines():
        if not row.startswith("{"):
            continue
        try:
            told = json.loads(row)
        except ValueError:
            continue  # cut off in the middle
        if not isinstance(told, Mapping) or "eventMessage" not in told:
            continue
        moment = _moment(told.get("timestamp"))
        if moment is None:
            continue
        pid = told.get("processID")
        tag = ".".join(str(told[name]) for name in ("subsystem", "category") if told.get(name))
        found.append(
            Line(
                moment,
                str(told["eventMessage"]),
                LEVELS.get(str(told.get("messageType", ""))),
                pid if isinstance(pid, int) else None,
                str(told.get("processImagePath") or "").rpartition("/")[2],
                tag,
            )
        )
    return sorted(found, key=lambda line: line.time)


def _moment(value: object) -> float | None:
    """Seconds of `2026-12-01 03:10:00.123456+0000`."""
    if not isinstance(value, str):
        return None
    for shape in ("%Y-%m-%d %H:%M:%S.%f%z", "%Y-%m-%d %H:%M:%S%z"):
        try:
            return datetime.strptime(value, shape).timestamp()
        except ValueError:
            continue
    return None
