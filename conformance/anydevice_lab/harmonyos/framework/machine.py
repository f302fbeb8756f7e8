"""One HarmonyOS device: its state, its apps, and the windows that lie on its display."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import Rect
from anydevice_schemas.practice import APP_ID

from ...handset import popups, touch, windows
from ...handset.apps import HandsetPractice, list_screen
from ...handset.handset import Handset
from ...handset.keys import type_text
from ...handset.popups import Popup
from .apps import (
    ASKED,
    BROWSER,
    CALCULATOR,
    CHOOSER,
    INPUT_METHOD,
    NOTEPAD,
    RECORDER,
    SCENEBOARD,
    SETTINGS,
    App,
    Permission,
    is_practice,
)
from .arkui import Asked, Node, display_node
from .geometry import Geometry
from .logs import Log
from .medium import Medium
from .params import params

if TYPE_CHECKING:
    from ..device import HarmonyDevice

BATTERY = 86
CRASH = (
    "Reason:Error\nError name:Error\nError message:it crashed when asked to\nStacktrace:\n"
    "    at crash (EntryAbility.ets:42)"
)


@dataclass(eq=False)
class Window(windows.Window):
    """One window.

    Attributes:
        id: Its number.
        type: As the window manager numbers kinds of windows.
        ability, page: Of the app it belongs to.
        popup: What lies over the app, inside of its window.
    """

    id: int = 0
    type: int = 1
    ability: str = ""
    page: str = ""
    popup: Window | None = None


class Machine(Handset[App]):
    """What a device is and shows.

    Attributes:
        params: By name.
        log: Its log.
        locks: Whether it is locked when its display goes dark.
        dark_after: Milliseconds after which the display goes dark by itself; told, and not done.
        woken, slept: When that was, as `time.monotonic` has it.
        media: What the media library has, by the name it shows.
        recording: Name of the film that is being recorded; empty = none.
        ready_from: Until this time (as `time.monotonic`) its display tells no size, because it still boots.
        pointer: Where the mouse is, in pixels.
    """

    geometry: Geometry

    def __init__(self, device: HarmonyDevice) -> None:
        kind = device.kind
        geometry = Geometry((kind.width, kind.height), kind.ratio, bars=not kind.tv)
        super().__init__(geometry, device.journal, steered=kind.tv, seed=device.serial)
        self.device, self.kind = device, kind
        self.params = params(kind, device.serial)
        self.log = Log()
        self.locks = not kind.tv
        self.media: dict[str, Medium] = {}
        self.ready_from = 0.0
        self._numbers: dict[str, int] = {}
        self._next = 1000
        self.begin()
        for app in self._first_apps():
            self.apps[app.id] = app
        self.apps[APP_ID].permissions |= {name: Permission() for name in ASKED}
        self.home()

    def begin(self) -> None:
        """Everything that a boot begins anew."""
        super().begin()
        self.dark_after = 600_000
        self.woken = self.slept = time.monotonic()
        self.recording = ""
        self.pointer: tuple[float, float] = (1.0, 1.0)
        self.started_at: dict[str, int] = {}

    @property
    def launcher(self) -> str:
        """The shell of the system, which has the home screen."""
        return SCENEBOARD

    def _first_apps(self) -> list[App]:
        width, height = self.room
        practice = HandsetPractice(width=width, height=height)
        practice.logged = lambda text: self.log.add("I", f"{APP_ID}/practice", text, pid=self.apps[APP_ID].pid)
        rows = [(name, None) for name in ("WLAN", "Bluetooth", "Display & brightness", "Apps & services", "System")]
        empty = FakeScreen(width=width, height=height)

        def plain(name: str) -> FakeScreen:
            return list_screen(name, [("Nothing here", None)], width, height)

        service = {"launched": False, "system": True, "running": True, "main": "", "ability": ""}
        return [
            App(SCENEBOARD, "Home", empty, page="pages/Desktop", pid=self.pid(), **service),  # type: ignore[arg-type]
            App(APP_ID, "Practice", practice, schemes=("practice",), debug=True),
            App(SETTINGS, "Settings", list_screen("Settings", rows, width, height), system=True,
                ability=f"{SETTINGS}.MainAbility", main=f"{SETTINGS}.MainAbility", module="phone_settings"),
            App(CALCULATOR, "Calculator", plain("Calculator"), system=True, ability="CalculatorAbility",
                main=f"{CALCULATOR}.CalculatorAbility"),
            App(NOTEPAD, "Notepad", plain("Notepad"), system=True, ability="MainAbility", main="MainAbility"),
            App(BROWSER, "Browser", plain("Browser"), system=True, ability="MainAbility", main="MainAbility",
                schemes=("http", "https")),
            App(INPUT_METHOD, "Celia Keyboard", empty, pid=self.pid(), **service),  # type: ignore[arg-type]
            *([App(RECORDER, "Screen recorder", empty, launched=False, system=True, main="", ability="")]
              if self.kind.recorder else []),
        ]  # fmt: skip

    # --- apps ---

    def opener(self, app: str) -> Callable[[], None]:
        """What starts an app from the home screen."""

        def start() -> None:
            from .wants import start

            start(self, self.apps[app])

        return start

    def crashed(self, app: App) -> None:
        """The practice app died: a file is kept of it, and the log says so."""
        stamp = time.strftime("%Y%m%d%H%M%S", time.localtime())
        name = f"jscrash-{app.id}-{app.uid}-{stamp}{int(time.time() * 1000) % 1000:03d}.log"
        app.ended.insert(0, (name, f"Module name:{app.id}\nPid:{app.pid}\nUid:{app.uid}\n{CRASH}\n"))
        self.log.add("E", f"{app.id}/JsApp", CRASH, pid=app.pid, domain="C03900")
        self.log.add("I", "appspawn", f"App process [{app.pid}] {app.id} exit", pid=1, domain="C02C11")
        folder = self.device.files.host("/data/log/faultlog/faultlogger")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(app.ended[0][1])
        self.stop(app)
        self.bring(self.tasks[-1])

    def end_process(self, pid: int) -> bool:
        """Ends the app whose process this is; False if it is none."""
        for app in self.apps.values():
            if app.pid == pid and pid:
                self.stop(app)
                return True
        return False

    def reboot(self) -> None:
        """Everything that ran is gone."""
        for app in self.apps.values():
            app.running = app.id in (SCENEBOARD, INPUT_METHOD)
            app.pid = self.pid() if app.running else 0
            app.screen.power_off()
        self.begin()
        self.home()

    def remove(self, app: App) -> None:
        """A bundle is uninstalled."""
        self.stop(app)
        del self.apps[app.id]
        self.bring(self.tasks[-1])

    # --- power ---

    def wake(self) -> None:
        """The display comes on."""
        if not self.awake:
            self.awake, self.woken = True, time.monotonic()

    def sleep(self) -> None:
        """The display goes dark."""
        if self.awake:
            self.awake, self.slept = False, time.monotonic()
            self.locked = self.locks

    # --- windows ---

    @property
    def part_in_front(self) -> str:
        """The ability in front."""
        return self.front.ability

    def number(self, what: str) -> int:
        """The number of a thing: the same as long as it is there, and never another's."""
        if what not in self._numbers:
            self._next += 1
            self._numbers[what] = self._next
        return self._numbers[what]

    def windows(self) -> list[Window]:
        """What lies on the display now, the topmost first."""
        self.settle()
        geometry, scale = self.geometry, self.geometry.scale
        found: list[Window] = []
        bar = geometry.status_bar
        if bar is not None:
            screen = _status_bar(bar.width / scale, bar.height / scale)
            found.append(Window("SCBStatusBar", SCENEBOARD, bar, screen, scale, bar=True, type=2108))
        if self.locked:
            box = geometry.whole
            screen = _lock_screen(box.width / scale, box.height / scale)
            found.append(Window("SCBScreenLock", SCENEBOARD, box, screen, scale, type=2110, focused=True))
        if self.keyboard_shown:
            box = geometry.keyboard
            keys = popups.keyboard(box.width / scale, box.height / scale, self._key_on_screen)
            found.append(Window("softKeyboard1", INPUT_METHOD, box, keys, scale, keyboard=True, type=2105))
        front = self.front
        main = Window(
            front.label, front.id, geometry.content(keyboard=self.keyboard_shown), front.screen, scale,
            focused=not self.locked, ability=front.ability, page=front.page,
            type=1 if front.id != SCENEBOARD else (2115 if front.screen.title == "Recents" else 2001),
        )  # fmt: skip
        over = self._popup_window(main)
        if over is not None:
            found.append(over)
        found.append(main)
        for window in found:
            window.id = zlib.crc32(f"{window.app}/{window.title}/{window is over}".encode()) % 900 + 30
        return found

    def _popup_window(self, main: Window) -> Window | None:
        popup = self.current_popup()
        if popup is None:
            return None
        window = Window(popup.title, popup.app, self.popup_box(popup), popup.screen, self.geometry.scale)
        window.cancels, window.modal, window.type = popup.cancels, True, 1001
        if popup.app == CHOOSER:
            window.type = 2117
        else:
            main.popup = window
        return window

    def _key_on_screen(self, what: str) -> None:
        if what in ("backspace", "enter"):
            from ...handset.keys import press

            press(self, what)
        else:
            type_text(self, what)

    def choose_app(self, asked: str) -> None:
        """The chooser of the system comes, for a start that names no ability, and stays until it is answered."""
        width = min(self.room[0] - 32, 360.0)
        rows = [app for app in self.apps.values() if app.launched][:3]
        tall = 64.0 + 56 * len(rows) + 56
        screen = FakeScreen(width=width, height=tall)
        screen.title = "Open with"
        screen.add(FakeElement("text", "Open with", Rect(16, 12, width - 32, 40), identifier="dialog_title"))

        def gone() -> None:
            self.popup = None

        def press(app: str) -> Callable[[], None]:
            def run() -> None:
                gone()
                self.opener(app)()

            return run

        for number, app in enumerate(rows):
            place = Rect(0, 64 + 56.0 * number, width, 56)
            screen.add(FakeElement("listitem", app.label, place, identifier="app", on_press=press(app.id)))
        place = Rect(16, tall - 52, width - 32, 44)
        screen.add(FakeElement("button", "Cancel", place, identifier="cancel", on_press=gone))
        self.popup = Popup(None, "selector", CHOOSER, screen, width, tall, cancels=gone)
        self.journal.add("chooser", asked=asked)

    def hover(self, spot: tuple[float, float]) -> None:
        """The mouse comes to rest at a place, in pixels."""
        window, place = touch.at(self, spot)
        if window is not None and self.awake:
            window.screen.hover_at(place)

    # --- telling ---

    def layout(self, asked: Asked | None = None) -> Node:
        """The whole layout as `uitest` tells it: the display, and windows in it."""
        found = self.windows()
        unseen = self.device.faults.active("keyboard_unseen") is not None
        inside = [other.popup for other in found]
        shown = [window for window in found if window not in inside and not (window.keyboard and unseen)]
        return display_node(self, shown, asked or Asked())

    def state(self) -> dict[str, Any]:
        """What the lab tells of it."""
        return {
            "front": f"{self.front.id}/{self.front.ability}",
            "tasks": list(self.tasks),
            "keyboard": self.keyboard_shown,
            "rotation": self.geometry.rotation,
            "size": list(self.geometry.size),
            "awake": self.awake,
            "locked": self.locked,
            "dialog": self.current_popup() is not None,
            "chooser": self.popup is not None and self.popup.app == CHOOSER,
            "clipboard": self.clipboard,
            "packages": sorted(self.apps),
            "recording": self.recording,
            "practice": is_practice(self.front),
        }


def _status_bar(width: float, height: float) -> FakeScreen:
    screen = FakeScreen(width=width, height=height)
    screen.add(FakeElement("text", "6:14", Rect(16, 8, 60, height - 12), identifier="TimeView_Text_timeText"))
    place = Rect(width - 56, 8, 40, height - 12)
    soc = "BatteryComponent-batteryIcon_Text_batterySoc"
    screen.add(FakeElement("text", str(BATTERY), place, identifier=soc))
    return screen


def _lock_screen(width: float, height: float) -> FakeScreen:
    screen = FakeScreen(width=width, height=height)
    screen.add(FakeElement("text", "6:14", Rect(16, 80, width - 32, 64), identifier="lockscreen_clock"))
    screen.add(FakeElement("text", "Swipe up to unlock", Rect(16, height - 96, width - 32, 32), identifier="lock_hint"))
    return screen
