"""What the practice app sends, in the log: by a line of its own before and after, and summed up by CFNetwork."""

from __future__ import annotations

import urllib.error
import uuid
from collections.abc import Callable

from anydevice.testing.reporter import HttpReporter


class Reporter(HttpReporter):
    """Posts reports to a witness and writes lines about it, from its own thread.

    Args:
        url: Where to.
        say: Writes a line of the app.
        quiet: Whether the app leaves the log to CFNetwork.
    """

    def __init__(self, url: str, say: Callable[[str], None], quiet: Callable[[], bool]) -> None:
        self._say, self._quiet, self._number, self._sent = say, quiet, 0, 0
        super().__init__(url)

    def sends(self, size: int) -> None:
        self._number, self._sent = self._number + 1, size
        self._say(f"Task <{str(uuid.uuid4()).upper()}>.<{self._number}> resuming, timeouts(60.0, 604800.0) QOS(0x19)")
        if not self._quiet():
            self._say(f"--> POST {self.url} ({size}-byte body)")

    def answered(self, status: int, reason: str, size: int, seconds: float) -> None:
        took = round(seconds * 1000)
        if not self._quiet():
            self._say(f"<-- {f'{status} {reason}'.strip()} {self.url} ({took}ms, {size}-byte body)")
        task = str(uuid.uuid4()).upper()
        self._say(
            f"Task <{task}>.<{self._number}> summary for task success {{transaction_duration_ms={took}, "
            f'response_status={status}, connection=1, protocol="http/1.1", domain_lookup_duration_ms=0, '
            f"request_bytes={self._sent}, response_bytes={size}, cache_hit=false}}"
        )

    def failed(self, error: OSError) -> None:
        if isinstance(error, urllib.error.HTTPError):
            self.answered(error.code, str(error.reason), 0, 0.0)
        elif not self._quiet():
            self._say("<-- HTTP FAILED: Could not connect to the server.")
