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
from .clipboard import LinuxClipboard
from .desktop import Desktop
from .filing import LinuxFiles
from .journal import Journal
from .links import LinuxLinks
from .live import Lives
from .logs import LinuxLogs
from .measuring import LinuxPerf
from .parts import told_name
from .power import LinuxPower
from .preferences import Hosted, Manager
from .recording import LinuxRecording
from .running import Running
from .seats import BACKEND, PLATFORM, Seat
from .settings import LinuxSettings, unavailable
from .shell import LinuxShell
from .sound import LinuxAudio
from .windowing import LinuxWindows
from .x11 import XDisplay


class LinuxDriver(Driver):
    """Drives one desktop. The desktop, and what runs on it, outlive the driver."""

    def __init__(
        self,
        device: Device,
        running: Running,
        *,
        desktop: Desktop | None = None,
        seat: Seat | None = None,
        hosted: Hosted | None = None,
    ):
        """`desktop` is one of ours; `seat`, where there is none, one that somebody else started, `hosted` its looks."""
        self.device = device
        self._desktop, self._seat, self._hosted, self._running = desktop, seat, hosted, running
        self._lives = Lives(self._reach)
        self.apps = LinuxApps(self._lives, running, self._launch)
        self.links = LinuxLinks(self._lives, running, self.apps, self._launch)
        self.screen = LinuxScreen(self._lives, self.apps)
        self.elements = LinuxElements(self._lives)
        self.pointer = LinuxPointer(self._lives)
        self.keys = LinuxKeys(self._lives)
        self.alerts = LinuxAlerts(self._lives)
        self.windows = LinuxWindows(self._lives, self.apps, running)
        self.clipboard = LinuxClipboard(self._lives)
        self.recording = LinuxRecording(self._lives)
        self.audio = LinuxAudio(self._reach)
        journal = Journal(seat.env) if seat is not None and Journal.there() else None
        self.logs = LinuxLogs(running.output, self.apps, journal, ours=desktop is not None)
        self.perf = LinuxPerf(self.apps)
        self.settings = LinuxSettings(self._preferences)
        self.shell = LinuxShell(self._reach)
        self.files = LinuxFiles(self._reach, own_home=desktop is not None)
        self.power = LinuxPower(desktop, running, self._lives, self._rest)

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`: a desktop of ours says on its display which one it is."""
        if self._desktop is not None and not self._desktop.alive:
            return self.device.ref()  # nothing of it is there that could be somebody else
        live = await self._lives.get()
        if not isinstance(live.display, XDisplay):
            return self.device.ref()  # a connection is to the session it was made to
        told = await live.display.do(told_name)
        id = told or f"display-{live.display.name.lstrip(':').partition('.')[0]}"
        name = self.device.name if id == self.device.id else id
        return DeviceRef(id=id, name=name, platform=PLATFORM, key=f"{BACKEND}:{id}")

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver.unavailable`."""
        out: dict[str, str] = {}
        if self._desktop is None:
            out["power"] = "this desktop is started and stopped by whoever owns it"
        if self._seat is not None:
            out |= self._seat.lacks
        if self.audio.reason:
            out["audio"] = self.audio.reason
        if self._lives.reason:
            out |= dict.fromkeys(("screen.tree", "elements", "alerts", "keys.focused"), self._lives.reason)
        return out | unavailable(self._hosted)

    def losses(self) -> Sequence[Mapping[str, Any]]:
        """See `Driver.losses`."""
        return self._lives.losses()

    async def clean(self) -> None:
        """See `Driver.clean`."""
        await self.recording.finish()
        await self.audio.finish()
        await self.clipboard.clean()
        if self._hosted is not None or (self._desktop is not None and self._desktop.alive):
            await self._preferences().restore()

    async def aclose(self) -> None:
        """See `Driver.aclose`."""
        await self.recording.finish()
        await self.audio.finish()
        await self.clipboard.aclose()
        await self._lives.aclose()

    async def _rest(self) -> None:
        """What runs on the desktop is finished before it is ended."""
        await self.recording.rest()
        await self.audio.finish()

    def _reach(self) -> Seat:
        if self._desktop is not None:
            return self._desktop.running()
        if self._seat is None:
            raise DeviceOffline(
                "The display cannot be reached.", state=self.device.state, fix=self.device.fix or "start it"
            )
        return self._seat

    def _preferences(self) -> Manager | Hosted:
        if self._desktop is not None:
            return self._desktop.preferences()
        self._reach()
        assert self._hosted is not None
        return self._hosted

    async def _launch(self, argv: Sequence[str], cwd: str | None) -> processes.Child:
        ring, sink = self._running.output.ring()
        if self._desktop is not None:
            child = await self._desktop.launch(argv, cwd, sink=sink)
        else:
            seat = self._reach()
            # It outlives us: what still wrote to a pipe of ours would be ended by that. Few programs write to stderr.
            child = await processes.start(argv, env=seat.env, cwd=cwd or seat.cwd, sink=sink)
        ring.pid = child.pid
        return child
