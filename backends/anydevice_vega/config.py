"""The device's own configuration, by `vdcm`: read and changed by name, every change read back."""

from __future__ import annotations

import re
from typing import Final

from anydevice.driver import Acted, Capability, Setting
from anydevice_schemas.errors import InvalidArgument, UpstreamUnavailable

from .reach import Reach

SPACE: Final = "com.amazon.devconf/"
NAME: Final = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)+")
_BAD: Final = re.compile(r"\b(?:error|failed|not found|no such|invalid|unknown)\b", re.I)


class VegaConfig(Capability):
    """Values of the device's configuration, such as `system/accessibility/VoiceViewEnabled`."""

    name = "config"

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._before: dict[str, str] = {}

    async def read(self, name: str) -> Setting:
        """One value.

        Args:
            name: Below `com.amazon.devconf`, or with that in front.

        Raises:
            InvalidArgument: It is no name, or the device has none of it.
        """
        done = await self._reach.run("vdcm", "get", _full(name))
        if done.status != 0 or _BAD.search(done.complaint):
            raise InvalidArgument(
                "The device has no such value.", param="name", expected="the name of a value", said=done.both[-300:]
            )
        return Setting(done.text.strip() or None)

    async def change(self, name: str, value: str) -> Acted:
        """Changes one value; what it was before is put back when the device is given back.

        Raises:
            InvalidArgument: It is no name, or the device has none of it.
            UpstreamUnavailable: The device did not take it.
        """
        full = _full(name)
        before = (await self.read(name)).value
        done = await self._reach.run("vdcm", "set", full, value)
        if done.status != 0:
            raise UpstreamUnavailable(
                "The device did not take the value.", upstream="vdcm", enable_hint="See details.", said=done.both[-500:]
            )
        if before is not None:
            self._before.setdefault(full, before)
        now = (await self.read(name)).value
        return Acted("vdcm", verified=now == value, data={"before": before, "value": now})

    async def clean(self) -> None:
        """Puts everything back as it was.

        Raises:
            UpstreamUnavailable: The device does not take it.
        """
        while self._before:
            name, value = next(iter(self._before.items()))
            done = await self._reach.run("vdcm", "set", name, value)
            if done.status != 0:
                raise UpstreamUnavailable(
                    "A value could not be put back.", upstream="vdcm", enable_hint="Set it by hand.", name=name
                )
            del self._before[name]


def _full(name: str) -> str:
    inner = name.removeprefix(SPACE)
    if not NAME.fullmatch(inner) or ".." in inner:
        raise InvalidArgument(
            "This is no name of a value.", param="name", expected="such as system/accessibility/VoiceViewEnabled"
        )
    return SPACE + inner
