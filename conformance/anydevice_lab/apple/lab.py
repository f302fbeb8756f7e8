"""The lab as tests use it: a Mac with Apple devices, in a process of its own.

async with Lab() as lab:
    phone, tv = await lab.start("iphone", "appletv")
    ...                                     # lab.xcrun is a program like the real one, lab.environment has it on PATH
    await lab.fault(phone, "alert_stall", seconds=5)
    taps = await lab.journal(phone, "tap")
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from ..guest.face import Face, LabFailed

__all__ = ["Lab", "LabFailed"]


class Lab(Face):
    """Simulated Apple devices behind the programs of Xcode and WebDriverAgent.

    Attributes:
        home: Folder with `Practice.app`, `WebDriverAgentRunner-Runner.app` and its xctestrun file.
        bin: Folder with the programs: xcrun, xcodebuild, xcode-select, plutil, axe, idb, iproxy, ios,
            pymobiledevice3.
    """

    def __init__(self) -> None:
        super().__init__([sys.executable, "-m", f"{__package__}.host"])
        self.home = self.bin = ""

    def up(self, told: dict[str, Any]) -> None:
        """The process tells where its programs are."""
        self.home, self.bin = told["home"], told["bin"]

    @property
    def xcrun(self) -> str:
        """The program in place of xcrun."""
        return str(Path(self.bin, "xcrun"))

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs in its environment to find the programs before any other of their names."""
        return {"PATH": f"{self.bin}:{os.environ.get('PATH', os.defpath)}"}

    async def mac(self, **what: Any) -> dict[str, Any]:
        """Changes the Mac: `xcode` (a version, or `clt`), `without` (programs it lacks). Returns what it is."""
        told: dict[str, Any] = await self.ask("mac", **what)
        return told

    async def ask_alert(self, serial: str, text: str, *buttons: str) -> None:
        """The system of a device asks something, over everything; the first button says yes."""
        await self.ask("alert", serial=serial, text=text, buttons=list(buttons))

    async def agent(self, serial: str, port: int = 0) -> int:
        """Starts WebDriverAgent on a device, as a person with Xcode does; returns the port on this host.

        Args:
            port: Where it is to serve; 0 = any that is free.
        """
        made: int = await self.ask("agent", serial=serial, port=port)
        return made
