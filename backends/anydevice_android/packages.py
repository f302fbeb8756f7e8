"""Packages: what is installed, installing and removing; never removes an app to make room for another."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

from anydevice.driver import Acted
from anydevice_adb import line
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, InvalidArgument, PathNotFound, Refused

from .reach import Reach
from .reading.package import package_name
from .reading.verdicts import PackageVerdict, package_verdict

READ = 1 << 20
NO_APK = frozenset({"INSTALL_PARSE_FAILED_NOT_APK", "INSTALL_PARSE_FAILED_BAD_MANIFEST", "INSTALL_FAILED_INVALID_APK"})
NAME = re.compile(r"[A-Za-z]\w*(?:\.\w+)*", re.ASCII)
"""A package's name; `android` has no dot."""
_SESSION = re.compile(r"\[(\d+)\]")
WHY = {
    "INSTALL_FAILED_UPDATE_INCOMPATIBLE": "An app of this name with another signature is there. uninstall deletes it "
    "and its data.",
    "INSTALL_FAILED_VERSION_DOWNGRADE": "A newer version is there. uninstall it first; that deletes its data.",
    "INSTALL_FAILED_ALREADY_EXISTS": "It is there already. Use reinstall.",
    "INSTALL_FAILED_TEST_ONLY": "It is a test build that this device does not take.",
    "INSTALL_FAILED_ABORTED": "Somebody said no on the device.",
    "INSTALL_FAILED_USER_RESTRICTED": "Allow installing over USB in the developer options, and say yes on the device.",
    "INSTALL_FAILED_INSUFFICIENT_STORAGE": "Make room on the device.",
    "INSTALL_FAILED_NO_MATCHING_ABIS": "It is built for other processors. Install a build for this one.",
    "INSTALL_FAILED_OLDER_SDK": "It needs a newer Android.",
    "INSTALL_FAILED_MISSING_SPLIT": "Parts of it are missing. Install the folder with all its APK files.",
    "INSTALL_PARSE_FAILED_NOT_APK": "The file is no APK.",
    "INSTALL_PARSE_FAILED_NO_CERTIFICATES": "The APK is not signed.",
}
"""What to do about a code. Others are told with Android's own words in details."""


class Packages:
    """The packages of a device."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def names(self) -> list[str]:
        """Names of all packages."""
        text = (await self._reach.run("pm", "list", "packages")).text
        return sorted(row.partition(":")[2].strip() for row in text.splitlines() if row.startswith("package:"))

    async def installed(self, app: str) -> bool:
        """Whether a package is installed. What can be no name is none: `pm` would take it for an option."""
        if not NAME.fullmatch(app):
            return False
        done = await self._reach.run("pm", "path", app)
        return done.text.startswith("package:")

    async def install(self, path: str, *, deadline: float) -> Acted:
        """Installs an APK, or a folder of APKs that are one app, over what is there; its data stay.

        Raises:
            PathNotFound: There is no such file, or no APK in the folder.
            InvalidArgument: It is no APK.
            Refused: Android said no; `details.code` is its code.
        """
        files, app = await anyio.to_thread.run_sync(_apks, Path(path))
        if len(files) == 1:
            file, size = files[0]
            done = await self._reach.adb.shell(
                f"cmd package install -r -t -S {size}", stdin=_pieces(file), deadline=deadline
            )
            _check(package_verdict(done.both))
        else:
            await self._several(files, deadline)
        if not await self.installed(app):
            raise ActionUnverified("The app is not installed.", expected="installed", actual="absent", app=app)
        return Acted("package-manager", verified=True, data={"files": len(files), "app": app})

    async def uninstall(self, app: str) -> Acted:
        """Removes a package and its data.

        Raises:
            Refused: Android said no.
            ActionUnverified: It is still there.
        """
        verdict = package_verdict((await self._reach.run("cmd", "package", "uninstall", app, deadline=60.0)).both)
        _check(verdict)
        if await self.installed(app):
            raise ActionUnverified("The app is still installed.", expected="gone", actual="installed", app=app)
        return Acted("package-manager", verified=True)

    async def _several(self, files: list[tuple[Path, int]], deadline: float) -> None:
        """Installs the parts of one app in one session, which is given up when a part fails."""
        total = sum(size for _, size in files)
        done = await self._reach.adb.shell(f"cmd package install-create -r -t -S {total}", deadline=30.0)
        found = _SESSION.search(done.text)
        if found is None:
            _check(package_verdict(done.both))
            raise Refused("Android began no installation.", reason="install-create", alternative="See details.")
        session = found[1]
        try:
            end = anyio.current_time() + deadline
            for number, (file, size) in enumerate(files):
                # Named here: a file's own name may begin with a dash, which `pm` would take for an option.
                words = line("cmd", "package", "install-write", "-S", size, session, f"{number}.apk", "-")
                left = max(0.1, end - anyio.current_time())
                _check(package_verdict((await self._reach.adb.shell(words, stdin=_pieces(file), deadline=left)).both))
            words = line("cmd", "package", "install-commit", session)
            left = max(0.1, end - anyio.current_time())
            _check(package_verdict((await self._reach.adb.shell(words, deadline=left)).both))
        except BaseException:
            with anyio.move_on_after(5.0, shield=True), suppress(AnydeviceError):
                await self._reach.run("cmd", "package", "install-abandon", session, deadline=4.0)
            raise


def _check(verdict: PackageVerdict) -> None:
    if verdict.ok:
        return
    if verdict.code in NO_APK:
        raise _no_apk(said=verdict.said)
    raise Refused(
        "Android did not do it.",
        reason=verdict.code,
        alternative=WHY.get(verdict.code, "See details.said."),
        code=verdict.code,
        detail=verdict.detail[:500],
        said=verdict.said,
        hint=WHY.get(verdict.code, "See details.said, which are Android's own words."),
    )


def _no_apk(said: str = "") -> InvalidArgument:
    return InvalidArgument(
        "This is no package for Android.",
        param="path",
        expected="an APK, or a folder with the APKs of one app",
        said=said,
    )


def _apks(path: Path) -> tuple[list[tuple[Path, int]], str]:
    """The files of an app with their sizes, the base first, and the app's name."""
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix == ".apk" and file.is_file())
    else:
        files = [path] if path.is_file() else []
    if not files:
        raise PathNotFound("There is no such APK.", path=path.name)
    try:
        names = {package_name(file) for file in files}
    except ValueError:
        raise _no_apk() from None
    if len(names) != 1:
        raise _no_apk("the files are of several apps")
    # Parts are only taken once it is known what they are parts of.
    files.sort(key=lambda file: (not file.name.startswith("base"), file.name))
    return [(file, file.stat().st_size) for file in files], names.pop()


async def _pieces(file: Path) -> AsyncIterator[bytes]:
    handle = await anyio.to_thread.run_sync(os.open, file, os.O_RDONLY)
    try:
        while piece := await anyio.to_thread.run_sync(os.read, handle, READ):
            yield piece
    finally:
        os.close(handle)
