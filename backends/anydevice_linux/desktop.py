"""One virtual desktop: an X server without a screen, its own session bus, window manager and folders."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import structlog

from anydevice.kit import background, pids, processes
from anydevice_schemas import Device
from anydevice_schemas.errors import DeviceNotReady

from . import parts, practicing
from .output import Output
from .preferences import Manager
from .record import PREFIX, Record, end_all
from .seats import BACKEND, PLATFORM, Seat, base_environment

log = structlog.get_logger("anydevice.linux")

SIZE = (1280, 800)
LIMIT = (200, 8192)
"""Least and most points of a side."""
OF_THE_DESKTOP = {
    "XDG_SESSION_TYPE": "x11", "XDG_CURRENT_DESKTOP": "X-Generic", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
    "GDK_BACKEND": "x11", "QT_QPA_PLATFORM": "xcb", "GSK_RENDERER": "cairo", "LIBGL_ALWAYS_SOFTWARE": "1",
    "GSETTINGS_BACKEND": "memory", "GTK_A11Y": "atspi", "ACCESSIBILITY_ENABLED": "1", "GNOME_ACCESSIBILITY": "1",
    "QT_ACCESSIBILITY": "1", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
}  # fmt: skip
"""Variables of every program on a virtual desktop: X11 toolkits, no GPU, no settings daemon, accessibility on."""
OUTPUT = "output.json"
"""What programs wrote, in the runtime folder while the daemon is replaced."""
SERVERS = ("X server", "session bus", "window manager")
"""Its parts, in the order they are started."""
SETTLE = 0.2
"""Seconds in which what goes with a part that ended has ended too."""


@dataclass(slots=True, frozen=True)
class Plan:
    """A virtual desktop that may be booted: its id, its name, the size of its screen in points."""

    id: str
    name: str
    size: tuple[int, int] = SIZE


class Desktop:
    """A virtual desktop, running or not. What programs on it keep lies in its home, which survives a shutdown."""

    def __init__(self, plan: Plan, data_dir: str, run_dir: str) -> None:
        self.plan = plan
        self._home = Path(data_dir) / "desktops" / plan.id
        self._records = Path(run_dir) / "desktops"
        self._record: Record | None = None
        self._children: dict[str, processes.Child] = {}
        self._programs: list[processes.Child] = []
        self._changing = anyio.Lock()
        self._preferences: Manager | None = None
        self._broke = ""
        self.seat: Seat | None = None

    @property
    def alive(self) -> bool:
        """Whether it runs, with all its parts."""
        return self.seat is not None and not self._dead()

    def device(self) -> Device:
        """Its row of the inventory."""
        dead = self._dead() if self.seat is not None else self._broke
        reason = fix = ""
        if dead:
            reason, fix = f"Its {dead} ended.", "Call boot to start it anew."
        elif self.seat is None:
            reason, fix = "It is not running.", "Call boot."
            absent = parts.missing()
            if absent:
                reason, fix = f"Not installed: {', '.join(absent)}.", parts.INSTALL
        return Device(
            id=self.plan.id,
            name=self.plan.name,
            platform=PLATFORM,
            backend=BACKEND,
            device_target="desktop",
            device_class="desktop",
            kind="virtual",
            state="ready" if self.alive else "shutdown",
            reason=reason,
            fix=fix,
        )

    def running(self) -> Seat:
        """How it is reached.

        Raises:
            DeviceNotReady: It does not run.
        """
        if self.seat is None or self._dead():
            raise DeviceNotReady(
                "The desktop is not running.",
                state="shutdown",
                fix="boot it",
                hint=f"Call boot with device={self.plan.id}.",
            )
        return self.seat

    def preferences(self) -> Manager:
        """What programs on it are told about how to look.

        Raises:
            DeviceNotReady: It does not run.
        """
        self.running()
        assert self._preferences is not None
        return self._preferences

    async def boot(self, *, deadline: float) -> bool:
        """Starts it and returns once programs can be started on it; False when it ran already.

        Raises:
            ToolMissing: A program it needs is not installed.
            DeviceNotReady: A part of it ended while starting.
            CallTimeout: A part of it did not get ready in time. Nothing of it is left then.
        """
        async with self._changing:
            if self.alive:
                return False
            parts.guard()
            await self._end()  # what is left of one whose server died
            try:
                await self._start(anyio.current_time() + deadline)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._end()
                raise
            return True

    async def shutdown(self) -> bool:
        """Ends it with every program on it; returns once nothing of it is left. False when it did not run.

        Raises:
            DeviceNotReady: Some process of it could not be ended.
        """
        async with self._changing:
            self._broke = ""
            if self._record is None:
                return False
            with anyio.CancelScope(shield=True):
                if not await self._end():
                    raise DeviceNotReady(
                        "Some process of the desktop cannot be ended.", state="unknown", fix="Call shutdown again."
                    )
            return True

    async def launch(
        self, argv: Sequence[str], cwd: str | None = None, *, sink: Callable[[bytes], None] | None = None
    ) -> processes.Child:
        """Starts a program on it, which ends with it at the latest; `sink` is given what it writes.

        Raises:
            DeviceNotReady: It does not run.
            ToolMissing: There is no such program.
        """
        seat = self.running()
        out = subprocess.DEVNULL if sink is None else subprocess.STDOUT
        child = await processes.start(argv, env=seat.env, cwd=cwd or seat.cwd, stdout=out, sink=sink)
        for ended in [one for one in self._programs if one.code is not None]:
            if not pids.group_alive(ended.pid):
                self._programs.remove(ended)
                await processes.stop(ended, grace=0.0)
        self._programs.append(child)
        return child

    # --- handing over --------------------------------------------------------------------------------------

    async def hand_over(self, output: Output) -> Mapping[str, Any] | None:
        """What the next program in this process needs to go on with it; None when it does not run.

        `output` is what its programs wrote; it is written down in the runtime folder.
        """
        if not self.alive or self.seat is None or self._record is None:
            return None
        await anyio.to_thread.run_sync(output.save, Path(self._record.runtime) / OUTPUT)
        return {
            "id": self.plan.id,
            "name": self.plan.name,
            "size": list(self.plan.size),
            "display": self.seat.display,
            "bus": self.seat.bus,
            "runtime": self._record.runtime,
            "servers": {role: processes.hand_over(child) for role, child in self._children.items()},
            "programs": [processes.hand_over(child) for child in self._programs if child.code is None],
            "preferences": dict(self._preferences.changed) if self._preferences is not None else {},
        }

    async def take_up(self, state: Mapping[str, Any], output: Output) -> None:
        """Goes on with what `hand_over` told.

        Raises:
            ChildProcessError: A part of it is not there any more; all of it was ended.
        """
        if self.alive:  # it was not handed over after all
            for one in (*state["servers"].values(), *state["programs"]):
                processes.take_back(one)
            return
        self._record = Record.mine(self.plan.id, state["runtime"])
        try:
            for role, told in state["servers"].items():
                self._children[role] = processes.adopt(told)
        except ChildProcessError:
            await self._end()
            raise
        await anyio.to_thread.run_sync(output.load, Path(state["runtime"]) / OUTPUT)
        for told in state["programs"]:
            ring = output.of(told["pid"])
            with suppress(ChildProcessError):  # a program may have ended meanwhile
                self._programs.append(processes.adopt(told, output.sink(ring) if ring is not None else None))
        seat = self._seat_at(Path(state["runtime"]), state["display"], state["bus"])
        self._preferences = Manager(seat)
        await self._preferences.open(state.get("preferences", {}))
        self._is_up(seat)

    # --- inside --------------------------------------------------------------------------------------------

    async def _start(self, end: float) -> None:
        # A socket's path holds 107 bytes: the folder has to be a short one.
        runtime = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._record = Record.mine(self.plan.id, str(runtime))
        await anyio.to_thread.run_sync(self._furnish, runtime)
        authority = await anyio.to_thread.run_sync(parts.prepare, runtime)
        env = dict(self._environment(runtime))
        self._children["X server"], display = await parts.start_xserver(env, authority, self.plan.size, end)
        env["DISPLAY"] = display
        self._children["session bus"], bus = await parts.start_bus(env, runtime, end)
        env["DBUS_SESSION_BUS_ADDRESS"] = bus
        self._children["window manager"] = await parts.start_window_manager(env)
        await parts.start_accessibility(bus, end)
        await parts.managed(display, str(authority), self.plan.id, end)
        seat = self._seat_at(runtime, display, bus)
        self._preferences = Manager(seat)
        await self._preferences.open()
        self._is_up(seat)
        log.info("desktop_booted", device=self.plan.id, display=display)

    def _furnish(self, runtime: Path) -> None:
        if self._record is not None:
            self._record.write(self._records)
        data_home = self._home / ".local" / "share"
        data_home.mkdir(parents=True, exist_ok=True)
        if practicing.runs_here():
            practicing.install(data_home)

    def _environment(self, runtime: Path) -> Mapping[str, str]:
        home = self._home
        return base_environment() | OF_THE_DESKTOP | {
            "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "XAUTHORITY": str(runtime / "xauthority"),
            "XDG_CONFIG_HOME": str(home / ".config"), "XDG_DATA_HOME": str(home / ".local" / "share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
        }  # fmt: skip

    def _seat_at(self, runtime: Path, display: str, bus: str) -> Seat:
        env = {**self._environment(runtime), "DISPLAY": display, "DBUS_SESSION_BUS_ADDRESS": bus}
        authority = str(runtime / "xauthority")
        return Seat(self.plan.id, display, authority, bus, env, str(self._home), mark=str(runtime))

    def _is_up(self, seat: Seat) -> None:
        self.seat, self._broke = seat, ""
        background.start(self._end_when_broken, seat, list(self._children.values()), name=f"parts of {self.plan.id}")

    async def _end_when_broken(self, seat: Seat, servers: Sequence[processes.Child]) -> None:
        """Ends all of it once a part has ended: what runs on half a desktop can be neither seen nor used."""
        async with anyio.create_task_group() as group:
            for child in servers:
                group.start_soon(_first, child, group.cancel_scope)
        async with self._changing:
            if self.seat is not seat:
                return  # it was ended by whoever may
            await anyio.sleep(SETTLE)  # what ended first may be heard of last: with the X server goes the rest
            gone = (role for role in SERVERS if not pids.alive(self._children[role].pid))
            self._broke = next(gone, self._dead())
            log.warning("desktop_broken", device=self.plan.id, part=self._broke)
            with anyio.CancelScope(shield=True):
                await self._end()

    def _dead(self) -> str:
        """Which part of it ended; empty when none did."""
        for role in SERVERS:
            child = self._children.get(role)
            if child is None or child.code is not None:
                return role
        return ""

    async def _end(self) -> bool:
        """Ends all of it: programs first, servers last, then whatever else runs on it. True when nothing is left."""
        for child in reversed(self._programs):
            await processes.stop(child, grace=1.0)
        self._programs.clear()
        self.seat = None
        if self._preferences is not None:
            await self._preferences.aclose()
            self._preferences = None
        servers, self._children = self._children, {}
        for role in reversed(SERVERS):
            if role in servers:
                await processes.stop(servers[role])
        record = self._record
        if record is None:
            return True
        if not await end_all(record.runtime):
            return False
        await anyio.to_thread.run_sync(record.forget, self._records)
        self._record = None
        return True


async def _first(child: processes.Child, others: anyio.CancelScope) -> None:
    await child.wait()
    others.cancel()
