"""What lies on the display: windows, the topmost first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anydevice.testing.screen import FakeScreen

from .geometry import Box


@dataclass(eq=False)
class Window:
    """One window.

    Attributes:
        title: As the platform names it.
        app: Id of the app it belongs to.
        box: Where its content is, in pixels; what lies outside of it is not seen.
        screen: What it shows, in points from its top left corner.
        scale: Pixels of a point.
        bar: Whether it is a bar of the system.
        keyboard: Whether it is the keyboard.
        focused: Whether it gets keys.
        cancels: Called when it is left by Back or by a tap outside; None = neither does anything.
        modal: Whether it takes taps outside of it too.
    """

    title: str
    app: str
    box: Box
    screen: FakeScreen
    scale: float
    bar: bool = False
    keyboard: bool = False
    focused: bool = False
    cancels: Callable[[], None] | None = None
    modal: bool = False
