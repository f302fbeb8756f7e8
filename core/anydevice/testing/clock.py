"""A clock that moves only when told."""

from __future__ import annotations


class FakeClock:
    """`anydevice.clock.Clock` for tests: both readings start where you say and move by `advance`.

    Args:
        now: UTC seconds it starts at.
    """

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now
        self._monotonic = 0.0

    def monotonic(self) -> float:
        """Seconds since the clock was made, as far as it was advanced."""
        return self._monotonic

    def now(self) -> float:
        """UTC seconds."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Moves both readings forward."""
        if seconds < 0:
            raise ValueError("monotonic time never runs backwards; use jump for the wall clock")
        self._now += seconds
        self._monotonic += seconds

    def jump(self, seconds: float) -> None:
        """Moves only the wall clock, forwards or backwards, as a host's clock may do."""
        self._now += seconds
