"""A device behind an adb server, whatever runs on it: its listening port, its files, its programs, its connections."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import anyio
from anyio.abc import Process, SocketStream, TaskGroup

from ..guest import programs, shell
from ..guest.files import Files
from ..guest.programs import Invocation
from ..handset.journal import Journal
from . import services
from .adbkey import PublicKey
from .kinds import Kind
from .ports import Ports
from .transport import Connection, Gate, Stream, StreamClosed

LOWEST, HIGHEST = 20_000, 40_000
"""Ports of emulators are looked for here: below those the system gives out, above those an adb server looks through."""


class Machine(Protocol):
    """What runs on a device."""

    reboot_seconds: float

    async def live(self) -> None:
        """Lets time pass."""

    def reboot(self) -> None:
        """Everything that ran is gone."""

    def end_process(self, pid: int) -> bool:
        """Ends the app whose process this is; False if it is none."""


class AdbDevice:
    """A simulated device that an adb server connects to. A platform makes files, programs and machine.

    Args:
        kind: What it is.
        folder: Where its files and programs go.
        keys: Keys of adb servers it lets in.
        number: Tells it from its siblings; part of its serial number.

    Attributes:
        commands: Its programs by name.
        machine: What runs on it.
        faults: What it does wrong.
        files, pushed: Where its paths lead; of its shell, and of files that are pushed and pulled.
        direct: Plain calls of its own programs go without a shell.
        port: Where its adb transport listens, once it runs; an emulator's console is on the port below.
        running: Programs of its own that run, by process id.
        processes: Processes of its shell services.
    """

    commands: Mapping[str, Callable[[Any], Awaitable[int]]]
    files: Files
    pushed: Files
    machine: Any
    faults: Any

    def __init__(self, kind: Kind, folder: Path, keys: list[PublicKey], number: int = 1) -> None:
        self.kind, self.folder = kind, folder
        self.serialno = f"{kind.device[:4].upper()}{number:02d}{secrets.token_hex(3).upper()}"
        self.features = kind.transport
        self.journal = Journal()
        self.shell = shutil.which("mksh") or shutil.which("sh") or "/bin/sh"
        self.ports = Ports()
        self.gate = Gate([] if kind.state == "unauthorized" else list(keys), answers=kind.state != "offline")
        self.running: dict[int, Invocation[Any]] = {}
        self.processes: set[Process] = set()
        self.connections: set[Connection] = set()
        self.direct = True
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
        features = "features=" + ",".join(self.features) if self.features else ""
        return "device::" + "".join(f"{name}={value};" for name, value in self.told.items()) + features

    @property
    def told(self) -> dict[str, str]:
        """Properties in the banner."""
        return {}

    @property
    def environment(self) -> dict[str, str]:
        """What a process of its shell has in its environment."""
        return {
            "PATH": f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "LAB_SOCKET": str(self.folder / "run.sock"),
            "HOME": str(self.files.root),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
        }

    async def answer_console(self, stream: SocketStream) -> None:
        """Serves a connection to an emulator's console."""
        raise NotImplementedError

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
                serving.start_soon(low.serve, self.answer_console)
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

    async def _serve_programs(self, listener: anyio.abc.Listener[SocketStream], group: TaskGroup) -> None:
        async def called(stream: SocketStream) -> None:
            assert isinstance(stream, anyio.abc.UNIXSocketStream)
            await programs.answer(self, stream)

        await listener.serve(called, group)
