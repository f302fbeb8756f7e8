"""The driver of one Android device: its capabilities over one adb transport."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from anydevice.driver import Driver
from anydevice_adb import AdbDevice
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import DeviceOffline

from .alerts import AndroidAlerts
from .apps import AndroidApps
from .automation import Automation, AutomationWriter
from .clipboard import AndroidClipboard
from .dumping import Dumping
from .files import AndroidFiles
from .forwards import AndroidForwards
from .guarding import Guard
from .inventory import BACKEND, PLATFORM
from .keys import AndroidKeys
from .logs import AndroidLogs
from .notifications import AndroidNotifications
from .packages import Packages
from .perf import AndroidPerf
from .reach import Reach
from .screen import AndroidScreen
from .settings import AndroidSettings
from .shell import AndroidShell
from .touch import AndroidTouch
from .ways import AndroidLinks, AndroidNavigation, AndroidRemote


class AndroidDriver(Driver):
    """Drives one device. Holds no connection of its own; each command has one."""

    def __init__(self, device: Device, adb: AdbDevice, jar: Path | None = None) -> None:
        """`jar` is the file of the automation server, where one may be used."""
        self.device = device
        self._adb = adb
        api = device.facts.get("api")
        self._reach = reach = Reach(adb, api if isinstance(api, int) else 0)
        self._automation = Automation(adb, jar) if jar is not None else None
        self._dumping = Dumping(reach, self._automation)
        reach.acted = self._dumping.acted
        self._packages = Packages(reach)
        self._who: str | None = None
        guard = Guard(reach, self._dumping)
        self.screen = AndroidScreen(reach, self._dumping, guard)
        self.touch = AndroidTouch(reach)
        writer = AutomationWriter(self._automation) if self._automation is not None else None
        self.keys = AndroidKeys(reach, guard, writer)
        self.apps = AndroidApps(reach, self._packages, guard)
        self.links = AndroidLinks(self.apps)
        self.navigation = AndroidNavigation(reach, guard)
        if device.device_class == "tv":
            self.remote = AndroidRemote(reach)
        self.alerts = AndroidAlerts(guard, self.touch, self.keys)
        self.clipboard = AndroidClipboard(reach)
        self.logs = AndroidLogs(reach, self._packages)
        self.perf = AndroidPerf(reach, self._packages)
        self.settings = AndroidSettings(reach)
        self.shell = AndroidShell(reach)
        self.files = AndroidFiles(reach)
        self.forwards = AndroidForwards(reach)
        self.notifications = AndroidNotifications(reach, self._packages)

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`: the hardware serial, read from the device itself, is the one it was listed with.

        Raises:
            DeviceOffline: Another device answers under this serial now.
        """
        wanted = self.device.facts.get("hardwareSerial")
        if self._who is None:
            self._who = (await self._reach.run("getprop", "ro.serialno", deadline=5.0)).text.strip()
        if wanted and self._who and wanted != self._who:
            raise DeviceOffline(
                "Another device answers under this serial now.", state="offline", fix="Call devices, then choose again."
            )
        return DeviceRef(id=self.device.id, name=self.device.name, platform=PLATFORM, key=f"{BACKEND}:{self.device.id}")

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver.unavailable`."""
        return {}

    async def clean(self) -> None:
        """See `Driver.clean`."""
        await self.forwards.clean()
        await self.settings.clean()
        if self._automation is not None:
            await self._automation.aclose()

    async def aclose(self) -> None:
        """See `Driver.aclose`."""
        await self.forwards.clean()
        if self._automation is not None:
            await self._automation.aclose()
