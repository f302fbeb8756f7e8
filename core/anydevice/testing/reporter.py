"""How a practice app in memory tells its witness."""

from __future__ import annotations

import http.client
import json
import queue
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

Report = dict[str, Any]
Reporter = Callable[[Report], None]


IDLE = 0.5
"""Seconds without a report after which the line to the witness is let go of: there may be thousands of apps."""


class HttpReporter:
    """Posts reports to a witness, one after another, from a thread of its own.

    Where a field changes faster than can be posted, values in between are left out, never the last one.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._line: http.client.HTTPConnection | None = None
        self._waiting: queue.SimpleQueue[Report | None] = queue.SimpleQueue()
        threading.Thread(target=self._post_all, daemon=True).start()

    def __call__(self, report: Report) -> None:
        self._waiting.put(report)

    def close(self) -> None:
        """Ends the thread once everything is posted."""
        self._waiting.put(None)

    def _post_all(self) -> None:
        waiting: list[Report] = []
        ended = False
        while waiting or not ended:
            while not ended and (not waiting or not self._waiting.empty()):
                try:
                    report = self._waiting.get(timeout=IDLE if self._line is not None else None)
                except queue.Empty:
                    self._hang_up()
                    continue
                if report is None:
                    ended = True
                    break
                waiting.append(report)
            if waiting:
                waiting = _without_values_between(waiting)
                self._post(json.dumps(waiting.pop(0)).encode())
        self._hang_up()

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _post(self, body: bytes) -> None:
        self.sends(len(body))
        began = time.monotonic()
        try:
            try:
                answer = self._ask(body)
            except (http.client.HTTPException, ConnectionError):  # it let go of a line that had nothing to say
                self._hang_up()
                answer = self._ask(body)
            self.answered(answer.status, answer.reason, len(answer.read()), time.monotonic() - began)
        except http.client.HTTPException as error:
            self._hang_up()
            self.failed(OSError(str(error)))
        except OSError as error:  # a witness that is gone misses reports; the case that needs them says so
            self._hang_up()
            self.failed(error)

    def _ask(self, body: bytes) -> http.client.HTTPResponse:
        parts = urlsplit(self.url)
        if self._line is None:
            self._line = http.client.HTTPConnection(parts.netloc, timeout=5)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        self._line.request("POST", target or "/", body, {"Content-Type": "application/json"})
        return self._line.getresponse()

    def sends(self, size: int) -> None:
        """A report of so many bytes is being posted; like the two below called from a thread of its own."""

    def answered(self, status: int, reason: str, size: int, seconds: float) -> None:
        """The witness answered so many bytes after so many seconds."""

    def failed(self, error: OSError) -> None:
        """The witness did not answer."""


def _without_values_between(waiting: list[Report]) -> list[Report]:
    """Reports still to be posted, without values that a field had between others while nothing but keys came."""
    kept: list[Report] = []
    later: set[tuple[object, object, object]] = set()
    for report in reversed(waiting):
        if report.get("what") == "fill":
            if _field(report) in later:
                continue
            later.add(_field(report))
        elif report.get("what") != "key":
            later.clear()
        kept.append(report)
    return kept[::-1]


def _field(report: Report) -> tuple[object, object, object]:
    return report.get("what"), report.get("screen"), report.get("id")
