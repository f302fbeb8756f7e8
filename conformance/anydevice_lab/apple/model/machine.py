"""One device that is switched on: its apps, its windows, its keyboard, its alerts, its orientation."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas.practice import APP_ID

from ...handset import popups
from ...handset.apps import list_screen
from ...handset.handset import Handset
from ...handset.keys import type_text
from ...handset.popups import Popup
from ...handset.windows import Window
from . import display
from .apps import (
    HEADBOARD,
    RUNNER,
    SAFARI,
    SETTINGS,
    SPRINGBOARD,
    TV_SETTINGS,
    App,
    ApplePractice,
    icons,
    switcher,
)
from .geometry import NAMES, AppleGeometry
from .sending import Reporter

if TYPE_CHECKING:
    from ..device import LabDevice

ROWS = ("General", "Accessibility", "Camera", "Siri", "Privacy & Security")


class Machine(Handset[App]):
    """What a device is and shows.

    Attributes:
        turned: Which way the device is held, in quarter turns; what is shown may be turned otherwise.
        system: An alert of the system, over everything until it is answered.
        appearance: What `simctl ui` and WebDriverAgent know of the looks.
        located: Latitude and longitude, where it was told one.
        lines: The log: (time, process, pid, text).
        drags: Whether a finger is moving.
        held: Where a finger is down that a program of its own put there, and since when.
        language: Of the system's own words (`editing.WORDS`).
        menu: What a finger that rested on a field left there.
        home_at: When the home button was pressed last, as `time.monotonic` has it.
    """

    ids = {"message": "", "edit": "", "button1": "", "button2": "", "option": ""}  # noqa: RUF012 - a constant of the base

    def __init__(self, device: LabDevice) -> None:
        kind = device.kind
        self.device, self.kind = device, kind
        self._home = HEADBOARD if kind.tv else SPRINGBOARD
        super().__init__(AppleGeometry(kind), device.journal, steered=kind.tv, seed=device.udid)
        self.appearance = {"appearance": "light", "content_size": "large", "increase_contrast": "disabled"}
        self.status: dict[str, str] = {}
        self.located: tuple[float, float] | None = None
        self.lines: list[tuple[float, str, int, str]] = []
        self.turned = 0
        self.language = "en"
        self.drags = False
        self.held: tuple[float, float, float] | None = None
        self.home_at = float("-inf")
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self.begin()
        for app in self._first_apps():
            self.apps[app.id] = app
        self.bring(self._home)

    def begin(self) -> None:
        """Everything that a boot begins anew."""
        super().begin()
        self.system: Popup | None = None
        self.menu: Window | None = None

    def pid(self) -> int:
        """A new process: an app of a simulator is one of the Mac; that of a device is none of this host."""
        if self.kind.physical or not hasattr(self, "_processes"):
            return super().pid()
        # It ends by itself when the lab does.
        child = subprocess.Popen(
            ["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._processes[child.pid] = child
        return child.pid

    def _end_process(self, pid: int) -> None:
        child = self._processes.pop(pid, None)
        if child is not None:
            child.kill()
            child.wait()
            if child.stdin is not None:
                child.stdin.close()

    def end(self) -> None:
        """Every process of its apps ends, and everything that ran is gone."""
        for app in self.apps.values():
            app.running, app.pid = False, 0
            app.screen.power_off()
        for pid in list(self._processes):
            self._end_process(pid)

    @property
    def launcher(self) -> str:
        """What shows the apps there are."""
        return self._home

    @property
    def screen_geometry(self) -> AppleGeometry:
        """The display."""
        assert isinstance(self.geometry, AppleGeometry)
        return self.geometry

    # --- apps ---

    def _first_apps(self) -> list[App]:
        width, height = self.room
        name, screen = "HeadBoard" if self.kind.tv else "SpringBoard", FakeScreen(width=width, height=height)
        home = App(self._home, name, screen, launched=False, system=True, executable="SpringBoard")
        found = [home, self.new_practice()]
        rows: list[tuple[str, Any]] = [(name, None) for name in ROWS]
        settings = list_screen("Settings", rows, width, height)
        found.append(
            App(TV_SETTINGS if self.kind.tv else SETTINGS, "Settings", settings, system=True, executable="Preferences")
        )
        if not self.kind.tv:
            web = list_screen("Safari", [], width, height)
            found.append(App(SAFARI, "Safari", web, system=True, executable="MobileSafari", scheme="https"))
        if self.kind.runner:
            found.append(self.new_runner())
        return found

    def new_practice(self) -> App:
        """The practice app as it is after an install."""
        width, height = self.room
        screen = ApplePractice(width=width, height=height)
        screen.dragging = lambda: self.drags
        screen.logged = lambda text: self.log("Practice", text, self.apps[APP_ID].pid if APP_ID in self.apps else 0)
        screen.reporter = lambda url: Reporter(
            url, screen.logged, lambda: self.device.faults.active("requests_unlogged") is not None
        )
        return App(APP_ID, "Practice", screen, executable="Practice", scheme="practice")

    def new_runner(self) -> App:
        """The app that carries WebDriverAgent."""
        width, height = self.room
        screen = FakeScreen(width=width, height=height)
        screen.title = "Automation Running"
        name = "WebDriverAgentRunner-Runner"
        return App(RUNNER, name, screen, executable=name, version="16.7.0")

    def install(self, app: App) -> None:
        """An app is installed; one that is there is ended and replaced, and keeps its data."""
        old = self.apps.get(app.id)
        if old is not None:
            app.data_id = old.data_id
            self.stop(old)
        self.apps[app.id] = app
        if self.front.id == self.launcher:
            self.list_apps(self.front)

    def remove(self, bundle: str) -> bool:
        """An app is taken away; False if it was not there."""
        app = self.apps.get(bundle)
        if app is None:
            return False
        self.stop(app)
        del self.apps[bundle]
        self.list_apps(self.apps[self.launcher])
        return True

    def start(self, bundle: str, arguments: tuple[str, ...] = (), environment: dict[str, str] | None = None) -> int:
        """An app is launched; one that runs comes to the front as it is. Returns its process id."""
        app = self.apps[bundle]
        fresh = not app.running
        self.bring(bundle)
        if fresh:
            app.arguments, app.environment = arguments, dict(environment or {})
            self.log(app.executable, f"{app.label} did finish launching", app.pid)
            if bundle == APP_ID:
                self.practice.deliver(None, {"arguments": list(arguments)})
        self.journal.add("launch", bundle=bundle, arguments=list(arguments), fresh=fresh)
        return app.pid

    def open_url(self, url: str) -> bool:
        """An address is opened; False when nothing takes it."""
        scheme = url.partition(":")[0].lower()
        taker = next((app for app in self.apps.values() if app.scheme and scheme == app.scheme), None)
        if taker is None and scheme in ("http", "https"):
            taker = self.apps.get(SAFARI)
        if taker is None:
            return False
        self.journal.add("url", url=url, bundle=taker.id)
        self.bring(taker.id)
        if taker.id == APP_ID:
            self.practice.deliver(url, {})
        elif taker.screen.elements:
            taker.screen.elements[0].name = url
        return True

    def bring(self, app_id: str) -> None:
        """An app comes to the front; the display turns as far as it allows."""
        super().bring(app_id)
        self.menu = None
        self._turn()

    def stop(self, app: App) -> None:
        """The process of an app ends."""
        front, pid = self.front is app, app.pid
        super().stop(app)
        self._end_process(pid)
        if front:
            self.bring(self.launcher)

    def crashed(self, app: App) -> None:
        """The practice app died: the system leaves a report, and the home screen is shown."""
        self.log("ReportCrash", f"Saved crash report for {app.executable}[{app.pid}] version ???", 42)
        self.journal.add("crash", bundle=app.id, pid=app.pid)
        self.stop(app)

    def list_apps(self, home: App) -> None:
        """The home screen, an icon for each app."""
        width, height = self.room
        found = sorted((app for app in self.apps.values() if app.launched), key=lambda app: app.label)
        home.screen = icons([(app.id, app.label, self.opener(app.id)) for app in found], width, height)

    def opener(self, app: str) -> Callable[[], None]:
        """What starts an app from its icon."""
        return lambda: (self.start(app), None)[1]

    def recents(self) -> None:
        """The app switcher."""
        width, height = self.room
        found = [self.apps[name] for name in reversed(self.tasks) if name != self.launcher]
        super().recents()
        rows = [(app.id, app.label, self._resumer(app.id)) for app in found]
        self.apps[self.launcher].screen = switcher(rows, width, height)
        self._turn()

    def _resumer(self, app: str) -> Callable[[], None]:
        return lambda: self.bring(app)

    def previous(self) -> None:
        """The way back inside an app: the button in the navigation bar, or the swipe from the left edge."""
        practice = self.practice
        if self.front.screen is not practice:
            return
        if practice.frozen_for:
            practice.later(practice.back)
        else:
            self.keyboard_shown = False
            practice.back()

    # --- what lies on the display ---

    def windows(self) -> list[Window]:
        """What lies on the display now, the topmost first."""
        self.settle()
        return display.windows(self)

    def key_on_screen(self, what: str) -> None:
        """A key of the keyboard on the screen: a letter, `backspace` or `enter`."""
        if what == "enter":
            self.enter()
        elif what == "backspace":
            self.target_screen.key(what)
        else:
            type_text(self, what)

    def enter(self) -> None:
        """The return key: a field of one line is done with it, and the keyboard goes."""
        from ...handset.keys import press

        field = self.focused_field
        press(self, "enter")
        if field is not None and "multiline" not in field.states and self.keyboard_shown:
            self.put_keyboard_away()

    def put_keyboard_away(self) -> None:
        """The keyboard goes, and the field that had it loses it."""
        self.keyboard_shown, self.menu = False, None
        if not self.steered:
            self.target_screen.focus = None
        self.lay_out()

    def lay_out(self) -> None:
        """Gives the app in front its room. The keyboard covers it; the focused field is moved out from under it."""
        geometry, scale = self.screen_geometry, self.geometry.scale
        box = geometry.content(keyboard=False)
        width, height = box.width / scale, box.height / scale
        screen = self.front.screen
        practice = screen if isinstance(screen, ApplePractice) else None
        covered = max(0.0, (box.bottom - geometry.keyboard.top) / scale) if self.keyboard_shown else 0.0
        if (screen.width, screen.height) != (width, height):
            if practice is not None:
                practice.turn(width, height)
            else:
                screen.width, screen.height = width, height
                screen.scroll(0)
        if practice is not None and practice.inset != covered:
            practice.inset = covered
            practice.scroll(0)
            focus = practice.focus
            if covered and focus is not None and self.current_popup() is None:
                place = practice.place(focus)
                if place.y + place.height > height - covered:
                    practice.scroll(place.y + place.height - (height - covered) + 8)

    def popup_box(self, popup: Popup) -> Any:
        """In the middle of what the keyboard leaves."""
        box = super().popup_box(popup)
        if not self.keyboard_shown:
            return box
        lift = max(0, box.bottom + 8 - self.screen_geometry.keyboard.top)
        return type(box)(box.left, box.top - lift, box.right, box.bottom - lift)

    # --- alerts ---

    def current_popup(self) -> Popup | None:
        """The dialog in front: one of the system, else the app's own."""
        return self.system if self.system is not None else super().current_popup()

    def ask(self, text: str, buttons: tuple[str, str] = ("Allow", "Don’t Allow"), bundle: str = APP_ID) -> None:
        """The system asks something, over everything; the first button says yes."""

        def answer(how: str, _text: str) -> None:
            self.system = None
            self.journal.add("alert", bundle=bundle, text=text, answer=how)

        self.system = popups.dialog("confirm", text, buttons, self.room[0], answer, ids=self.ids)
        self.system.app = self.launcher

    def choose(self, element: FakeElement) -> None:
        """A television has no wheels: it shows a list. Elsewhere a finger turns the wheel, and a tap does nothing."""
        if self.kind.tv:
            super().choose(element)

    # --- orientation ---

    @property
    def orientation(self) -> str:
        """How what is shown is turned."""
        return NAMES[self.geometry.rotation]

    def hold(self, quarters: int) -> bool:
        """The device is held another way; False if what is shown does not follow."""
        if self.kind.tv:
            return False
        self.turned = quarters % 4
        self._turn()
        return self.geometry.rotation == self.turned

    def _turn(self) -> None:
        phone = self.kind.family == "iPhone"
        wanted = self.turned
        if phone and (self.front.id == self.launcher or (wanted == 2 and not self.kind.home_button)):
            wanted = 0 if self.front.id == self.launcher else self.geometry.rotation
        if wanted != self.geometry.rotation:
            self.geometry.rotation = wanted
            self.keyboard_shown = False
            if self.front.id == self.launcher and self.front.screen.title == "Home":
                self.list_apps(self.front)
            self.lay_out()

    # --- the log, and what the lab tells ---

    def log(self, process: str, text: str, pid: int = 0) -> None:
        """A line for the log."""
        self.lines.append((time.time(), process, pid, text))
        del self.lines[:-5000]

    def state(self) -> dict[str, Any]:
        """What the lab tells of it."""
        self.settle()
        popup = self.current_popup()
        return {
            "front": self.front.id,
            "tasks": list(self.tasks),
            "keyboard": self.keyboard_shown,
            "orientation": self.orientation,
            "turned": NAMES[self.turned],
            "size": [self.screen_geometry.width, self.screen_geometry.height],
            "awake": self.awake,
            "locked": self.locked,
            "dialog": popup is not None,
            "system_alert": self.system is not None,
            "clipboard": self.clipboard,
            "apps": sorted(self.apps),
            "running": sorted(app.id for app in self.apps.values() if app.running),
            "appearance": dict(self.appearance),
            "location": list(self.located) if self.located is not None else None,
            "status_bar": dict(self.status),
            "granted": {app.id: dict(app.granted) for app in self.apps.values() if app.granted},
        }
