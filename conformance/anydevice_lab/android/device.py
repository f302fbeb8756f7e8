"""One device of the lab: its listening port, its files, its programs, its framework, and what connects them."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
from pathlib import Path

import anyio
from anyio.abc import Process, SocketStream, TaskGroup

from . import console, programs, services, shell
from .adbkey import PublicKey
from .faults import Faults
from .files import Files
from .framework.machine import Machine
from .journal import Journal
from .kinds import Kind
from .ports import Ports
from .programs import Invocation
from .transport import Connection, Gate, Stream, StreamClosed

LOWEST, HIGHEST = 20_000, 40_000
"""Ports of emulators are looked for here: below those the system gives out, above those an adb server looks through."""


class LabDevice:
    """A simulated device.

    Args:
        kind: What it is.
        folder: Where its files and programs go.
        keys: Keys of adb servers it lets in.
        number: Tells it from its siblings; part of its serial number.

    Attributes:
        direct: Plain calls of its own programs go without a shell.
        port: Where its adb transport listens, once it runs; an emulator's console is on the port below.
        running: Programs of its own that run, by process id.
        processes: Processes of its shell services.
    """

    def __init__(self, kind: Kind, folder: Path, keys: list[PublicKey], number: int = 1) -> None:
        from .commands import PROGRAMS

        self.kind, self.folder = kind, folder
        self.serialno = f"{kind.device[:4].upper()}{number:02d}{secrets.token_hex(3).upper()}"
        self.features = kind.transport
        self.journal, self.faults = Journal(), Faults(self)
        self.programs = PROGRAMS.keys()
        self.shell = shutil.which("mksh") or shutil.which("sh") or "/bin/sh"
        self.files = Files(folder / "root", folder / "bin", self.shell)
        programs.install(folder / "bin", self.programs)
        self.machine = Machine(self)
        self.ports = Ports()
        self.gate = Gate([] if kind.state == "unauthorized" else list(keys), answers=kind.state != "offline")
        self.running: dict[int, Invocation] = {}
        self.processes: set[Process] = set()
        self.connections: set[Connection] = set()
        self.direct = True
        self.idle_seconds = 10.0
        self.port = 0
        self._up = anyio.Event()
        self._listening: anyio.CancelScope | None = None

    @property
    def address(self) -> str:
        """Where an adb server connects to."""
        return f"127.0.0.1:{self.port}"

    @property
    def serial(self) -> str:
        """The serial an adb server knows it by."""
        return f"emulator-{self.port - 1}" if self.kind.avd else self.address

    @property
    def banner(self) -> str:
        """What it says of itself when a server connects."""
        kind = self.kind
        told = {"ro.product.name": kind.product, "ro.product.model": kind.model, "ro.product.device": kind.device}
        features = "features=" + ",".join(self.features) if self.features else ""
        return "device::" + "".join(f"{name}={value};" for name, value in told.items()) + features

    @property
    def environment(self) -> dict[str, str]:
        """What a process of its shell has in its environment."""
        return {
            "PATH": f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "LAB_SOCKET": str(self.folder / "run.sock"),
            "ANDROID_DATA": str(self.files.host("/data")),
            "ANDROID_ROOT": str(self.files.host("/system")),
            "EXTERNAL_STORAGE": str(self.files.host("/sdcard")),
            "TMPDIR": str(self.files.host("/data/local/tmp")),
            "HOME": str(self.files.root),
            "HOSTNAME": self.kind.device,
            "USER": "shell",
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
        }

    async def run(self) -> None:
        """Listens and serves until it is cancelled."""
        try:
            async with anyio.create_task_group() as group:
                listener = await anyio.create_unix_listener(self.folder / "run.sock")
                group.start_soon(self._serve_programs, listener, group)
                group.start_soon(self.machine.live)
                while True:
                    with anyio.CancelScope() as self._listening:
                        await self._listen(group)
                    await anyio.sleep(self.machine.reboot_seconds)
        finally:
            with anyio.CancelScope(shield=True):
                for process in list(self.processes):
                    await shell.end(process)
                for pid in shell.started_by(self):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    async def ready(self) -> None:
        """Waits until it listens."""
        await self._up.wait()

    async def drop(self) -> None:
        """Every connection is lost, as when a cable is pulled for a moment."""
        for connection in list(self.connections):
            await connection.hang_up()

    async def reboot(self) -> None:
        """Goes away and comes back as new."""
        self.machine.reboot()
        self._up = anyio.Event()
        if self._listening is not None:
            self._listening.cancel()
        await self.drop()

    async def shut_down(self) -> None:
        """Goes away for good."""
        self.machine.reboot_seconds = float("inf")
        await self.reboot()

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

    # --- inside ---

    async def _listen(self, group: TaskGroup) -> None:
        async with anyio.create_task_group() as serving:
            if self.kind.avd:
                first = self.port - 1 if self.port else LOWEST + 2 * secrets.randbelow((HIGHEST - LOWEST) // 2)
                for port in range(first, first + 2000, 2):
                    try:
                        low = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
                    except OSError:
                        continue
                    try:
                        high = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port + 1)
                    except OSError:
                        await low.aclose()
                        continue
                    self.port = port + 1
                    break
                serving.start_soon(low.serve, self._serve_console)
                listeners = [low, high]
            else:
                high = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=self.port)
                self.port = high.extra(anyio.abc.SocketAttribute.local_port)
                listeners = [high]

            async def connected(stream: SocketStream) -> None:
                connection = Connection(stream, self.gate, self.banner, self._serve, group)
                self.connections.add(connection)
                self.journal.add("connected")
                try:
                    await connection.serve()
                finally:
                    self.connections.discard(connection)

            self._up.set()
            try:
                await high.serve(connected)
            finally:
                with anyio.CancelScope(shield=True):
                    for listener in listeners:
                        await listener.aclose()

    async def _serve(self, stream: Stream, destination: bytes) -> None:
        try:
            await services.serve(self, stream, destination)
        except* StreamClosed:
            pass  # the client went away in the middle, as clients do

    async def _serve_console(self, stream: SocketStream) -> None:
        await console.serve(self, stream)

    async def _serve_programs(self, listener: anyio.abc.Listener[SocketStream], group: TaskGroup) -> None:
        async def called(stream: SocketStream) -> None:
            assert isinstance(stream, anyio.abc.UNIXSocketStream)
            await programs.answer(self, stream)

        await listener.serve(called, group)
