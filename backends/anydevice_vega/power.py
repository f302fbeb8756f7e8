"""Starting and stopping virtual devices, and the driver of one that may not run yet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from anydevice.driver import Acted, Capability, Driver, Power
from anydevice_adb import AdbDevice
from anydevice_adb.server import LOOPBACK
from anydevice_adb.virtual import virtual_devices
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import Unsupported

from .sdk import Sdk
from .vvd import VirtualDevice, end, gone

NOWHERE: Final = "vvd-that-is-down"
"""A serial that no adb server lists: whatever is asked of it is answered by `device_offline`."""
Inner = Callable[[Device, AdbDevice], Driver]
"""Makes the driver of a device that runs."""


class RunningPower(Power):
    """Ends a virtual device that somebody else started. It is not ours to start again: its row is of what runs."""

    def __init__(
        self,
        tools: Sdk,
        adb: AdbDevice,
        env: Mapping[str, str],
        who: Callable[[], Awaitable[DeviceRef]],
    ) -> None:
        """`who` asks the device who it is: afterwards it cannot be asked."""
        self._sdk, self._server, self._serial, self._env, self._who = tools, adb.server, adb.serial, env, who
        self.ended: DeviceRef | None = None
        """Who it was that was ended here."""

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """See `Power.boot`.

        Raises:
            Unsupported: It is started by its image.
        """
        raise Unsupported(
            "A virtual device is started by the name of its image.",
            hint="Call devices: images that do not run are listed by name.",
            operation="power.boot",
            alternatives=[],
        )

    async def shutdown(self, *, deadline: float) -> Acted:
        """See `Power.shutdown`.

        Raises:
            Unsupported: It is none of this machine.
            ActionUnverified: It is still there.
        """
        rows = [row for row in await virtual_devices() if row.serial == self._serial]
        if self._server.host not in LOOPBACK or len(rows) != 1:
            raise Unsupported(
                "Only virtual devices of this machine can be shut down.", operation="power.shutdown", alternatives=[]
            )
        who = await self._who()
        await end(self._sdk, rows[0], self._env)
        await gone(self._server, self._serial, deadline=min(deadline, 8.0))
        self.ended = who
        return Acted("process", verified=True)


class ImagePower(Power):
    """Starts and ends the virtual device of an image."""

    def __init__(self, driver: ImageDriver) -> None:
        self._driver = driver

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """See `Power.boot`; errors as `VirtualDevice.boot`."""
        virtual = self._driver.virtual
        if await virtual.process() is None:
            await self._driver.release()  # of one that ended by itself
        started = await virtual.boot(headless=headless, deadline=deadline, several=self._driver.several)
        self._driver.fit()
        data: dict[str, Any] = {"serial": virtual.serial}
        return Acted("vega", verified=True, data=data if started else {**data, "already_running": True})

    async def shutdown(self, *, deadline: float) -> Acted:
        """See `Power.shutdown`; errors as `VirtualDevice.shutdown`."""
        await self._driver.release()
        stopped = await self._driver.virtual.shutdown(deadline=deadline)
        return Acted("process", verified=True, data={} if stopped else {"already_down": True})


class ImageDriver(Driver):
    """The driver of an image. What it cannot do while the device is down it has all the same: `open` may boot it."""

    def __init__(self, device: Device, virtual: VirtualDevice, inner: Inner, *, several: bool) -> None:
        """`several`: other images are installed as well."""
        self.device, self.virtual, self.several, self._make = device, virtual, several, inner
        self._inner: Driver | None = None
        self._down = inner(device, AdbDevice(virtual.server, NOWHERE))
        self.power = ImagePower(self)
        self._take(self._down)
        self.fit()

    def fit(self) -> None:
        """Takes on the device that is up."""
        serial = self.virtual.serial
        if self._inner is not None or not serial or self.virtual.starting:
            return
        row = self.device.model_copy(update={"state": "ready"})
        self._inner = self._make(row, AdbDevice(self.virtual.server, serial))
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
        if self._inner is not None and await self.virtual.process() is not None:
            return await self._inner.identify()
        return self.device.ref()

    async def clean(self) -> None:
        """See `Driver.clean`."""
        if self._inner is not None and await self.virtual.process() is not None:
            await self._inner.clean()

    async def aclose(self) -> None:
        """See `Driver.aclose`. The virtual device goes on; it ends with the backend."""
        await self.release()
