"""The Android backend: what the caller's adb server lists, asked who it is, and drivers for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import structlog

from anydevice.driver import Backend, Check, Driver, Environment, HostServices
from anydevice_adb import AdbDevice, AdbServer, Row
from anydevice_adb.server import LOOPBACK
from anydevice_adb.virtual import EMULATOR, virtual_devices
from anydevice_schemas import Device
from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceNotFound,
    MachineUnreachable,
    ToolMissing,
    UpstreamUnavailable,
)

from .automation import jar
from .avds import PREFIX, Avd, Avds
from .driver import AndroidDriver
from .emulator import PORTS, Emulator
from .inventory import PLATFORM, Known, devices
from .power import AvdDriver
from .reading.props import Identity, identity, parse_props
from .settings import Undo

log = structlog.get_logger("anydevice.android")

ASKING = 3.0
"""Seconds a device may take to say what it is; a device that takes longer is listed all the same."""
SIDE_BY_SIDE = 16
"""Devices asked at once."""
OTHER_SYSTEMS = "not found"


@dataclass(slots=True)
class _Asked:
    """What a device said, and over which transport: the number changes whenever it was attached anew.

    `identity` is None for what is no Android: another system that is attached by adb, and for its own backend to list.
    """

    transport: str
    identity: Identity | None


class AndroidBackend(Backend):
    """Finds and drives Android phones, tablets and TVs, and their emulators.

    Settings (the backend's table of the configuration file): `server` (`HOST:PORT` of the adb server, where the
    caller's environment names none by `ANDROID_ADB_SERVER_HOST` and `ANDROID_ADB_SERVER_PORT`); `start_server` (default
    true): start the server where none runs.
    `automation` (default false): true, or the path of a `u2.jar`, lets an automation server run on devices.
    `emulator_ports` (default `[5554, 5682]`): first and last console port of emulators that are booted.
    """

    def __init__(self, host: HostServices) -> None:
        super().__init__(host)
        self._server = str(host.settings.get("server", ""))
        self._start = bool(host.settings.get("start_server", True))
        self._asked: dict[tuple[AdbServer, str], _Asked] = {}
        self._listed: dict[str, tuple[AdbServer, Row]] = {}
        self._starting = anyio.Lock()
        self._avds = Avds()
        self._undo: dict[tuple[AdbServer, str, str], dict[str, Undo]] = {}
        self._emulators: dict[tuple[AdbServer, str], Emulator] = {}
        first, last = self.host.settings.get("emulator_ports", PORTS)
        self._ports = (int(first), int(last))

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
        rows = await self._without_others(server, rows)
        known: list[Known] = []
        limit = anyio.CapacityLimiter(SIDE_BY_SIDE)
        avds: list[Avd] = []
        async with anyio.create_task_group() as group:
            if server.host in LOOPBACK:
                group.start_soon(self._list_avds, env, avds)
            for row in rows:
                group.start_soon(self._know, server, row, known, limit)
        self._asked = {key: asked for key, asked in self._asked.items() if key[0] != server or any(
            row.serial == key[1] for row in rows)}  # fmt: skip
        found = devices(known)
        here = {row.serial: (server, row) for row in rows}
        self._listed = {id: at for id, at in self._listed.items() if at[0] != server} | here
        return self._with_avds(server, avds, found, known)

    async def connect(self, device: Device, env: Environment) -> Driver:
        """See `Backend.connect`.

        Raises:
            DeviceNotFound: It is not known any more.
        """
        if device.id.startswith(PREFIX):
            server = AdbServer.of(env.variables, self._server)
            avd = Avd(device.id.removeprefix(PREFIX), device.device_class)
            emulator = self._emulators.get((server, avd.name))
            if emulator is None:
                emulator = self._emulators[server, avd.name] = Emulator(avd, server, env.variables, self._ports)
            return AvdDriver(device, emulator, self._driver)
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
        return self._driver(device, AdbDevice(server, device.id))

    async def check(self, env: Environment) -> Sequence[Check]:
        """See `Backend.check`."""
        server = AdbServer.of(env.variables, self._server)
        try:
            version = await server.version()
            return [Check("adb server", True, f"version {version} at {server.address}")]
        except (UpstreamUnavailable, MachineUnreachable, ToolMissing) as error:
            fix = error.details.get("enable_hint") or error.details.get("install") or "Check the address."
            absent = not isinstance(error, MachineUnreachable)  # nobody who has no Android needs one
            return [Check("adb server", False, error.message, str(fix), optional=absent)]
        except AnydeviceError as error:
            return [Check("adb server", False, error.message, "adb kill-server, then adb start-server")]

    async def hand_over(self) -> Mapping[str, Any] | None:
        """See `Backend.hand_over`: emulators that run go on running."""
        rows = [state for emulator in self._emulators.values() if (state := emulator.hand_over()) is not None]
        return {"emulators": rows} if rows else None

    async def take_up(self, state: Mapping[str, Any]) -> None:
        """See `Backend.take_up`."""
        for row in state["emulators"]:
            server, avd = AdbServer(*row["server"]), Avd(**row["avd"])
            emulator = self._emulators.setdefault(
                (server, avd.name), Emulator(avd, server, row["variables"], self._ports)
            )
            try:
                emulator.take_up(row)
            except ChildProcessError:
                log.warning("emulator_not_taken_up", avd=avd.name)

    async def aclose(self) -> None:
        """See `Backend.aclose`: the emulators that were booted end."""
        async with anyio.create_task_group() as group:
            for emulator in self._emulators.values():
                group.start_soon(emulator.aclose)

    def _driver(self, device: Device, adb: AdbDevice) -> AndroidDriver:
        # By the device's own serial as well: another one may come up under the same address.
        key = (adb.server, adb.serial, str(device.facts.get("hardwareSerial", "")))
        undo = self._undo.setdefault(key, {})
        return AndroidDriver(device, adb, jar(self.host.settings.get("automation")), undo)

    async def _list_avds(self, env: Environment, avds: list[Avd]) -> None:
        avds += await self._avds.list(env.variables)

    def _with_avds(
        self, server: AdbServer, avds: Sequence[Avd], found: Sequence[Device], known: Sequence[Known]
    ) -> list[Device]:
        """The devices, and the virtual ones: each once, by its own name where we started it, else by its serial."""
        ours = {name: one for (at, name), one in self._emulators.items() if at == server and one.running}
        by_serial = {one.serial: name for name, one in ours.items()}
        rows = {device.id: device for device in found}
        elsewhere = {one.identity.avd for one in known if one.identity is not None and one.row.serial not in by_serial}
        listed = [device for device in found if device.id not in by_serial]
        for name, one in ours.items():
            row = rows.get(one.serial)
            if one.up and row is not None and row.state == "ready":
                own = {"id": PREFIX + name, "name": one.avd.row().name, "facts": {**row.facts, "serial": one.serial}}
                listed.append(row.model_copy(update={**own, "aliases": [one.serial]}))
            else:
                listed.append(one.avd.row("booting").model_copy(update={"aliases": [one.serial]}))
        listed += [avd.row() for avd in avds if avd.name not in ours and avd.name not in elsewhere]
        return listed

    async def _without_others(self, server: AdbServer, rows: list[Row]) -> list[Row]:
        """The rows without those that are offline now and whose process is known to be of another system."""
        if server.host not in LOOPBACK or all(r.state == "device" or not r.serial.startswith(EMULATOR) for r in rows):
            return rows
        others = {one.serial for one in await virtual_devices()}
        return [row for row in rows if row.state == "device" or row.serial not in others]

    async def _know(self, server: AdbServer, row: Row, known: list[Known], limit: anyio.CapacityLimiter) -> None:
        """Adds a row with what its device says it is."""
        key, transport = (server, row.serial), row.facts.get("transport_id", "")
        asked = self._asked.get(key)
        if row.state != "device":
            if asked is None or asked.identity is not None:
                known.append(Known(row, None))
            return
        if asked is not None and asked.transport == transport and asked.identity is None:
            return
        if asked is not None and asked.transport == transport and asked.identity is not None and asked.identity.booted:
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
            self._asked[key] = _Asked(transport, None)
            return
        found = identity(parse_props(done.text))
        self._asked[key] = _Asked(transport, found)
        known.append(Known(row, found))
