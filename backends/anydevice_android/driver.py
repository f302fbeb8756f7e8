"""The driver of one Android device: its capabilities over one adb transport."""

from __future__ import annotations

from collections.abc import Mapping

from anydevice.driver import Driver
from anydevice_adb import AdbDevice
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import DeviceOffline

from .alerts import AndroidAlerts
from .apps import AndroidApps
from .dumping import Dumping
from .inventory import BACKEND, PLATFORM
from .keys import AndroidKeys
from .packages import Packages
from .reach import Reach
from .screen import AndroidScreen
from .touch import AndroidTouch
from .ways import AndroidLinks, AndroidNavigation, AndroidRemote


class AndroidDriver(Driver):
    """Drives one device. Holds no connection of its own; each command has one."""

    def __init__(self, device: Device, adb: AdbDevice) -> None:
        self.device = device
        self._adb = adb
        api = device.facts.get("api")
        self._reach = reach = Reach(adb, api if isinstance(api, int) else 0)
        self._dumping = Dumping(reach)
        self._packages = Packages(reach)
        self._who: str | None = None
        self.screen = AndroidScreen(reach, self._dumping)
        self.touch = AndroidTouch(reach)
        self.keys = AndroidKeys(reach, self._dumping)
        self.apps = AndroidApps(reach, self._packages)
        self.links = AndroidLinks(self.apps)
        self.navigation = AndroidNavigation(reach)
        self.remote = AndroidRemote(reach)
        self.alerts = AndroidAlerts(reach, self._dumping, self.touch, self.keys)

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

    async def aclose(self) -> None:
        """See `Driver.aclose`."""
