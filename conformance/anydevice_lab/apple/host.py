"""The process that a Mac with its devices lives in: `python -m anydevice_lab.apple.host`.

Started by `Lab`, which is what tests use. The id `mac` is the Mac itself: its journal has every program that ran, its
faults strike programs whatever device they name.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from ..guest.serving import Answer, answer_lines, say, until_told
from ..handset.faults import Fault
from .commands import PROGRAMS
from .device import LabDevice
from .kinds import KINDS, Kind
from .model.apps import RUNNER
from .programs import offer
from .world import MAC, World

MACHINE_FIELDS = ("awake", "locked", "clipboard", "language")
DEVICE_FIELDS = ("boot_seconds", "shutdown_seconds", "title")
AGENT_WITHIN = 10.0


class Host:
    """The Mac, and what may be asked about it and its devices.

    Args:
        world: The Mac.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    @property
    def asked(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """What may be asked, by the word for it."""
        return {
            "start": self.start, "stop": self._stop, "journal": self._journal, "fault": self._fault,
            "clear": self._clear, "state": self._state, "set": self._set, "devices": self._devices, "mac": self._mac,
            "alert": self._alert, "agent": self._agent, "log": self._log,
        }  # fmt: skip

    async def start(self, kinds: list[dict[str, Any] | str], connect: bool = True) -> list[Answer]:
        """Makes devices; without `connect` simulators are shut down at first."""
        made = []
        for given in kinds:
            fields: Answer = {"name": given} if isinstance(given, str) else dict(given)
            fields |= {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
            kind: Kind = replace(KINDS[fields["name"]], **fields)
            if not connect and not kind.physical:
                kind = replace(kind, state="Shutdown")
            made.append(await self.world.start(kind))
        return [self.row(device) for device in made]

    def row(self, device: LabDevice) -> Answer:
        """What is told of a device."""
        return {
            "serial": device.udid,
            "identifier": device.identifier,
            "kind": device.kind.name,
            "name": device.title,
            "model": device.kind.model,
            "os": f"{device.kind.platform} {device.kind.os}",
            "physical": device.kind.physical,
            "state": device.kind.state if device.kind.physical else device.state,
            "agent": f"http://127.0.0.1:{device.server.port}" if device.server is not None else None,
            "root": str(device.root),
        }

    def device(self, serial: str) -> LabDevice:
        """The device of an id.

        Raises:
            KeyError: There is none.
        """
        found = self.world.find(serial)
        if found is None:
            raise KeyError(serial)
        return found

    async def _devices(self) -> list[Answer]:
        return [self.row(device) for device in self.world.all()]

    async def _stop(self, serial: str) -> None:
        await self.world.remove(self.device(serial))

    async def _journal(self, serial: str, kind: str | None = None, clear: bool = False) -> list[Answer]:
        journal = self.world.journal if serial == MAC else self.device(serial).journal
        found = journal.entries(kind)
        if clear:
            journal.clear()
        return found

    async def _fault(self, serial: str, fault: Answer) -> None:
        (self.world if serial == MAC else self.device(serial)).faults.add(Fault(**fault))

    async def _clear(self, serial: str, name: str | None = None) -> None:
        (self.world if serial == MAC else self.device(serial)).faults.clear(name)

    async def _state(self, serial: str) -> Answer:
        device = self.device(serial)
        return {"state": device.state, "session": device.server is not None and device.server.session is not None,
                **device.machine.state()}  # fmt: skip

    async def _set(self, serial: str, **what: Any) -> None:
        """Sets fields of the device or of its machine, `rotation`, `status` (of a device at a cable), or `runner`."""
        device = self.device(serial)
        for name, value in what.items():
            if name in DEVICE_FIELDS:
                setattr(device, name, value)
            elif name in MACHINE_FIELDS:
                setattr(device.machine, name, value)
            elif name == "rotation":
                device.machine.hold(value)
            elif name == "status":
                device.kind = replace(device.kind, state=value)
            elif name == "runner":
                if value:
                    device.machine.install(device.machine.new_runner())
                else:
                    device.end_server()
                    device.machine.remove(RUNNER)
            else:
                raise ValueError(f"nothing is called {name}")

    async def _mac(self, **what: Any) -> Answer:
        if "xcode" in what:
            self.world.xcode = str(what["xcode"])
        if "without" in what:
            offer(self.world.bin, PROGRAMS, what["without"])
        return {"xcode": self.world.xcode, "bin": str(self.world.bin), "home": str(self.world.folder)}

    async def _alert(self, serial: str, text: str, buttons: list[str]) -> None:
        machine = self.device(serial).machine
        yes, no = buttons or ("Allow", "Don’t Allow")
        machine.ask(text, (yes, no))

    async def _log(self, serial: str, text: str, process: str = "Practice", pid: int = 0) -> None:
        self.device(serial).machine.log(process, text, pid)

    async def _agent(self, serial: str, port: int = 0) -> int:
        device = self.device(serial)
        front = device.machine.front.id
        if device.server is None:
            device.launch(RUNNER, (), {"USE_PORT": str(port)}, fresh=True, tested=True)
            device.machine.bring(front)
        with anyio.fail_after(AGENT_WITHIN):
            while device.server is None:  # noqa: ASYNC110 - nothing tells of it
                await anyio.sleep(0.02)
        return device.server.port


async def serve() -> None:
    """Runs a lab until stdin ends."""
    with tempfile.TemporaryDirectory(prefix="aal-", ignore_cleanup_errors=True) as folder:
        async with anyio.create_task_group() as group:
            await group.start(until_told, group)
            world = World(Path(folder), group)
            world.write_bundles()
            started = anyio.Event()
            group.start_soon(world.serve, started)
            await started.wait()
            try:
                say({"id": 0, "ok": True, "data": {"home": folder, "bin": str(world.bin)}})
                await answer_lines(Host(world), group)
            finally:
                for device in world.all():
                    device.machine.end()
                group.cancel_scope.cancel()


def main() -> None:
    """Runs it."""
    anyio.run(serve)


if __name__ == "__main__":
    main()
