"""The table of the window manager: keyboard, recent apps, lock screen; by the numbers of their types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

APP, DESKTOP, KEYBOARD, LOCK, RECENTS = 1, 2001, 2105, 2110, 2115
"""Types of windows (OpenHarmony's WindowType)."""
_ROW = re.compile(
    r"^(?P<name>\S.*?)\s+(?P<display>\d+)\s+(?P<pid>-?\d+)\s+(?P<id>\d+)\s+(?P<type>\d+)\s+(?P<mode>\d+)\s+(?P<flag>\d+)"
    r"\s+(?P<order>-?\d+)\s+(?P<orientation>\d+)\s+\[\s*(?P<x>-?\d+)\s+(?P<y>-?\d+)\s+(?P<w>\d+)\s+(?P<h>\d+)\s*\]",
    re.M,
)
_FOCUS = re.compile(r"^Focus window:\s*(\d+)", re.M)
HIDDEN: Final = -1


@dataclass(slots=True, frozen=True)
class WindowRow:
    """A window: its name, process, number, type, place in the order (-1: not shown), and x, y, width, height."""

    name: str
    pid: int
    id: int
    kind: int
    order: int
    box: tuple[int, int, int, int]

    @property
    def shown(self) -> bool:
        """Whether it is on the screen."""
        return self.order > HIDDEN


@dataclass(slots=True, frozen=True)
class Windows:
    """The table, and the number of the window that has the focus."""

    rows: tuple[WindowRow, ...]
    focus: int | None

    def shows(self, kind: int) -> WindowRow | None:
        """The window of a type that is on the screen, or None."""
        return next((row for row in self.rows if row.kind == kind and row.shown), None)


def parse_windows(text: str) -> Windows:
    """Reads `hidumper -s WindowManagerService -a -a`."""
    rows = tuple(
        WindowRow(
            row["name"],
            int(row["pid"]),
            int(row["id"]),
            int(row["type"]),
            int(row["order"]),
            (int(row["x"]), int(row["y"]), int(row["w"]), int(row["h"])),
        )
        for row in _ROW.finditer(text)
    )
    focus = _FOCUS.search(text)
    return Windows(rows, int(focus[1]) if focus else None)
