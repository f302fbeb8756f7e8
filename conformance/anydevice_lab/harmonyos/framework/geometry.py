"""The display of a HarmonyOS device: a status bar above, a strip for gestures below, no buttons."""

from __future__ import annotations

from ...handset import geometry
from ...handset.geometry import Box

STATUS, STRIP, EDGE = 38.0, 28.0, 8.0
"""Heights of the status bar and of the strip, and width of the edge that Back is swiped from, in points."""


class Geometry(geometry.Geometry):
    """Sizes and turn of the display.

    Args:
        physical: Width and height in the natural orientation, in pixels.
        ratio: Pixels of a point.
        bars: Whether there are status bar and strip.
    """

    def __init__(self, physical: tuple[int, int], ratio: float, *, bars: bool = True) -> None:
        super().__init__(physical, ratio * 160, bars=bars)
        self.bars = bars

    @property
    def status_bar(self) -> Box | None:
        """The bar at the top."""
        return Box(0, 0, self.size[0], round(STATUS * self.scale)) if self.bars else None

    @property
    def navigation_bar(self) -> Box | None:
        """The strip at the bottom; apps leave it free, and it belongs to their window."""
        width, height = self.size
        return Box(0, height - round(STRIP * self.scale), width, height) if self.bars else None
