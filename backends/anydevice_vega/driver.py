"""The driver of one Vega device: its capabilities over one adb transport and its automation toolkit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from anydevice.driver import Driver
from anydevice_adb import AdbDevice
from anydevice_adb.commanding import AdbShell
from anydevice_adb.forwarding import AdbForwards
from anydevice_adb.server import LOOPBACK
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import DeviceOffline

from .alerts import VegaAlerts
from .apps import VegaApps
from .config import VegaConfig
from .elements import VegaElements
from .files import VegaFiles
from .inventory import BACKEND, EMULATOR, PLATFORM
from .keys import VegaKeys
from .links import VegaLinks
from .logs import VegaLogs
from .looking import picture
from .packages import Packages
from .perf import VegaPerf
from .power import RunningPower
from .reach import Reach
from .recording import VegaRecording
from .routes import Routes
from .screen import VegaScreen
from .sdk import Sdk
from .ways import VegaNavigation, VegaRemote


class VegaDriver(Driver):
    """Drives one device. Holds no connection of its own; each command has one."""

    def __init__(
        self,
        device: Device,
        adb: AdbDevice,
        tools: Sdk,
        variables: Mapping[str, str],
        left: set[str] | None = None,
    ) -> None:
        """`tools` are the SDK's, called with a caller's `variables`; used to end a virtual device only. `left` is as of
        `Reach`."""
        self.device = device
        self._adb = adb
        self._reach = reach = Reach(adb, left)
        packages = Packages(reach)
        routes = Routes(reach)
        self.elements = VegaElements(reach, routes)
        self.apps = VegaApps(reach, packages)
        port = adb.serial.removeprefix(EMULATOR)
        virtual = adb.serial.startswith(EMULATOR) and port.isdigit() and adb.server.host in LOOPBACK
        console = partial(picture, adb.server.host, int(port)) if virtual else None
        self.screen = VegaScreen(reach, self.apps, console)
        self.keys = VegaKeys(reach, routes, self.elements)
        self.remote = VegaRemote(routes)
        self.navigation = VegaNavigation(reach, routes)
        self.links = VegaLinks(self.apps)
        self.alerts = VegaAlerts(reach, routes, self.elements)
        self.recording = VegaRecording(reach)
        self.logs = VegaLogs(reach, packages)
        self.perf = VegaPerf(reach, packages, self.apps)
        self.config = VegaConfig(reach)
        self.shell = AdbShell(adb)
        self.files = VegaFiles(reach)
        self.forwards = AdbForwards(adb)
        if virtual:
            self.power = RunningPower(tools, adb, variables, self.identify)

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`: the host name, read from the device itself, is the one it was listed with.

        Raises:
            DeviceOffline: Another device answers under this serial now.
        """
        try:
            told = (await self._reach.run("uname", "-n", deadline=5.0)).text.strip()
        except DeviceOffline:
            ended = self.power.ended if hasattr(self, "power") else None
            if ended is None:
                raise
            return ended  # it was asked before it was ended, and can say nothing any more
        wanted = self.device.facts.get("hostname")
        if wanted and told and wanted != told:
            raise DeviceOffline(
                "Another device answers under this serial now.", state="offline", fix="Call devices, then choose again."
            )
        return DeviceRef(id=self.device.id, name=self.device.name, platform=PLATFORM, key=f"{BACKEND}:{self.device.id}")

    async def clean(self) -> None:
        """See `Driver.clean`; what fails does not keep the rest from being done."""
        wrong: Exception | None = None
        for step in (self.recording.finish, self.forwards.clean, self.config.clean, self._reach.tidy):
            try:
                await step()
            except Exception as error:
                wrong = wrong or error
        if wrong is not None:
            raise wrong

    async def aclose(self) -> None:
        """See `Driver.aclose`."""
        await self.recording.finish()
        await self.forwards.clean()
        await self._reach.toolkit.aclose()
