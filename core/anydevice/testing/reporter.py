"""How a practice app in memory tells its witness."""

from __future__ import annotations

import json
import queue
import threading
import urllib.request
from collections.abc import Callable
from typing import Any

Report = dict[str, Any]
Reporter = Callable[[Report], None]


class HttpReporter:
    """Posts reports to a witness, one after another, from a thread of its own."""

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
        while (report := self._waiting.get()) is not None:
            request = urllib.request.Request(self.url, json.dumps(report).encode(), method="POST")
            try:
                urllib.request.urlopen(request, timeout=5).close()
            except OSError:
                continue  # a witness that is gone misses reports; the case that needs them says so
