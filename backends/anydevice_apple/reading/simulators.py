"""`simctl list`, read into simulators: JSON of every Xcode, and the text form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

BOOTED, SHUTDOWN = "Booted", "Shutdown"
_RUNTIME = re.compile(r"(?:.*\.SimRuntime\.)?(?P<os>[A-Za-z]+)[- ](?P<version>\d+(?:[-.]\d+)*)")
_ROW = re.compile(
    r"^\s+(?P<name>\S.*?) \((?P<udid>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})\) \((?P<state>[^)]*)\)"
    r"(?: \(unavailable, (?P<why>.*)\))?\s*$"
)
_HEADING = re.compile(r"^-- (?P<unavailable>Unavailable: )?(?P<runtime>.+) --\s*$")


@dataclass(slots=True, frozen=True)
class Simulator:
    """One simulator as listed.

    Attributes:
        state: Apple's word: Creating, Booting, Booted, Shutting Down, Shutdown.
        available: Xcode can use it. Only `isAvailable` itself says so.
        why: Why it is not available, in Apple's words.
        os: `iOS`, `tvOS`, `watchOS`, `xrOS`; empty where the runtime does not tell.
        version: Of the system, such as `26.5`.
        type: Identifier of the device type; older Xcodes print none.
    """

    udid: str
    name: str
    state: str
    available: bool
    why: str = ""
    os: str = ""
    version: str = ""
    type: str = ""
    data_path: str = ""


class NoListing(ValueError):
    """The text is no listing."""


def parse(text: str) -> list[Simulator]:
    """Simulators of `simctl list -j`, whole or devices only; of the text form where the text is no JSON.

    Raises:
        NoListing: It is neither.
    """
    try:
        found = json.loads(text)
    except ValueError:
        rows = parse_text(text)
        if not rows and "==" not in text:
            raise NoListing("neither JSON nor a listing") from None
        return rows
    devices = found.get("devices") if isinstance(found, Mapping) else None
    if not isinstance(devices, Mapping):
        raise NoListing("no devices in it")
    return [
        _simulator(row, str(runtime))
        for runtime, rows in devices.items()
        if isinstance(rows, list)
        for row in rows
        if isinstance(row, Mapping) and row.get("udid")
    ]


def parse_text(text: str) -> list[Simulator]:
    """Simulators of the text form; a heading may come twice, and names may hold parentheses."""
    found: list[Simulator] = []
    runtime, usable = "", True
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading is not None:
            runtime, usable = heading["runtime"], heading["unavailable"] is None
            continue
        row = _ROW.match(line)
        if row is None:
            continue
        system, version = runtime_of(runtime)
        why = row["why"] or ("" if usable else "runtime profile not found")
        found.append(Simulator(row["udid"], row["name"], row["state"], usable and not row["why"], why, system, version))
    return found


def runtime_of(key: str) -> tuple[str, str]:
    """System and version of a runtime's identifier (`…SimRuntime.iOS-26-5`) or display name (`iOS 12.1`)."""
    found = _RUNTIME.fullmatch(key.strip())
    return (found["os"], found["version"].replace("-", ".")) if found else ("", "")


def type_name(identifier: str) -> str:
    """A device type's name as a person reads it: `iPhone 17` of `…SimDeviceType.iPhone-17`."""
    return identifier.rpartition(".")[2].replace("-", " ")


def _simulator(row: Mapping[str, Any], runtime: str) -> Simulator:
    system, version = runtime_of(runtime)
    available = row.get("isAvailable")
    if available is None and "availability" in row:
        available = "(available)" in str(row["availability"])  # Xcode 10 and before
    elif isinstance(available, str):
        available = available.upper() == "YES"
    return Simulator(
        udid=str(row["udid"]),
        name=str(row.get("name", "")),
        state=str(row.get("state", "")),
        available=available is True,
        why=str(row.get("availabilityError") or ""),
        os=system,
        version=version,
        type=str(row.get("deviceTypeIdentifier") or ""),
        data_path=str(row.get("dataPath") or ""),
    )


@dataclass(slots=True, frozen=True)
class Runtime:
    """A runtime. Two may have one identifier: the build tells them apart."""

    identifier: str
    build: str
    name: str
    version: str
    available: bool

    @property
    def key(self) -> tuple[str, str]:
        """What names it: identifier and build."""
        return self.identifier, self.build


def runtimes(text: str) -> list[Runtime]:
    """Runtimes of `simctl list -j runtimes`.

    Raises:
        NoListing: It is none.
    """
    try:
        rows = json.loads(text)["runtimes"]
    except (ValueError, KeyError, TypeError):
        raise NoListing("no runtimes in it") from None
    return [
        Runtime(
            str(row.get("identifier", "")),
            str(row.get("buildversion", "")),
            str(row.get("name", "")),
            str(row.get("version", "")),
            row.get("isAvailable") is True,
        )
        for row in rows
    ]


SYSTEMS: Final = {"iOS": "mobile", "iPadOS": "mobile", "tvOS": "tv"}
"""The systems that are driven, and what they are for. Watches and headsets are not."""
