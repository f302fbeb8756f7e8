"""Installing and removing apps: what a package is, is looked at before anything is sent."""

from __future__ import annotations

import plistlib
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

import anyio
import anyio.to_thread

from anydevice.driver import Acted
from anydevice_schemas.errors import ActionUnverified, InvalidArgument, PathNotFound

from .bundles import ID, unknown
from .reach import Reach
from .reading.propertylist import NoPropertyList, parse
from .simctl import SimctlFailed, typed

INFO_MOST: Final = 4 << 20
UNPACKED_MOST: Final = 8 << 30
FILES_MOST: Final = 200_000


@dataclass(slots=True, frozen=True)
class Package:
    """An app on the host: its folder, its id, and whether it is built for simulators (None: it does not say)."""

    path: Path
    app: str
    simulator: bool | None


class Packages:
    """Installs and removes apps of one device."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def install(self, path: str, *, deadline: float) -> Acted:
        """Installs an `.app` folder, or an `.ipa` that holds one, over what is there; its data stay.

        Raises:
            PathNotFound: There is nothing at the path.
            InvalidArgument: It is no app, or one for another kind of device.
        """
        end = anyio.current_time() + deadline
        with tempfile.TemporaryDirectory(prefix="anydevice-app-") as folder:
            package = await anyio.to_thread.run_sync(_looked_at, Path(path), Path(folder))
            simulated = self._reach.simctl is not None
            if package.simulator is not None and package.simulator is not simulated:
                raise InvalidArgument(
                    "The app is built for " + ("devices" if simulated else "simulators") + ".",
                    param="path",
                    expected="a build for " + ("simulators" if simulated else "devices"),
                    hint="Build it for this kind of device.",
                )
            left = max(1.0, end - anyio.current_time())
            if self._reach.simctl is not None:
                await self._by_simctl(package, left)
            else:
                assert self._reach.devicectl is not None
                await self._reach.devicectl.do("install", "app", deadline=left, after=(str(package.path),))
        if not await self._reach.bundles.installed(package.app):
            raise ActionUnverified("The app is not installed.", expected="installed", actual="absent", app=package.app)
        return Acted("install", verified=True, data={"app": package.app})

    async def _by_simctl(self, package: Package, deadline: float) -> None:
        try:
            await self._reach.sim.run("install", str(package.path), deadline=deadline)
        except SimctlFailed as error:
            if error.failure.kind == "no_bundle":
                raise _no_app(error.said[:1000]) from None
            raise typed(error) from None

    async def uninstall(self, app: str) -> Acted:
        """Removes an app and its data. Whether it is there is looked at first: simctl says yes either way.

        Raises:
            AppNotFound: It is not installed.
            ActionUnverified: It is still there.
        """
        bundles = await self._reach.bundles.all()
        if not ID.fullmatch(app) or app not in bundles:
            raise unknown(app, bundles)
        if self._reach.simctl is not None:
            await self._reach.simctl.do("uninstall", app, deadline=60.0)
        else:
            assert self._reach.devicectl is not None
            await self._reach.devicectl.do("uninstall", "app", deadline=60.0, after=(app,))
        if app == self._reach.opened:
            self._reach.opened = self._reach.pid = None
        if await self._reach.bundles.installed(app):
            raise ActionUnverified("The app is still installed.", expected="gone", actual="installed", app=app)
        return Acted("uninstall", verified=True)


def _looked_at(path: Path, folder: Path) -> Package:
    """What is at a path, unpacked into a folder where it has to be.

    Raises:
        PathNotFound, InvalidArgument: As `Packages.install`.
    """
    if not path.exists():
        raise PathNotFound("There is no such app.", path=path.name)
    if path.is_file():
        path = _unpacked(path, folder)
    info = path / "Info.plist"
    try:
        with info.open("rb") as file:
            found = parse(file.read(INFO_MOST))
    except (OSError, NoPropertyList, plistlib.InvalidFileException):
        raise _no_app() from None
    app = found.get("CFBundleIdentifier") if isinstance(found, Mapping) else None
    if not isinstance(app, str) or not ID.fullmatch(app):
        raise _no_app()
    return Package(path, app, _for_simulators(found))


def _for_simulators(info: Mapping[str, Any]) -> bool | None:
    words = info.get("CFBundleSupportedPlatforms")
    if not isinstance(words, list) or not words:
        return None
    return any(str(word).endswith("Simulator") for word in words)


def _unpacked(path: Path, folder: Path) -> Path:
    """The `.app` of an archive. What leads out of the archive is refused, and so is what unpacks without end."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            tops = {_app_of(member.filename) for member in members} - {None}
            if len(tops) != 1 or len(members) > FILES_MOST or sum(m.file_size for m in members) > UNPACKED_MOST:
                raise _no_app()
            top = tops.pop()
            assert top is not None
            for member in members:
                parts = PurePosixPath(member.filename).parts
                if _app_of(member.filename) != top:
                    continue
                if ".." in parts or stat.S_ISLNK(member.external_attr >> 16):
                    raise _no_app()
                target = folder.joinpath(*parts)
                if member.is_dir():
                    target.mkdir(parents=True, exist_ok=True)
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, target.open("wb") as file:
                    shutil.copyfileobj(source, file)
                target.chmod(0o755 if (member.external_attr >> 16) & 0o111 else 0o644)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
        raise _no_app() from None
    return folder.joinpath(*PurePosixPath(top).parts)


def _app_of(name: str) -> str | None:
    """The `.app` folder that a member of an archive is in: at its top, or in `Payload`."""
    parts = PurePosixPath(name).parts
    for depth in (0, 1):
        if len(parts) > depth and parts[depth].endswith(".app") and (depth == 0 or parts[0] == "Payload"):
            return "/".join(parts[: depth + 1])
    return None


def _no_app(said: str = "") -> InvalidArgument:
    return InvalidArgument(
        "This is no app for Apple's devices.",
        param="path",
        expected="an .app folder, or an .ipa or zip with one in it",
        said=said,
    )
