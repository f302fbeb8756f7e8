"""The HarmonyOS backend: what the caller's hdc server lists, asked who it is, and drivers for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio
import anyio.to_thread
import structlog

from anydevice.driver import Backend, Check, Driver, Environment, HostServices
from anydevice_schemas import Device
from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceNotFound,
    ToolMissing,
    UpstreamUnavailable,
)

from . import emulating
from .driver import HarmonyosDriver
from .emulating import Emulators
from .hdc import HdcDevice, HdcServer, Row, program
from .instance import Instance
from .inventory import PLATFORM, PREFIX, Known, devices, virtual
from .power import Inner, InstanceDriver
from .reach import Slot
from .reading.emulators import Virtual
from .reading.params import Identity, identity, parse_params, question

log = structlog.get_logger("anydevice.harmonyos")

ASKING: Final = 4.0
"""Seconds a device may take to say what it is; a device that takes longer is listed all the same."""
SIDE_BY_SIDE: Final = 16
"""Devices asked at once."""


class HarmonyosBackend(Backend):
    """Finds and drives HarmonyOS phones, tablets and TVs, and their emulators.

    Settings (the backend's table of the configuration file): `server` (`HOST:PORT` of the hdc server, where the
    caller's environment names none by `OHOS_HDC_SERVER_PORT`); `start_server` (default true): start it where none runs;
    `hdc`, `emulator`: paths of these programs, where they are not in one of the usual places.
    """

    def __init__(self, host: HostServices) -> None:
        super().__init__(host)
        self._server = str(host.settings.get("server", ""))
        self._start = bool(host.settings.get("start_server", True))
        self._hdc = str(host.settings.get("hdc", ""))
        self._emulator = str(host.settings.get("emulator", ""))
        self._asked: dict[tuple[HdcServer, str], Identity] = {}
        self._listed: dict[str, HdcServer] = {}
        self._slots: dict[tuple[HdcServer, str], Slot] = {}
        self._programs: dict[tuple[Any, ...], Emulators] = {}
        self._instances: dict[tuple[HdcServer, str], Instance] = {}
        self._starting = anyio.Lock()

    async def devices(self, env: Environment) -> Sequence[Device]:
        """See `Backend.devices`.

        Raises:
            UpstreamUnavailable, MachineUnreachable: There is no hdc server to ask.
        """
        server = HdcServer.of(env.variables, self._server)
        emulators = self._emulators_of(server, env.variables)
        rows = await self._rows(server, env)
        known: list[Known] = []
        virtuals: list[Virtual] = []
        limit = anyio.CapacityLimiter(SIDE_BY_SIDE)
        async with anyio.create_task_group() as group:
            if server.here:
                group.start_soon(self._list_virtuals, emulators, virtuals)
            for row in rows or ():
                group.start_soon(self._know, server, row, known, limit)
        here = {row.key for row in rows or ()}
        self._asked = {at: who for at, who in self._asked.items() if at[0] != server or at[1] in here}
        self._listed = {key: at for key, at in self._listed.items() if at != server} | dict.fromkeys(here, server)
        return self._with_virtuals(server, virtuals, devices(known))

    async def connect(self, device: Device, env: Environment) -> Driver:
        """See `Backend.connect`.

        Raises:
            DeviceNotFound: It is not known any more.
        """
        server = HdcServer.of(env.variables, self._server)
        if device.id.startswith(PREFIX):
            name = device.id.removeprefix(PREFIX)
            instance = self._instances.get((server, name))
            if instance is None:
                emulators = self._emulators_of(server, env.variables)
                listed = next((one for one in await emulators.list() if one.name == name), None)
                instance = Instance(listed or Virtual(name, device.device_class), emulators)
                self._instances[server, name] = instance
            return InstanceDriver(device, instance, self._maker(server, env.variables))
        at = self._listed.get(device.id)
        if at is None and device.state == "ready":
            raise DeviceNotFound(
                "This device is not known any more.",
                looked_for={"serial": device.id},
                looked_in=[PLATFORM],
                unusable=[],
                nearest=[],
            )
        return self._maker(at or server, env.variables)(device, device.id, "")

    async def check(self, env: Environment) -> Sequence[Check]:
        """See `Backend.check`."""
        server = HdcServer.of(env.variables, self._server)
        path = await anyio.to_thread.run_sync(program.find, env.variables, self._hdc)
        found = [Check("hdc", path is not None, path or "not found", "" if path else program.INSTALL, optional=True)]
        try:
            version = await server.version()
            found.append(Check("hdc server", True, f"version {version or 'unknown'} at {server.address}"))
        except AnydeviceError as error:
            fix = error.details.get("enable_hint") or "Check the address, or run hdc kill, then hdc start."
            absent = isinstance(error, UpstreamUnavailable)  # nobody who has no HarmonyOS needs one
            found.append(Check("hdc server", False, error.message, str(fix), optional=absent))
        if server.here:
            emulator = await anyio.to_thread.run_sync(emulating.find, env.variables, self._emulator)
            fix = "" if emulator else emulating.INSTALL
            found.append(Check("Emulator", emulator is not None, emulator or "not found", fix, optional=True))
        return found

    async def hand_over(self) -> Mapping[str, Any] | None:
        """See `Backend.hand_over`: emulators that run go on running."""
        rows = [state for one in self._instances.values() if (state := one.hand_over()) is not None]
        return {"version": 1, "emulators": rows} if rows else None

    async def take_up(self, state: Mapping[str, Any]) -> None:
        """See `Backend.take_up`."""
        for row in state["emulators"]:
            server, what = HdcServer(*row["server"]), Virtual(**row["virtual"])
            emulators = self._emulators_of(server, row["variables"])
            instance = self._instances.setdefault((server, what.name), Instance(what, emulators))
            try:
                instance.take_up(row)
            except ChildProcessError:
                log.warning("emulator_not_taken_up", name=what.name)

    async def aclose(self) -> None:
        """See `Backend.aclose`: the emulators that were booted end."""
        async with anyio.create_task_group() as group:
            for instance in self._instances.values():
                group.start_soon(instance.aclose)

    # --- inside ---

    async def _rows(self, server: HdcServer, env: Environment) -> list[Row] | None:
        """What the server lists; None where there are no tools of HarmonyOS on this host, so no devices either."""
        try:
            return await server.rows()
        except UpstreamUnavailable:
            if not server.here:
                raise
            if not self._start:
                raise
        try:
            async with self._starting:
                await server.ready(env.variables, self._hdc)
        except ToolMissing:
            return None  # doctor says what is missing
        return await server.rows()

    def _maker(self, server: HdcServer, variables: Mapping[str, str]) -> Inner:
        def make(device: Device, key: str, instance: str) -> Driver:
            hdc = HdcDevice(server, key, variables, self._hdc)
            slot = self._slots.setdefault((server, key), Slot())
            return HarmonyosDriver(device, hdc, self._emulators_of(server, variables), slot, instance)

        return make

    def _emulators_of(self, server: HdcServer, variables: Mapping[str, str]) -> Emulators:
        told = {name: variables[name] for name in program.VARIABLES if variables.get(name)}
        return self._programs.setdefault((server, *sorted(told.items())), Emulators(server, told, self._emulator))

    async def _list_virtuals(self, emulators: Emulators, virtuals: list[Virtual]) -> None:
        if await anyio.to_thread.run_sync(emulating.find, emulators.variables, emulators.configured) is not None:
            virtuals += await emulators.list()

    def _with_virtuals(self, server: HdcServer, virtuals: Sequence[Virtual], found: list[Device]) -> list[Device]:
        """The devices, and the virtual ones: each once, by its own name where we started it, else by its key."""
        ours = {name: one for (at, name), one in self._instances.items() if at == server and one.running}
        by_key = {one.key: one for one in ours.values() if one.key}
        rows = {device.id: device for device in found}
        listed = [device for device in found if device.id not in by_key]
        for name, one in ours.items():
            row = rows.get(one.key)
            if one.up and row is not None and row.state == "ready":
                facts = {**row.facts, "serial": one.key}
                listed.append(row.model_copy(update={"id": PREFIX + name, "name": name, "facts": facts}))
            else:
                listed.append(virtual(one.virtual, "booting"))
        strange = any(device.kind == "emulator" and device.id not in by_key for device in found)
        # One that runs and is not ours is listed by its key already; which of them it is nobody tells.
        listed += [virtual(one) for one in virtuals if one.name not in ours and not (one.running and strange)]
        return listed

    async def _know(self, server: HdcServer, row: Row, known: list[Known], limit: anyio.CapacityLimiter) -> None:
        """Adds a row with what its device says it is."""
        if row.state != "Connected":
            known.append(Known(row, None))
            return
        asked = self._asked.get((server, row.key))
        if asked is not None:
            known.append(Known(row, asked))
            return
        try:
            async with limit:
                done = await HdcDevice(server, row.key).shell(question(), deadline=ASKING)
        except AnydeviceError as error:
            log.info("device_does_not_tell", key=row.key, error=error.code)
            known.append(Known(row, None, "It does not answer."))
            return
        found = identity(parse_params(done.text))
        self._asked[server, row.key] = found
        known.append(Known(row, found))
