"""HTTP requests in lines of the unified log: as apps write them, and as the system's CFNetwork sums them up.

    --> POST https://example.com/items (3-byte body)           as HTTP clients' logging writes it
    <-- 201 Created https://example.com/items (22ms, 6-byte body)
    <-- HTTP FAILED: The request timed out.
    GET https://example.com/items 200 12ms                     in one line, in this order or with the status in front
    Task <0F5B…>.<1> summary for task success {transaction_duration_ms=253, response_status=200, …}    CFNetwork's

CFNetwork tells neither method nor address: such a request has `status`, `ms` and sizes only, and is left out where the
same process writes lines of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .unifiedlog import Line

PREDICATE = 'eventMessage CONTAINS "://" OR eventMessage BEGINSWITH "Task <" OR eventMessage BEGINSWITH "<-- "'
"""What lines of interest say, for `log show --predicate`."""
_METHODS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
_URL = r"(?P<url>[a-z][a-z0-9+.-]*://[^\s)>\"'\]]+)"
_SENT = re.compile(rf"--> (?P<method>[A-Z]{{1,20}}) {_URL}(?:.* \((?P<size>\d+)-byte body\))?")
_CAME = re.compile(rf"<-- (?P<status>[1-9]\d\d) (?:.*? )?{_URL} \((?P<ms>\d+)ms(?:, (?P<size>\d+)-byte)?")
_FAILED = re.compile(r"<-- HTTP FAILED: (?P<why>.*)$")
_ONE = re.compile(
    rf"(?:^|[\s\[(:])(?:(?P<first>[1-5]\d\d)\W{{1,3}})?(?P<method>{_METHODS}) {_URL}"
    r"(?:\W{1,5}(?P<status>[1-5]\d\d)\b)?(?:.*?\b(?P<ms>\d+)(?:\.\d+)? ?ms\b)?"
)
_TASK = re.compile(
    r"Task <(?P<task>[^>]+)>\.<(?P<number>\d+)> summary for task (?P<how>success|failure) \{(?P<facts>.*)\}"
)
_FACT = re.compile(r"(\w+)=(\d+)\b")
_SAYS = {"response_status": "status", "transaction_duration_ms": "ms", "response_bytes": "bytes",
         "request_bytes": "sentBytes"}  # fmt: skip


def requests(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """The requests in lines, oldest first.

    Returns:
        Of each what is known of `method`, `url`, `status`, `ms`, `bytes` (of the answer), `sentBytes`, `error`; `time`
        (seconds since the epoch), `pid`, and `source`: `app` or `CFNetwork`. One without `status` and `error` has no
        answer yet.
    """
    found: list[dict[str, Any]] = []
    waiting: dict[int | None, list[dict[str, Any]]] = {}
    for line in lines:
        row: dict[str, Any] = {"time": line.time, "pid": line.pid, "source": "app"}
        open_here = waiting.setdefault(line.pid, [])
        if task := _TASK.match(line.text):
            found.append(row | {"source": "CFNetwork"} | _summed(task["how"], task["facts"]))
        elif sent := _SENT.match(line.text):
            row |= {"method": sent["method"], "url": sent["url"], **_size("sentBytes", sent["size"])}
            found.append(row)
            open_here.append(row)
        elif came := _CAME.match(line.text):
            asked = next((one for one in open_here if one["url"] == came["url"]), None)
            if asked is None:  # what asked for it is gone from the log
                asked = row | {"url": came["url"]}
                found.append(asked)
            else:
                open_here.remove(asked)
            asked |= {"status": int(came["status"]), "ms": int(came["ms"]), **_size("bytes", came["size"])}
        elif failed := _FAILED.match(line.text):
            if open_here:
                open_here.pop()["error"] = failed["why"].strip()
        elif one := _ONE.search(line.text):
            status = one["status"] or one["first"]
            row |= {"method": one["method"], "url": one["url"]}
            found.append(row | ({"status": int(status)} if status else {}) | _size("ms", one["ms"]))
    tell = {row["pid"] for row in found if row["source"] == "app"}
    return [row for row in found if row["source"] == "app" or row["pid"] not in tell]


def _summed(how: str, facts: str) -> dict[str, Any]:
    told = {_SAYS[name]: int(value) for name, value in _FACT.findall(facts) if name in _SAYS}
    return told if how == "success" else told | {"error": "failed"}


def _size(name: str, value: str | None) -> dict[str, Any]:
    return {name: int(value)} if value is not None else {}
