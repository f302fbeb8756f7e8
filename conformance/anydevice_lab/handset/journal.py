"""What a device received, in order: the lab's witness of what a client really sent."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

KEPT = 20_000
"""Entries that are kept; older ones go first."""


class Journal:
    """The entries of one device. Each has `kind`, `at` (seconds since it started) and what belongs to its kind."""

    def __init__(self) -> None:
        self._entries: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._from = time.monotonic()

    def add(self, kind: str, **what: Any) -> None:
        """Adds an entry."""
        self._entries.append({"kind": kind, "at": round(time.monotonic() - self._from, 4), **what})

    def entries(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The entries of one kind, or all."""
        return [entry for entry in self._entries if kind in (None, entry["kind"])]

    def clear(self) -> None:
        """Forgets everything."""
        self._entries.clear()
