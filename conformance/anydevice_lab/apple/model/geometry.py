"""The screen of an Apple device: points, which way it is turned, and what the system's bars leave to apps."""

from __future__ import annotations

from ...handset.geometry import Box, Geometry
from ..kinds import Kind

NAVIGATION = 44
"""Height of an app's navigation bar, in points."""
UPRIGHT_SHARE, FLAT_SHARE = 0.385, 0.54
"""How much of the screen's height the keyboard covers, with the bar of suggestions."""
PREDICTIVE = 45
"""Height of the bar of suggestions, in points."""
NAMES = (
    "PORTRAIT",
    "LANDSCAPE",
    "UIA_DEVICE_ORIENTATION_PORTRAIT_UPSIDEDOWN",
    "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT",
)
"""Orientations by quarter turns."""


class AppleGeometry(Geometry):
    """Sizes in pixels, as the handset has them; a kind says them in points."""

    def __init__(self, kind: Kind) -> None:
        super().__init__((kind.width * kind.scale, kind.height * kind.scale), kind.scale * 160, bars=not kind.tv)
        self.kind = kind

    @property
    def flat(self) -> bool:
        """Whether a phone lies on its side; it has no status bar then."""
        return bool(self.rotation % 2) and self.kind.family == "iPhone"

    def _points(self, value: float) -> int:
        return round(value * self.scale)

    @property
    def status_bar(self) -> Box | None:
        """The bar at the top."""
        if not self.kind.status_bar or self.flat:
            return None
        return Box(0, 0, self.size[0], self._points(self.kind.status_bar))

    @property
    def navigation_bar(self) -> Box | None:
        """There is none of the system."""
        return None

    @property
    def app_bar(self) -> Box | None:
        """The navigation bar of an app."""
        if self.kind.tv:
            return None
        top = self.status_bar.bottom if self.status_bar is not None else 0
        return Box(0, top, self.size[0], top + self._points(NAVIGATION))

    @property
    def keyboard(self) -> Box:
        """Where the keyboard is when it is shown, with the bar of suggestions."""
        width, height = self.size
        return Box(0, height - round(height * (FLAT_SHARE if width > height else UPRIGHT_SHARE)), width, height)

    def content(self, *, keyboard: bool) -> Box:
        """What apps have; the keyboard takes nothing of it: it lies over the app."""
        top = self.app_bar.bottom if self.app_bar is not None else 0
        return Box(0, top, self.size[0], self.size[1] - self._points(self.kind.bottom))

    @property
    def width(self) -> int:
        """In points, as it is turned."""
        return round(self.size[0] / self.scale)

    @property
    def height(self) -> int:
        """In points, as it is turned."""
        return round(self.size[1] / self.scale)
