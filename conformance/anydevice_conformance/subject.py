"""The backend under test and its devices: two of each class, made ready before the run and left as they were."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from anydevice.driver import Environment
from anydevice.resolution import Request, resolve
from anydevice.router import Router
from anydevice_schemas import Call, Caller, Device, DeviceSelector, Manifest
from anydevice_schemas.errors import AnydeviceError


@dataclass(slots=True)
class Pair:
    """The device under test and the other one, or why there are none."""

    device_class: str
    device: Device | None = None
    other: Device | None = None
    blocked: str = ""


@dataclass
class Subject:
    """What is judged.

    Attributes:
        router: With the backend in it.
        backend: Its name.
        selector: Narrows to one device, which is then the one under test; None = any.
        bystanders: Token of the practice app that runs on each other device.
        booted: Devices the suite started and stops again.
    """

    router: Router
    backend: str
    selector: DeviceSelector | None = None
    bystanders: dict[str, str] = field(default_factory=dict)
    booted: list[Device] = field(default_factory=list)
    prepared: bool = False

    @property
    def manifest(self) -> Manifest:
        """The backend's manifest."""
        return self.router.services.backends.manifest(self.backend)

    @property
    def caller(self) -> Caller:
        """The suite itself."""
        return Caller(
            principal="uid:conformance", transport="test", connection="suite", scopes=["read", "act", "admin"]
        )

    async def pairs(self) -> list[Pair]:
        """Two ready devices of each class the manifest declares (or of the one that was asked for)."""
        await self._prepare()
        rows = await self._rows()
        chosen = await self._chosen()
        classes = [chosen.device_class] if chosen is not None else list(self.manifest.device_classes)
        return [await self._pair(name, rows, chosen) for name in classes]

    async def aclose(self) -> None:
        """Leaves the devices as they were found."""
        for device in reversed(self.booted):
            await self._call("shutdown", device=device.key)
        if self.prepared:
            for step in self.manifest.practice.restore:
                await self._call(step.command, **step.arguments)

    async def _prepare(self) -> None:
        for step in self.manifest.practice.prepare:
            await self._call(step.command, **step.arguments)
        self.prepared = True

    async def _rows(self) -> list[Device]:
        inventory = await self.router.services.backends.listed(Environment(), fresh=True)
        return sorted((d for d in inventory.devices if d.backend == self.backend), key=lambda d: (d.name, d.id))

    async def _chosen(self) -> Device | None:
        if self.selector is None:
            return None
        inventory = await self.router.services.backends.listed(Environment())
        return resolve(Request(selector=self.selector, boots=True), inventory).device

    async def _pair(self, device_class: str, rows: list[Device], chosen: Device | None) -> Pair:
        mine = [row for row in rows if row.device_class == device_class]
        listed = self.manifest.practice.devices
        if listed:
            # A person's own devices, which happen to be there too, are left alone.
            own = {chosen.id} if chosen is not None else set()
            mine = sorted((row for row in mine if row.id in {*listed, *own}), key=lambda row: _place(listed, row.id))
        else:
            mine.sort(key=lambda row: row.state != "ready")
        if chosen is not None:
            mine.sort(key=lambda row: row.key != chosen.key)
        pair, troubles = Pair(device_class), []
        for row in mine:
            if pair.device is not None and pair.other is not None:
                break
            ready, trouble = await self._ready(row)
            if ready is None:
                troubles.append(f"{row.id}: {trouble}")
            elif pair.device is None:
                pair.device = ready
            else:
                pair.other = ready
        if pair.device is None or pair.other is None:
            have = 0 if pair.device is None else 1
            pair.blocked = f"two usable devices of class {device_class} are needed, {have} found"
            troubles = [*self._missing(), *troubles]
            if troubles:
                pair.blocked += "; " + "; ".join(troubles[:3])
        return pair

    def _missing(self) -> list[str]:
        """Why the backend's last listing failed, if it did."""
        missing = self.router.services.backends.cached(Environment()).missing
        return [f"its listing failed: {gone.reason}" for gone in missing if gone.backend == self.backend]

    async def _ready(self, row: Device) -> tuple[Device | None, str]:
        """The row once it can be driven; it is started where the backend can do that."""
        if row.state == "ready":
            return row, ""
        if row.state != "shutdown" or "power.boot" not in self.manifest.operations:
            return None, row.reason or row.state
        problem = await self._call("boot", device=row.key)
        if problem:
            return None, problem
        self.booted.append(row)
        found = [fresh for fresh in await self._rows() if fresh.key == row.key]
        return (found[0], "") if found and found[0].state == "ready" else (None, "did not become ready")

    async def _call(self, name: str, /, **arguments: Any) -> str:
        """A call of the suite itself; empty when it worked, else what went wrong."""
        try:
            answer = await self.router.call(Call(name=name, arguments=arguments, caller=self.caller))
        except AnydeviceError as error:
            return error.message
        if name == "boot":
            for session in self.router.services.sessions.visible(self.caller):
                self.router.services.sessions.end(session, "the suite only started the device")
        return "" if answer.ok or answer.error is None else f"{answer.error.code}: {answer.error.message}"


def _place(listed: list[str], device_id: str) -> int:
    return listed.index(device_id) if device_id in listed else len(listed)
