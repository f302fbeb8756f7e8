"""Screens as `hidumper` tells of them: which is on, how large it is, pixels a point, how it is turned."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

BASE: Final = 160.0
"""Pixels to an inch at which a point is a pixel."""
INCH: Final = 25.4
ON: Final = "POWER_STATUS_ON"
_SCREEN = re.compile(r"^screen\[(?P<number>\d+)\]:(?P<rest>.*)$", re.M | re.I)
_ID = re.compile(r"\bid=(\d+)", re.I)
_POWER = re.compile(r"\bpowerstatus=(\w+)", re.I)
_SIZE = re.compile(r"\brender (?:resolution|size)\s*[=:]\s*(\d+)x(\d+)", re.I)
_WIDE = re.compile(r"\bphyWidth=(\d+)", re.I)
_FIELD = r"^\s*{}\s*:\s*(-?[\d.]+)"


@dataclass(slots=True, frozen=True)
class Panel:
    """A screen: its id, whether it is on, its pixels (0x0: not told), its width in millimetres (0: not told)."""

    id: str
    on: bool
    width: int
    height: int
    millimetres: int = 0

    @property
    def usable(self) -> bool:
        """Whether input arrives there: it is on and has a size."""
        return self.on and self.width > 0 and self.height > 0


@dataclass(slots=True, frozen=True)
class Display:
    """A screen as it is turned now: pixels, pixels a point, how it is turned; None where they are not told.

    Attributes:
        turned: 0 upright, 1 lying, 2 and 3 the same the other way round, whichever way it is made to be held.
        quarters: Quarter turns from the way it is made to be held: of a tablet that is made to lie, lying is 0.
    """

    scale: float | None
    turned: int | None
    width: int | None
    height: int | None
    quarters: int | None = None

    @property
    def made_lying(self) -> bool:
        """Whether it is made to be held lying, as far as is told."""
        return self.turned is not None and self.quarters is not None and (self.turned ^ self.quarters) & 1 == 1


def panels(text: str) -> list[Panel]:
    """Screens of `hidumper -s RenderService -a screen`; both spellings of its fields."""
    rows = list(_SCREEN.finditer(text))
    found = []
    for place, row in enumerate(rows):
        end = rows[place + 1].start() if place + 1 < len(rows) else len(text)
        block = text[row.start() : end]
        size, power = _SIZE.search(block), _POWER.search(block)
        named, wide = _ID.search(row["rest"]), _WIDE.search(block)
        found.append(
            Panel(
                named[1] if named else row["number"],
                bool(power) and power[1].upper().startswith(ON) if power else False,
                int(size[1]) if size else 0,
                int(size[2]) if size else 0,
                int(wide[1]) if wide else 0,
            )
        )
    return found


def panel(text: str) -> Panel | None:
    """The screen that is on and has a size; else one that is on, else the first; None where there is none."""
    found = sorted(panels(text), key=lambda one: (not one.usable, not one.on))
    return found[0] if found else None


def display(text: str) -> Display:
    """What `hidumper -s DisplayManagerService -a -a` says of the first screen."""

    def number(name: str) -> float | None:
        found = re.search(_FIELD.format(re.escape(name)), text, re.M | re.I)
        return float(found[1]) if found else None

    scale = number("VirtualPixelRatio") or number("Density")
    turned, quarters = number("DisplayOrientation"), number("Rotation")
    box = re.search(r"Bounds<L,T,W,H>\s*:\s*(-?\d+)\W+(-?\d+)\W+(\d+)\W+(\d+)", text, re.I)
    return Display(
        scale if scale and scale > 0 else None,
        int(turned) if turned is not None and 0 <= turned <= 3 else None,
        int(box[3]) if box else None,
        int(box[4]) if box else None,
        int(quarters) if quarters is not None and 0 <= quarters <= 3 else None,
    )


def scale_of(screen: Panel) -> float:
    """Pixels a point worked out from a screen's width, where the device does not tell them; in steps of an eighth."""
    if screen.millimetres <= 0 or screen.width <= 0:
        return 1.0
    side = min(screen.width, screen.height) if screen.height else screen.width
    return max(1.0, round(side / (screen.millimetres / INCH) / BASE * 8) / 8)
