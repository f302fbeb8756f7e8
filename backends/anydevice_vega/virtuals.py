"""The virtual devices of this machine: one for each installed image, with one id whether or not it runs.

Whoever started it, a virtual device that runs goes by the name of its image; the serial adb has for it is another name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import anyio
import structlog

from anydevice_adb import AdbServer
from anydevice_adb.virtual import Virtual, virtual_devices
from anydevice_schemas import Device
from anydevice_schemas.errors import AnydeviceError

from .inventory import PREFIX, Known, device, devices, image_row
from .sdk import Image, Sdk
from .vvd import VirtualDevice

log = structlog.get_logger("anydevice.vega")

ENDING: Final = 10.0
"""Seconds virtual devices that were started here may take to end with the backend."""


class Virtuals:
    """Virtual devices by adb server and image.

    Args:
        tools: The SDK.
        folder: For what its program says while it starts one.
    """

    def __init__(self, tools: Sdk, folder: Path) -> None:
        self._sdk, self._folder = tools, folder
        self._all: dict[tuple[AdbServer, str], VirtualDevice] = {}

    async def of(self, id: str, server: AdbServer, env: Mapping[str, str]) -> tuple[VirtualDevice | None, int]:
        """The virtual device of an id, made where there is an image for it, and how many images are installed."""
        name = id.removeprefix(PREFIX)
        images = await self._sdk.images()
        image = next((one for one in images if one.name == name), None)
        if image is not None and (server, name) not in self._all:
            self._all[server, name] = self._made(image, server, env)
        return self._all.get((server, name)), len(images)

    async def adopt(
        self,
        server: AdbServer,
        images: Sequence[Image],
        table: Sequence[Virtual],
        serials: set[str],
        env: Mapping[str, str],
    ) -> None:
        """Takes what others started for what it is: the virtual device of an image, attached to this server."""
        known = {virtual.serial for (at, _), virtual in self._all.items() if at == server and virtual.serial}
        for row in table:
            image = next((one for one in images if one.name == row.image and one.holds(row.program)), None)
            if image is None or row.serial in known or row.serial not in serials:
                continue
            virtual = self._all.setdefault((server, image.name), self._made(image, server, env))
            if not virtual.starting and await virtual.process() is None:
                await virtual.adopt(row, ours=False)

    async def listed(self, server: AdbServer, images: Sequence[Image], known: Sequence[Known]) -> list[Device]:
        """All devices: those adb lists, those of images under the names of these, and images that do not run."""
        running: dict[str, VirtualDevice] = {}
        for (at, name), virtual in list(self._all.items()):
            if at == server and (virtual.starting or await virtual.process() is not None):
                running[name] = virtual
        serials = {virtual.serial for virtual in running.values() if virtual.serial}
        by_serial = {one.row.serial: one for one in known}
        rows = [row for row in devices(known) if row.id not in serials]
        rows += [_row(virtual, by_serial.get(virtual.serial)) for virtual in running.values()]
        return [*rows, *(image_row(one) for one in images if one.name not in running)]

    async def hand_over(self) -> list[dict[str, Any]]:
        """What a newer version is told of those that run."""
        return [
            {
                "image": asdict(virtual.image),
                "server": [server.host, server.port],
                "variables": virtual.variables,
                "process": asdict(process),
                "ours": virtual.ours,
            }
            for (server, _), virtual in self._all.items()
            if (process := await virtual.process()) is not None
        ]

    async def take_up(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Goes on with what an older version had, as far as it still runs."""
        running = {row.pid: row for row in await virtual_devices()}
        for row in rows:
            server, image, process = AdbServer(*row["server"]), Image(**row["image"]), Virtual(**row["process"])
            if running.get(process.pid) != process:
                log.warning("virtual_device_not_taken_up", image=image.name)
                continue
            virtual = self._all.setdefault((server, image.name), self._made(image, server, row["variables"]))
            await virtual.adopt(process, ours=bool(row["ours"]))

    async def aclose(self) -> None:
        """Those that were started here end; what others started goes on."""
        async with anyio.create_task_group() as group:
            for virtual in self._all.values():
                if virtual.ours:
                    group.start_soon(self._ended, virtual)

    async def _ended(self, virtual: VirtualDevice) -> None:
        try:
            await virtual.shutdown(deadline=ENDING)
        except AnydeviceError as error:
            log.warning("virtual_device_not_ended", error=error.code)

    def _made(self, image: Image, server: AdbServer, variables: Mapping[str, str]) -> VirtualDevice:
        return VirtualDevice(image, self._sdk, server, variables, self._folder)


def _row(virtual: VirtualDevice, known: Known | None) -> Device:
    """The row of a virtual device that starts or runs."""
    plain = image_row(virtual.image, booting=True)
    aliases = [virtual.serial] if virtual.serial else []
    if virtual.starting:
        return plain.model_copy(update={"aliases": aliases})
    if known is None:
        why = {
            "state": "offline",
            "reason": "It runs, and adb does not list it.",
            "fix": "adb connect, or boot it anew.",
        }
        return plain.model_copy(update={"aliases": aliases, **why})
    told = device(known)
    facts = {**told.facts, "serial": virtual.serial, "sdk": virtual.image.version}
    names = [*aliases, *told.aliases]
    return told.model_copy(update={"id": plain.id, "name": plain.name, "aliases": names, "facts": facts})
