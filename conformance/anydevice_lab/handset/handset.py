"""A handset: which apps run, which is in front, what room they have, what lies over them.

A platform's framework subclasses it, and says which apps there are and which windows they make.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import anyio

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import EDITABLE
from anydevice_schemas.practice import APP_ID

from . import popups
from .apps import App, HandsetPractice, list_screen
from .geometry import Box, Geometry
from .journal import Journal
from .popups import Popup
from .windows import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .touch import Finger

BEAT = 0.05
"""Seconds between looks at what is due."""
A = TypeVar("A", bound=App)


class Handset(Generic[A]):
    """The state of a device.

    Args:
        geometry: The display.
        journal: Where it writes what it received.
        steered: Driven by arrow keys that move a focus, as a television is.

    Attributes:
        practice_id: Id of the practice app here.
        ids: What the parts of dialogs are called here.
        apps: Installed apps by id.
        tasks: Ids of apps that have a task, the one in front last.
        popup: A list or dialog over the app in front.
        keyboard_shown: Whether the keyboard is on the screen.
        awake, locked: Of the display.
        clipboard: Its text.
        finger: A finger that is down, for input in single events.
        focus_from: Until this time (as `time.monotonic`) nothing has the focus, because an app is starting.
    """

    practice_id: ClassVar[str] = APP_ID
    ids: ClassVar[Mapping[str, str]] = {}

    def __init__(self, geometry: Geometry, journal: Journal, *, steered: bool = False, seed: str = "") -> None:
        self.geometry, self.journal, self.steered = geometry, journal, steered
        self.apps: dict[str, A] = {}
        # None of this host's processes: those have lower numbers.
        self._pids = iter(range(4_300_000 + random.randrange(100_000), 4_900_000))
        self._rng = random.Random(seed)

    def begin(self) -> None:
        """Everything that a boot begins anew."""
        self.tasks: list[str] = [self.launcher]
        self.popup: Popup | None = None
        self.keyboard_shown = False
        self.awake, self.locked = True, False
        self.clipboard = ""
        self.focus_from = 0.0
        self.finger: Finger | None = None
        self.booted_at = time.monotonic()

    # --- what a platform says ---

    @property
    def launcher(self) -> str:
        """Id of the launcher."""
        raise NotImplementedError

    def windows(self) -> Sequence[Window]:
        """What lies on the display now, the topmost first."""
        raise NotImplementedError

    def opener(self, app: str) -> Callable[[], None]:
        """What starts an app from the launcher."""
        return lambda: self.bring(app)

    def crashed(self, app: A) -> None:
        """The practice app died: the platform writes what it writes, and the process ends."""
        self.stop(app)

    # --- living on ---

    def pid(self) -> int:
        """A new process id; none of this host's, which are lower."""
        return next(self._pids)

    async def live(self) -> None:
        """Lets time pass."""
        while True:
            self.settle()
            await anyio.sleep(BEAT)

    def settle(self) -> None:
        """What is due happens: timers of the app, a crash, room for the keyboard."""
        practice = self.practice
        app = self.apps.get(self.practice_id)
        if app is not None and app.running:
            practice.tick()
            if practice.crashed:
                self.crashed(app)
                app.screen.power_off()
                practice.crashed = False
        self.lay_out()

    def stop(self, app: A) -> None:
        """The process of an app ends, and its task goes."""
        app.running, app.pid = False, 0
        app.screen.power_off()
        if app.id in self.tasks and app.id != self.launcher:
            self.tasks.remove(app.id)
        self.keyboard_shown = False
        self.popup = None

    # --- apps ---

    @property
    def practice(self) -> HandsetPractice:
        """The model of the practice app; one that shows nothing where it is not installed."""
        app = self.apps.get(self.practice_id)
        screen = app.screen if app is not None else None
        return screen if isinstance(screen, HandsetPractice) else HandsetPractice(width=1, height=1)

    @property
    def front(self) -> A:
        """The app in front."""
        return self.apps[self.tasks[-1]]

    def bring(self, app_id: str) -> None:
        """An app comes to the front; it is started where it was not running."""
        app = self.apps[app_id]
        if not app.running:
            app.running, app.pid, app.started = True, self.pid(), time.monotonic()
            if app_id != self.practice_id:
                app.screen.title = app.screen.title or app.label
        if self.tasks[-1] != app_id:
            self.keyboard_shown = False
            self.popup = None
        if app_id == self.launcher:
            self.list_apps(app)
        self.tasks = [*(one for one in self.tasks if one != app_id), app_id]
        self.lay_out()

    def home(self) -> None:
        """To the launcher."""
        self.bring(self.launcher)

    def back(self) -> None:
        """Back closes the keyboard, then what lies over the app, then goes a screen back, then leaves the app."""
        popup = self.current_popup()
        if self.keyboard_shown:
            self.keyboard_shown = False
            self.lay_out()
        elif popup is not None:
            if popup.cancels is not None:
                popup.cancels()
        elif self.front.id == self.launcher:
            if self.front.screen.title == "Recents":
                self.home()
        else:
            screen = self.front.screen
            if isinstance(screen, HandsetPractice) and screen.frozen_for:
                screen.later(self._leave)
            else:
                self._leave()

    def _leave(self) -> None:
        screen = self.front.screen
        if not (isinstance(screen, HandsetPractice) and screen.back()):
            app = self.front.id
            self.tasks = [one for one in self.tasks if one != app] or [self.launcher]
            self.bring(self.tasks[-1] if len(self.tasks) > 1 else self.launcher)

    def list_apps(self, home: A) -> None:
        """The launcher shows what there is."""
        width, height = self.room
        found = sorted((app for app in self.apps.values() if app.launched), key=lambda app: app.label)
        rows = [(app.label, self.opener(app.id)) for app in found]
        home.screen = list_screen("Home", rows, width, height)

    def recents(self) -> None:
        """The list of tasks, the latest first."""
        width, height = self.room
        rows = [(self.apps[name].label, self.opener(name)) for name in reversed(self.tasks) if name != self.launcher]
        self.apps[self.launcher].screen = list_screen("Recents", rows, width, height)
        self.tasks = [*(one for one in self.tasks if one != self.launcher), self.launcher]
        self.keyboard_shown, self.popup = False, None

    # --- what gets input ---

    @property
    def target_screen(self) -> FakeScreen:
        """The screen that gets keys: the dialog in front, else the app."""
        popup = self.current_popup()
        return popup.screen if popup is not None else self.front.screen

    @property
    def focused_field(self) -> FakeElement | None:
        """The field that gets text."""
        focus = self.target_screen.focus
        return focus if focus is not None and focus.role in EDITABLE else None

    @property
    def animated(self) -> bool:
        """Whether what is in front never comes to rest."""
        screen = self.front.screen
        return isinstance(screen, HandsetPractice) and screen.animated

    def current_popup(self) -> Popup | None:
        """The dialog in front: the app's own, or one of the system; None if there is none."""
        asked = self.front.screen.dialog
        if self.popup is not None and self.popup.owner is not None and self.popup.owner is not asked:
            self.popup = None  # it was answered by other means
        if self.popup is None and asked is not None:
            kind, text, buttons = asked
            self.popup = popups.dialog(kind, text, buttons, self.room[0], self._answer, ids=self.ids)
            self.popup.owner, self.popup.title = asked, self.front.label
            self.popup.app, self.popup.part = self.front.id, self.part_in_front
            if kind == "prompt":
                self.keyboard_shown = True
        return self.popup

    @property
    def part_in_front(self) -> str:
        """Which part of the app is in front, as the platform names it: an activity, an ability."""
        return ""

    def _answer(self, how: str, text: str) -> None:
        kind = self.front.screen.dialog[0] if self.front.screen.dialog is not None else ""
        self.popup = None
        self.keyboard_shown = False
        self.front.screen.answer(how, text if kind == "prompt" else None)

    def popup_box(self, popup: Popup) -> Box:
        """Where a popup is, in pixels: in the middle of the room there is."""
        scale = self.geometry.scale
        room = self.geometry.content(keyboard=self.keyboard_shown)
        wide, tall = round(popup.width * scale), min(round(popup.height * scale), room.height)
        left, top = room.left + (room.width - wide) // 2, room.top + (room.height - tall) // 2
        return Box(left, top, left + wide, top + tall)

    def choose(self, element: FakeElement) -> None:
        """A select of the app drops its list down."""
        options = self.practice.options_of(element)

        def answer(option: str) -> None:
            self.popup = None
            if option != element.value:
                element.write(option)

        self.popup = popups.choice(options, element.value or "", self.room[0], answer, ids=self.ids)
        self.popup.app = self.front.id
        self.popup.cancels = lambda: setattr(self, "popup", None)

    # --- room ---

    @property
    def room(self) -> tuple[float, float]:
        """Width and height that an app has without the keyboard, in points."""
        box = self.geometry.content(keyboard=False)
        return box.width / self.geometry.scale, box.height / self.geometry.scale

    def lay_out(self) -> None:
        """Gives the app in front the room there is."""
        box = self.geometry.content(keyboard=self.keyboard_shown)
        width, height = box.width / self.geometry.scale, box.height / self.geometry.scale
        screen = self.front.screen
        if (screen.width, screen.height) == (width, height):
            return
        shrinks = height < screen.height
        if isinstance(screen, HandsetPractice):
            screen.turn(width, height)
        else:
            screen.width, screen.height = width, height
            screen.scroll(0)
        focus = screen.focus
        if shrinks and focus is not None and not focus.fixed:
            place = screen.place(focus)
            if place.y + place.height > height:
                screen.scroll(place.y + place.height - height + 8)

    def rotate(self, quarters: int) -> None:
        """The display turns."""
        self.geometry.rotation = quarters % 4
        self.keyboard_shown = False
        if self.front.id == self.launcher:
            self.home()
        self.lay_out()
