"""One Android device of the lab: its files, its programs, its framework, and what it says of itself."""

from __future__ import annotations

import time
from pathlib import Path

from anyio.abc import SocketStream

from ..guest import programs
from . import console
from .adb_device import AdbDevice
from .adbkey import PublicKey
from .faults import Faults
from .files import Files
from .framework.machine import Machine
from .kinds import Kind


class LabDevice(AdbDevice):
    """A simulated Android device; see `AdbDevice` for what it is made of.

    Attributes:
        idle_seconds: How long a screen that never rests is waited for.
        sounds: What was played: from when until when (None: it still plays; clock of the host), and how loud in dBFS.
    """

    machine: Machine
    faults: Faults

    def __init__(self, kind: Kind, folder: Path, keys: list[PublicKey], number: int = 1) -> None:
        from .commands import PROGRAMS

        super().__init__(kind, folder, keys, number)
        self.faults = Faults(self)
        self.commands = PROGRAMS
        self.files = self.pushed = Files(folder / "root", folder / "bin", self.shell)
        programs.install(folder / "bin", self.commands)
        self.machine = Machine(self)
        self.idle_seconds = 10.0
        self.sounds: list[tuple[float, float | None, float]] = []

    def play(self, level: float | None) -> None:
        """Plays from now on, in dBFS; None ends it."""
        now = time.time()
        if self.sounds and self.sounds[-1][1] is None:
            self.sounds[-1] = (self.sounds[-1][0], now, self.sounds[-1][2])
        if level is not None:
            self.sounds.append((now, None, level))

    @property
    def told(self) -> dict[str, str]:
        """Properties in the banner."""
        kind = self.kind
        return {"ro.product.name": kind.product, "ro.product.model": kind.model, "ro.product.device": kind.device}

    @property
    def environment(self) -> dict[str, str]:
        """What a process of its shell has in its environment."""
        return {
            **super().environment,
            "ANDROID_DATA": str(self.files.host("/data")),
            "ANDROID_ROOT": str(self.files.host("/system")),
            "EXTERNAL_STORAGE": str(self.files.host("/sdcard")),
            "TMPDIR": str(self.files.host("/data/local/tmp")),
            "HOSTNAME": self.kind.device,
            "USER": "shell",
        }

    async def answer_console(self, stream: SocketStream) -> None:
        """Serves a connection to an emulator's console."""
        await console.serve_android(self, stream)
