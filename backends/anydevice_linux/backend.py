"""The Linux desktop backend: virtual desktops of ours, and displays of this host that a caller names."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import structlog

from anydevice.driver import Backend, Check, Environment, HostServices
from anydevice.kit import encoders
from anydevice_schemas import Device
from anydevice_schemas.errors import AnydeviceError, DeviceNotFound

from . import parts, practicing
from .defined import Defined
from .desktop import LIMIT, SIZE, Desktop, Plan
from .driver import LinuxDriver
from .preferences import Hosted
from .record import end_all, read_all
from .running import Running
from .seats import PLATFORM, Seat, Sight, look, spoken_to
from .wayland.sight import has_display
from .wayland.sight import look as look_wayland

log = structlog.get_logger("anydevice.linux")

DEFAULT = "virtual"
"""The virtual desktop there is where none is configured."""
ACCESSIBILITY_ON = "gsettings set org.gnome.desktop.interface toolkit-accessibility true, then start the programs anew."


class LinuxBackend(Backend):
    """Finds and drives desktops.

    Settings (the backend's table of the configuration file): `desktops` (table: id = "WIDTHxHEIGHT", or a table with
    `name` and `size`); without it there is one, called virtual.
    """

    def __init__(self, host: HostServices) -> None:
        super().__init__(host)
        self.defined = Defined(host.data_dir)
        self._desktops: dict[str, Desktop] = {}
        self._sights: dict[str, Sight] = {}
        self._running: dict[str, Running] = {}
        self._hosted: dict[str, Hosted] = {}
        self._swept = False
        self._sweeping = anyio.Lock()

    async def devices(self, env: Environment) -> Sequence[Device]:
        """See `Backend.devices`: every virtual desktop, and the display and session of the caller."""
        if not sys.platform.startswith("linux"):
            return []
        await self._sweep_once()
        await self._plan()
        rows = [desktop.device() for desktop in self._desktops.values()]
        for sight in await self._sights_of(env):
            if not any(self._shows(desktop, sight) for desktop in self._desktops.values()):
                self._sights[sight.id] = sight
                rows.append(sight.device())
        return rows

    async def connect(self, device: Device, env: Environment) -> LinuxDriver:
        """See `Backend.connect`. Nothing is opened before it is used.

        Raises:
            DeviceNotFound: No such desktop is known any more.
        """
        await self._plan()
        running = self._running_of(device.id)
        desktop = self._desktops.get(device.id)
        if desktop is not None:
            return LinuxDriver(device, running, desktop=desktop)
        sight = self._sights.get(device.id)
        if sight is None:
            raise DeviceNotFound(
                "This desktop is not known any more.",
                looked_for={"device": device.id},
                looked_in=[PLATFORM],
                unusable=[],
                nearest=sorted({*self._desktops, *self._sights}),
            )
        hosted = await self._look_at(sight.seat) if sight.seat is not None else None
        return LinuxDriver(device, running, seat=sight.seat, hosted=hosted)

    async def check(self, env: Environment) -> Sequence[Check]:
        """See `Backend.check`."""
        absent = await anyio.to_thread.run_sync(parts.missing)
        detail = f"not installed: {', '.join(absent)}" if absent else "all installed"
        checks = [Check("virtual desktop", not absent, detail, parts.INSTALL if absent else "", optional=True)]
        able = await anyio.to_thread.run_sync(practicing.runs_here)
        fix = "" if able else "Debian and Ubuntu: apt install python3-gi gir1.2-gtk-3.0."
        detail = "installed" if able else "the system's Python has no GTK"
        checks.append(Check("practice app", able, detail, fix, optional=True))
        makers = await anyio.to_thread.run_sync(encoders.candidates)
        fix = "" if makers else encoders.INSTALL
        detail = "installed" if makers else "record has none"
        checks.append(Check("video encoder", bool(makers), detail, fix, optional=True))
        for sight in await self._sights_of(env):
            checks.append(Check(sight.name, sight.seat is not None, sight.reason or "reached", sight.fix))
            if sight.seat is None:
                continue
            on = await spoken_to(sight.seat.bus)
            detail = {True: "on", False: "off: some programs stay silent", None: "no accessibility bus"}[on]
            fix = "" if on else "Install at-spi2-core." if on is None else ACCESSIBILITY_ON
            checks.append(Check(f"accessibility of {sight.name}", bool(on), detail, fix))
        return checks

    async def hand_over(self) -> Mapping[str, Any] | None:
        """See `Backend.hand_over`: desktops that run go on running, with their programs."""
        states = [await desktop.hand_over(self._running_of(id).output) for id, desktop in self._desktops.items()]
        rows = [state for state in states if state is not None]
        return {"desktops": rows} if rows else None

    async def take_up(self, state: Mapping[str, Any]) -> None:
        """See `Backend.take_up`."""
        await self._plan()
        for row in state["desktops"]:
            desktop = self._desktops.get(row["id"])
            if desktop is None or not desktop.alive:
                # As it was started, whatever the configuration says by now.
                plan = Plan(row["id"], row["name"], tuple(row["size"]))
                desktop = self._desktops[row["id"]] = Desktop(plan, self.host.data_dir, self.host.run_dir)
            try:
                await desktop.take_up(row, self._running_of(row["id"]).output)
            except (AnydeviceError, ChildProcessError) as error:
                log.warning("desktop_not_taken_up", device=row["id"], reason=type(error).__name__)

    async def aclose(self) -> None:
        """See `Backend.aclose`: every virtual desktop ends, with what runs on it."""

        async def end(desktop: Desktop) -> None:
            try:
                await desktop.shutdown()
            except AnydeviceError as error:
                log.warning("desktop_not_ended", device=desktop.plan.id, reason=error.message)

        async with anyio.create_task_group() as group:
            for desktop in self._desktops.values():
                group.start_soon(end, desktop)

    def desktop(self, id: str) -> Desktop | None:
        """A virtual desktop by its id, if it was listed."""
        return self._desktops.get(id)

    # --- inside ------------------------------------------------------------------------------------------

    async def _sights_of(self, env: Environment) -> list[Sight]:
        """The desktops that a caller's environment names: an X display, a Wayland session, or both.

        The X display of a Wayland session (Xwayland) is none of its own: it shows X programs, and none of the others.
        """
        session = await look_wayland(env.variables)
        if session is not None and session.seat is not None and await has_display(session.seat, env.variables):
            return [session]
        found = [await look(env.variables), session]
        return [one for one in found if one is not None]

    def _running_of(self, id: str) -> Running:
        """What runs on a desktop, which outlives the drivers of it."""
        return self._running.setdefault(id, Running())

    async def _look_at(self, seat: Seat) -> Hosted:
        """How a desktop looks that somebody else started; what was changed there is remembered over its drivers."""
        hosted = self._hosted.get(seat.id)
        if hosted is None or hosted.seat.mark != seat.mark:
            hosted = self._hosted[seat.id] = Hosted(seat)
        await hosted.look()
        return hosted

    async def _sweep_once(self) -> None:
        """Ends what a process before us left running, by its records."""
        async with self._sweeping:
            if self._swept:
                return
            self._swept = True
            folder = Path(self.host.run_dir) / "desktops"
            for record in await anyio.to_thread.run_sync(read_all, folder):
                if record.orphaned:
                    log.info("orphaned_desktop_ended", device=record.id)
                    if await end_all(record.runtime):
                        await anyio.to_thread.run_sync(record.forget, folder)

    async def _plan(self) -> None:
        """Every virtual desktop there is to be; one that runs is kept though it was forgotten meanwhile."""
        plans = {plan.id: plan for plan in configured(self.host.settings)}
        for plan in await anyio.to_thread.run_sync(self.defined.read):
            plans.setdefault(plan.id, plan)
        for id in [id for id, desktop in self._desktops.items() if id not in plans and not desktop.alive]:
            del self._desktops[id]
        for id, plan in plans.items():
            known = self._desktops.get(id)
            if known is None:
                self._desktops[id] = Desktop(plan, self.host.data_dir, self.host.run_dir)
            elif known.plan != plan and known.seat is None:
                known.plan = plan

    def _shows(self, desktop: Desktop, sight: Sight) -> bool:
        """Whether a display that a caller names is one of ours."""
        seat = desktop.seat
        return seat is not None and sight.id == f"display-{seat.display.lstrip(':')}"


def configured(settings: Mapping[str, Any]) -> list[Plan]:
    """The virtual desktops of a configuration; what is no desktop is left out, and logged."""
    table = settings.get("desktops")
    if not isinstance(table, Mapping):
        return [Plan(DEFAULT, "Virtual desktop")]
    plans = []
    for id, value in table.items():
        told = value if isinstance(value, Mapping) else {"size": value}
        size = size_of(str(told.get("size", f"{SIZE[0]}x{SIZE[1]}")))
        if size is None or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", str(id)):
            log.warning("desktop_not_configured", device=str(id)[:64])
            continue
        plans.append(Plan(str(id), str(told.get("name", id)), size))
    return plans


def size_of(text: str) -> tuple[int, int] | None:
    """Width and height in points of a text such as 1280x800; None if it is none, or too small or large."""
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    if match is None:
        return None
    width, height = int(match[1]), int(match[2])
    least, most = LIMIT
    return (width, height) if least <= min(width, height) and max(width, height) <= most else None
