"""The process that Vega devices live in: `python -m anydevice_lab.vega.host ADB`. See `anydevice_lab.android.host`."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from ..android.host import Answer, Host, serve
from ..android.kinds import Kind
from .device import VegaDevice
from .kinds import KINDS, VegaKind
from .sdk import Sdk

SETTABLE = ("awake", "developer", "heeds_touch", "reboot_seconds")


class VegaHost(Host):
    """Vega devices, and the SDK that drives them."""

    kinds = KINDS

    async def open(self) -> None:
        """The SDK is there before any device."""
        self.sdk = Sdk(self, self.server.home)
        await self.sdk.open(self._tasks)

    def make(self, kind: Kind, folder: Path, number: int) -> VegaDevice:
        """A device of a kind."""
        assert isinstance(kind, VegaKind)
        device = VegaDevice(kind, folder, self.keys, number)
        if kind.simulated:
            self.sdk.same(device)
        return device

    async def start(self, kinds: list[dict[str, Any] | str], connect: bool = True) -> list[Answer]:
        """Starts devices; a virtual one has a process, and goes when that ends."""
        rows = await super().start(kinds, connect)
        for row in rows:
            device = self.devices[row["serial"]]
            if device.kind.simulated:
                await self.sdk.power(device)
                self._tasks.start_soon(self._until_it_ends, device)
        return [self.row(self.devices[row["serial"]]) for row in rows]

    async def _until_it_ends(self, device: VegaDevice) -> None:
        await self.sdk.watch(device)
        if device.serial in self.devices:
            await self._stop(device.serial)

    def row(self, device: Any) -> Answer:
        """What is told of a device."""
        child = self.sdk.machines.get(device.serial)
        more = {"dsn": device.dsn, "hostname": device.machine.hostname, "pid": child.pid if child else -1}
        return {**super().row(device), **more}

    async def _stop(self, serial: str) -> None:
        await super()._stop(serial)
        await self.sdk.unplug(serial)

    @property
    def asked(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """What may be asked, by the word for it."""
        more: dict[str, Callable[..., Awaitable[Any]]] = {
            "tool": self._tool, "calls": self._calls, "offline": self._offline, "log": self._write,
        }  # fmt: skip
        return {name: verb for name, verb in super().asked.items() if name != "permission"} | more

    async def _set(self, serial: str, **what: Any) -> None:
        """Sets `direct`, `shell`, `awake`, `developer`, `heeds_touch` or `reboot_seconds`."""
        device = self.devices[serial]
        for name, value in what.items():
            if name in ("direct", "shell"):
                setattr(device, name, value)
            elif name in SETTABLE:
                setattr(device.machine, name, value)
            else:
                raise ValueError(f"nothing is called {name}")

    async def _write(self, serial: str, text: str, tag: str = "lab", priority: str = "info", package: str = "") -> None:
        self.devices[serial].machine.log.add(tag, text, priority=priority, package=package)

    async def _tool(self, **switches: Any) -> None:
        self.sdk.switch(**switches)

    async def _calls(self, clear: bool = False) -> list[Answer]:
        """Calls of the `vega` program."""
        found = self.sdk.journal.entries("program")
        if clear:
            self.sdk.journal.clear()
        return found

    async def _offline(self, serial: str, seconds: float = 5.0) -> None:
        """The device is listed and offline for a while, then comes back."""
        device = self.devices[serial]
        device.gate.answers = False
        await device.drop()
        where = f"emulator:{device.port}" if device.kind.avd else f"connect:{device.address}"
        self._tasks.start_soon(self.server.ask, f"host:{where}")
        self._tasks.start_soon(self._come_back, device, seconds)
        with anyio.move_on_after(2):
            while await self.server.state(serial) != "offline":  # noqa: ASYNC110 - the server tells nobody
                await anyio.sleep(0.02)

    async def _come_back(self, device: VegaDevice, seconds: float) -> None:
        await anyio.sleep(seconds)
        device.gate.answers = True
        await device.drop()
        await self.server.connect(device)


def main() -> None:
    """Runs it; the one argument is the adb program."""
    anyio.run(serve, sys.argv[1], VegaHost)


if __name__ == "__main__":
    main()
