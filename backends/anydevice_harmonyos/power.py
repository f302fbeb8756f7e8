"""Starting and stopping emulators, and the driver of a virtual device that may not run yet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from anydevice.driver import CAPABILITIES, Acted, Apps, Driver, OpenRequest, Power
from anydevice_schemas import Device, DeviceRef
from anydevice_schemas.errors import ActionUnverified, DeviceNotReady, Unsupported

from .emulating import Emulators
from .instance import Instance, vanished

Inner = Callable[[Device, str, str], Driver]
"""Makes the driver of a device that runs: its row, its connect key, and the name of the virtual device."""


class EmulatorPower(Power):
    """Ends an emulator that somebody else started. It is not ours to start again: its row is of what runs."""

    def __init__(self, emulators: Emulators, key: str, who: Callable[[], Awaitable[DeviceRef]]) -> None:
        """`who` asks the device who it is: afterwards it cannot be asked."""
        self._emulators, self._key, self._who = emulators, key, who
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
            Unsupported: Which virtual device it is cannot be told.
            ActionUnverified: It is still there.
        """
        running = [one for one in await self._emulators.list(fresh=True) if one.running]
        if len(running) != 1:
            raise Unsupported(
                "Which virtual device this is cannot be told: the emulator program knows it by another name.",
                hint="End it where it was started.",
                operation="power.shutdown",
                alternatives=[],
            )
        who = await self._who()
        await self._emulators.stop(running[0].name)
        if not await vanished(self._emulators, self._key, deadline=deadline):
            raise ActionUnverified("The emulator is still there.", expected="gone", actual="connected")
        self.ended = who
        return Acted("emulator", verified=True)


class InstancePower(Power):
    """See `Power`."""

    def __init__(self, driver: InstanceDriver) -> None:
        self._driver = driver

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """See `Power.boot`. The program opens a window where there is a screen; it has no word for none."""
        started = await self._driver.instance.boot(deadline=deadline)
        self._driver.fit()
        return Acted("emulator", verified=True, data={} if started else {"alreadyRunning": True})

    async def shutdown(self, *, deadline: float) -> Acted:
        """See `Power.shutdown`."""
        await self._driver.release()
        stopped = await self._driver.instance.shutdown(deadline=deadline)
        return Acted("emulator", verified=True, data={} if stopped else {"already_down": True})


class LaterApps(Apps):
    """Apps of a virtual device that does not run: what is asked to boot it and open an app comes back here."""

    def __init__(self, driver: InstanceDriver) -> None:
        self._driver = driver

    async def open(self, request: OpenRequest) -> Acted:
        """See `Apps.open`.

        Raises:
            DeviceNotReady: It still does not run.
        """
        apps = self._driver.apps
        if isinstance(apps, LaterApps):
            raise DeviceNotReady(
                "The emulator does not run.", hint="Call boot first.", state="shutdown", fix="Boot it first."
            )
        return await apps.open(request)


class InstanceDriver(Driver):
    """The driver of a virtual device: what starts it while it does not run, and then everything a device has."""

    def __init__(self, device: Device, instance: Instance, inner: Inner) -> None:
        self.device, self.instance, self._make = device, instance, inner
        self.power = InstancePower(self)
        self._inner: Driver | None = None
        self.apps: Apps = LaterApps(self)
        self.fit()

    def fit(self) -> None:
        """Takes on what the device has now: everything once it is up, and nothing before."""
        identity = self.instance.identity
        if self._inner is None and self.instance.up and identity is not None:
            facts = {**self.device.facts, "api": identity.api, "hardwareSerial": identity.serial}
            row = self.device.model_copy(update={"facts": facts, "state": "ready"})
            self._inner = self._make(row, self.instance.key, self.instance.virtual.name)
            for kind in CAPABILITIES:
                if kind.name != "power" and hasattr(self._inner, kind.name):
                    setattr(self, kind.name, getattr(self._inner, kind.name))

    async def release(self) -> None:
        """Lets go of what runs."""
        inner, self._inner = self._inner, None
        for kind in CAPABILITIES:
            if kind.name != "power":
                vars(self).pop(kind.name, None)
        self.apps = LaterApps(self)
        if inner is not None:
            await inner.aclose()

    async def identify(self) -> DeviceRef:
        """See `Driver.identify`."""
        if self._inner is not None and self.instance.up:
            return await self._inner.identify()
        return self.device.ref()

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver.unavailable`."""
        return self._inner.unavailable() if self._inner is not None else {}

    async def clean(self) -> None:
        """See `Driver.clean`."""
        if self._inner is not None and self.instance.up:
            await self._inner.clean()

    async def aclose(self) -> None:
        """See `Driver.aclose`. The emulator goes on; it ends with the backend."""
        await self.release()
