"""The driver of one Android device: its capabilities over one adb transport."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from anydevice.driver import Driver
from anydevice_adb import AdbDevice
from anydevice_adb.commanding import AdbShell
from anydevice_adb.forwarding import AdbForwards
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import DeviceOffline

from . import location
from .alerts import AndroidAlerts
from .apps import AndroidApps
from .automation import Automation, AutomationWriter
from .clipboard import AndroidClipboard
from .dumping import Dumping
from .files import AndroidFiles
from .fingers import NEEDS
from .guarding import Guard
from .inventory import BACKEND, EMULATOR, PLATFORM
from .keys import AndroidKeys
from .logs import AndroidLogs
from .network import AndroidNetwork
from .notifications import AndroidNotifications
from .packages import Packages
from .perf import AndroidPerf
from .power import EmulatorPower
from .reach import Reach
from .recording import AndroidRecording
from .screen import AndroidScreen
from .settings import AndroidSettings, TvSettings, Undo
from .sound import AndroidAudio
from .touch import AndroidTouch
from .ways import AndroidLinks, AndroidNavigation, AndroidRemote


class AndroidDriver(Driver):
    """Drives one device. Holds no connection of its own; each command has one."""

    def __init__(
        self, device: Device, adb: AdbDevice, jar: Path | None = None, undo: dict[str, Undo] | None = None
    ) -> None:
        """`jar` is the file of the automation server, where one may be used; `undo`, settings to be put back."""
        self.device = device
        self._adb = adb
        api = device.facts.get("api")
        self._reach = reach = Reach(adb, api if isinstance(api, int) else 0)
        self._automation = Automation(adb, jar) if jar is not None else None
        self._dumping = Dumping(reach, self._automation)
        reach.acted = self._dumping.acted
        self._packages = Packages(reach)
        guard = Guard(reach, self._dumping)
        television = device.device_class == "tv"
        touch = AndroidTouch(reach, self._automation)
        writer = AutomationWriter(self._automation, reach) if self._automation is not None else None
        self.keys = AndroidKeys(reach, guard, writer)
        self.apps = AndroidApps(reach, self._packages, guard)
        self.screen = AndroidScreen(reach, self._dumping, guard, self.apps)
        self.links = AndroidLinks(self.apps)
        self.navigation = AndroidNavigation(reach, guard)
        if television:
            self.remote = AndroidRemote(reach)
        else:
            self.touch = touch
        self.alerts = AndroidAlerts(guard, touch, self.keys)
        self.clipboard = AndroidClipboard(reach, self._automation)
        self.logs = AndroidLogs(reach, self._packages)
        self.network = AndroidNetwork(reach, self._packages)
        self.perf = AndroidPerf(reach, self._packages)
        self.audio = AndroidAudio(reach)
        if adb.serial.startswith(EMULATOR):
            self.power = EmulatorPower(adb.server, adb.serial, self.identify)
        self.recording = AndroidRecording(reach, self.screen.display)
        self.settings = (TvSettings if television else AndroidSettings)(reach, undo)
        self.shell = AdbShell(adb)
        self.files = AndroidFiles(reach)
        self.forwards = AdbForwards(adb)
        self.notifications = AndroidNotifications(reach, self._packages)

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`: the hardware serial, read from the device itself, is the one it was listed with.

        Raises:
            DeviceOffline: Another device answers under this serial now.
        """
        wanted = self.device.facts.get("hardwareSerial")
        # Asked each time: another device may have come up under the same address.
        try:
            told = (await self._reach.run("getprop", "ro.serialno", deadline=5.0)).text.strip()
        except DeviceOffline:
            ended = self.power.ended if hasattr(self, "power") else None
            if ended is None:
                raise
            return ended  # it was asked before it was ended, and can say nothing any more
        if wanted and told and wanted != told:
            raise DeviceOffline(
                "Another device answers under this serial now.", state="offline", fix="Call devices, then choose again."
            )
        return DeviceRef(id=self.device.id, name=self.device.name, platform=PLATFORM, key=f"{BACKEND}:{self.device.id}")

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver.unavailable`."""
        out: dict[str, str] = {}
        if self._automation is None and hasattr(self, "touch"):
            out["touch.multi_touch"] = NEEDS
        if self.settings.place.port is None:
            out["settings.location"] = location.NEEDS
        return out

    async def clean(self) -> None:
        """See `Driver.clean`; what fails does not keep the rest from being done."""
        await _each(self._ending(), self.settings.clean)

    async def aclose(self) -> None:
        """See `Driver.aclose`. Settings stay noted: a connection that was lost gives no device back."""
        await _each(self._ending())

    def _ending(self) -> list[Callable[[], Awaitable[None]]]:
        steps: list[Callable[[], Awaitable[None]]] = [self.recording.finish, self.audio.finish, self.forwards.clean]
        return [*steps, self._automation.aclose] if self._automation is not None else steps


async def _each(steps: Sequence[Callable[[], Awaitable[None]]], *more: Callable[[], Awaitable[None]]) -> None:
    """Does one after the other, and all of them.

    Raises:
        Exception: The first that was raised by one.
    """
    wrong: Exception | None = None
    for step in (*steps, *more):
        try:
            await step()
        except Exception as error:
            wrong = wrong or error
    if wrong is not None:
        raise wrong
