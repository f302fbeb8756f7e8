"""The lab as tests use it: HarmonyOS devices in a process of their own, behind an hdc server of their own.

async with Lab() as lab:
    phone, tv = await lab.start("phone", "tv")
    ...                                     # OHOS_HDC_SERVER_PORT is lab.port; lab.hdc is a program like the real one
    await lab.fault(phone, "hang", match="dumpLayout", times=1)
    taps = await lab.journal(phone, "tap")
"""

from __future__ import annotations

import sys
from typing import Any

from ..guest.face import Face, LabFailed

__all__ = ["Lab", "LabFailed"]


class Lab(Face):
    """Simulated HarmonyOS devices behind an hdc server.

    Args:
        serving: False leaves the server for `hdc start` to begin.

    Attributes:
        port: Of the hdc server.
        hdc, emulator: Programs in place of hdc and of the Emulator manager.
        folder: Where those are.
    """

    def __init__(self, *, serving: bool = True) -> None:
        super().__init__([sys.executable, "-m", f"{__package__}.host", *([] if serving else ["--silent"])])
        self.port = 0
        self.folder = self.hdc = self.emulator = ""

    def up(self, told: dict[str, Any]) -> None:
        """The process tells where its server and its programs are."""
        self.port, self.folder = told["port"], told["folder"]
        self.hdc, self.emulator = told["hdc"], told["emulator"]

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs in its environment to reach the devices and no others."""
        return {"OHOS_HDC_SERVER_PORT": str(self.port)}

    async def server(self, **what: Any) -> dict[str, Any]:
        """Changes the server.

        Args:
            what: `up` (whether it listens), `version` (whether its greeting holds one), `number` (that version, as
                `Ver: 3.1.0e`; those of 2.x say some things otherwise), `forget` (a key it could not connect to).
        """
        told: dict[str, Any] = await self.ask("server", **what)
        return told

    async def server_fault(self, name: str, **fields: Any) -> None:
        """Sets a fault of the server itself: mute, refuse, wrong, slow, hang."""
        await self.ask("server_fault", fault={"name": name, **fields})

    async def heard(self, kind: str | None = None, *, clear: bool = False) -> list[dict[str, Any]]:
        """What the server was asked: entries of kind command (key, line) and refused (key, why)."""
        entries: list[dict[str, Any]] = await self.ask("heard", kind=kind, clear=clear)
        return entries

    async def emulators(self, *rows: dict[str, Any]) -> None:
        """Emulators that the Emulator program knows: name, and fields `kind`, `seconds` to boot, `exit`, `silent`."""
        await self.ask("emulators", rows=list(rows))

    async def approve(self, serial: str) -> None:
        """A person allows the server on the device."""
        await self.ask("approve", serial=serial)
