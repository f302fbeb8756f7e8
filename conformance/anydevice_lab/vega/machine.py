"""One Vega device: which apps run, what it shows, what it remembers."""

from __future__ import annotations

import itertools
import secrets
import shutil
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import anyio

from anydevice_schemas.practice import APP_ID

from ..handset.apps import HandsetPractice
from ..handset.geometry import Box, Geometry
from ..handset.handset import BEAT, Handset
from ..handset.windows import Window
from . import apps
from .apps import LAUNCHER, Package, VegaApp
from .log import Log
from .recorder import Recorder

if TYPE_CHECKING:
    from .device import VegaDevice

FLAG = "/tmp/automation-toolkit.enable"
"""Whether this file is there when an app is launched decides whether the toolkit tells anything of the app."""
FIRST_RUN = 38
SETTINGS = {
    "system/device-info/profile": "tv",
    "system/device-info/product": "",
    "system/accessibility/VoiceViewEnabled": "false",
    "system/locale": "en-US",
}
"""What `vdcm` knows from the start, below `com.amazon.devconf/`."""


class _Display(Geometry):
    """A television's display: the keyboard lies over the app and takes no room from it."""

    def content(self, *, keyboard: bool) -> Box:
        """What apps have of it."""
        return super().content(keyboard=False)


