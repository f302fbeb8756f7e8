"""The apps on a handset: each has a screen; one of them is the practice app."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anydevice.driver import OpenRequest
from anydevice.testing.launching import parameters
from anydevice.testing.practice import GAP, PracticeApp
from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import AnydeviceError
from anydevice_schemas.practice import APP_ID, SCREENS

KNOWN_OPTIONS = ("screen", "witness")
"""Options of the practice app that start parameters of a platform may carry one by one."""


@dataclass(eq=False)
class App:
    """An app that is installed.

    Attributes:
        id, label: Who it is, and its name for people.
        screen: What it shows, in points.
        launched: Whether the launcher has it.
        system: Whether it came with the device.
        running: Whether it has a process.
        pid, started: Of that process; time as `time.monotonic` has it.
    """

    id: str
    label: str
    screen: FakeScreen
    launched: bool = True
    system: bool = False
    running: bool = False
    pid: int = 0
    started: float = 0.0


class HandsetPractice(PracticeApp):
    """The practice app on a handset: laid out anew when the device is turned or the keyboard comes.

    Attributes:
        logged: Told of each line it writes into the log.
    """

    logged: Callable[[str], None] = staticmethod(lambda text: None)

    def report(self, what: str, element: str = "", value: Any = None) -> None:
        """Each report is a line of the log as well."""
        super().report(what, element, value)
        self.logged(f"practice {what} {element}".rstrip())

    def _build(self) -> None:
        super()._build()
        if self.width > self.height:
            self.turn(self.width, self.height)

    def turn(self, width: float, height: float) -> None:
        """The room it has changes; sizes in points."""
        self.width, self.height = width, height
        if not self.screen_id:
            return
        specs = SCREENS[self.screen_id].elements
        # What does not fit on a television is drawn smaller, as there is no finger to scroll with; lists go on below.
        need = GAP + sum(spec.size + GAP for spec in specs if not spec.over and not spec.inside)
        fit = min(1.0, height / need) if width > height and self.screen_id not in ("list", "tall") else 1.0
        y = GAP * fit
        for spec in specs:
            element = self._by_id[spec.id]
            rect = Rect(GAP, y, width - 2 * GAP, spec.size * fit)
            if spec.over:
                rect = self._by_id[spec.over].rect
            elif spec.inside:
                outer = self._by_id[spec.inside].rect
                rect = Rect(outer.x + 8, outer.y + 8, outer.width / 2, outer.height - 16)
            else:
                y += (spec.size + GAP) * fit
            element.rect = rect
        for element in self.elements:
            if element.identifier.startswith("row."):
                element.rect = Rect(GAP, element.rect.y, width - 2 * GAP, element.rect.height)
        self.scroll(0)

    @property
    def frozen_for(self) -> float:
        """Seconds for which it still answers nothing."""
        return max(0.0, self._frozen_until - time.monotonic())

    @property
    def animated(self) -> bool:
        """Whether something on its screen never stops moving."""
        return bool(self.screen_id) and SCREENS[self.screen_id].animated

    def later(self, action: Any) -> None:
        """Does something once it answers again."""
        self._timers.append((self._frozen_until, action))

    def tick(self) -> None:
        """What is due happens."""
        now = time.monotonic()
        if self.frozen_for:
            return
        due = [timer for timer in self._timers if timer[0] <= now]
        self._timers = [timer for timer in self._timers if timer[0] > now]
        for _, action in due:
            action()
        if self.animated:
            self._by_id["busy.clock"].value = str(int((now - self._ticks_from) * 20))

    def slide(self, element: FakeElement, point: Point) -> None:
        """A finger comes down on the slider: it takes the value of that place."""
        place = self.place(element)
        value = str(round(100 * min(1.0, max(0.0, (point.x - place.x) / place.width))))
        if value != element.value:
            element.write(value)

    def options_of(self, element: FakeElement) -> tuple[str, ...]:
        """What a select offers; nothing for another element."""
        spec = self._spec.get(element)
        return spec.options if spec is not None else ()

    def hears(self, element: FakeElement, gesture: str) -> bool:
        """Whether an element listens to a gesture."""
        spec = self._spec.get(element)
        return spec is not None and spec.gesture == gesture

    def deliver(self, url: str | None, options: Mapping[str, Any]) -> bool:
        """It is asked to start, or to show an address; True when it began a fresh run.

        Args:
            url: An address that was opened.
            options: Start parameters: those of `KNOWN_OPTIONS`, and `arguments`, a list of whole arguments.

        With a screen, a witness or arguments it begins anew; an address alone is a deep link.
        """
        listed = options.get("arguments", [])
        words = [str(word) for word in listed] if isinstance(listed, list) else str(listed).split()
        for name in KNOWN_OPTIONS:
            if name in options:
                words += [f"--{name}", str(options[name])]
        link = url if url is not None and url.startswith("practice:") else None
        asked = parameters(link) if link else {}
        fresh = bool(words) or any(name in asked for name in KNOWN_OPTIONS) or not self.running
        if fresh:
            self.screen_id = ""  # a fresh run has no screen to go back to
        try:
            if words:
                self.open(OpenRequest(app=APP_ID, url=None, arguments=tuple(words)))
                return True
            if any(name in asked for name in KNOWN_OPTIONS):
                self.open(OpenRequest(app=None, url=link, arguments=()))
            elif not self.running:
                self.open(OpenRequest(app=APP_ID, url=None, arguments=()))
            if link:
                self.link(link)
        except (AnydeviceError, ValueError):
            self.crashed = True
        return False


def list_screen(title: str, rows: list[tuple[str, Any]], width: float, height: float) -> FakeScreen:
    """A plain screen: a heading, and a row for each name with what pressing it does."""
    screen = FakeScreen(width=width, height=height)
    screen.title = title
    screen.add(FakeElement("heading", title, Rect(16, 8, width - 32, 40), identifier="title"))
    for number, (name, press) in enumerate(rows):
        place = Rect(0, 56 + 56.0 * number, width, 56)
        screen.add(FakeElement("listitem", name, place, identifier="row", on_press=press))
    return screen
