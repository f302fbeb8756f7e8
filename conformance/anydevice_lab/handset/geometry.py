"""The display of a device: pixels and points, which way it is turned, and what the system's bars leave to apps."""

from __future__ import annotations

from dataclasses import dataclass

from anydevice_schemas import Point

STATUS_BAR, NAVIGATION_BAR = 24.0, 48.0
"""Heights of the system's bars, in points."""
KEYBOARD_SHARE = 0.4
"""How much of the display's height the keyboard covers."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels: left, top, right, bottom."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """In pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """In pixels."""
        return self.bottom - self.top

    def holds(self, x: float, y: float) -> bool:
        """Whether a pixel lies in it."""
        return self.left <= x < self.right and self.top <= y < self.bottom

    def clip(self, other: Box) -> Box | None:
        """What both have in common."""
        box = Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )
        return box if box.width > 0 and box.height > 0 else None

    def __str__(self) -> str:
        return f"[{self.left},{self.top}][{self.right},{self.bottom}]"


class Geometry:
    """Sizes and turn of the display.

    Args:
        physical: Width and height in the natural orientation, in pixels.
        density: Pixels an inch; 160 is one pixel a point.
        bars: Whether the system has bars above and below the app.

    Attributes:
        physical: Width and height in the natural orientation, in pixels.
        size_override, density_override: What a caller told it instead.
        rotation: Quarter turns from the natural orientation.
    """

    def __init__(self, physical: tuple[int, int], density: float, *, bars: bool = True) -> None:
        self.physical = physical
        self.physical_density = density
        self.size_override: tuple[int, int] | None = None
        self.density_override: float | None = None
        self.rotation = 0
        self._bars = bars

    @property
    def size(self) -> tuple[int, int]:
        """Width and height as it is turned, in pixels."""
        width, height = self.size_override or self.physical
        return (height, width) if self.rotation % 2 else (width, height)

    @property
    def density(self) -> float:
        """Pixels an inch."""
        return self.density_override or self.physical_density

    @property
    def scale(self) -> float:
        """Pixels of one point."""
        return self.density / 160

    @property
    def whole(self) -> Box:
        """The display."""
        return Box(0, 0, *self.size)

    @property
    def status_bar(self) -> Box | None:
        """The bar at the top."""
        return Box(0, 0, self.size[0], round(STATUS_BAR * self.scale)) if self._bars else None

    @property
    def navigation_bar(self) -> Box | None:
        """The bar at the bottom."""
        width, height = self.size
        return Box(0, height - round(NAVIGATION_BAR * self.scale), width, height) if self._bars else None

    @property
    def keyboard(self) -> Box:
        """Where the keyboard is when it is shown."""
        width, height = self.size
        bottom = self.navigation_bar.top if self.navigation_bar is not None else height
        return Box(0, height - round(height * KEYBOARD_SHARE), width, bottom)

    def content(self, *, keyboard: bool) -> Box:
        """What apps have of it."""
        top = self.status_bar.bottom if self.status_bar is not None else 0
        bottom = self.navigation_bar.top if self.navigation_bar is not None else self.size[1]
        return Box(0, top, self.size[0], self.keyboard.top if keyboard else bottom)

    def points(self, box: Box, x: float, y: float) -> Point:
        """A pixel as a point inside a box."""
        return Point((x - box.left) / self.scale, (y - box.top) / self.scale)
