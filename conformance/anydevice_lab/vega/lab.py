"""The lab as tests use it: Vega devices in a process of their own, behind a private adb server and a `vega` program.

async with Lab() as lab:
    vvd, stick = await lab.start("vvd", "stick")
    ...                                         # see lab.environment and lab.program
    await lab.tool(delay=1.7, hang=["device list"])
    await lab.fault(vvd, "inputd_ignored", times=1)
    keys = await lab.journal(vvd, "key")
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..android import lab


class Lab(lab.Lab):
    """Simulated Vega devices that the ordinary client programs can talk to; see `anydevice_lab.android.Lab`.

    Rows of `devices()` have `dsn`, `hostname` and `pid` too, the last of the process of a virtual device. `set` takes
    `direct`, `shell`, `awake`, `developer`, `heeds_touch` and `reboot_seconds`. Faults are in `faults.py`.
    """

    host = f"{__package__}.host"

    @property
    def program(self) -> str:
        """The `vega` program."""
        return str(Path(self.home, "vega", "bin", "vega"))

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs in its environment to reach the devices and no others."""
        import os

        path = f"{Path(self.program).parent}:{os.environ.get('PATH', '')}"
        return {**super().environment, "PATH": path}

    async def tool(self, **switches: Any) -> None:
        """Sets switches of the `vega` program (`sdk.py` tells which there are); None or False takes one away."""
        await self.ask("tool", **switches)

    async def calls(self, *, clear: bool = False) -> list[dict[str, Any]]:
        """Calls of the `vega` program that were answered: their arguments."""
        found: list[dict[str, Any]] = await self.ask("calls", clear=clear)
        return found

    async def offline(self, serial: str, seconds: float = 5.0) -> None:
        """A device is listed as offline for so long, and then comes back."""
        await self.ask("offline", serial=serial, seconds=seconds)
