"""One HarmonyOS device of the lab: its files, its programs, its framework, and what connects them."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process, SocketStream, TaskGroup

from ..guest import programs, shell
from ..guest.files import Files, Layout
from ..guest.ports import Ports
from ..guest.programs import Invocation
from ..handset.journal import Journal
from .faults import Faults
from .framework.machine import Machine
from .kinds import FIRST_PORT, Kind

HARMONY = Layout(
    places=("data", "storage", "system", "vendor", "chip_prod"),
    same={},
    made=(
        "data/local/tmp", "data/log/faultlog/faultlogger", "data/app", "storage/media/100/local/files/Photo",
        "system/etc", "vendor",
    ),
)  # fmt: skip


class HarmonyDevice:
    """A simulated device.

    Args:
        kind: What it is.
        folder: Where its files and programs go.
        number: Tells it from its siblings; part of its key.

    Attributes:
        key: Its connect key.
        serial: Its serial number.
        listed: Whether the server knows it.
        reachable: Whether the server could connect to it.
        away: Whether it is gone for a while, as while it boots.
        approved: Whether a person allowed the server, on a device that asks.
        refusal: Why it lets nobody in as long as it is not approved; one of `REFUSALS`.
        network: Its key over the network, since it was told to listen there (`tmode port`); empty = it does not.
        machine: What runs on it.
        direct: Plain calls of its own programs go without a shell.
        running: Programs of its own that run, by process id.
        processes: Processes of its shell.
        reboot_seconds: How long a reboot takes.
        overlap_seconds: How long calls of `uitest` that overlap block each other.
    """

    def __init__(self, kind: Kind, folder: Path, number: int = 1) -> None:
        from .commands import PROGRAMS

        self.kind, self.folder = kind, folder
        self.serial = f"FMR{number:02d}23C{secrets.token_hex(4).upper()}"
        place = FIRST_PORT + 2 * (number - 1) if kind.emulator else number
        self.key = kind.key.format(place) if kind.key else self.serial
        self.listed, self.reachable, self.away, self.approved = True, True, False, False
        self.refusal, self.network, self._number = "asks", "", number
        self.journal, self.faults = Journal(), Faults(self)
        self.commands: Mapping[str, Callable[[Any], Awaitable[int]]] = PROGRAMS
        self.shell = shutil.which("mksh") or shutil.which("sh") or "/bin/sh"
        self.files = Files(folder / "root", folder / "bin", HARMONY, self.shell)
        programs.install(folder / "bin", self.commands)
        self.machine = Machine(self)
        self.ports = Ports()
        self.running: dict[int, Invocation[Any]] = {}
        self.processes: set[Process] = set()
        self.direct = True
        self.reboot_seconds, self.overlap_seconds = 1.0, 5.0
        self.testing, self.overlapped = 0, False
        self._tasks: TaskGroup | None = None
        self._up = anyio.Event()

    @property
    def unauthorized(self) -> bool:
        """Whether a person has to allow the server first."""
        return self.kind.state == "Unauthorized" and not self.approved

    @property
    def connected(self) -> bool:
        """Whether the server is connected to it; also where nobody has allowed that yet."""
        return self.listed and not self.away and self.kind.state in ("Connected", "Unauthorized")

    @property
    def address(self) -> str:
        """Its address in the network; of a range that leads nowhere."""
        return f"192.0.2.{self._number}"

    @property
    def hostname(self) -> str:
        """What it calls itself."""
        return "localhost"

    @property
    def environment(self) -> dict[str, str]:
        """What a process of its shell has in its environment."""
        return {
            "PATH": f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "LAB_SOCKET": str(self.folder / "run.sock"),
            "TMPDIR": str(self.files.host("/data/local/tmp")),
            "HOME": str(self.files.root),
            "HOSTNAME": self.hostname,
            "USER": "shell",
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
        }

    async def run(self) -> None:
        """Lives until it is cancelled."""
        try:
            async with anyio.create_task_group() as self._tasks:
                listener = await anyio.create_unix_listener(self.folder / "run.sock")
                self._tasks.start_soon(self._serve_programs, listener, self._tasks)
                self._tasks.start_soon(self.machine.live)
                self._up.set()
        finally:
            with anyio.CancelScope(shield=True):
                for process in list(self.processes):
                    await shell.end(process)
                for pid in shell.started_by(self):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    async def ready(self) -> None:
        """Waits until its programs can be called."""
        await self._up.wait()

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Does something later."""

        async def wait() -> None:
            await anyio.sleep(seconds)
            action()

        if self._tasks is not None:
            self._tasks.start_soon(wait)

    def spawn(self, action: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> None:
        """Does something beside everything else, as long as the device lives."""
        if self._tasks is not None:
            self._tasks.start_soon(action, *args)

    async def listen(self, port: int) -> None:
        """Its daemon begins anew, and listens on the network as well (port 0: no more). Everything else goes on."""
        self.away = True
        await anyio.sleep(self.reboot_seconds)
        self.network = f"{self.address}:{port}" if port else ""
        self.away = False

    async def reboot(self) -> None:
        """Goes away and comes back as new."""
        self.journal.add("reboot")
        self.away = True
        self.machine.reboot()
        await anyio.sleep(self.reboot_seconds)
        self.away = False

    def signal(self, pid: int, number: int) -> str:
        """Sends a signal to a process of the device; why that cannot be done, or nothing."""
        call = self.running.get(pid)
        if call is not None and number == signal.SIGINT:
            call.interrupted.set()
            return ""
        if self.machine.end_process(pid):
            return ""
        if call is not None and call.virtual and call.ended is not None:
            call.ended.cancel()
            return ""
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return "No such process"
        if pid not in shell.started_by(self):
            return "Operation not permitted"
        os.kill(pid, number)
        return ""

    async def _serve_programs(self, listener: anyio.abc.Listener[SocketStream], group: TaskGroup) -> None:
        async def called(stream: SocketStream) -> None:
            assert isinstance(stream, anyio.abc.UNIXSocketStream)
            await programs.answer(self, stream)

        await listener.serve(called, group)
