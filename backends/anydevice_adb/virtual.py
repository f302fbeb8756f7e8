"""Virtual devices of other systems than Android that an adb server lists as emulators: those of the Vega SDK.

While one is offline nothing asks it what it is, and only the process table tells it from an emulator of Android.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from anydevice.kit import processes
from anydevice_schemas.errors import AnydeviceError

LISTING: Final = 5.0
"""Seconds the process table may take."""
EMULATOR: Final = "emulator-"
_VVD = re.compile(r"^\s*(?P<pid>\d+)\s+(?P<command>\S*vega-virtual-device)\s(?P<rest>.*)$", re.M)
_PORTS = re.compile(r"-ports (?P<console>\d+),(?P<adb>\d+)")
_IMAGE = re.compile(r"/vvd/images/(?P<image>[^/]+)/")


@dataclass(slots=True, frozen=True)
class Virtual:
    """A virtual device in the process table: its process, console port, image, and its program's path."""

    pid: int
    port: int
    image: str
    program: str

    @property
    def serial(self) -> str:
        """What adb calls it."""
        return f"{EMULATOR}{self.port}"


def parse_processes(text: str) -> list[Virtual]:
    """The virtual devices of a process table (`ps -A -ww -o pid=,command=`)."""
    found = []
    for row in _VVD.finditer(text):
        ports = _PORTS.search(row["rest"])
        if ports is None:
            continue
        image = _IMAGE.search(row["command"])
        found.append(Virtual(int(row["pid"]), int(ports["console"]), image["image"] if image else "", row["command"]))
    return found


async def virtual_devices() -> list[Virtual]:
    """The virtual devices that run on this machine, whoever started them; none where nobody tells."""
    try:
        done = await processes.run(["ps", "-A", "-ww", "-o", "pid=,command="], deadline=LISTING, cap=8 << 20)
    except AnydeviceError:
        return []
    return parse_processes(done.text)
