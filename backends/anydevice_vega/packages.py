"""Packages: what is installed and runs, installing and removing; judged by every word the device says."""

from __future__ import annotations

import difflib
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from anydevice.driver import Acted
from anydevice_schemas.errors import (
    ActionUnverified,
    AppNotFound,
    InvalidArgument,
    PathNotFound,
    Refused,
)

from .reach import Reach
from .reading import guest, vpkg

NAME: Final = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)+", re.ASCII)
SUFFIX: Final = ".vpkg"
_MARK: Final = "\x1eanydevice\x1e"


@dataclass(slots=True, frozen=True)
class Known:
    """What the device says it has: packages, components that can be opened, what runs, crashes counted by app."""

    packages: Sequence[str]
    components: Sequence[str]
    running: Sequence[guest.Running]
    crashes: Mapping[str, int]

    def component(self, app: str) -> str | None:
        """The component that opens an app, which is named by its package or its component; None where there is none."""
        if app in self.components and app not in self.packages:
            return app
        if app not in self.packages:
            return None
        mine = [one for one in self.components if guest.app_of(one, self.packages) == app]
        main = f"{app}.main"
        return main if main in mine or not mine else mine[0]


class Packages:
    """The packages of a device."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._titles: dict[str, str] = {}

    async def title(self, app: str) -> str:
        """What a package calls itself for people; its id where it does not say. Asked once."""
        if app not in self._titles:
            done = await self._reach.run("vpm", "info", app, deadline=5.0)
            self._titles[app] = guest.title(done.text) or app
        return self._titles[app]

    async def look(self) -> Known:
        """All there is to know of the apps, in one round trip.

        Raises:
            AnydeviceError: As `Reach.sh`.
        """
        commands = ("vpm list packages", "vpm list components", "vlcm list", "vlcm crash-history")
        mark = f"; echo '{_MARK}'; "
        text = (await self._reach.sh(mark.join(f"{one} 2>&1" for one in commands), deadline=15.0)).text
        packages, components, running, crashes, *_ = [*text.split(_MARK + "\n"), *[""] * len(commands)]
        names = guest.ids(packages)
        return Known(
            names,
            guest.ids(components),
            guest.running(running),
            {name: count for name in names if (count := guest.crashes(crashes, name))},
        )

    async def names(self) -> list[str]:
        """Ids of all packages."""
        return guest.ids((await self._reach.run("vpm", "list", "packages")).both)

    async def running(self) -> list[guest.Running]:
        """What runs."""
        return guest.running((await self._reach.run("vlcm", "list", deadline=5.0)).text)

    async def crashed(self, app: str) -> int:
        """How often an app has crashed, as far as the device remembers."""
        return guest.crashes((await self._reach.run("vlcm", "crash-history", deadline=5.0)).both, app)

    async def install(self, path: str, *, deadline: float) -> Acted:
        """Installs a package over what is there; its data stay.

        Raises:
            PathNotFound: There is no such file.
            InvalidArgument: It is no package.
            Refused: The device said no.
            OutcomeUnknown: The device did not say whether it did.
            ActionUnverified: It said yes, and nothing new is there.
        """
        file = Path(path)
        if not await anyio.to_thread.run_sync(file.is_file):
            raise PathNotFound("There is no such package.", path=file.name)
        inner = await anyio.to_thread.run_sync(vpkg.package_id, file)
        before = set(await self.names())
        target = f"/tmp/anydevice-{secrets.token_hex(6)}{SUFFIX}"
        try:
            await self._reach.patiently(lambda: self._reach.adb.push(file, target, deadline=deadline))
            done = await self._reach.act("vpm", "install", target, "--force", deadline=deadline)
        finally:
            await self._reach.away(target)
        said = done.both
        if done.status != 0 or not guest.installed_well(said):
            if guest.no_package(said) or (inner is None and guest.says_no_more(said)):
                raise InvalidArgument(
                    "This is no package for Vega.", param="path", expected="a VPKG file", said=said[-1000:]
                )
            raise Refused(
                "The device did not install it.",
                reason="vpm install",
                alternative="See details.said.",
                said=said[-1000:],
                hint="See details.said, which are the device's own words.",
            )
        after = await self.names()
        new = sorted(set(after) - before)
        # An update adds nothing: which app it was the package tells, or the device among its words.
        named = [*new[:1], *([inner] if inner in after else []), *(name for name in after if _names(said, name))]
        app = named[0] if named else None
        self._titles.clear()
        return Acted("vpm", verified=app is not None or None, data={"app": app} if app else {})

    async def uninstall(self, app: str) -> Acted:
        """Removes a package and its data.

        Raises:
            AppNotFound: It is not installed.
            Refused: The device said no.
        """
        names = await self.names()
        if not NAME.fullmatch(app) or app not in names:
            raise self.unknown(app, names)
        done = await self._reach.act("vpm", "uninstall", app, deadline=60.0)
        with anyio.move_on_after(5.0):
            while app in await self.names():  # noqa: ASYNC110 - nothing tells when it has gone
                await anyio.sleep(0.1)
            return Acted("vpm", verified=True)
        if done.status != 0:
            raise Refused(
                "The device did not remove it.",
                reason="vpm uninstall",
                alternative="See details.",
                said=done.both[-500:],
            )
        raise ActionUnverified("The app is still installed.", expected="gone", actual="installed", app=app)

    def unknown(self, app: str, names: Sequence[str]) -> AppNotFound:
        """The refusal of an app that is not there, with those of a like name."""
        near = [name for name in names if app.casefold() in name.casefold()]
        near += difflib.get_close_matches(app, names, n=5, cutoff=0.5)
        return AppNotFound(
            "No such app is installed.",
            hint="Call apps to see what is installed.",
            nearest_matches=list(dict.fromkeys(near))[:5],
            app=app,
        )


def _names(said: str, app: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(app)}(?![\w.])", said) is not None
