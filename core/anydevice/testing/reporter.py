"""How a practice app in memory tells its witness."""

from __future__ import annotations

import json
import queue
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import Any

Report = dict[str, Any]
Reporter = Callable[[Report], None]


class HttpReporter:
    """Posts reports to a witness, one after another, from a thread of its own.

    Where a field changes faster than can be posted, values in between are left out, never the last one.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._waiting: queue.SimpleQueue[Report | None] = queue.SimpleQueue()
        threading.Thread(target=self._post_all, daemon=True).start()

    def __call__(self, report: Report) -> None:
        self._waiting.put(report)

    def close(self) -> None:
        """Ends the thread once everything is posted."""
        self._waiting.put(None)

    def _post_all(self) -> None:
        following: Report | None = None
        while (report := following or self._waiting.get()) is not None:
            following, ended = None, False
            while report["what"] == "fill" and not self._waiting.empty():
                following = self._waiting.get()
                ended = following is None
                if following is None or _field(following) != _field(report):
                    break
                report, following = following, None
            body = json.dumps(report).encode()
            self.sends(len(body))
            began = time.monotonic()
            try:
                with urllib.request.urlopen(urllib.request.Request(self.url, body, method="POST"), timeout=5) as answer:
                    self.answered(answer.status, answer.reason, len(answer.read()), time.monotonic() - began)
            except OSError as error:  # a witness that is gone misses reports; the case that needs them says so
                self.failed(error)
            if ended:
                return

    def sends(self, size: int) -> None:
        """A report of so many bytes is being posted; like the two below called from a thread of its own."""

    def answered(self, status: int, reason: str, size: int, seconds: float) -> None:
        """The witness answered so many bytes after so many seconds."""

    def failed(self, error: OSError) -> None:
        """The witness did not answer."""


def _field(report: Report) -> tuple[object, object, object]:
    return report.get("what"), report.get("screen"), report.get("id")
