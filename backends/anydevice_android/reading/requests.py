"""HTTP requests in an app's log; which lines tell of one is said in `anydevice.kit.exchanges`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from anydevice.kit import exchanges
from anydevice.kit.exchanges import PATTERN

__all__ = ["PATTERN", "requests"]

_LINE = re.compile(
    r"^\s*(?P<time>\d+\.\d+)\s+(?P<pid>\d+)\s+(?P<tid>\d+)\s+[VDIWEFAS]\s+.*?: (?P<text>(?:-->|<--) .*)$"
)


def requests(lines: Iterable[str], pids: Collection[int] | None = None) -> list[dict[str, Any]]:
    """The requests in lines of `logcat -v epoch`, oldest first, as `exchanges.requests` tells them.

    Args:
        lines: Lines of the log.
        pids: Processes that count; None = all.
    """

    def said() -> Iterator[exchanges.Said]:
        for line in lines:
            shape = _LINE.match(line.rstrip("\r"))
            if shape is not None and (pids is None or int(shape["pid"]) in pids):
                yield exchanges.Said(float(shape["time"]), int(shape["pid"]), int(shape["tid"]), shape["text"])

    return exchanges.requests(said())