class VegaMachine(Handset[VegaApp]):
    """What a device is and shows.

    Attributes:
        hostname: As `uname -n` tells it.
        developer: Whether developer mode is on; without it no input is injected by a shell.
        heeds_touch: Whether apps listen to fingers; those of televisions do not.
        settings: Values of `vdcm` by key.
        crashes: Apps that died on their own, latest first: (time, id, pid).
    """

    def __init__(self, device: VegaDevice) -> None:
        kind = device.kind
        geometry = _Display((kind.width, kind.height), kind.density, bars=False)
        super().__init__(geometry, device.journal, steered=True, seed=device.serialno)
        self.device = device
        self.reboot_seconds = 1.0
        self.hostname = f"amazon-{secrets.token_hex(8)}"
        self.log = Log(self.hostname)
        self.developer, self.heeds_touch = True, False
        self.settings = {**SETTINGS, "system/device-info/product": kind.product}
        self.crashes: list[tuple[float, str, int]] = []
        self.recorder: Recorder | None = None
        self._runs = itertools.count(FIRST_RUN)
        self._numbers = itertools.count(9131)
        self.begin()
        for app in apps.first_apps(*self.room):
            self.apps[app.id] = app
        self.apps[LAUNCHER].pid = self.pid()
        self._listen_to_practice()

    def _listen_to_practice(self) -> None:
        def logged(text: str) -> None:
            self.log.add(APP_ID, text, pid=self.apps[APP_ID].pid, package=APP_ID)

        self.practice.logged = logged

    # --- what a handset asks for ---

    @property
    def launcher(self) -> str:
        """Id of the launcher."""
        return LAUNCHER

    def windows(self) -> list[Window]:
        """What lies on the display now, the topmost first."""
        self.settle()
        found = []
        popup, scale = self.current_popup(), self.geometry.scale
        if popup is not None:
            over = Window(popup.title, popup.app, self.popup_box(popup), popup.screen, scale, modal=True)
            over.cancels = popup.cancels
            found.append(over)
        found.append(Window(self.front.label, self.front.id, self.geometry.whole, self.front.screen, scale))
        found[0].focused = True
        return found

    def list_apps(self, home: VegaApp) -> None:
        """The launcher shows no apps."""
        home.screen.focus = None

    def crashed(self, app: VegaApp) -> None:
        """An app died on its own."""
        self.crashes.insert(0, (time.time(), app.id, app.pid))
        self.log.add("lcm", f"Component {app.component} exited abnormally: signal 6", pid=1, priority="err")
        self.stop(app)

    def settle(self) -> None:
        """What is due happens."""
        now = time.monotonic()
        for app in list(self.apps.values()):
            if app.running and app.dies_at and app.dies_at <= now:
                self.crashed(app)
        super().settle()

    def stop(self, app: VegaApp) -> None:
        """The process of an app ends."""
        app.dies_at, app.told = 0.0, False
        self.log.add("lcm", f"Component {app.component} stopped", pid=1, package=app.id)
        super().stop(app)
        if self.tasks[-1] == LAUNCHER:
            self.lay_out()

    async def live(self) -> None:
        """Lets time pass."""
        while True:
            self.settle()
            if self.recorder is not None:
                await self.recorder.look()
            await anyio.sleep(BEAT)

    # --- apps ---

    def by_component(self, name: str) -> VegaApp | None:
        """The app of a component."""
        return next((app for app in self.apps.values() if app.component == name), None)

    def launch(self, app: VegaApp, parameters: Mapping[str, Any] | None = None, url: str | None = None) -> None:
        """An app comes to the front, started where it was not running.

        Args:
            parameters: Of the message that launched it.
            url: An address it is to show.
        """
        fresh = not app.running
        if fresh:
            app.run, app.told = next(self._runs), self.device.files.host(FLAG).exists()
            if app.told:
                self.device.open_toolkit()
        self.bring(app.id)
        if fresh:
            self.log.add("lcm", f"Component {app.component} launched", pid=1, package=app.id)
            fault = self.device.faults.active("crash_launch", app.component)
            if fault is not None:
                app.dies_at = time.monotonic() + fault.seconds
            blank = self.device.faults.active("blank_launch", app.component)
            app.blank_until = time.monotonic() + blank.seconds if blank is not None else 0.0
        app.arguments = {name: str(value) for name, value in (parameters or {}).items()}
        if isinstance(app.screen, HandsetPractice) and (parameters or url or not app.screen.running):
            if app.screen.deliver(url, dict(parameters or {})):
                self.keyboard_shown, self.popup = False, None
            self.settle()

    def send(self, uri: str) -> bool:
        """A message goes to whatever takes its address; False where nothing does."""
        parts = urlsplit(uri)
        if uri == "os://home":
            self.home()
            return True
        if parts.scheme == "practice" and APP_ID in self.apps:
            self.launch(self.apps[APP_ID], url=uri)
            return True
        name = parts.netloc + parts.path
        app = None
        if parts.scheme == "pkg":
            app = self.by_component(name)
        elif parts.scheme == "orpheus":
            app = self.apps.get(name)
        if app is None:
            return False
        asked = parse_qs(parts.query, keep_blank_values=True)
        self.launch(app, {key: values if key == "arguments" else values[-1] for key, values in asked.items()})
        return True

    def install(self, package: Package) -> None:
        """A package is there; one that was there before ends and is replaced."""
        old = self.apps.get(package.id)
        if old is not None and old.running:
            self.stop(old)
        self.apps[package.id] = apps.installed(package, next(self._numbers), *self.room)
        if package.id == APP_ID:
            self._listen_to_practice()

    def uninstall(self, app: VegaApp) -> None:
        """A package goes."""
        if app.running:
            self.stop(app)
        del self.apps[app.id]

    def end_process(self, pid: int) -> bool:
        """Ends the app whose process this is; False if it is none."""
        for app in self.apps.values():
            if app.pid == pid and pid and app.id != LAUNCHER:
                self.stop(app)
                return True
        return False

    def reboot(self) -> None:
        """Everything that ran is gone, and what was in the folder for temporary files too."""
        for app in self.apps.values():
            app.running = app.id == LAUNCHER
            app.pid = self.pid() if app.running else 0
            app.told, app.dies_at = False, 0.0
            if app.id != LAUNCHER:
                app.screen.power_off()
        self.recorder = None
        self.device.close_toolkit()
        for left in self.device.files.host("/tmp").iterdir():
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
        self.begin()

    def processes(self) -> list[tuple[int, str]]:
        """Process ids and names."""
        running = [(app.pid, app.component) for app in self.apps.values() if app.running]
        others = [(pid, " ".join([call.name, *call.args])) for pid, call in self.device.running.items()]
        return [(1, "/sbin/init"), *running, *others]

    def state(self) -> dict[str, Any]:
        """What the lab tells of it."""
        focus = self.target_screen.focus
        return {
            "front": self.front.component,
            "tasks": list(self.tasks),
            "running": sorted(app.id for app in self.apps.values() if app.running),
            "told": sorted(app.id for app in self.apps.values() if app.told),
            "keyboard": self.keyboard_shown,
            "focus": (focus.identifier or focus.name) if focus is not None else "",
            "awake": self.awake,
            "dialog": self.current_popup() is not None,
            "packages": sorted(self.apps),
            "hostname": self.hostname,
            "recording": self.recorder is not None,
        }
