"""The apps on an Apple device, and how the practice app differs there."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import Point, Rect

from ...handset import apps

SPRINGBOARD, HEADBOARD = "com.apple.springboard", "com.apple.HeadBoard"
SETTINGS, TV_SETTINGS = "com.apple.Preferences", "com.apple.TVSettings"
SAFARI = "com.apple.mobilesafari"
RUNNER = "com.facebook.WebDriverAgentRunner.xctrunner"
NEXT_TO = 96.0
"""Side of an icon with its name, in points."""


def new_id() -> str:
    """An id as the tools print them."""
    return str(uuid.uuid4()).upper()


@dataclass(eq=False)
class App(apps.App):
    """An app that is installed; its id is its bundle id.

    Attributes:
        executable: Name of its program.
        version: What people see.
        data_id, bundle_id: Of its containers.
        granted: Permissions by service: whether it has them.
        scheme: The scheme of addresses it opens.
        background: Whether it runs behind another.
        environment, arguments: Of its latest start.
    """

    executable: str = ""
    version: str = "1.0"
    data_id: str = field(default_factory=new_id)
    bundle_id: str = field(default_factory=new_id)
    granted: dict[str, bool] = field(default_factory=dict)
    scheme: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


class ApplePractice(apps.HandsetPractice):
    """The practice app: what the keyboard covers can be scrolled out from under it.

    Attributes:
        inset: How much of its lower part the keyboard covers, in points.
        dragging: Told whether a finger moves; a slider does not jump to where it is only tapped.
    """

    inset = 0.0
    dragging: Callable[[], bool] = staticmethod(lambda: True)

    @property
    def content_height(self) -> float:
        """Height of everything, with what the keyboard covers."""
        return super().content_height + self.inset

    @property
    def can_go_back(self) -> bool:
        """Whether there is a screen before this one."""
        return bool(self._screens)

    def slide(self, element: FakeElement, point: Point) -> None:
        """Only a finger that moves takes the thumb along."""
        if self.dragging():
            super().slide(element, point)


def icons(names: list[tuple[str, str, Callable[[], None]]], width: float, height: float) -> FakeScreen:
    """The home screen: an icon for each (bundle id, name, what starts it)."""
    screen = FakeScreen(width=width, height=height)
    screen.title = "Home"
    across = max(1, int(width // NEXT_TO))
    for number, (_, name, press) in enumerate(names):
        row, column = divmod(number, across)
        place = Rect(8 + column * NEXT_TO, 8 + row * NEXT_TO, NEXT_TO - 16, NEXT_TO - 8)
        screen.add(FakeElement("icon", name, place, identifier=name, on_press=press))
    return screen


def switcher(names: list[tuple[str, str, Callable[[], None]]], width: float, height: float) -> FakeScreen:
    """The app switcher: a card for each app that runs, the latest first."""
    screen = FakeScreen(width=width, height=height)
    screen.title = "Recents"
    for number, (bundle, name, press) in enumerate(names):
        place = Rect(24, 16 + 72.0 * number, width - 48, 64)
        card = FakeElement("card", name, place, identifier=f"card:{bundle}:sceneID:{bundle}-default", on_press=press)
        screen.add(card)
    return screen
