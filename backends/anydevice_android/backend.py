"""The Android backend: what the caller's adb server lists, asked who it is, and drivers for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import structlog

from anydevice.driver import Backend, Check, Environment, HostServices
from anydevice_adb import AdbDevice, AdbServer, Row
from anydevice_schemas import Device
from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceNotFound,
    MachineUnreachable,
    ToolMissing,
    UpstreamUnavailable,
)

from .automation import jar
from .driver import AndroidDriver
from .inventory import PLATFORM, Known, devices
from .reading.props import Identity, identity, parse_props

log = structlog.get_logger("anydevice.android")

ASKING = 3.0
"""Seconds a device may take to say what it is; a device that takes longer is listed all the same."""
SIDE_BY_SIDE = 16
"""Devices asked at once."""
OTHER_SYSTEMS = "not found"


@dataclass(slots=True)
class _Asked:
    """What a device said, and over which transport: the number changes whenever it was attached anew."""

    transport: str
    identity: Identity


class AndroidBackend(Backend):
    """Finds and drives Android phones, tablets and TVs, and their emulators.

    Settings (the backend's table of the configuration file): `server` (`HOST:PORT` of the adb server, where the
    caller's environment names none by `ANDROID_ADB_SERVER_HOST` and `ANDROID_ADB_SERVER_PORT`); `start_server` (default true):
    start the server where none runs.
    `automation` (default false): true, or the path of a `u2.jar`, lets an automation server run on devices.
    """

    def __init__(self, host: HostServices) -> None:
        super().__init__(host)
        self._server = str(host.settings.get("server", ""))
        self._start = bool(host.settings.get("start_server", True))
        self._asked: dict[tuple[AdbServer, str], _Asked] = {}
        self._listed: dict[str, tuple[AdbServer, Row]] = {}
        self._starting = anyio.Lock()

    async def devices(self, env: Environment) -> Sequence[Device]:
        """See `Backend.devices`.

        Raises:
            UpstreamUnavailable, MachineUnreachable, ToolMissing: There is no adb server to ask.
        """
        server = AdbServer.of(env.variables, self._server)
        try:
            rows = await server.devices()
        except UpstreamUnavailable:
            if not self._start:
                raise
            try:
                async with self._starting:
                    await server.ready()
            except ToolMissing:
                return []  # no Android tools here, so no Android devices; doctor says what is missing
            rows = await server.devices()
        known: list[Known] = []
        limit = anyio.CapacityLimiter(SIDE_BY_SIDE)
        async with anyio.create_task_group() as group:
            for row in rows:
                group.start_soon(self._know, server, row, known, limit)
        self._asked = {key: asked for key, asked in self._asked.items() if key[0] != server or any(
            row.serial == key[1] for row in rows)}  # fmt: skip
        found = devices(known)
        here = {row.serial: (server, row) for row in rows}
        self._listed = {id: at for id, at in self._listed.items() if at[0] != server} | here
        return found

    async def connect(self, device: Device, env: Environment) -> AndroidDriver:
        """See `Backend.connect`.

        Raises:
            DeviceNotFound: It is not known any more.
        """
        at = self._listed.get(device.id)
        if at is None and device.state == "ready":
            raise DeviceNotFound(
                "This device is not known any more.",
                looked_for={"serial": device.id},
                looked_in=[PLATFORM],
                unusable=[],
                nearest=[],
            )
        server = at[0] if at is not None else AdbServer.of(env.variables, self._server)
        return AndroidDriver(device, AdbDevice(server, device.id), jar(self.host.settings.get("automation")))

    async def check(self, env: Environment) -> Sequence[Check]:
        """See `Backend.check`."""
        server = AdbServer.of(env.variables, self._server)
        try:
            version = await server.version()
            return [Check("adb server", True, f"version {version} at {server.address}")]
        except (UpstreamUnavailable, MachineUnreachable, ToolMissing) as error:
            fix = error.details.get("enable_hint") or error.details.get("install") or "Check the address."
            return [Check("adb server", False, error.message, str(fix))]
        except AnydeviceError as error:
            return [Check("adb server", False, error.message, "adb kill-server, then adb start-server")]

    async def _know(self, server: AdbServer, row: Row, known: list[Known], limit: anyio.CapacityLimiter) -> None:
        """Adds a row with what its device says it is."""
        if row.state != "device":
            known.append(Known(row, None))
            return
        key, transport = (server, row.serial), row.facts.get("transport_id", "")
        asked = self._asked.get(key)
        if asked is not None and asked.transport == transport and asked.identity.booted:
            known.append(Known(row, asked.identity))
            return
        try:
            async with limit:
                done = await AdbDevice(server, row.serial).shell("getprop", deadline=ASKING)
        except AnydeviceError as error:
            log.info("device_does_not_tell", serial=row.serial, error=error.code)
            known.append(Known(row, None, "It does not answer."))
            return
        if done.status == 127 or (not done.text.strip() and OTHER_SYSTEMS in done.both):
            return  # no Android: another system that is attached by adb, and for its own backend to list
        found = identity(parse_props(done.text))
        self._asked[key] = _Asked(transport, found)
        known.append(Known(row, found))
