"""What was seen to happen in a browser, in order, so that an action can say what came of it."""

from __future__ import annotations

from collections import deque
from typing import Any

from anydevice.driver import Happening

KEPT = 256
"""Happenings kept; older ones are of no action that still runs."""


class HappeningLog:
    """An ordered record of happenings. An action marks the log before it starts and reads it from there."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, Happening]] = deque(maxlen=KEPT)
        self.mark = 0

    def add(self, kind: str, **data: Any) -> dict[str, Any]:
        """Records a happening; its data may still be filled in by whoever gets it back from here."""
        self.mark += 1
        self._kept.append((self.mark, Happening(kind, data)))
        return data

    def since(self, mark: int) -> list[Happening]:
        """Everything recorded after a mark, in order."""
        return [happening for number, happening in self._kept if number > mark]
