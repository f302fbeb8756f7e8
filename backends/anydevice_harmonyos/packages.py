"""Packages: what is installed, installing and removing; never removes an app to make room for another."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Final

import anyio.to_thread

from anydevice.driver import Acted
from anydevice_schemas.errors import ActionUnverified, InvalidArgument, PathNotFound, Refused

from .hdc import line
from .hdc.verdicts import AppVerdict
from .reach import Reach
from .reading.bundles import NAME, Bundle, listed, parse_bundle

SUFFIXES: Final = (".hap", ".app", ".hsp")
LARGEST: Final = 4 << 20
"""Bytes of a package's own description that are read."""
NO_PACKAGE: Final = frozenset({"9568262", "9568266", "9568267", "9568269", "9568270", "9568344", "9568347"})
"""Codes of what is no package: wrong name, path, size, or a description that cannot be read."""
WHY: Final = {
    "9568320": "The package is not signed. Sign it, or build it with a debug profile.",
    "9568257": "Its signature is not one this device takes. Sign it for this device.",
    "9568296": "Its type of bundle is wrong for this device.",
    "9568322": "Its signature is from a source this device does not trust.",
    "9568329": "Its signature cannot be read. Sign it anew.",
    "9568332": "An app of this name with another signature is there. uninstall deletes it and its data.",
    "9568286": "The app that is there has another type of provision. uninstall it first; that deletes its data.",
    "9568263": "A newer version is there. uninstall it first; that deletes its data.",
    "9568278": "Its modules are of several versions. Build them together.",
    "9568288": "Make room on the device.",
    "9568305": "A package it depends on is not installed.",
    "9568380": "It is the system's own, and stays.",
    "9568279": "Its modules are of several versions. Build them together.",
    "9568289": "It asks for permissions that its signature does not allow.",
    "9568401": "It was built for another kind of device.",
}
"""What to do about a code. Others are told with the device's own words in details."""


class Packages:
    """The packages of a device."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._system: dict[str, bool] = {}

    async def names(self) -> list[str]:
        """Names of all apps.

        Raises:
            AnydeviceError: As `HdcDevice.shell`.
        """
        return listed((await self._reach.run("bm", "dump", "-a", deadline=20.0)).text)

    async def bundle(self, app: str) -> Bundle | None:
        """What the device says of an app; None where it is not installed. What can be no name is none.

        Raises:
            AnydeviceError: As `HdcDevice.shell`.
        """
        if not NAME.fullmatch(app):
            return None
        return parse_bundle((await self._reach.run("bm", "dump", "-n", app, deadline=15.0)).text)

    async def systems(self, names: list[str]) -> dict[str, bool]:
        """Which of the apps are the system's own; asked once for each of them.

        Raises:
            AnydeviceError: As `HdcDevice.shell`.
        """
        new = [name for name in names if name not in self._system]
        if new:
            loop = f'for b in {line(*new)}; do echo "$b $(bm dump -n $b | grep -c \'"isSystemApp": true\')"; done'
            for row in (await self._reach.hdc.shell(loop, deadline=60.0)).text.splitlines():
                name, _, count = row.partition(" ")
                self._system[name] = count.strip() not in ("0", "")
        return {name: self._system.get(name, False) for name in names}

    async def install(self, path: str, *, deadline: float) -> Acted:
        """Installs a package, or a folder with the packages of one app, over what is there; its data stay.

        Raises:
            PathNotFound: There is no such file, or no package in the folder.
            InvalidArgument: It is no package.
            Refused: The device said no; `details.code` is its code.
            ActionUnverified: It said yes, and does not list it.
        """
        app = await anyio.to_thread.run_sync(package_name, Path(path))
        _check(await self._reach.hdc.install(path, deadline=deadline))
        self._system.pop(app, None)
        if await self.bundle(app) is None:
            raise ActionUnverified("The app is not installed.", expected="installed", actual="absent", app=app)
        return Acted("hdc-install", verified=True, data={"app": app})

    async def uninstall(self, app: str) -> Acted:
        """Removes an app and its data.

        Raises:
            Refused: The device said no.
            ActionUnverified: It is still there.
        """
        _check(await self._reach.hdc.uninstall(app, deadline=60.0))
        self._system.pop(app, None)
        if await self.bundle(app) is not None:
            raise ActionUnverified("The app is still installed.", expected="gone", actual="installed", app=app)
        return Acted("hdc-uninstall", verified=True)


def _check(verdict: AppVerdict) -> None:
    if verdict.ok:
        return
    if verdict.code in NO_PACKAGE:
        raise _no_package(verdict.said)
    why = WHY.get(verdict.code, "See details.said, which are the device's own words.")
    raise Refused(
        "The device did not do it.",
        reason=verdict.code or "unknown",
        alternative=why,
        code=verdict.code,
        said=verdict.said,
        hint=why,
    )


def package_name(path: Path) -> str:
    """The app that a package holds, or the packages of a folder.

    Raises:
        PathNotFound: There is none.
        InvalidArgument: It is no package, or they are of several apps.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
    else:
        files = [path] if path.is_file() else []
    if not files:
        raise PathNotFound("There is no such package.", path=path.name)
    names = {_name(file) for file in files}
    if len(names) != 1:
        raise _no_package("the files are of several apps")
    return names.pop()


def _name(file: Path) -> str:
    try:
        with zipfile.ZipFile(file) as archive:
            held = set(archive.namelist())
            for entry, road in (
                ("module.json", ("app",)),
                ("config.json", ("app",)),
                ("pack.info", ("summary", "app")),
            ):
                if entry not in held:
                    continue
                with archive.open(entry) as told:
                    data = json.loads(told.read(LARGEST))
                for word in road:
                    data = data[word]
                if isinstance(data["bundleName"], str) and NAME.fullmatch(data["bundleName"]):
                    return data["bundleName"]
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, OSError, RuntimeError):
        pass
    raise _no_package()


def _no_package(said: str = "") -> InvalidArgument:
    return InvalidArgument(
        "This is no package for HarmonyOS.",
        param="path",
        expected="a .hap, .hsp or .app file, or a folder with those of one app",
        said=said,
    )
