"""The `vega` program and what is installed with it. It takes seconds a call, so little is asked of it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio.to_thread

from anydevice.kit import processes
from anydevice_schemas.errors import AnydeviceError, ToolMissing

from .reading import cli

NAMES: Final = ("vega", "kepler")
USUAL: Final = "~/vega/bin/vega"
ASKING: Final = 6.0
"""Seconds a question may take: the program starts three others."""
INSTALL: Final = "Install the Vega SDK from Amazon's developer site; it puts vega into ~/vega/bin."


@dataclass(slots=True, frozen=True)
class Image:
    """An installed image of a virtual device: its name, the SDK's version it came with, and where it lies."""

    name: str
    version: str
    path: str

    def holds(self, program: str) -> bool:
        """Whether a virtual device's program lies in the folder of the images this one is in."""
        return program.startswith(str(Path(self.path).parent) + os.sep)


class Sdk:
    """The SDK of this machine, where there is one."""

    def __init__(self, program: str = "") -> None:
        """`program` is the path of `vega` where it is neither on PATH nor in its usual place."""
        self._given = program

    async def program(self) -> str | None:
        """Path of the program; None where there is none."""
        return await anyio.to_thread.run_sync(_find, self._given)

    async def run(
        self, *words: str, deadline: float = ASKING, variables: Mapping[str, str] | None = None
    ) -> processes.Result:
        """Runs it to its end; all that it started is ended with it.

        Raises:
            ToolMissing: It is not installed.
            CallTimeout: It did not end in time; it was ended with everything it had started.
        """
        path = await self.program()
        if path is None:
            raise missing()
        return await processes.run([path, *words], deadline=deadline, env=environment(variables or {}))

    async def info(self, serial: str, variables: Mapping[str, str]) -> dict[str, Any]:
        """What it tells of a device; empty where it tells nothing, or is not there."""
        try:
            done = await self.run("device", "info", "-d", serial, variables=variables)
            if cli.OFFLINE.search(done.complaint + done.text):  # a moment of the transport; asked once more
                done = await self.run("device", "info", "-d", serial, variables=variables)
        except AnydeviceError:
            return {}
        return cli.device_info(cli.without_noise(done.text))

    async def images(self) -> list[Image]:
        """Images that are installed, the newest of each name."""
        path = await self.program()
        return [] if path is None else await anyio.to_thread.run_sync(_images, path)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """What the program is started with: this process's environment, and the adb server of the caller."""
    own = {name: value for name, value in os.environ.items() if name not in ("VEGA_SERIAL", "VDA_SERIAL")}
    port = variables.get("ANDROID_ADB_SERVER_PORT")
    return {**own, "ANDROID_ADB_SERVER_PORT": port} if port else own


def missing() -> ToolMissing:
    """The refusal where there is no SDK."""
    return ToolMissing("The program vega is not installed.", tools=["vega"], install=INSTALL)


def _find(given: str) -> str | None:
    if given:
        return given if os.path.isfile(given) and os.access(given, os.X_OK) else None
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    usual = os.path.expanduser(USUAL)
    return usual if os.access(usual, os.X_OK) else None


def _images(program: str) -> list[Image]:
    home = Path(program).absolute().parent.parent
    found: dict[str, Image] = {}
    for folder in sorted((home / "sdk" / "vega-sdk").glob("*/*/vvd/images/*"), key=_version):
        if folder.is_dir():
            found[folder.name] = Image(folder.name, folder.parts[-4], str(folder))
    return [found[name] for name in sorted(found)]


def _version(folder: Path) -> tuple[list[int], str]:
    return [int(number) for number in re.findall(r"\d+", folder.parts[-4])], folder.name
