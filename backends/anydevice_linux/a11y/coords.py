"""Where things are: from the extents a toolkit tells to points of the screen, and which X window shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from anydevice_schemas import Point, Rect

from .apps import App
from .bus import Call

COMPONENT: Final = "org.a11y.atspi.Component"
SCREEN: Final = 0
WINDOW_LOCAL: Final = 1
SHADOW_MOST: Final = 160
"""Points that both shadows of a window are wide together at most."""
_FAR: Final = -(1 << 30)
"""Beyond this a coordinate means "nowhere" (GTK 3 says the least integer there is)."""


class Window(Protocol):
    """What is needed to know of an X window; points are pixels of the screen."""

    @property
    def id(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def pid(self) -> int | None: ...
    @property
    def client(self) -> Rect: ...
    @property
    def frame(self) -> Rect: ...
    @property
    def gtk_extents(self) -> tuple[int, int, int, int] | None: ...
    @property
    def state(self) -> frozenset[str]: ...
    @property
    def shown(self) -> bool: ...


class Windows(Protocol):
    """The windows of the display."""

    async def list(self) -> Sequence[Window]:
        """Those the window manager manages."""

    async def active(self) -> Window | None:
        """The one that has the focus."""

    async def at(self, point: Point) -> Window | None:
        """The one that shows at a point, menus and tooltips included."""


@runtime_checkable
class Popups(Protocol):
    """Windows of a display that also knows those that nobody manages."""

    async def popups(self) -> Sequence[Window]:
        """Those on screen: open menus and lists, tooltips; the uppermost first."""


@dataclass(slots=True, frozen=True)
class Shift:
    """What to add to the extents an application tells, to have points of the screen.

    Attributes:
        x, y: Points to add; None where it cannot be known, because the window was not found.
    """

    x: float | None = 0.0
    y: float | None = 0.0

    def inward(self, point: Point) -> tuple[int, int]:
        """A point of the screen as the application counts."""
        return int(point.x - (self.x or 0.0)), int(point.y - (self.y or 0.0))

    def rect(self, extents: Sequence[int]) -> Rect | None:
        """Extents as a rectangle of the screen; None for what is nowhere."""
        if len(extents) != 4 or not all(isinstance(number, int) for number in extents):
            return None  # programs may answer anything
        x, y, width, height = extents
        if self.x is None or self.y is None or x < _FAR or y < _FAR or width < 0 or height < 0:
            return None
        return Rect(x + self.x, y + self.y, float(width), float(height))


def away(window: Window | None) -> bool:
    """Whether a window is known and nothing of it is on the screen: minimized, or on another desktop."""
    return window is not None and ("minimized" in window.state or not window.shown)


NOWHERE: Final = Shift(None, None)


def local(app: App) -> bool:
    """Whether the application tells extents from the corner of its window whatever it is asked for."""
    return app.toolkit == "GTK"


def frame_of(app: App) -> int:
    """From where the application is asked to count: GTK 4 knows nothing but its window, and complains in its log."""
    return WINDOW_LOCAL if local(app) else SCREEN


def extents(app: App, path: str) -> Call:
    """The call that asks for the extents of an object."""
    return Call(app.bus_name, path, COMPONENT, "GetExtents", "u", (frame_of(app),))


def shift_of(app: App, told: Sequence[int] | None, window: Window | None) -> Shift:
    """How the extents inside one window of an application map to the screen.

    Args:
        app: The application.
        told: Extents of the window as the application tells them.
        window: The window of the display.
    """
    if app.wayland:
        margin = app.margin(told, window.client) if told is not None and window is not None else None
        if margin is None or told is None or window is None:
            return NOWHERE
        return Shift(window.client.x - margin[0] - told[0], window.client.y - margin[1] - told[1])
    if not local(app):
        return Shift()
    if window is None or told is None:
        return NOWHERE
    if window.gtk_extents is not None:
        left, top = float(window.gtk_extents[0]), float(window.gtk_extents[2])
    else:
        # A shadow that the program draws itself lies around what it calls its window, as wide on each side.
        left = max(0.0, (window.client.width - told[2]) / 2)
        top = max(0.0, (window.client.height - told[3]) / 2)
    return Shift(window.client.x + left - told[0], window.client.y + top - told[1])


def match(app: App, title: str, told: Sequence[int] | None, windows: Sequence[Window]) -> Window | None:
    """The X window of one of an application's windows: of its process, with its title, of its size; None if unsure.

    Args:
        app: The application.
        title: Title of the window as the application says it.
        told: Its extents, as the application tells them.
        windows: The windows of the display.
    """
    own = [window for window in windows if app.pid is not None and window.pid == app.pid]
    named = [window for window in own if window.title.strip() == title.strip()] if title else []
    found = named or own
    if app.wayland and (len(named) != 1 or told is None):
        # Menus and lists that are open are no windows to the compositor, but look like some here.
        found = [window for window in found if told is not None and _shadowed(window.client, told)]
    if len(found) == 1:
        return found[0]
    if told is None or not found:
        return None
    if not local(app) and not app.wayland:
        near = [w for w in found if abs(w.client.x - told[0]) < 40 and abs(w.client.y - told[1]) < 60]
        found = near or found
    sized = [w for w in found if _size(w.client, told) or _size(w.frame, told)]
    return sized[0] if len(sized) == 1 else found[0] if len(found) == 1 else None


def _shadowed(rect: Rect, told: Sequence[Any]) -> bool:
    """Whether a surface may be that of a window: as large, or larger by a shadow on each side."""
    return bool(-1 <= told[2] - rect.width <= SHADOW_MOST and -1 <= told[3] - rect.height <= SHADOW_MOST)


def _size(rect: Rect, told: Sequence[Any]) -> bool:
    return bool(abs(rect.width - told[2]) <= 60 and abs(rect.height - told[3]) <= 60)
