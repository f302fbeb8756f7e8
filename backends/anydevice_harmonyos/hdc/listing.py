"""The rows of `list targets -v`: keys, how they are attached, in which state; of every version of hdc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ROADS: Final = ("USB", "TCP", "UART", "BT")
STATES: Final = ("Connected", "Ready", "Offline", "Unauthorized", "Unknown")
EMPTY: Final = "[Empty]"


@dataclass(slots=True, frozen=True)
class Row:
    """A row: connect key, road (`USB`, `TCP`, …; empty where it is not told), state, and the device's own name."""

    key: str
    road: str = ""
    state: str = "Connected"
    name: str = ""

    @property
    def noise(self) -> bool:
        """Whether it is a serial port of this host that nobody ever spoke hdc on, not a device."""
        return self.road == "UART" and self.state == "Ready"


def parse_rows(text: str) -> list[Row]:
    """Reads `list targets` with or without `-v`. Columns moved between versions; words are told by what they say."""
    rows: list[Row] = []
    for line in text.replace("\r", "").split("\n"):
        words = [word.strip() for word in line.split("\t") if word.strip()]
        if not words or words[0] == EMPTY or words[0].startswith("["):
            continue
        key, *rest = words
        if rest and rest[-1] == "hdc":  # put there by the client program
            del rest[-1]
        road = next((word for word in rest if word in ROADS), "")
        state = next((word for word in rest if word in STATES), "Connected")
        others = [word for word in rest if word not in (road, state)]
        rows.append(Row(key, road, state, others[0] if others else ""))
    return rows
