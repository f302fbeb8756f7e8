"""The driver of one desktop: its capabilities over connections that come and go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anydevice.driver import Driver
from anydevice.kit import processes
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import DeviceOffline

from .apps import LinuxApps
from .capabilities import LinuxAlerts, LinuxElements, LinuxKeys, LinuxPointer, LinuxScreen
from .desktop import Desktop
from .links import LinuxLinks
from .live import Lives
from .parts import told_name
from .power import LinuxPower
from .running import Running
from .seats import BACKEND, PLATFORM, Seat


class LinuxDriver(Driver):
    """Drives one desktop. The desktop, and what runs on it, outlive the driver."""

    def __init__(self, device: Device, running: Running, *, desktop: Desktop | None = None, seat: Seat | None = None):
        """`desktop` is one of ours; `seat`, where there is none, one that somebody else started."""
        self.device = device
        self._desktop, self._seat = desktop, seat
        self._lives = Lives(self._reach)
        self.apps = LinuxApps(self._lives, running, self._launch)
        self.links = LinuxLinks(self._lives, running, self.apps, self._launch)
        self.screen = LinuxScreen(self._lives, self.apps)
        self.elements = LinuxElements(self._lives)
        self.pointer = LinuxPointer(self._lives)
        self.keys = LinuxKeys(self._lives)
        self.alerts = LinuxAlerts(self._lives)
        self.power = LinuxPower(desktop, running, self._lives)

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`: a desktop of ours says on its display which one it is."""
        if self._desktop is not None and not self._desktop.alive:
            return self.device.ref()  # nothing of it is there that could be somebody else
        live = await self._lives.get()
        told = await live.display.do(told_name)
        id = told or f"display-{live.display.name.lstrip(':').partition('.')[0]}"
        name = self.device.name if id == self.device.id else id
        return DeviceRef(id=id, name=name, platform=PLATFORM, key=f"{BACKEND}:{id}")

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver.unavailable`."""
        out: dict[str, str] = {}
        if self._desktop is None:
            out["power"] = "this desktop is started and stopped by whoever owns it"
        if self._lives.reason:
            out |= dict.fromkeys(("screen.tree", "elements", "alerts", "keys.focused"), self._lives.reason)
        return out

    def losses(self) -> Sequence[Mapping[str, Any]]:
        """See `Driver.losses`."""
        return self._lives.losses()

    async def aclose(self) -> None:
        """See `Driver.aclose`."""
        await self._lives.aclose()

    def _reach(self) -> Seat:
        if self._desktop is not None:
            return self._desktop.running()
        if self._seat is None:
            raise DeviceOffline(
                "The display cannot be reached.", state=self.device.state, fix=self.device.fix or "start it"
            )
        return self._seat

    async def _launch(self, argv: Sequence[str], cwd: str | None) -> processes.Child:
        if self._desktop is not None:
            return await self._desktop.launch(argv, cwd)
        seat = self._reach()
        return await processes.start(argv, env=seat.env, cwd=cwd or seat.cwd)
