"""The process that devices live in, and their private adb server: `python -m anydevice_lab.android.host`.

It is told what to do by lines of JSON on its stdin, answers each by a line on stdout, and ends with its stdin. Started
by `Lab`, which is what tests use.

    {"do": "start", "kinds": ["phone", "tv"]}      {"do": "stop", "serial": S}      {"do": "journal", "serial": S}
    {"do": "fault", "serial": S, "fault": {...}}   {"do": "clear", "serial": S}     {"do": "approve", "serial": S}
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import anyio
from anyio.abc import TaskGroup

from ..handset.faults import Fault
from .adb_device import AdbDevice
from .adbkey import PublicKey, read_key
from .device import LabDevice
from .fakeserver import FakeServer
from .kinds import KINDS, Kind
from .server import AdbServer

Answer = dict[str, Any]


class Host:
    """Devices, and what may be asked about them.

    Args:
        folder: For everything; short, because sockets lie in it.
        server: The adb server they are connected to; None = none yet.
        tasks: Where devices run.
    """

    kinds: ClassVar[Mapping[str, Kind]] = KINDS

    def __init__(self, folder: Path, server: AdbServer, tasks: TaskGroup) -> None:
        self.folder, self.server, self._tasks = folder, server, tasks
        self.devices: dict[str, Any] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._fakes: list[FakeServer] = []
        self._number = 0

    def make(self, kind: Kind, folder: Path, number: int) -> AdbDevice:
        """A device of a kind."""
        return LabDevice(kind, folder, self.keys, number)

    @property
    def asked(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """What may be asked, by the word for it."""
        return {
            "start": self.start, "stop": self._stop, "journal": self._journal, "fault": self._fault,
            "clear": self._clear, "approve": self._approve, "state": self._state, "set": self._set,
            "permission": self._permission, "drop": self._drop, "devices": self._devices, "fake": self._fake,
            "connect": self._connect, "log": self._log, "process": self._process,
        }  # fmt: skip

    @property
    def keys(self) -> list[PublicKey]:
        """Keys of the private server."""
        return [read_key(self.server.public_key.read_bytes())]

    async def open(self) -> None:
        """What is there before any device."""

    async def start(self, kinds: list[dict[str, Any] | str], connect: bool = True) -> list[Answer]:
        """Starts devices; a kind is a name, or a name with fields that differ (`{"name": "phone", "model": "X"}`)."""
        made = []
        for given in kinds:
            fields = {"name": given} if isinstance(given, str) else dict(given)
            kind: Kind = replace(self.kinds[fields["name"]], **_tuples(fields))
            self._number += 1
            folder = self.folder / f"d{self._number}"
            folder.mkdir()
            device = self.make(kind, folder, self._number)
            made.append(device)
            await self._tasks.start(self._run, device)
        if connect:
            async with anyio.create_task_group() as group:
                for device in made:
                    group.start_soon(self.server.connect, device)
        return [self.row(device) for device in made]

    async def _run(self, device: AdbDevice, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(device.run)
                await device.ready()
                self.devices[device.serial] = device
                self._scopes[device.serial] = scope
                task_status.started()

    def row(self, device: AdbDevice) -> Answer:
        """What is told of a device."""
        return {
            "serial": device.serial,
            "serialno": device.serialno,
            "address": device.address,
            "kind": device.kind.name,
            "model": device.kind.model,
            "avd": device.kind.avd,
            "state": device.kind.state,
            "root": str(device.files.root),
        }

    async def ask(self, request: Answer) -> Answer:
        """Answers one request."""
        verb = request.pop("do", "")
        asked = self.asked
        if verb not in asked:
            return {"ok": False, "error": f"there is no {verb}; there are {', '.join(asked)}"}
        try:
            return {"ok": True, "data": await asked[verb](**request)}
        except (KeyError, ValueError, TypeError, OSError, TimeoutError) as error:
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}

    async def _devices(self) -> list[Answer]:
        return [self.row(device) for device in self.devices.values()]

    async def _stop(self, serial: str) -> None:
        device = self.devices.pop(serial)
        self._scopes.pop(serial).cancel()
        await device.drop()

    async def _journal(self, serial: str, kind: str | None = None, clear: bool = False) -> list[Answer]:
        journal = self.devices[serial].journal
        found: list[Answer] = journal.entries(kind)
        if clear:
            journal.clear()
        return found

    async def _fault(self, serial: str, fault: Answer) -> None:
        self.devices[serial].faults.add(Fault(**fault))

    async def _clear(self, serial: str, name: str | None = None) -> None:
        self.devices[serial].faults.clear(name)

    async def _approve(self, serial: str) -> None:
        """A person allows what waits; a key that comes within two seconds counts."""
        gate = self.devices[serial].gate
        until = time.monotonic() + 2
        while not gate.waiting and time.monotonic() < until:  # noqa: ASYNC110 - nothing tells of a key that comes
            await anyio.sleep(0.02)
        gate.approve()

    async def _state(self, serial: str) -> Answer:
        state: Answer = self.devices[serial].machine.state()
        return state

    async def _set(self, serial: str, **what: Any) -> None:
        """Sets one of the words below, or properties by `props`."""
        device = self.devices[serial]
        for name, value in what.items():
            if name in ("direct", "idle_seconds", "shell"):
                setattr(device, name, value)
            elif name in ("awake", "locked", "reboot_seconds"):
                setattr(device.machine, name, value)
            elif name == "sound":
                device.play(value)
            elif name == "rotation":
                device.machine.rotate(value)
            elif name == "listening":
                device.machine.listening = value
                device.machine.hear()
            elif name == "props":
                device.machine.props.update(value)
            else:
                raise ValueError(f"nothing is called {name}")

    async def _permission(self, serial: str, package: str, permission: str) -> None:
        self.devices[serial].machine.ask_permission(package, permission)

    async def _drop(self, serial: str) -> None:
        await self.devices[serial].drop()

    async def _connect(self, serial: str) -> None:
        await self.server.connect(self.devices[serial])

    async def _log(self, serial: str, text: str, tag: str = "Lab", level: str = "I", pid: int = 0) -> None:
        self.devices[serial].machine.log.add(level, tag, text, pid=pid)

    async def _process(self, serial: str) -> list[int]:
        """Ids of processes that its shell services have running."""
        return [process.pid for process in self.devices[serial].processes if process.returncode is None]

    async def _fake(self, rows: str) -> int:
        """Starts a server that only lists: rows as `adb devices -l` prints them; returns its port."""
        server = FakeServer(rows)
        self._fakes.append(server)
        port: int = await self._tasks.start(server.run)
        return port


async def _until_told(group: TaskGroup, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Ends in order also when it is ended by a signal: nobody else knows its adb server."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            group.cancel_scope.cancel()
            return


def _tuples(fields: Answer) -> Answer:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


async def _lines(host: Host, group: TaskGroup) -> None:
    """Answers lines of stdin until it ends."""
    os.set_blocking(0, False)
    kept = b""
    while True:
        await anyio.wait_readable(0)
        data = os.read(0, 65536)
        if not data:
            group.cancel_scope.cancel()
            return
        kept += data
        while b"\n" in kept:
            line, _, kept = kept.partition(b"\n")
            group.start_soon(_one, host, json.loads(line))


async def _one(host: Host, request: Answer) -> None:
    number = request.pop("id", None)
    try:
        answer = await host.ask(request)
    except Exception as problem:  # a mistake of the lab is told to whoever asked
        answer = {"ok": False, "error": "".join(traceback.format_exception(problem))[-2000:]}
    _say({"id": number, **answer})


def _say(answer: Answer) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


async def serve(program: str, kind: type[Host] = Host) -> None:
    """Runs a lab until stdin ends."""
    with tempfile.TemporaryDirectory(prefix="adl-", ignore_cleanup_errors=True) as folder:
        async with anyio.create_task_group() as group:
            server = AdbServer(program, Path(folder) / "adb")
            await group.start(_until_told, group)
            try:
                await server.start()
                host = kind(Path(folder), server, group)
                await host.open()
                _say({"id": 0, "ok": True, "data": {"port": server.port, "folder": folder, "home": str(server.home)}})
                await _lines(host, group)
            finally:
                group.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await server.stop()


def main() -> None:
    """Runs it; the one argument is the adb program."""
    anyio.run(serve, sys.argv[1])


if __name__ == "__main__":
    main()
