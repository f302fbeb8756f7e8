"""One Vega device of the lab: its files, its programs, its framework, its toolkit."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from anyio.abc import SocketStream

from ..android.adb_device import AdbDevice
from ..android.adbkey import PublicKey
from ..guest import programs
from ..guest.files import Files, Layout
from . import console
from .faults import VegaFaults
from .kinds import VegaKind
from .machine import VegaMachine
from .proc import Proc
from .toolkit import PORT, Toolkit

LAYOUT = Layout(
    places=("tmp", "scratch", "home/app_user", "proc", "pkg"),
    same={},
    made=("tmp", "scratch", "home/app_user", "pkg"),
    programs="/usr/bin",
)
"""Where the guest has files of its own."""
ADDRESS = f"tcp:{PORT}"


class _Files(Files):
    """The guest's files; what renews `/proc` is done whenever a command line names it."""

    def __init__(self, root: Path, bin: Path, shell: str, device: VegaDevice) -> None:
        super().__init__(root, bin, LAYOUT, shell)
        self._device = device

    def inward(self, text: bytes) -> bytes:
        """A command line with the guest's paths led into its folder."""
        if b"/proc" in text:
            self._device.proc.renew(self._device.machine)
        return super().inward(text)


class _Pushed(Files):
    """Where files are pushed to and pulled from: another mount namespace than the shell's, save for `/tmp`."""

    def __init__(self, root: Path, bin: Path, shell: str, shared: Files) -> None:
        super().__init__(root, bin, LAYOUT, shell)
        self._shared = shared

    def host(self, path: str) -> Path:
        """Where a path is on this host."""
        found = super().host(path)
        if found == self.root / "tmp" or found.is_relative_to(self.root / "tmp"):
            return self._shared.host(path)
        return found


class VegaDevice(AdbDevice):
    """A simulated Vega device; see `AdbDevice` for what it is made of.

    Attributes:
        kind: What it is.
        dsn: Its serial number, as a person reads it on the device.
    """

    kind: VegaKind
    machine: VegaMachine
    faults: VegaFaults

    def __init__(self, kind: VegaKind, folder: Path, keys: list[PublicKey], number: int = 1) -> None:
        from .commands import PROGRAMS

        super().__init__(kind, folder, keys, number)
        self.dsn = f"{'AN4' if kind.simulated else 'G4N'}{number:02d}{secrets.token_hex(6).upper()}"
        self.serialno = self.dsn
        self.faults = VegaFaults(self)
        self.commands = PROGRAMS
        self.files = _Files(folder / "root", folder / "bin", self.shell, self)
        self.pushed = _Pushed(folder / "pushed", folder / "bin", self.shell, self.files)
        programs.install(folder / "bin", self.commands)
        self.proc = Proc(folder / "root" / "proc")
        self.machine = VegaMachine(self)
        self._toolkit: Toolkit | None = None

    @property
    def told(self) -> dict[str, str]:
        """Properties in the banner: there are none, because there is no property service."""
        return {"ro.product.name": "", "ro.product.model": "", "ro.product.device": ""}

    @property
    def environment(self) -> dict[str, str]:
        """What a process of its shell has in its environment."""
        return {
            **super().environment,
            "HOME": str(self.files.host("/home/app_user")),
            "TMPDIR": str(self.files.host("/tmp")),
            "HOSTNAME": self.machine.hostname,
            "USER": "app_user",
        }

    @property
    def info(self) -> dict[str, Any]:
        """What `vega device info` tells."""
        return {
            "idme": self.dsn,
            "hostname": self.machine.hostname,
            "architecture": self.kind.architecture,
            "profile": "tv",
            "product": self.kind.product,
            "buildDescription": self.kind.build,
            "simulated": self.kind.simulated,
            "inDeveloperMode": self.machine.developer,
        }

    def open_toolkit(self) -> None:
        """The automation toolkit begins to listen, if it does not yet."""
        if self._toolkit is None and self.faults.active("toolkit_down") is None:
            self._toolkit = Toolkit(self)
            self.ports.listen(ADDRESS, self._toolkit.serve)
            self.journal.add("toolkit", running=True)

    def close_toolkit(self) -> None:
        """The automation toolkit ends."""
        if self._toolkit is not None:
            self.ports.close(ADDRESS)
            self._toolkit.end()
            self._toolkit = None
            self.journal.add("toolkit", running=False)

    async def answer_console(self, stream: SocketStream) -> None:
        """Serves a connection to the virtual device's console."""
        await console.serve_vega(self, stream)
