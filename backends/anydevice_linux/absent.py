"""The backend where the libraries it needs are not installed: it says so, and how to get them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from anydevice.driver import Backend, Check, Driver, Environment, HostServices
from anydevice_schemas import Device
from anydevice_schemas.errors import ToolMissing

INSTALL = "pip install 'anydevice[linux]' && anydevice stop"  # what is installed is seen by the next daemon
LIBRARIES = {"dbus_fast": "dbus-fast", "Xlib": "python-xlib", "mss": "mss", "PIL": "pillow", "xdg": "pyxdg"}
"""Distribution of each module that may be missing."""


class AbsentBackend(Backend):
    """Lists one desktop, which cannot be used, with the reason and the fix.

    Args:
        missing: Module that could not be imported.
    """

    missing = ""

    def __init__(self, host: HostServices) -> None:
        super().__init__(host)
        self._lacks = LIBRARIES.get(self.missing, self.missing)

    async def devices(self, env: Environment) -> Sequence[Device]:
        """See `Backend.devices`."""
        if not sys.platform.startswith("linux"):
            return []
        row = Device(
            id="virtual",
            name="Virtual desktop",
            platform="linux",
            backend="linux",
            device_target="desktop",
            device_class="desktop",
            kind="virtual",
            state="unavailable",
            reason=f"The library {self._lacks} is not installed.",
            fix=INSTALL,
        )
        return [row]

    async def connect(self, device: Device, env: Environment) -> Driver:
        """See `Backend.connect`.

        Raises:
            ToolMissing: Always.
        """
        raise ToolMissing("What drives Linux desktops is not installed.", tools=[self._lacks], install=INSTALL)

    async def check(self, env: Environment) -> Sequence[Check]:
        """See `Backend.check`."""
        return [Check("libraries", False, f"not installed: {self._lacks}", INSTALL, optional=True)]
