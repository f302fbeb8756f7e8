"""One driver a device: connected on first use, kept while somebody uses it, dropped when its connection is lost."""

from __future__ import annotations

import anyio
import structlog

from anydevice_schemas import Device
from anydevice_schemas.errors import AnydeviceError, BackendBroken, CallTimeout

from .discovery import describe
from .driver import Driver, Environment
from .inventory import Backends

log = structlog.get_logger("anydevice.connections")

CONNECT_DEADLINE = 20.0
CLOSE_DEADLINE = 10.0


class Connections:
    """The live drivers of this host."""

    def __init__(self, backends: Backends) -> None:
        self.backends = backends
        self._drivers: dict[str, Driver] = {}
        self._locks: dict[str, anyio.Lock] = {}

    def existing(self, device_key: str) -> Driver | None:
        """The driver of a device that is connected already."""
        return self._drivers.get(device_key)

    async def get(self, device: Device, env: Environment) -> Driver:
        """The device's driver, connected if need be.

        Raises:
            CallTimeout: The backend did not connect in time.
            BackendBroken: It failed in a way its contract does not allow.
            AnydeviceError: Whatever typed reason the backend gives (offline, unauthorized, tool missing …).
        """
        driver = self._drivers.get(device.key)
        if driver is not None:
            return driver
        lock = self._locks.setdefault(device.key, anyio.Lock())
        async with lock:
            driver = self._drivers.get(device.key)
            if driver is None:
                driver = await self._connect(device, env)
                self._drivers[device.key] = driver
            return driver

    async def _connect(self, device: Device, env: Environment) -> Driver:
        backend = await self.backends.instance(device.backend)
        try:
            with anyio.fail_after(CONNECT_DEADLINE):
                driver = await backend.connect(device, env)
        except TimeoutError:
            raise CallTimeout(
                "The device did not answer while connecting.",
                after=CONNECT_DEADLINE,
                waiting_for="connection",
                device=device.key,
            ) from None
        except AnydeviceError:
            raise
        except Exception as error:
            raise BackendBroken(
                f"The backend {device.backend} failed to connect.",
                backend=device.backend,
                reason=describe(error),
                device=device.key,
            ) from error
        if not isinstance(driver, Driver):
            raise BackendBroken(
                f"The backend {device.backend} gave no driver.",
                backend=device.backend,
                reason=f"connect() returned a {type(driver).__name__}",
                device=device.key,
            )
        return driver

    async def drop(self, device_key: str) -> None:
        """Closes the driver of a device, if there is one, under a deadline."""
        driver = self._drivers.pop(device_key, None)
        if driver is None:
            return
        try:
            with anyio.move_on_after(CLOSE_DEADLINE, shield=True):
                await driver.aclose()
        except Exception as error:
            log.warning("driver_close_failed", device=device_key, reason=describe(error))

    async def aclose(self) -> None:
        """Closes every driver."""
        async with anyio.create_task_group() as group:
            for key in list(self._drivers):
                group.start_soon(self.drop, key)
