"""Apps and tasks of a device: which run, which is in front, what room they have, how they end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from anydevice.testing.screen import FakeScreen
from anydevice_schemas.practice import APP_ID

from .apps import (
    ADB_KEYBOARD,
    KEYBOARD,
    LAUNCHER,
    PRACTICE_ACTIVITY,
    SETTINGS,
    SYSTEM_UI,
    TV_LAUNCHER,
    AndroidPractice,
    App,
    list_screen,
)
from .geometry import Geometry
from .logs import Log
from .properties import first_settings, properties
from .windows import Popup

if TYPE_CHECKING:
    from ..device import LabDevice
    from .touch import Finger

BEAT = 0.05
"""Seconds between looks at what is due."""
LEGACY_IME = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"
REASON_CRASH, REASON_USER, REASON_SIGNALED = 4, 10, 2
"""How a process ended, as `dumpsys activity exit-info` numbers it."""


class Tasks:
    """The state of a device, without its windows.

    Attributes:
        props: System properties.
        settings: Values by namespace and key.
        geometry: The display.
        apps: Installed packages.
        tasks: Packages that have a task, the one in front last.
        popup: A list or dialog of the system over the app in front.
        keyboard_shown: Whether the keyboard is on the screen.
        awake, locked: Of the display.
        clipboard: Its text.
        log: The device's log.
        focus_from: Until this time (as `time.monotonic`) nothing has the focus, because an app is starting.
        located: Latitude and longitude, where it was told one.
        held: Who holds the one slot for automation; empty = nobody.
        finger: A finger that is down, for input in single events.
        notifications: Posted by the shell: tag, title, text.
        sessions: Open installs by number: their parts, their options.
    """

    def __init__(self, device: LabDevice) -> None:
        self.device, self.kind = device, device.kind
        self.reboot_seconds = 1.0
        self.geometry = Geometry(device.kind)
        self.props = properties(device.kind, device.serialno)
        self.settings = first_settings()
        self.log = Log()
        self.apps: dict[str, App] = {}
        self.signers: dict[str, str] = {}
        self.media: set[str] = set()
        self.located: tuple[float, float] | None = None
        self._pids = iter(range(4_300_000 + random.randrange(100_000), 4_900_000))
        self._rng = random.Random(device.serialno)
        self._begin()
        for app in self._first_apps():
            self.apps[app.package] = app

    def _begin(self) -> None:
        self.tasks: list[str] = [self.launcher]
        self.popup: Popup | None = None
        self.keyboard_shown = False
        self.awake, self.locked = True, False
        self.clipboard = ""
        self.focus_from = 0.0
        self.held = ""
        self.finger: Finger | None = None
        self.notifications: list[tuple[str, str, str]] = []
        self.sessions: dict[int, tuple[dict[str, bytes], list[str]]] = {}
        self.sessions_closed = 0
        self._frames_from: dict[str, float] = {}
        self.demo: dict[str, str] = {}
        self.booted_at = time.monotonic()

    @property
    def launcher(self) -> str:
        """Package of the launcher."""
        return TV_LAUNCHER if self.kind.tv else LAUNCHER

    def _first_apps(self) -> list[App]:
        width, height = self.room
        home = App(
            self.launcher, f"{self.launcher}.{'MainActivity' if self.kind.tv else 'NexusLauncherActivity'}", "Launcher",
            FakeScreen(width=width, height=height), launched=False, system=True, running=True, pid=self.pid(),
        )  # fmt: skip
        practice = AndroidPractice(width=width, height=height)
        practice.logged = lambda text: self.log.add("I", "practice", text, pid=self.apps[APP_ID].pid)
        rows = [(name, None) for name in ("Network & internet", "Connected devices", "Apps", "Display", "System")]
        return [
            home,
            App(APP_ID, PRACTICE_ACTIVITY, "Practice", practice),
            App(SETTINGS, f"{SETTINGS}.Settings", "Settings", list_screen("Settings", rows, width, height),
                system=True),
            App(SYSTEM_UI, f"{SYSTEM_UI}.SystemUIService", "System UI", FakeScreen(width=width, height=height),
                launched=False, system=True, running=True, pid=self.pid()),
            App(KEYBOARD, LEGACY_IME.partition("/")[2], "Gboard", FakeScreen(width=width, height=height),
                launched=False, system=True, running=True, pid=self.pid()),
        ]  # fmt: skip

    def pid(self) -> int:
        """A new process id; none of this host's, which are lower."""
        return next(self._pids)

    def hash(self) -> str:
        """A number as dumps write the identity of an object."""
        return f"{self._rng.randrange(1 << 28):x}"

    # --- living on ---

    async def live(self) -> None:
        """Lets time pass."""
        while True:
            self.settle()
            await anyio.sleep(BEAT)

    def settle(self) -> None:
        """What is due happens: timers of the app, a crash, room for the keyboard."""
        practice = self.practice
        app = self.apps.get(APP_ID)
        if app is not None and app.running:
            practice.tick()
            if practice.crashed:
                self._crash(app)
        self.lay_out()

    def _crash(self, app: App) -> None:
        self.log.crash(app.package, app.pid)
        app.screen.power_off()
        self.stop(app, REASON_CRASH, "crash")
        self.practice.crashed = False

    def stop(self, app: App, reason: int = REASON_USER, description: str = "") -> None:
        """The process of an app ends, and its task goes."""
        if app.running:
            app.exits.insert(0, (time.time(), reason, description, app.pid))
        app.running, app.pid = False, 0
        app.screen.power_off()
        if app.package in self.tasks and app.package != self.launcher:
            self.tasks.remove(app.package)
        self.keyboard_shown = False
        self.popup = None

    def end_process(self, pid: int) -> bool:
        """Ends the app whose process this is; False if it is none."""
        for app in self.apps.values():
            if app.pid == pid and pid:
                self.stop(app, REASON_SIGNALED, "signal")
                return True
        return False

    def reboot(self) -> None:
        """Everything that ran is gone."""
        for app in self.apps.values():
            app.running, app.pid = app.package in (self.launcher, SYSTEM_UI), 0
            app.screen.power_off()
        for app in self.apps.values():
            app.pid = self.pid() if app.running else 0
        self._begin()

    def first_keyboards(self) -> list[str]:
        """The input methods that are installed."""
        adb = f"{ADB_KEYBOARD}/.AdbIME"
        return [LEGACY_IME, *([adb] if ADB_KEYBOARD in self.apps else [])]

    def frames(self, package: str) -> int:
        """How many frames an app has drawn since it was started or counted anew: 60 in a second."""
        since = max(self.apps[package].started, self._frames_from.get(package, 0.0))
        return int((time.monotonic() - since) * 60)

    def reset_frames(self, package: str) -> None:
        """Counts the frames of an app anew."""
        self._frames_from[package] = time.monotonic()

    # --- apps ---

    @property
    def practice(self) -> AndroidPractice:
        """The model of the practice app; one that shows nothing where it is not installed."""
        app = self.apps.get(APP_ID)
        screen = app.screen if app is not None else None
        return screen if isinstance(screen, AndroidPractice) else AndroidPractice(width=1, height=1)

    @property
    def front(self) -> App:
        """The app in front."""
        return self.apps[self.tasks[-1]]

    def bring(self, package: str) -> None:
        """An app comes to the front; it is started where it was not running."""
        app = self.apps[package]
        if not app.running:
            app.running, app.pid, app.started = True, self.pid(), time.monotonic()
            if package not in (APP_ID,):
                app.screen.title = app.screen.title or app.label
        if self.tasks[-1] != package:
            self.keyboard_shown = False
            self.popup = None
        if package == self.launcher:
            self._list_apps(app)
        self.tasks = [*(one for one in self.tasks if one != package), package]
        self.lay_out()

    def home(self) -> None:
        """To the launcher."""
        self.bring(self.launcher)

    def _list_apps(self, home: App) -> None:
        width, height = self.room
        found = sorted((app for app in self.apps.values() if app.launched), key=lambda app: app.label)
        rows = [(app.label, self.opener(app.package)) for app in found]
        home.screen = list_screen("Home", rows, width, height)

    def opener(self, package: str) -> Callable[[], None]:
        """What starts an app from the launcher."""
        raise NotImplementedError

    def recents(self) -> None:
        """The list of tasks, the latest first."""
        width, height = self.room
        rows = [(self.apps[name].label, self.opener(name)) for name in reversed(self.tasks) if name != self.launcher]
        self.apps[self.launcher].screen = list_screen("Recents", rows, width, height)
        self.tasks = [*(one for one in self.tasks if one != self.launcher), self.launcher]
        self.keyboard_shown, self.popup = False, None

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
        if isinstance(screen, AndroidPractice):
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
        if self.front.package == self.launcher:
            self.home()
        self.lay_out()
