"""Apps of a device by their bundles: what is installed, and what runs. By simctl or devicectl, never by the screen."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from anydevice_schemas.errors import AmbiguousElement, AppNotFound, UpstreamUnavailable

from .devicectl import Devicectl
from .reading.propertylist import NoPropertyList, parse
from .simctl import Simctl

_ANY_JOB: Final = re.compile(r"^(\d+)\s", re.M)
_JOB: Final = re.compile(r"^(?P<pid>\d+|-)\s+\S+\s+UIKitApplication:(?P<app>[^\[\s]+)", re.M)
ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
"""What an app's id looks like; anything else could be an option of the program that is given it."""
RUNNER: Final = "WebDriverAgentRunner"


@dataclass(slots=True, frozen=True)
class Bundle:
    """An installed app. `path` is where the app itself lies on the host, for simulators."""

    id: str
    name: str = ""
    executable: str = ""
    system: bool = False
    path: str = ""


class Bundles:
    """The apps of one device."""

    def __init__(self, simctl: Simctl | None, devicectl: Devicectl | None) -> None:
        self._simctl, self._devicectl = simctl, devicectl

    async def all(self) -> dict[str, Bundle]:
        """What is installed, by id.

        Raises:
            UpstreamUnavailable: It cannot be read.
            AnydeviceError: As the programs.
        """
        if self._simctl is not None:
            done = await self._simctl.do("listapps")
            try:
                found = parse(done.stdout)
            except NoPropertyList as error:
                raise UpstreamUnavailable(
                    "The list of apps cannot be read.",
                    upstream="simctl listapps",
                    enable_hint="Call apps again; boot the simulator anew where that does not help.",
                    reason=str(error),
                ) from None
            rows = found.items() if isinstance(found, Mapping) else ()
            return {str(id): _bundle(str(id), row) for id, row in rows if isinstance(row, Mapping)}
        assert self._devicectl is not None
        result = await self._devicectl.do("info", "apps")
        rows_ = result.get("apps")
        return {
            str(row["bundleIdentifier"]): Bundle(
                str(row["bundleIdentifier"]),
                str(row.get("name") or ""),
                system=not row.get("removable", True),
                path=str(row.get("url") or ""),
            )
            for row in (rows_ if isinstance(rows_, list) else ())
            if isinstance(row, Mapping) and row.get("bundleIdentifier")
        }

    async def running(self, bundles: Mapping[str, Bundle] | None = None) -> dict[str, int | None]:
        """What runs, with its process, where that is told.

        Raises:
            AnydeviceError: As the programs.
        """
        if self._simctl is not None:
            done = await self._simctl.do("spawn", "launchctl", "list")
            return {job["app"]: int(job["pid"]) for job in _JOB.finditer(done.text) if job["pid"] != "-"}
        assert self._devicectl is not None
        result = await self._devicectl.do("info", "processes")
        rows = result.get("runningProcesses")
        found: dict[str, int | None] = {}
        for row in rows if isinstance(rows, list) else ():
            path, pid = str(row.get("executable") or ""), row.get("processIdentifier")
            for bundle in (bundles or await self.all()).values():
                if bundle.path and path.startswith(bundle.path.rstrip("/") + "/"):
                    found[bundle.id] = pid if isinstance(pid, int) else None
        return found

    async def processes(self) -> frozenset[int]:
        """The ids of the device's processes; of a simulator they are processes of the Mac.

        Raises:
            AnydeviceError: As the programs.
        """
        if self._simctl is not None:
            done = await self._simctl.do("spawn", "launchctl", "list")
            return frozenset(int(job[1]) for job in _ANY_JOB.finditer(done.text))
        assert self._devicectl is not None
        rows = (await self._devicectl.do("info", "processes")).get("runningProcesses")
        told = (
            row.get("processIdentifier") for row in (rows if isinstance(rows, list) else ()) if isinstance(row, Mapping)
        )
        return frozenset(pid for pid in told if isinstance(pid, int))

    async def meant(self, text: str) -> Bundle:
        """The one app that is meant: by id, else by name, letters of any size.

        Raises:
            AppNotFound: There is none.
            AmbiguousElement: Several have this name.
        """
        bundles = await self.all()
        if text in bundles:
            return bundles[text]
        folded = text.casefold()
        for matches in (
            [bundle for bundle in bundles.values() if bundle.id.casefold() == folded],
            [bundle for bundle in bundles.values() if bundle.name.casefold() == folded],
        ):
            if len(matches) == 1:
                return matches[0]
            if matches:
                raise AmbiguousElement(
                    "Several apps have this name.",
                    candidates=[{"id": bundle.id, "name": bundle.name} for bundle in matches],
                    matches=len(matches),
                    hint="Repeat the call with the id of one of details.candidates.",
                )
        raise unknown(text, bundles)

    async def installed(self, app: str) -> bool:
        """Whether an app of this id is installed."""
        return app in await self.all()


def unknown(app: str, bundles: Mapping[str, Bundle]) -> AppNotFound:
    """The error of an app that is not there."""
    words = {bundle.id: bundle.id for bundle in bundles.values()}
    words |= {bundle.name: bundle.id for bundle in bundles.values() if bundle.name}
    near = [words[word] for word in difflib.get_close_matches(app, list(words), n=5, cutoff=0.5)]
    near += [id for word, id in words.items() if app and app.casefold() in word.casefold()]
    return AppNotFound(
        "No such app is installed.",
        hint="Call apps to see what is installed.",
        nearest_matches=list(dict.fromkeys(near))[:5],
        app=app,
    )


def _bundle(id: str, row: Mapping[str, Any]) -> Bundle:
    return Bundle(
        id,
        str(row.get("CFBundleDisplayName") or row.get("CFBundleName") or ""),
        str(row.get("CFBundleExecutable") or ""),
        str(row.get("ApplicationType") or "") == "System",
        str(row.get("Path") or ""),
    )
