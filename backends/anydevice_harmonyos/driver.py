"""The driver of one HarmonyOS device: its capabilities over the hdc server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from anydevice.driver import Driver
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import DeviceOffline

from .alerts import HarmonyosAlerts
from .apps import HarmonyosApps
from .choosers import Choosers
from .emulating import Emulators
from .files import HarmonyosFiles
from .forwards import HarmonyosForwards
from .guarding import Guard
from .hdc import HdcDevice
from .inventory import BACKEND, PLATFORM
from .keys import HarmonyosKeys
from .logs import HarmonyosLogs
from .looking import Looking
from .packages import Packages
from .perf import HarmonyosPerf
from .pointer import HarmonyosPointer, RemotePointer
from .power import EmulatorPower
from .presses import ByRemote, ByTouch
from .reach import Reach, Slot
from .recording import HarmonyosRecording
from .screen import HarmonyosScreen
from .settings import HandheldSettings, HarmonyosSettings
from .shell import HarmonyosShell
from .touch import HarmonyosTouch
from .ways import HandheldNavigation, HarmonyosLinks, HarmonyosNavigation, HarmonyosRemote


class HarmonyosDriver(Driver):
    """Drives one device. Holds no connection of its own; each command has one."""

    def __init__(
        self,
        device: Device,
        hdc: HdcDevice,
        emulators: Emulators,
        slot: Slot | None = None,
        instance: str = "",
    ) -> None:
        """`slot` is what all drivers of the device share, `instance` the name of its virtual device."""
        self.device = device
        self._reach = reach = Reach(hdc, slot)
        looking = Looking(reach)
        guard = Guard(looking)
        packages = Packages(reach)
        television, emulator = device.device_class == "tv", device.kind == "emulator"
        self.keys = HarmonyosKeys(reach, guard)
        self.apps = HarmonyosApps(reach, packages, guard, Choosers(reach, looking))
        self.screen = HarmonyosScreen(reach, looking, guard, self.apps)
        self.links = HarmonyosLinks(self.apps)
        self.navigation = HarmonyosNavigation(reach, guard) if television else HandheldNavigation(reach, guard)
        self.pointer = RemotePointer(reach) if television else HarmonyosPointer(reach)
        if television:
            self.remote = HarmonyosRemote(reach)
        else:
            self.touch = HarmonyosTouch(reach)
        self.settings = (
            HarmonyosSettings(reach, packages)
            if television
            else HandheldSettings(reach, packages, emulators if emulator else None, instance)
        )
        self.alerts = HarmonyosAlerts(guard, ByRemote(reach, guard) if television else ByTouch(reach), self.keys)
        self.recording = HarmonyosRecording(reach, self.screen, recorder=not television and not emulator)
        self.logs = HarmonyosLogs(reach, packages)
        self.perf = HarmonyosPerf(reach, packages)
        self.shell = HarmonyosShell(reach)
        self.files = HarmonyosFiles(reach)
        self.forwards = HarmonyosForwards(reach)
        if emulator and not instance:
            self.power = EmulatorPower(emulators, hdc.key, self.identify)

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`: its number for life, read from the device itself, is the one it was listed with.

        Raises:
            DeviceOffline: Another device answers under this key now.
        """
        wanted = self.device.facts.get("hardwareSerial")
        try:
            said = (await self._reach.run("bm", "get", "--udid", deadline=5.0)).text.split()
        except DeviceOffline:
            ended = self.power.ended if hasattr(self, "power") else None
            if ended is None:
                raise
            return ended  # it was asked before it was ended, and can say nothing any more
        told = said[-1].upper() if said else ""
        if wanted and told and wanted != told:
            raise DeviceOffline(
                "Another device answers under this key now.", state="offline", fix="Call devices, then choose again."
            )
        return DeviceRef(id=self.device.id, name=self.device.name, platform=PLATFORM, key=f"{BACKEND}:{self.device.id}")

    async def clean(self) -> None:
        """See `Driver.clean`; what fails does not keep the rest from being done."""
        await _each([*self._ending(), self.settings.clean, self._reach.tidy])

    async def aclose(self) -> None:
        """See `Driver.aclose`."""
        await _each(self._ending())

    def _ending(self) -> list[Callable[[], Awaitable[None]]]:
        return [self.recording.finish, self.forwards.clean]


async def _each(steps: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Does one after the other, and all of them.

    Raises:
        Exception: The first that was raised by one.
    """
    wrong: Exception | None = None
    for step in steps:
        try:
            await step()
        except Exception as error:
            wrong = wrong or error
    if wrong is not None:
        raise wrong
