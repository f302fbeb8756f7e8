"""What an Android device has beside its windows: properties, settings, a log, apps, and how they end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from anydevice.testing.screen import FakeScreen
from anydevice_schemas.practice import APP_ID

from ...handset.apps import HandsetPractice, list_screen
from ...handset.geometry import Geometry
from ...handset.handset import Handset
from .apps import (
    ADB_KEYBOARD,
    KEYBOARD,
    LAUNCHER,
    PRACTICE_ACTIVITY,
    SETTINGS,
    SYSTEM_UI,
    TV_LAUNCHER,
    App,
)
from .logs import Log
from .properties import first_settings, properties
from .sending import TAG, Sending

if TYPE_CHECKING:
    from ..device import LabDevice

DIALOG_IDS = {
    "message": "android:id/message", "edit": "android:id/edit", "button1": "android:id/button1",
    "button2": "android:id/button2", "option": "android:id/text1",
}  # fmt: skip
LEGACY_IME = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"
REASON_CRASH, REASON_USER, REASON_SIGNALED = 4, 10, 2
"""How a process ended, as `dumpsys activity exit-info` numbers it."""


class Tasks(Handset[App]):
    """The state of an Android device, without its windows.

    Attributes:
        props: System properties.
        settings: Values by namespace and key.
        log: The device's log.
        placed: Latitude and longitude that the receiver was told, if any.
        located: Those that Android heard last, which it does only while somebody listens to the receiver.
        listening: Whether somebody does.
        held: Who holds the one slot for automation; empty = nobody.
        notifications: Posted by the shell: tag, title, text.
        sessions: Open installs by number: their parts, their options.
    """

    ids = DIALOG_IDS

    def __init__(self, device: LabDevice) -> None:
        kind = device.kind
        geometry = Geometry((kind.width, kind.height), kind.density, bars=not kind.tv)
        super().__init__(geometry, device.journal, steered=kind.tv, seed=device.serialno)
        self.device, self.kind = device, kind
        self.reboot_seconds = 1.0
        self.props = properties(device.kind, device.serialno)
        self.settings = first_settings()
        self.log = Log()
        self.signers: dict[str, str] = {}
        self.media: set[str] = set()
        self.placed: tuple[float, float] | None = None
        self.located: tuple[float, float] | None = None
        self.listening = False
        self.begin()
        for app in self._first_apps():
            self.apps[app.package] = app

    def begin(self) -> None:
        """Everything that a boot begins anew."""
        super().begin()
        self.held = ""
        self.notifications: list[tuple[str, str, str]] = []
        self.sessions: dict[int, tuple[dict[str, bytes], list[str]]] = {}
        self.sessions_closed = 0
        self._frames_from: dict[str, float] = {}
        self.demo: dict[str, str] = {}

    @property
    def launcher(self) -> str:
        """Package of the launcher."""
        return TV_LAUNCHER if self.kind.tv else LAUNCHER

    def _first_apps(self) -> list[App]:
        width, height = self.room
        first = f"{self.launcher}.{'MainActivity' if self.kind.tv else 'NexusLauncherActivity'}"
        home = App(
            self.launcher, "Launcher", FakeScreen(width=width, height=height), launched=False, system=True,
            running=True, pid=self.pid(), activity=first,
        )  # fmt: skip
        practice = HandsetPractice(width=width, height=height)
        self.sending = Sending(lambda: self.apps[APP_ID].pid if APP_ID in self.apps else 0)
        practice.reporter = self.sending.reporter
        practice.logged = lambda text: self.log.add("I", "practice", text, pid=self.apps[APP_ID].pid)
        rows = [(name, None) for name in ("Network & internet", "Connected devices", "Apps", "Display", "System")]
        return [
            home,
            App(APP_ID, "Practice", practice, activity=PRACTICE_ACTIVITY),
            App(SETTINGS, "Settings", list_screen("Settings", rows, width, height), system=True,
                activity=f"{SETTINGS}.Settings"),
            App(SYSTEM_UI, "System UI", FakeScreen(width=width, height=height), launched=False, system=True,
                running=True, pid=self.pid(), activity=f"{SYSTEM_UI}.SystemUIService"),
            App(KEYBOARD, "Gboard", FakeScreen(width=width, height=height), launched=False, system=True,
                running=True, pid=self.pid(), activity=LEGACY_IME.partition("/")[2]),
        ]  # fmt: skip

    def hash(self) -> str:
        """A number as dumps write the identity of an object."""
        return f"{self._rng.randrange(1 << 28):x}"

    def hear(self) -> None:
        """Whoever listens to the receiver hears where the device is, unless the location is switched off."""
        on = self.settings["secure"]["location_mode"] != "0"
        self.located = (self.placed or self.located) if on and self.listening else self.located if on else None

    # --- living on ---

    def settle(self) -> None:
        """What is due happens; what the practice app sent is in the log."""
        super().settle()
        self.sending.flush(lambda pid, tid, text: self.log.add("I", TAG, text, pid=pid, tid=tid))

    def crashed(self, app: App) -> None:
        """The practice app died: the log says so."""
        self.log.crash(app.package, app.pid)
        self.end(app, REASON_CRASH, "crash")

    def end(self, app: App, reason: int = REASON_USER, description: str = "") -> None:
        """The process of an app ends, for a reason that is kept, and its task goes."""
        if app.running:
            app.exits.insert(0, (time.time(), reason, description, app.pid))
        super().stop(app)

    def stop(self, app: App) -> None:
        """The process of an app ends as a user ends it."""
        self.end(app)

    def end_process(self, pid: int) -> bool:
        """Ends the app whose process this is; False if it is none."""
        for app in self.apps.values():
            if app.pid == pid and pid:
                self.end(app, REASON_SIGNALED, "signal")
                return True
        return False

    def reboot(self) -> None:
        """Everything that ran is gone."""
        for app in self.apps.values():
            app.running, app.pid = app.package in (self.launcher, SYSTEM_UI), 0
            app.screen.power_off()
        for app in self.apps.values():
            app.pid = self.pid() if app.running else 0
        self.begin()

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
