"""What the practice app sends, in the log as OkHttp's logging interceptor (level BASIC) writes it."""

from __future__ import annotations

import queue
import urllib.error
from collections.abc import Callable

from anydevice.testing.reporter import HttpReporter

TAG = "okhttp.OkHttpClient"


class Sending:
    """Lines about requests: written by the threads that send, and put into the log when time passes.

    Args:
        pid: The app's process id now; 0 = it does not run.
    """

    def __init__(self, pid: Callable[[], int]) -> None:
        self.pid = pid
        self._lines: queue.SimpleQueue[tuple[int, int, str]] = queue.SimpleQueue()
        self._count = 0

    def reporter(self, url: str) -> HttpReporter:
        """What posts reports to a witness."""
        self._count += 1
        return _Reporter(url, self, self._count)

    def say(self, thread: int, text: str) -> None:
        """A thread of the app, counted from 1, writes a line."""
        pid = self.pid()
        if pid:
            self._lines.put((pid, pid + thread, text))

    def flush(self, add: Callable[[int, int, str], None]) -> None:
        """Gives on what was written since: process, thread, text."""
        while True:
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                return
            add(*line)


class _Reporter(HttpReporter):
    """Posts reports and says so."""

    def __init__(self, url: str, sending: Sending, thread: int) -> None:
        self._sending, self._thread = sending, thread
        super().__init__(url)

    def sends(self, size: int) -> None:
        self._sending.say(self._thread, f"--> POST {self.url} ({size}-byte body)")

    def answered(self, status: int, reason: str, size: int, seconds: float) -> None:
        words = f"{status} {reason}".strip()
        took = round(seconds * 1000)
        self._sending.say(self._thread, f"<-- {words} {self.url} ({took}ms, {size}-byte body)")

    def failed(self, error: OSError) -> None:
        if isinstance(error, urllib.error.HTTPError):
            self.answered(error.code, str(error.reason), 0, 0.0)
            return
        where = self.url.split("/")[2]
        why = f"java.net.ConnectException: Failed to connect to /{where}"
        if isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError):
            why = "java.net.SocketTimeoutException: timeout"
        self._sending.say(self._thread, f"<-- HTTP FAILED: {why}")
