"""Where an emulator believes to be: told over its console, read back from the location service.

The receiver of an emulator says what the console was told, but Android listens to it only while an app asks where it
is. Until then the new place is on no record, and reading it back tells nothing.
"""

from __future__ import annotations

import re
from typing import Final

from anydevice.driver import Acted, Setting
from anydevice_adb.server import LOOPBACK
from anydevice_schemas.errors import Unsupported, UpstreamUnavailable

from . import console
from .inventory import EMULATOR
from .reach import Reach

NEEDS: Final = "Only an emulator of this machine can be told where it is."
SWITCH_SINCE: Final = 30
"""API level from which `cmd location` switches it."""
OFF: Final = "off"
_LAST = re.compile(r"\bLocation\[gps (?P<latitude>-?\d+\.\d+),(?P<longitude>-?\d+\.\d+)")
_RECEIVER = re.compile(r"^(?P<indent>[ \t]*)gps provider\b[^\n]*\n(?P<block>(?:(?P=indent)[ \t]+[^\n]*\n?)*)", re.M)
_ASKED = re.compile(r"\bProviderRequest\[(?!OFF\])")


class Location:
    """The place of one device."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._told = ""

    @property
    def port(self) -> int | None:
        """The port of the console; None where there is none to be reached."""
        number = self._reach.adb.serial.removeprefix(EMULATOR)
        emulator = number != self._reach.adb.serial and number.isdigit()
        return int(number) if emulator and self._reach.adb.server.host in LOOPBACK else None

    async def read(self) -> Setting:
        """`LATITUDE,LONGITUDE` in degrees, `off`, or nothing where Android has no place on record."""
        if await self._enabled() is False:
            return Setting(OFF)
        text = (await self._reach.run("dumpsys", "location", deadline=15.0)).text
        found = _LAST.search(text)
        seen = f"{float(found['latitude']):.6f},{float(found['longitude']):.6f}" if found else None
        if self._told and seen != self._told and not listened(text):
            return Setting(None, data={"told": self._told, "last": seen, "reason": "no app asks where it is"})
        return Setting(seen)

    async def put(self, value: str) -> Acted:
        """Switches the location off, or on and to a place.

        Raises:
            Unsupported: It is no emulator of this machine.
            UpstreamUnavailable: The console, or the device, did not take it.
        """
        port = self.port
        if port is None:
            raise Unsupported(NEEDS, operation="settings.location", alternatives=[])
        await self._switch(value != OFF)
        if value == OFF:
            return Acted("location")
        latitude, _, longitude = value.partition(",")
        host = self._reach.adb.server.host
        if await console.ask(host, port, f"geo fix {longitude} {latitude}") is None:
            raise UpstreamUnavailable(
                "The emulator's console did not take the place.",
                upstream="emulator console",
                enable_hint=f"Run anydevice as the user who started the emulator: ~/{console.TOKEN} is its key.",
            )
        self._told = value
        return Acted("console")

    async def _enabled(self) -> bool | None:
        if 0 < self._reach.sdk < SWITCH_SINCE:
            said = (await self._reach.run("settings", "get", "secure", "location_mode")).text.strip()
            return said != "0" if said.isdigit() else None
        said = (await self._reach.run("cmd", "location", "is-location-enabled")).both.strip()
        return {"true": True, "false": False}.get(said)

    async def _switch(self, on: bool) -> None:
        if await self._enabled() is on:
            return
        if 0 < self._reach.sdk < SWITCH_SINCE:
            done = await self._reach.run("settings", "put", "secure", "location_mode", "3" if on else "0")
        else:
            done = await self._reach.run("cmd", "location", "set-location-enabled", "true" if on else "false")
        if done.status != 0 or "Exception" in done.both:
            raise UpstreamUnavailable(
                "The device did not take the setting.", upstream="location", enable_hint="See details.", said=done.both
            )


def listened(text: str) -> bool:
    """Whether `dumpsys location` says that somebody listens to the receiver."""
    block = _RECEIVER.search(text)
    return block is not None and _ASKED.search(block["block"]) is not None
