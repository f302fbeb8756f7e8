"""Windows: what lies on the display, the topmost first, and what is on the system's bars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import Rect

from ...handset import windows
from ...handset.geometry import Box
from .nodes import UiNode, tree_of

APPLICATION, SYSTEM, INPUT_METHOD = "TYPE_APPLICATION", "TYPE_SYSTEM", "TYPE_INPUT_METHOD"


@dataclass(eq=False)
class Window(windows.Window):
    """One window, as accessibility numbers it.

    Attributes:
        type: One of accessibility's.
        id, layer: A higher layer lies above.
        component: `package/class` where it belongs to an activity.
        frame: The whole window, where `box` is only what its content has of it.
    """

    type: str = APPLICATION
    id: int = 0
    layer: int = 0
    active: bool = False
    component: str = ""
    frame: Box | None = None

    @property
    def package(self) -> str:
        """Whose it is."""
        return self.app

    @cached_property
    def root(self) -> UiNode:
        """Its nodes, as they are now."""
        return tree_of(self.screen, self.package, self.box, self.scale, self.frame)


def status_bar(width: float, height: float) -> FakeScreen:
    """The system's bar at the top."""
    screen = FakeScreen(width=width, height=height)
    screen.add(FakeElement("text", "12:00", Rect(8, 2, 60, height - 4), identifier="clock"))
    screen.add(FakeElement("image", "Battery 100 percent.", Rect(width - 40, 2, 32, height - 4), identifier="battery"))
    return screen


def navigation_bar(width: float, height: float, press: dict[str, Callable[[], None]]) -> FakeScreen:
    """The system's bar at the bottom, with three buttons."""
    screen = FakeScreen(width=width, height=height)
    for number, (name, action) in enumerate(press.items()):
        place = Rect(width * (number + 0.5) / 4, 0, width / 4, height)
        ids = {"Back": "back", "Home": "home_button", "Overview": "recent_apps"}
        screen.add(FakeElement("button", name, place, identifier=ids.get(name, ""), on_press=action))
    return screen
