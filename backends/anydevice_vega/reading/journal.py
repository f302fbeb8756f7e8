"""Lines of the log, as `loggingctl log -o short_precise` prints them: a journal's, without the year."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from anydevice.driver import LogLine

_LINE = re.compile(
    r"(?P<moment>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\.\d{1,6}) (?P<host>\S+) (?P<tag>[^\[:]+?)"
    r"(?:\[(?P<pid>\d+)\])?: ?(?P<text>.*)"
)
FORM = "%Y-%m-%d %H:%M:%S.%f"
"""How a moment is told to `-S`."""


def parse_line(row: str, now: datetime) -> tuple[datetime, LogLine] | None:
    """A line with its moment by the device's own clock (as UTC); None where it is none.

    Args:
        row: One line.
        now: The device's clock: a line that seems to come from later is of the year before.
    """
    found = _LINE.fullmatch(row)
    if found is None:
        return None
    try:
        moment = datetime.strptime(f"{now.year} {found['moment']}", "%Y %b %d %H:%M:%S.%f").replace(tzinfo=UTC)
        if moment > now + timedelta(days=2):
            moment = moment.replace(year=now.year - 1)
    except ValueError:
        return None
    pid = int(found["pid"]) if found["pid"] else None
    return moment, LogLine(found["text"], None, found["tag"].strip(), pid, moment.timestamp())
