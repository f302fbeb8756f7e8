"""Lines of `logcat -v epoch -v printable`-like output, read into what they say."""

from __future__ import annotations

import re
from typing import Literal

from anydevice.driver import LogLine

_EPOCH = re.compile(
    r"^\s*(?P<time>\d+\.\d+)\s+(?P<pid>\d+)\s+(?P<tid>\d+)\s+(?P<level>[VDIWEFAS])\s+(?P<tag>.*?)\s*: (?P<text>.*)$"
)
Level = Literal["debug", "info", "warning", "error"]
_LEVELS: dict[str, Level] = {
    "V": "debug",
    "D": "debug",
    "I": "info",
    "W": "warning",
    "E": "error",
    "F": "error",
    "A": "error",
}
BEGINS = "--------- "
"""Start of the lines with which logcat names its buffers."""


def parse_line(text: str) -> LogLine | None:
    """One line of `logcat -v epoch`; None for what is no line of a log."""
    found = _EPOCH.match(text)
    if found is None:
        return None
    return LogLine(
        text=found["text"],
        level=_LEVELS.get(found["level"]),
        tag=found["tag"],
        pid=int(found["pid"]),
        time=float(found["time"]),
    )
