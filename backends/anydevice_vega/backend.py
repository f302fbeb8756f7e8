"""The Vega backend: which devices of the caller's adb server are Vega's, images that can be started, and drivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import structlog

from anydevice.driver import Backend, Check, Driver, Environment, HostServices
from anydevice_adb import AdbDevice, AdbServer, Row
from anydevice_adb.server import LOOPBACK
from anydevice_adb.virtual import virtual_devices
from anydevice_schemas import Device
from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceNotFound,
    MachineUnreachable,
    ToolMissing,
    UpstreamUnavailable,
)

from .driver import VegaDriver
from .inventory import EMULATOR, PLATFORM, PREFIX, Identity, Known
from .power import ImageDriver
from .sdk import INSTALL, Sdk
from .virtuals import Virtuals

log = structlog.get_logger("anydevice.vega")

ASKING: Final = 3.0
"""Seconds a device may take to say what it is."""
SIDE_BY_SIDE: Final = 16
WHO: Final = "command -v vpm >/dev/null 2>&1 && uname -n && uname -m"
"""Succeeds on Vega only: nothing else has its package manager."""


@dataclass(slots=True)
class _Asked:
    """What a device said over which transport; None where it is no Vega. The number changes with each attachment."""

    transport: str
    identity: Identity | None


@dataclass(slots=True, frozen=True)
class _Round:
    """One listing: how many devices are asked at once, for whom, and the serials of virtual devices that run."""

    limit: anyio.CapacityLimiter
    env: Environment
    virtual: set[str]


class VegaBackend(Backend):
    """Finds and drives Vega devices: sticks, and virtual devices of the SDK.

    Settings (the backend's table of the configuration file): `server` (`HOST:PORT` of the adb server, where the
    caller's environment names none by `ANDROID_ADB_SERVER_HOST` and `ANDROID_ADB_SERVER_PORT`); `start_server` (default
    true): start the server where none runs and the SDK is installed; `program`: path of `vega`, where it is neither on
    PATH nor in `~/vega/bin`.
    """

    def __init__(self, host: HostServices) -> None:
        super().__init__(host)
        self._server = str(host.settings.get("server", ""))
        self._start = bool(host.settings.get("start_server", True))
        self._sdk = Sdk(str(host.settings.get("program", "")))
        self._asked: dict[tuple[AdbServer, str], _Asked] = {}
        self._left: dict[tuple[AdbServer, str], set[str]] = {}
        self._virtuals = Virtuals(self._sdk, Path(host.run_dir, "vvd"))
        self._starting = anyio.Lock()

    async def devices(self, env: Environment) -> Sequence[Device]:
        """See `Backend.devices`. Where neither an adb server runs nor the SDK is installed there is nothing to list.

        Raises:
            MachineUnreachable: The adb server is on another machine, which does not answer.
        """
        server = AdbServer.of(env.variables, self._server)
        rows = await self._rows(server)
        images = await self._sdk.images() if server.host in LOOPBACK else []
        doubtful = any(row.serial.startswith(EMULATOR) and row.state != "device" for row in rows)
        table = await virtual_devices() if server.host in LOOPBACK and (images or doubtful) else []
        known: list[Known] = []
        limit = anyio.CapacityLimiter(SIDE_BY_SIDE)
        async with anyio.create_task_group() as group:
            for row in rows:
                group.start_soon(self._know, server, row, known, _Round(limit, env, {one.serial for one in table}))
        self._asked = {
            key: asked
            for key, asked in self._asked.items()
            if key[0] != server or any(row.serial == key[1] for row in rows)
        }
        await self._virtuals.adopt(server, images, table, {row.serial for row in rows}, env.variables)
        return await self._virtuals.listed(server, images, known)

    async def connect(self, device: Device, env: Environment) -> Driver:
        """See `Backend.connect`.

        Raises:
            DeviceNotFound: It is not known any more.
        """
        server = AdbServer.of(env.variables, self._server)

        def inner(row: Device, adb: AdbDevice) -> Driver:
            left = self._left.setdefault((server, row.id), set())
            return VegaDriver(row, adb, self._sdk, env.variables, left)

        if device.id.startswith(PREFIX):
            virtual, images = await self._virtuals.of(device.id, server, env.variables)
            if virtual is None:
                raise DeviceNotFound(
                    "This device is not known any more.",
                    looked_for={"serial": device.id},
                    looked_in=[PLATFORM],
                    unusable=[],
                    nearest=[],
                )
            return ImageDriver(device, virtual, inner, several=images > 1)
        return inner(device, AdbDevice(server, device.id))

    async def check(self, env: Environment) -> Sequence[Check]:
        """See `Backend.check`."""
        server = AdbServer.of(env.variables, self._server)
        found: list[Check] = []
        try:
            version = await server.version()
            found.append(Check("adb server", True, f"version {version} at {server.address}"))
        except AnydeviceError as error:
            fix = "Start a virtual device, or: adb start-server"
            found.append(Check("adb server", False, error.message, fix, optional=True))
        try:
            done = await self._sdk.run("--version", variables=env.variables)
            found.append(Check("vega", done.code == 0, " ".join(done.text.split())[:200]))
        except ToolMissing:
            found.append(Check("vega", False, "not installed; needed for virtual devices only", INSTALL, optional=True))
        except AnydeviceError as error:
            found.append(Check("vega", False, error.message, "Run vega platform doctor."))
        return found

    async def hand_over(self) -> Mapping[str, Any] | None:
        """See `Backend.hand_over`: virtual devices that run go on running."""
        rows = await self._virtuals.hand_over()
        return {"version": 1, "virtual": rows} if rows else None

    async def take_up(self, state: Mapping[str, Any]) -> None:
        """See `Backend.take_up`."""
        await self._virtuals.take_up(state["virtual"])

    async def aclose(self) -> None:
        """See `Backend.aclose`: the virtual devices that were booted end."""
        await self._virtuals.aclose()

    # --- inside ---

    async def _rows(self, server: AdbServer) -> list[Row]:
        """What the adb server lists; nothing where none runs, and none is started without the SDK."""
        try:
            return await server.devices()
        except UpstreamUnavailable:
            if not self._start or await self._sdk.program() is None:
                return []
        except MachineUnreachable:
            return []  # the Android backend, whose server it is as well, says so
        try:
            async with self._starting:
                await server.ready()
            return await server.devices()
        except (ToolMissing, UpstreamUnavailable):
            return []

    async def _know(self, server: AdbServer, row: Row, known: list[Known], now: _Round) -> None:
        """Adds a row that is Vega's: it says so, did so when it was asked last, or is a virtual device's process."""
        key, transport = (server, row.serial), row.facts.get("transport_id", "")
        asked = self._asked.get(key)
        if row.state != "device":
            if row.serial in now.virtual or (asked is not None and asked.identity is not None):
                known.append(Known(row, None))
            return
        if asked is not None and asked.transport == transport:
            if asked.identity is not None:
                known.append(Known(row, asked.identity))
            return
        try:
            async with now.limit:
                done = await AdbDevice(server, row.serial).shell(WHO, deadline=ASKING)
        except AnydeviceError as error:
            log.info("device_does_not_tell", serial=row.serial, error=error.code)
            if row.serial in now.virtual or (asked is not None and asked.identity is not None):
                known.append(Known(row, None, "It does not answer."))
            return
        words = done.text.split()
        identity = None
        if done.status == 0 and len(words) == 2:
            info = await self._sdk.info(row.serial, now.env.variables)
            identity = Identity(words[0], words[1], info if info.get("hostname", words[0]) == words[0] else {})
            known.append(Known(row, identity))
        self._asked[key] = _Asked(transport, identity)
