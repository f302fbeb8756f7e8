"""Time, as something that can be replaced in a test."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two readings of time: one that only runs forward, one that people read."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never jumps."""
        ...

    def now(self) -> float:
        """UTC, seconds since the epoch; may jump."""
        ...


class SystemClock:
    """The host's own clocks."""

    def monotonic(self) -> float:
        """See `Clock`."""
        return time.monotonic()

    def now(self) -> float:
        """See `Clock`."""
        return time.time()


class SteadyClock:
    """UTC that never jumps: the monotonic clock of this host, and how far it is from UTC.

    Args:
        offset: Seconds to add. The database keeps one for each boot, so that all processes that share it agree.
    """

    def __init__(self, offset: float) -> None:
        self.offset = offset

    def monotonic(self) -> float:
        """See `Clock`."""
        return time.monotonic()

    def now(self) -> float:
        """See `Clock`; does not jump."""
        return time.monotonic() + self.offset
