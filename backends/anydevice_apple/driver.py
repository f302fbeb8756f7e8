"""The driver of one simulator or device: its capabilities, and only power while it is down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import anyio

from anydevice.driver import Driver
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import AnydeviceError, DeviceOffline

from .agents import Agent
from .alerts import AppleAlerts
from .apps import AppleApps
from .clipboard import AppleClipboard
from .crashing import Crashes
from .devicectl import Devicectl
from .files import AppleFiles
from .inventory import BACKEND, PLATFORM
from .keys import AppleKeys
from .logs import AppleLogs
from .network import AppleNetwork
from .notifications import AppleNotifications
from .packages import Packages
from .perf import ApplePerf
from .power import SimulatorPower
from .reach import Reach
from .reading.simulators import BOOTED
from .recording import AppleRecording
from .screen import AppleScreen
from .settings import AppleSettings, Undo
from .simctl import Simctl
from .touch import AppleTouch
from .ways import AppleLinks, AppleNavigation, AppleRemote

FRESH: Final = 5.0
"""Seconds for which what a simulator said of itself is good; asking takes about one."""
ENGINES: Final = ("auto", "wda", "axe", "idb")


class AppleDriver(Driver):
    """Drives one device. While a simulator is down, only `power` works."""

    def __init__(
        self,
        device: Device,
        agent: Agent,
        *,
        simctl: Simctl | None = None,
        devicectl: Devicectl | None = None,
        engine: str = "auto",
        undo: dict[str, Undo] | None = None,
    ) -> None:
        """`undo` are settings to be put back; they outlive a driver whose connection was lost."""
        self.device = device
        self._agent, self._simctl, self._devicectl, self._engine = agent, simctl, devicectl, engine
        self._undo: dict[str, Undo] = {} if undo is None else undo
        self._asked = -FRESH
        self._down = device.state != "ready"
        if simctl is not None:
            self.power = SimulatorPower(simctl, self._release, self._up)
        self._fit()

    def _up(self) -> None:
        """It runs from now on; nothing of what was known of it before is true any more."""
        self._down = False
        self._fit()

    def _fit(self) -> None:
        """Takes on what the device has."""
        device = self.device
        reach = Reach(device, self._agent, simctl=self._simctl, devicectl=self._devicectl, engine=self._engine)
        packages = Packages(reach)
        self.screen = AppleScreen(reach, Crashes(reach))
        self.keys = AppleKeys(reach)
        self.apps = AppleApps(reach, packages)
        self.links = AppleLinks(self.apps)
        self.navigation = AppleNavigation(reach)
        self.alerts = AppleAlerts(reach)
        self.clipboard = AppleClipboard(reach)
        self.settings = AppleSettings(reach, self._undo)
        if reach.tv:
            self.remote = AppleRemote(reach)
        else:
            self.touch = AppleTouch(reach)
        if self._simctl is not None:
            self.recording = AppleRecording(reach)
            self.logs = logs = AppleLogs(reach)
            self.network = AppleNetwork(logs)
            self.perf = ApplePerf(reach)
            self.files = AppleFiles(reach)
            self.notifications = AppleNotifications(reach)

    async def _release(self) -> None:
        """Lets go of what runs, because the simulator is about to go down."""
        await _each(self._ending())
        self._undo.clear()
        self._down = True
        await self._agent.aclose(end=False)

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`: the simulator of this very UDID is booted; of a device, its agent answers.

        Raises:
            DeviceOffline: It is gone.
        """
        ref = DeviceRef(id=self.device.id, name=self.device.name, platform=PLATFORM, key=f"{BACKEND}:{self.device.id}")
        if self._down:
            return ref
        agent = self._agent.running
        if agent is not None:
            try:
                if await agent.status():
                    return ref
            except AnydeviceError:
                self._agent.lost()
        now = anyio.current_time()
        if self._simctl is not None and now - self._asked > FRESH:
            row = await self._simctl.state()
            if row is None or row.state != BOOTED:
                raise DeviceOffline(
                    "The simulator does not run any more.",
                    state=row.state if row is not None else "gone",
                    fix="Call devices, then boot it.",
                )
            self._asked = now
        return ref

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver.unavailable`."""
        return {}

    async def clean(self) -> None:
        """See `Driver.clean`; what fails does not keep the rest from being done."""
        steps = self._ending()
        await _each(steps if self._down else [*steps, self.settings.clean])

    async def aclose(self) -> None:
        """See `Driver.aclose`. The agent goes on; it ends with the backend. Settings stay noted."""
        await _each(self._ending())

    def _ending(self) -> list[Callable[[], Awaitable[None]]]:
        return [self.recording.finish] if self._simctl is not None else []


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
