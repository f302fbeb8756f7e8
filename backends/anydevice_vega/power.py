"""Starting and stopping virtual devices, and the driver of one that may not run yet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from anydevice.driver import CAPABILITIES, Acted, Driver, Power
from anydevice_adb import AdbDevice
from anydevice_adb.server import LOOPBACK
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import Unsupported

from . import sdk
from .sdk import Sdk
from .vvd import VirtualDevice, end, gone

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
        rows = [row for row in await sdk.virtual_devices() if row.serial == self._serial]
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
    """The driver of an image: only `power` while it does not run, and then everything a device has."""

    def __init__(self, device: Device, virtual: VirtualDevice, inner: Inner, *, several: bool) -> None:
        """`several`: other images are installed as well."""
        self.device, self.virtual, self.several, self._make = device, virtual, several, inner
        self.power = ImagePower(self)
        self._inner: Driver | None = None
        self.fit()

    def fit(self) -> None:
        """Takes on what the device has now: everything once it is up, and nothing before."""
        serial = self.virtual.serial
        if self._inner is not None or not serial or self.virtual.starting:
            return
        row = self.device.model_copy(update={"state": "ready"})
        self._inner = self._make(row, AdbDevice(self.virtual.server, serial))
        for kind in CAPABILITIES:
            if kind.name != "power" and hasattr(self._inner, kind.name):
                setattr(self, kind.name, getattr(self._inner, kind.name))

    async def release(self) -> None:
        """Lets go of what runs."""
        inner, self._inner = self._inner, None
        for kind in CAPABILITIES:
            if kind.name != "power":
                vars(self).pop(kind.name, None)
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
