"""What stands for the Emulator manager: virtual devices by name, which it starts as devices of the lab.

Its exit status says nothing: it may leave with 0 and have started nothing, and the other way round.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from ..guest.programs import Invocation
from .device import HarmonyDevice
from .kinds import KINDS

if TYPE_CHECKING:
    from .host import Host

NOISE = "Config file not found: /home/dev/.Huawei/Emulator/deployed/config.ini\n"
SIMULATED = "Scenario simulation success.\n"
NAMED = ("-start", "-hvd", "-stop", "-instance")
TYPES = {"phone": "Phone", "tablet": "Tablet", "tv": "TV"}


@dataclass
class Virtual:
    """One virtual device.

    Attributes:
        name: What it is called.
        kind: Of the device it runs as.
        seconds: Until it is connected after its start.
        ready: Seconds from then on until its display tells a size.
        exit: Status the program leaves with.
        silent: It never comes up, and nothing is said.
        connects: Whether the server finds it by itself.
        key: While it runs.
    """

    name: str
    kind: str = "emulator"
    seconds: float = 0.3
    ready: float = 0.2
    exit: int = 0
    silent: bool = False
    connects: bool = True
    noise: bool = True
    key: str = ""


class Emulators:
    """All virtual devices of a lab."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.known: dict[str, Virtual] = {}

    async def define(self, rows: list[dict[str, Any]]) -> None:
        """Says which there are; those that run go on."""
        for row in rows:
            self.known[row["name"]] = Virtual(**row)

    async def run(self, call: Invocation[Any]) -> int:
        """`Emulator -list [-details]`, `-start|-hvd|-stop NAME`, `-instance NAME -rotation|-foldedState WAY`."""
        words = call.args
        if "-list" in words:
            await call.out(self._list("-details" in words))
            return 0
        name = next(
            (words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-start", "-hvd", "-stop", "-instance")), ""
        )
        virtual = self.known.get(name)
        if virtual is None:
            await call.out(f"The emulator {name} does not exist.\n" if name else "Usage: Emulator -list [-details]\n")
            return 0
        if "-stop" in words:
            await self._stop(virtual)
            return virtual.exit
        if "-start" in words:
            self._host.tasks.start_soon(self._start, virtual)
            return virtual.exit
        if "-hvd" in words:
            return await self._foreground(virtual)
        return await self._simulate(call, virtual)

    def _list(self, details: bool) -> str:
        if not self.known:
            return "[Empty]\n"
        if not details:
            return "".join(f"{name}\n" for name in self.known)
        rows = []
        for virtual in self.known.values():
            kind = KINDS[virtual.kind]
            rows.append({
                "name": virtual.name, "deviceName": virtual.name, "deviceType": TYPES[kind.type],
                "isRunning": "true" if virtual.key else "false", "os.osVersion": f"HarmonyOS {kind.release}",
                "hw.lcd.single.width": str(kind.width), "hw.lcd.single.height": str(kind.height),
                "hw.hdc.port": "notset",
            })  # fmt: skip
        noise = NOISE if any(virtual.noise for virtual in self.known.values()) else ""
        return noise + json.dumps(rows, indent=1) + "\n"

    async def _start(self, virtual: Virtual) -> None:
        if virtual.silent or virtual.key:
            return
        await anyio.sleep(virtual.seconds)
        [row] = await self._host.start([{"name": virtual.kind, "emulator": virtual.name}], virtual.connects)
        virtual.key = row["serial"]
        self._device(virtual).machine.ready_from = time.monotonic() + virtual.ready

    async def _foreground(self, virtual: Virtual) -> int:
        if virtual.silent:
            return virtual.exit
        try:
            await self._start(virtual)
            while virtual.key:  # noqa: ASYNC110 - it runs until somebody stops it
                await anyio.sleep(0.05)
            return virtual.exit
        finally:
            with anyio.CancelScope(shield=True):
                await self._stop(virtual)

    async def _stop(self, virtual: Virtual) -> None:
        key, virtual.key = virtual.key, ""
        if key in self._host.server.devices:
            await self._host.stop(key)

    async def _simulate(self, call: Invocation[Any], virtual: Virtual) -> int:
        words = call.args
        if not virtual.key:
            await call.out("The emulator is not running.\n")
            return 0
        device = self._device(virtual)
        if "-rotation" in words and words[-1] in ("left", "right"):
            device.journal.add("rotation", way=words[-1])
            if device.faults.active("posture_ignored") is None:
                device.machine.rotate(device.machine.geometry.rotation + (1 if words[-1] == "right" else -1))
        elif "-foldedState" in words and words[-1] in ("open", "close"):
            device.journal.add("folded", way=words[-1])
        else:
            await call.out("Scenario simulation failed.\n")
            return 0
        await call.out(SIMULATED)
        return 0

    def _device(self, virtual: Virtual) -> HarmonyDevice:
        return self._host.server.devices[virtual.key]
