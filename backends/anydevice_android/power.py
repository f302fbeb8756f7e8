"""Starting and stopping emulators, and the driver of a virtual device that may not run yet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from anydevice.driver import Acted, Capability, Driver, Power
from anydevice_adb import AdbDevice, AdbServer
from anydevice_adb.server import LOOPBACK
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import ActionUnverified, Unsupported

from .console import kill
from .emulator import Emulator, gone
from .inventory import EMULATOR

NOWHERE: Final = "emulator-that-is-down"
"""A serial that no adb server lists: whatever is asked of it is answered by `device_offline`."""
Inner = Callable[[Device, AdbDevice], Driver]
"""Makes the driver of a device that runs."""


class EmulatorPower(Power):
    """Ends an emulator that somebody else started. It is not ours to start again: its row is of what runs."""

    def __init__(self, server: AdbServer, serial: str, who: Callable[[], Awaitable[DeviceRef]]) -> None:
        """`who` asks the device who it is: afterwards it cannot be asked."""
        self._server, self._serial, self._who = server, serial, who
        self.ended: DeviceRef | None = None
        """Who it was that was ended here."""

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """See `Power.boot`.

        Raises:
            Unsupported: It is started as a virtual device.
        """
        raise Unsupported(
            "An emulator is started by the name of its virtual device.",
            hint="Call devices: virtual devices that do not run are listed by name.",
            operation="power.boot",
            alternatives=[],
        )

    async def shutdown(self, *, deadline: float) -> Acted:
        """See `Power.shutdown`.

        Raises:
            Unsupported: It runs on another machine.
            ActionUnverified: Its console did not take it, or it is still there.
        """
        port = self._serial.removeprefix(EMULATOR)
        if self._server.host not in LOOPBACK or not port.isdigit():
            raise Unsupported(
                "Only emulators of this machine can be shut down.", operation="power.shutdown", alternatives=[]
            )
        who = await self._who()
        taken = await kill(self._server.host, int(port))
        if not await gone(self._server, self._serial, deadline=deadline if taken else 1.0):
            raise ActionUnverified(
                "The emulator is still there.",
                expected="gone",
                actual="listed" if taken else "its console did not take it",
                hint=f"End it yourself: adb -s {self._serial} emu kill",
            )
        self.ended = who
        return Acted("console", verified=True)


class AvdPower(Power):
    """Starts and ends a virtual device."""

    def __init__(self, driver: AvdDriver) -> None:
        self._driver = driver

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """See `Power.boot`; errors as `Emulator.boot`."""
        emulator = self._driver.emulator
        if not emulator.up:
            await self._driver.release()  # of one that ended by itself
        started = await emulator.boot(headless=headless, deadline=deadline)
        self._driver.fit()
        data: dict[str, Any] = {"serial": emulator.serial}
        return Acted("launch", verified=True, data=data if started else {**data, "already_running": True})

    async def shutdown(self, *, deadline: float) -> Acted:
        """See `Power.shutdown`."""
        await self._driver.release()
        stopped = await self._driver.emulator.shutdown(deadline=deadline)
        return Acted("console", verified=True, data={} if stopped else {"already_down": True})


class AvdDriver(Driver):
    """The driver of a virtual device. What it cannot do while it is down it has all the same: `open` may boot it."""

    def __init__(self, device: Device, emulator: Emulator, inner: Inner) -> None:
        self.device, self.emulator, self._make = device, emulator, inner
        self._inner: Driver | None = None
        self._down = inner(device, AdbDevice(emulator.server, NOWHERE))
        self.power = AvdPower(self)
        self._take(self._down)
        self.fit()

    def fit(self) -> None:
        """Takes on the device that is up."""
        identity = self.emulator.identity
        if self._inner is None and self.emulator.up and identity is not None:
            facts = {**self.device.facts, "api": identity.sdk, "hardwareSerial": identity.serial}
            row = self.device.model_copy(update={"facts": facts, "state": "ready"})
            self._inner = self._make(row, AdbDevice(self.emulator.server, self.emulator.serial))
            self._take(self._inner)

    def _take(self, other: Driver) -> None:
        for name, part in vars(other).items():
            if isinstance(part, Capability) and name != "power":
                setattr(self, name, part)

    async def release(self) -> None:
        """Lets go of what runs."""
        inner, self._inner = self._inner, None
        self._take(self._down)
        if inner is not None:
            await inner.aclose()

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`."""
        if self._inner is not None and self.emulator.up:
            return await self._inner.identify()
        return self.device.ref()

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver.unavailable`."""
        return (self._inner or self._down).unavailable()

    async def clean(self) -> None:
        """See `Driver.clean`."""
        if self._inner is not None and self.emulator.up:
            await self._inner.clean()

    async def aclose(self) -> None:
        """See `Driver.aclose`. The emulator goes on; it ends with the backend."""
        await self.release()
