"""HTTP requests in an app's log, as OkHttp's logging interceptor and those shaped after it write them.

    --> POST https://example.com/items (3-byte body)            or HTTP/1.1 behind the address
    <-- 200 OK https://example.com/items (22ms, 6-byte body)    the phrase may be missing; sizes as the level allows
    <-- END HTTP (6-byte body)                                  the size, where headers or bodies are logged
    <-- HTTP FAILED: java.net.SocketTimeoutException: timeout

A request and its answer are written by one thread, which tells requests apart that run side by side; where an answer
comes by another thread, its address does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

PATTERN = r": (-->|<--) "
"""What lines of interest have in them, for `grep -E`."""
_LINE = re.compile(
    r"^\s*(?P<time>\d+\.\d+)\s+(?P<pid>\d+)\s+(?P<tid>\d+)\s+[VDIWEFAS]\s+.*?: (?P<text>(?:-->|<--) .*)$"
)
_SENT = re.compile(r"--> (?P<method>[A-Z]{1,20}) (?P<url>[a-z][a-z0-9+.-]*://\S+)(?:.* \((?P<size>\d+)-byte body\))?")
_CAME = re.compile(
    r"<-- (?P<status>[1-9]\d\d) (?:.*? )?(?P<url>[a-z][a-z0-9+.-]*://\S+) \((?P<ms>\d+)ms(?:, (?P<size>\d+)-byte)?"
)
_END = re.compile(r"<-- END HTTP \((?:\d+ms, )?(?P<size>\d+)-byte")
_FAILED = re.compile(r"<-- HTTP FAILED: (?P<why>.*)$")


def requests(lines: Iterable[str], pids: Collection[int] | None = None) -> list[dict[str, Any]]:
    """The requests in lines of `logcat -v epoch`, oldest first.

    Args:
        lines: Lines of the log.
        pids: Processes that count; None = all.

    Returns:
        Of each `method`, `url`, and what is known of `status`, `ms`, `bytes` (of the answer), `sentBytes`, `error`,
        `time` (seconds since the epoch) and `pid`. One without a `status` and `error` has no answer yet.
    """
    found: list[dict[str, Any]] = []
    waiting: dict[tuple[int, int], list[dict[str, Any]]] = {}
    answered: dict[tuple[int, int], dict[str, Any]] = {}
    for line in lines:
        shape = _LINE.match(line.rstrip("\r"))
        if shape is None or (pids is not None and int(shape["pid"]) not in pids):
            continue
        thread = int(shape["pid"]), int(shape["tid"])
        text = shape["text"]
        if sent := _SENT.match(text):
            row: dict[str, Any] = {"method": sent["method"], "url": sent["url"]}
            row |= {"time": float(shape["time"]), "pid": thread[0]}
            if sent["size"] is not None:
                row["sentBytes"] = int(sent["size"])
            found.append(row)
            waiting.setdefault(thread, []).append(row)
        elif came := _CAME.match(text):
            row = _asked(waiting, thread, came["url"]) or {"url": came["url"], "pid": thread[0]}
            if "method" not in row:  # what asked for it is gone from the log
                row["time"] = float(shape["time"])
                found.append(row)
            row |= {"status": int(came["status"]), "ms": int(came["ms"])}
            if came["size"] is not None:
                row["bytes"] = int(came["size"])
            answered[thread] = row
        elif (end := _END.match(text)) and thread in answered:
            answered.pop(thread).setdefault("bytes", int(end["size"]))
        elif (failed := _FAILED.match(text)) and waiting.get(thread):
            waiting[thread].pop()["error"] = failed["why"].strip()
    return found


def _asked(waiting: dict[tuple[int, int], list[dict[str, Any]]], thread: tuple[int, int], url: str) -> Any:
    """The request an answer belongs to: of this thread, else the oldest of this process to this address."""
    for place in (thread, *(other for other in waiting if other[0] == thread[0] and other != thread)):
        for row in waiting.get(place, ()):
            if row["url"] == url:
                waiting[place].remove(row)
                return row
    # A redirect is answered under its last address.
    rows = waiting.get(thread)
    return rows.pop() if rows else None
