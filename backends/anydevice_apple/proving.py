"""Whose agent answers at an address that a person named: asked by its processes, because an agent tells no UDID."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import structlog

from anydevice_schemas import Device

from .answers import WdaError
from .bundles import Bundles
from .wda import Wda

log = structlog.get_logger("anydevice.apple")

TRIES: Final = 3
"""Looks until an app that comes and goes just then is the same for both who are asked."""
FAMILIES: Final[Mapping[str, str]] = {"iphone": "phone", "ipad": "tablet", "apple tv": "tv"}


class Named:
    """Proves the agent at an address of the configuration.

    The process of the app in front, as the agent tells it, has to be one of the device's, as Xcode tells those: those
    of simulators are the Mac's own, so no two have the same. What a device's Xcode does not list is told apart by kind
    and version alone, as far as the agent says them.
    """

    def __init__(self, device: Device, bundles: Bundles) -> None:
        self._device, self._bundles = device, bundles

    async def __call__(self, wda: Wda) -> bool:
        """Whether it is the agent of this device.

        Raises:
            AnydeviceError: The agent, or the programs, cannot be asked.
        """
        asking = Wda(wda.url)  # apart: each answer of the one that is in question would be proved in turn
        try:
            return await self._proved(asking)
        finally:
            await asking.aclose()

    async def _proved(self, wda: Wda) -> bool:
        if not self._fits(await wda.status()):
            return False
        for _ in range(TRIES):
            try:
                front = await wda.get("/wda/activeAppInfo")
            except WdaError as error:
                log.info("front_not_told", error=error.error)
                return True  # an old agent: nothing else tells it apart
            pid = front.get("pid") if isinstance(front, Mapping) else None
            if not isinstance(pid, int) or pid <= 0:
                return True
            if pid in await self._bundles.processes():
                return True
        return False

    def _fits(self, status: Mapping[str, object]) -> bool:
        """Whether kind and version of the device that an agent tells are those of this one; what is untold fits."""
        kind = FAMILIES.get(str(status.get("device") or "").casefold(), self._device.device_class)
        system = status.get("os")
        version = str(system.get("version") or "") if isinstance(system, Mapping) else ""
        return kind == self._device.device_class and _same(version, self._device.os_version)


def _same(one: str, other: str) -> bool:
    """Whether two versions can be one: Xcode may say 26.3 of what says 26.3.1 of itself."""
    return all(a == b for a, b in zip(one.split("."), other.split("."), strict=False)) or not one or not other
