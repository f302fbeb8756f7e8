"""The process that HarmonyOS devices and their hdc server live in: `python -m anydevice_lab.harmonyos.host [--silent]`.

Started by `Lab`, which is what tests use. With `--silent` the server does not listen before it is started by the
program that stands for hdc.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from ..guest.serving import Answer, answer_lines, say, until_told
from ..handset.faults import Fault
from .device import HarmonyDevice
from .emulators import Emulators
from .kinds import KINDS, Kind
from .server import HdcServer
from .tools import Tools

DEVICE_FIELDS = (
    "direct", "shell", "reboot_seconds", "overlap_seconds", "listed", "reachable", "away", "refusal",
)  # fmt: skip
MACHINE_FIELDS = ("awake", "locked", "locks", "clipboard")


class Host:
    """Devices, and what may be asked about them.

    Args:
        folder: For everything; short, because sockets lie in it.
        tasks: Where devices run.
    """

    def __init__(self, folder: Path, tasks: TaskGroup) -> None:
        self.folder, self.tasks = folder, tasks
        self.server = HdcServer(tasks)
        self.emulators = Emulators(self)
        self.tools = Tools(folder, self.server, self.emulators)
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._number = self._virtual = 0

    @property
    def asked(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """What may be asked, by the word for it."""
        return {
            "start": self.start, "stop": self.stop, "journal": self._journal, "fault": self._fault,
            "clear": self._clear, "approve": self._approve, "state": self._state, "set": self._set,
            "devices": self._devices, "log": self._log, "process": self._process, "server": self._server,
            "server_fault": self._server_fault, "heard": self._heard, "emulators": self.emulators.define,
        }  # fmt: skip

    async def start(self, kinds: list[dict[str, Any] | str], connect: bool = True) -> list[Answer]:
        """Starts devices; without `connect` the server has to be told of them (`tconn`)."""
        made = []
        for given in kinds:
            fields = {"name": given} if isinstance(given, str) else dict(given)
            kind: Kind = replace(KINDS[fields["name"]], **fields)
            self._number += 1
            self._virtual += bool(kind.emulator)
            folder = self.folder / f"d{self._number}"
            folder.mkdir()
            device = HarmonyDevice(kind, folder, self._virtual if kind.emulator else self._number)
            device.listed = connect
            made.append(device)
            await self.tasks.start(self._run, device)
        return [self.row(device) for device in made]

    async def _run(self, device: HarmonyDevice, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(device.run)
                await device.ready()
                self.server.devices[device.key] = device
                self._scopes[device.key] = scope
                task_status.started()

    def row(self, device: HarmonyDevice) -> Answer:
        """What is told of a device."""
        return {
            "serial": device.key,
            "serialno": device.serial,
            "kind": device.kind.name,
            "model": device.kind.model,
            "product": device.kind.product,
            "emulator": device.kind.emulator,
            "state": device.kind.state,
            "address": device.address,
            "root": str(device.files.root),
        }

    def device(self, serial: str) -> HarmonyDevice:
        """The device of a key.

        Raises:
            KeyError: There is none.
        """
        return self.server.devices[serial]

    async def _devices(self) -> list[Answer]:
        return [self.row(device) for key, device in self.server.devices.items() if key == device.key]

    async def stop(self, serial: str) -> None:
        """A device goes away for good."""
        await self.server.drop(self.server.devices[serial])
        self.server.devices.pop(serial)
        self._scopes.pop(serial).cancel()

    async def _journal(self, serial: str, kind: str | None = None, clear: bool = False) -> list[Answer]:
        journal = self.device(serial).journal
        found = journal.entries(kind)
        if clear:
            journal.clear()
        return found

    async def _fault(self, serial: str, fault: Answer) -> None:
        self.device(serial).faults.add(Fault(**fault))

    async def _clear(self, serial: str, name: str | None = None) -> None:
        self.device(serial).faults.clear(name)

    async def _approve(self, serial: str) -> None:
        self.device(serial).approved = True

    async def _state(self, serial: str) -> Answer:
        return self.device(serial).machine.state()

    async def _set(self, serial: str, **what: Any) -> None:
        """Sets fields of the device or of its machine, `rotation`, or `params`."""
        device = self.device(serial)
        for name, value in what.items():
            if name in DEVICE_FIELDS:
                setattr(device, name, value)
            elif name in MACHINE_FIELDS:
                setattr(device.machine, name, value)
            elif name == "rotation":
                device.machine.rotate(value)
            elif name == "params":
                device.machine.params.update(value)
            else:
                raise ValueError(f"nothing is called {name}")

    async def _log(self, serial: str, text: str, tag: str = "lab/Lab", level: str = "I", pid: int = 0) -> None:
        self.device(serial).machine.log.add(level, tag, text, pid=pid)

    async def _process(self, serial: str) -> list[int]:
        """Ids of processes that its shell has running."""
        return [process.pid for process in self.device(serial).processes if process.returncode is None]

    async def _server(
        self, up: bool | None = None, version: bool | None = None, forget: str = "", number: str = ""
    ) -> Answer:
        if version is not None:
            self.server.version = version
        self.server.number = number or self.server.number
        if up is not None:
            await (self.server.start(self.server.port) if up else self.server.stop())
        self.server.lost.discard(forget)
        return {"up": self.server.up, "port": self.server.port}

    async def _server_fault(self, fault: Answer) -> None:
        if fault["name"] == "none":
            self.server.faults.clear()
        else:
            self.server.faults.add(Fault(**fault))

    async def _heard(self, kind: str | None = None, clear: bool = False) -> list[Answer]:
        found = self.server.journal.entries(kind)
        if clear:
            self.server.journal.clear()
        return found


async def serve(silent: bool) -> None:
    """Runs a lab until stdin ends."""
    with tempfile.TemporaryDirectory(prefix="hml-", ignore_cleanup_errors=True) as folder:
        async with anyio.create_task_group() as group:
            await group.start(until_told, group)
            host = Host(Path(folder), group)
            await group.start(host.tools.run)
            port = await host.server.start()
            if silent:
                await host.server.stop()
            tools = {"hdc": str(host.tools.hdc), "emulator": str(host.tools.emulator)}
            say({"id": 0, "ok": True, "data": {"port": port, "folder": folder, **tools}})
            await answer_lines(host, group)


def main() -> None:
    """Runs it."""
    anyio.run(serve, "--silent" in sys.argv[1:])


if __name__ == "__main__":
    main()
