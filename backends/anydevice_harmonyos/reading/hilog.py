"""Lines of `hilog -v epoch`."""

from __future__ import annotations

import re
from typing import Literal

from anydevice.driver import LogLine

_LINE = re.compile(
    r"(?P<time>\d{9,11}\.\d+)\s+(?P<pid>\d+)\s+(?P<tid>\d+)\s+(?P<level>[DIWEF])\s+(?P<domain>[A-Z][0-9A-Fa-f]{5})/"
    r"(?P<tag>[^:]*):\s?(?P<text>.*)"
)
Level = Literal["debug", "info", "warning", "error"]
LEVELS: dict[str, Level] = {"D": "debug", "I": "info", "W": "warning", "E": "error", "F": "error"}


def parse_line(row: str) -> LogLine | None:
    """A line, or None where it is none (the buffer's own words)."""
    found = _LINE.fullmatch(row)
    if found is None:
        return None
    return LogLine(found["text"], LEVELS[found["level"]], found["tag"], int(found["pid"]), float(found["time"]))
