"""What `uitest uiInput` says: done, or why not; its own status is honest, and so are its first words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Why = Literal["coordinates", "parameters", "count", "other", ""]
DONE: Final = "No Error"
_WHY: Final[tuple[tuple[str, Why], ...]] = (
    ("Please confirm that the coordinate", "coordinates"),
    ("Invalid parameters", "parameters"),
    ("The number of parameters", "count"),
)


@dataclass(slots=True, frozen=True)
class Verdict:
    """Whether it was done, why not, and whether it took another speed than it was told."""

    ok: bool
    why: Why = ""
    other_speed: bool = False
    said: str = ""


def verdict(text: str, status: int) -> Verdict:
    """Judges one call. A refusal is followed by a page about its use, of which only the first line is of this call."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = lines[0] if lines else ""
    other = "velocity out of range" in first
    if status == 0 and DONE in lines:
        return Verdict(True, "", other, first[:300])
    why: Why = next((why for words, why in _WHY if first.startswith(words)), "other")
    return Verdict(False, why, other, first[:300])
