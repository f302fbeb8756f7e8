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
