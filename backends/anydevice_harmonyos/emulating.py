"""The program `Emulator` of DevEco Studio: where it is, what it lists, starting, ending and turning a virtual device.

Its exit status says nothing in either direction, so nothing is believed here but what is seen afterwards.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from anydevice.kit import processes
from anydevice_schemas.errors import AnydeviceError, ToolMissing, UpstreamUnavailable

from .hdc import HdcServer
from .reading.emulators import Virtual, parse_list

LISTING: Final = 8.0
"""Seconds the program may take to list."""
KEPT: Final = 10.0
"""Seconds a list is good for: asking starts a program."""
TELLING: Final = 20.0
"""Seconds it may take to end or turn a device."""
INSTALL: Final = (
    "Install DevEco Studio, which brings the program Emulator, and put its folder on the PATH (or set emulator in "
    "table [harmonyos] of the configuration)."
)


def find(variables: Mapping[str, str], configured: str = "") -> str | None:
    """Path of the program: the one of the configuration, else beside the caller's kit, else on PATH; None = nowhere."""
    folders = [Path(configured)] if os.path.isabs(configured) else []
    kit = variables.get("DEVECO_SDK_HOME", "")
    if os.path.isabs(kit):
        folders.append(Path(kit).parent / "tools" / "emulator")
    if sys.platform == "darwin":
        folders.append(Path("/Applications/DevEco-Studio.app/Contents/tools/emulator"))
    for folder in folders:
        for name in ("Emulator", "emulator"):
            path = folder / name if folder.is_dir() else folder
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
    return shutil.which("Emulator")


@dataclass
class Emulators:
    """The program of one caller. `server` is the hdc server its devices attach to."""

    server: HdcServer
    variables: Mapping[str, str]
    configured: str = ""
    _kept: tuple[float, list[Virtual]] = field(default=(float("-inf"), []))
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def list(self, *, fresh: bool = False) -> list[Virtual]:
        """The virtual devices there are; none where there is no program, or where it does not answer."""
        async with self._lock:
            if not fresh and anyio.current_time() - self._kept[0] < KEPT:
                return self._kept[1]
            try:
                found = parse_list(await self._run("-list", "-details", deadline=LISTING))
            except AnydeviceError:
                return []
            self._kept = anyio.current_time(), found
            return found

    async def start(self, name: str) -> processes.Child:
        """Starts a virtual device, in a process group of its own; whether it comes up is to be seen.

        Raises:
            ToolMissing: There is no such program.
        """
        path = await self._path()
        self._kept = float("-inf"), []
        return await processes.start([path, "-start", name], env=self._environment(), stdout=subprocess.STDOUT)

    async def stop(self, name: str) -> str:
        """Asks it to end; what the program said.

        Raises:
            AnydeviceError: As `_run`.
        """
        self._kept = float("-inf"), []
        return await self._run("-stop", name, deadline=TELLING)

    async def turn(self, name: str, way: str) -> None:
        """Turns it a quarter, `left` or `right`.

        Raises:
            UpstreamUnavailable: The program did not say that it did.
        """
        said = await self._run("-instance", name, "-rotation", way, deadline=TELLING)
        if "success" not in said:
            raise UpstreamUnavailable(
                "The emulator was not turned.", upstream="Emulator", enable_hint="See details.", said=said[-500:]
            )

    async def _run(self, *words: str, deadline: float) -> str:
        done = await processes.run([await self._path(), *words], deadline=deadline, env=self._environment())
        return done.text + done.complaint

    async def _path(self) -> str:
        path = await anyio.to_thread.run_sync(find, self.variables, self.configured)
        if path is None:
            raise ToolMissing("The program Emulator is not installed.", tools=["Emulator"], install=INSTALL)
        return path

    def _environment(self) -> dict[str, str]:
        told = {name: value for name, value in self.variables.items() if value}
        return {**os.environ, **told, "OHOS_HDC_SERVER_PORT": str(self.server.port)}
