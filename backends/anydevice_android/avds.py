"""Virtual devices of this host: the `emulator` program, what it lists, and what their settings say they are."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import anyio
import anyio.to_thread

from anydevice.kit import processes
from anydevice_schemas import Device
from anydevice_schemas.device import DeviceClass
from anydevice_schemas.errors import AnydeviceError

from .inventory import BACKEND, PLATFORM

LISTING: Final = 8.0
"""Seconds the program may take to list."""
KEPT: Final = 15.0
"""Seconds a list is good for: asking starts a program."""
PREFIX: Final = "avd:"
VARIABLES: Final = ("ANDROID_HOME", "ANDROID_SDK_ROOT", "ANDROID_AVD_HOME")
"""What of a caller's environment says where the tools and the virtual devices are."""
LARGE: Final = 600
"""Points of the shorter side from which a screen is a tablet's."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")
_SETTING = re.compile(r"^([\w.-]+)[ \t]*=[ \t]*(.*?)[ \t]*$", re.M)
_API = re.compile(r"android-(\d+)")


@dataclass(slots=True, frozen=True)
class Avd:
    """A virtual device: its name, what it is, and its API level (0: not told)."""

    name: str
    device_class: DeviceClass = "phone"
    api: int = 0

    def row(self, state: str = "shutdown") -> Device:
        """It as a device that does not run."""
        reason, fix = ("", "") if state == "shutdown" else ("Android is still starting.", "Wait until it is up.")
        return Device(
            id=PREFIX + self.name,
            name=self.name.replace("_", " "),
            platform=PLATFORM,
            backend=BACKEND,
            device_target="tv" if self.device_class == "tv" else "mobile",
            device_class=self.device_class,
            kind="emulator",
            state="booting" if state == "booting" else "shutdown",
            id_kind="serial",
            reason=reason or "The emulator does not run.",
            fix=fix or "Call boot with this device.",
            facts={"transport": "emulator", **({"api": self.api} if self.api else {})},
        )


def program(variables: Mapping[str, str]) -> str | None:
    """Path of the emulator program: of the caller's tools, else on PATH; None where there is none."""
    for name in VARIABLES[:2]:
        folder = variables.get(name)
        if folder and os.path.isabs(folder):
            found = Path(folder) / "emulator" / "emulator"
            if found.is_file() and os.access(found, os.X_OK):
                return str(found)
    return shutil.which("emulator")


class Avds:
    """The lists of the callers, kept for a moment."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], tuple[float, list[Avd]]] = {}
        self._lock = anyio.Lock()

    async def list(self, variables: Mapping[str, str]) -> list[Avd]:
        """The virtual devices there are; none where there are no tools. Where these do not answer, those known last."""
        path = await anyio.to_thread.run_sync(program, variables)
        if path is None:
            return []
        key = (path, *(variables.get(name, "") for name in VARIABLES))
        async with self._lock:
            at, found = self._kept.get(key, (float("-inf"), []))
            if anyio.current_time() - at < KEPT:
                return found
            try:
                done = await processes.run([path, "-list-avds"], deadline=LISTING, env=environment(variables))
            except AnydeviceError:
                return found  # a busy machine: what was there is not gone
            # The program mixes remarks into its output; no name has a space.
            names = [line.strip() for line in done.text.splitlines() if _NAME.fullmatch(line.strip())]
            found = await anyio.to_thread.run_sync(lambda: [_look(name, variables) for name in names])
            self._kept[key] = anyio.current_time(), found
            return found


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """What the program is started with: this process's environment, and the caller's word on where things are."""
    return {**os.environ, **{name: variables[name] for name in VARIABLES if variables.get(name)}}


def _look(name: str, variables: Mapping[str, str]) -> Avd:
    """What the settings of a virtual device say; a phone where they say nothing."""
    home = variables.get("ANDROID_AVD_HOME") or os.path.expanduser("~/.android/avd")
    said: dict[str, str] = {}
    for path in (Path(home, f"{name}.ini"), Path(home, f"{name}.avd", "config.ini")):
        try:
            said |= dict(_SETTING.findall(path.read_text(errors="replace")[:65536]))
        except OSError:
            continue
    kind = "phone"
    tags = said.get("tag.id", "") + " " + said.get("tag.ids", "")
    if "tv" in tags:
        kind = "tv"
    elif "wear" in tags:
        kind = "wearable"
    else:
        numbers = [said.get(f"hw.lcd.{part}", "") for part in ("width", "height", "density")]
        if all(number.isdigit() and int(number) for number in numbers):
            width, height, density = map(int, numbers)
            kind = "tablet" if min(width, height) * 160 / density >= LARGE else "phone"
    api = _API.search(said.get("target", "") + " " + said.get("image.sysdir.1", ""))
    return Avd(name, cast("DeviceClass", kind), int(api[1]) if api else 0)
