"""The Mac that the devices belong to: what Xcode it has, which devices, and what its programs are told."""

from __future__ import annotations

import plistlib
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketStream, TaskGroup

from ..handset.journal import Journal
from . import programs
from .device import LabDevice
from .faults import Faults
from .kinds import Kind
from .programs import Invocation

MAC = "mac"
"""The id by which the lab knows the Mac itself."""


class World:
    """The Mac.

    Args:
        folder: For everything; short, because a socket lies in it.
        tasks: Where things run on.

    Attributes:
        xcode: Version of Xcode (`26.5`, `15.4`, `10.1`, `27.0`), or `clt`: only the command line tools.
        devices: By UDID.
        sets: Devices of other device sets, by path.
    """

    def __init__(self, folder: Path, tasks: TaskGroup) -> None:
        self.folder, self.tasks = folder, tasks
        self.xcode = "26.5"
        self.devices: dict[str, LabDevice] = {}
        self.sets: dict[str, dict[str, LabDevice]] = {}
        self.journal, self.faults = Journal(), Faults()
        self._number = 0
        self._scopes: dict[str, anyio.CancelScope] = {}

    @property
    def bin(self) -> Path:
        """Folder with the programs."""
        return self.folder / "bin"

    @property
    def age(self) -> int:
        """The number before the first point of Xcode's version."""
        return int(self.xcode.split(".")[0]) if self.xcode[0].isdigit() else 0

    async def start(self, kind: Kind, title: str = "", where: str = "") -> LabDevice:
        """A device begins to be."""
        self._number += 1
        folder = self.folder / f"d{self._number}"
        folder.mkdir()
        device = LabDevice(self, kind, folder, title, self._number)
        (self.sets.setdefault(where, {}) if where else self.devices)[device.udid] = device

        async def live() -> None:
            with anyio.CancelScope() as scope:
                self._scopes[device.udid] = scope
                await device.live()

        self.tasks.start_soon(live)
        return device

    async def remove(self, device: LabDevice) -> None:
        """A device is no more."""
        device.end_server()
        device.machine.end()
        if (scope := self._scopes.pop(device.udid, None)) is not None:
            scope.cancel()
        for devices in (self.devices, *self.sets.values()):
            devices.pop(device.udid, None)

    def find(self, word: str) -> LabDevice | None:
        """The device of this UDID or CoreDevice id."""
        return next((d for d in self.all() if word.upper() in (d.udid.upper(), d.identifier)), None)

    def all(self) -> list[LabDevice]:
        """The devices of every set."""
        return [device for devices in (self.devices, *self.sets.values()) for device in devices.values()]

    async def strike(self, call: Invocation) -> int | None:
        """What goes wrong with a program before it runs: faults of the Mac, then of the device it names."""
        code = await self.faults.strike(call)
        for device in self.all():
            if code is None and any(device.udid in word or device.identifier in word for word in call.args):
                device.journal.add("program", name=call.name, args=call.args)
                code = await device.faults.strike(call)
        return code

    async def serve(self, started: anyio.Event) -> None:
        """Answers programs until it is cancelled."""
        from .commands import PROGRAMS

        socket = self.folder / "x.sock"
        programs.install(self.bin, socket, PROGRAMS)
        listener = await anyio.create_unix_listener(socket)

        async def called(stream: SocketStream) -> None:
            assert isinstance(stream, anyio.abc.UNIXSocketStream)
            await programs.answer(self, stream, PROGRAMS)

        started.set()
        await listener.serve(called)

    def write_bundles(self) -> None:
        """Writes the apps that can be installed: `Practice.app` and WebDriverAgent's runner with its xctestrun file."""
        from anydevice_schemas.practice import APP_ID

        from .model.apps import RUNNER

        write_bundle(self.folder / "Practice.app", APP_ID, "Practice", schemes=["practice"])
        write_bundle(self.folder / "WebDriverAgentRunner-Runner.app", RUNNER, "WebDriverAgentRunner-Runner")
        run = {"WebDriverAgentRunner": {"TestHostBundleIdentifier": RUNNER, "EnvironmentVariables": {}}}
        (self.folder / "WebDriverAgentRunner.xctestrun").write_bytes(plistlib.dumps(run))


def write_bundle(
    folder: Path, bundle: str, name: str, *, version: str = "1.0", schemes: list[str] | None = None
) -> Path:
    """Writes an app bundle that `simctl install` and `devicectl device install app` take."""
    folder.mkdir(parents=True, exist_ok=True)
    facts: dict[str, Any] = {
        "CFBundleIdentifier": bundle,
        "CFBundleName": name,
        "CFBundleDisplayName": name,
        "CFBundleExecutable": name,
        "CFBundleVersion": "1",
        "CFBundleShortVersionString": version,
    }
    if schemes:
        facts["CFBundleURLTypes"] = [{"CFBundleURLSchemes": schemes}]
    (folder / "Info.plist").write_bytes(plistlib.dumps(facts, fmt=plistlib.FMT_BINARY))
    (folder / name).write_bytes(b"\xcf\xfa\xed\xfe" + bytes(28))
    return folder
