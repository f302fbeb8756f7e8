"""`simctl list`: devices, types, runtimes and pairs, in the shapes of several versions of Xcode."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

from ..device import LabDevice
from ..kinds import KINDS, RUNTIMES, TYPES, Kind
from .asking import Ask, Subcommand

HOME = "/Users/dev/Library"
PROFILES = "/Library/Developer/CoreSimulator/Profiles"


def _simulators(ask: Ask) -> list[LabDevice]:
    return [device for device in ask.devices.values() if not device.kind.physical]


def _row(device: LabDevice, age: int) -> dict[str, Any]:
    kind = device.kind
    if age <= 10:
        return {
            "availability": "(unavailable, " + kind.unavailable + ")" if kind.unavailable else "(available)",
            "state": device.state,
            "isAvailable": not kind.unavailable,
            "name": device.title,
            "udid": device.udid,
            "availabilityError": kind.unavailable,
        }
    row: dict[str, Any] = {
        "state": device.state,
        "name": device.title,
        "isAvailable": not kind.unavailable,
        "deviceTypeIdentifier": TYPES + kind.type,
        "dataPathSize": 0 if device.state == "Creating" else 18_337_792,
        "udid": device.udid,
        "dataPath": f"{HOME}/Developer/CoreSimulator/Devices/{device.udid}/data",
        "logPath": f"{HOME}/Logs/CoreSimulator/{device.udid}",
    }
    if kind.unavailable:
        row["availabilityError"] = kind.unavailable
    if device.booted_at:
        row["lastBootedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(device.booted_at))
        row["logPathSize"] = 135_168
    return row


def _heading(kind: Kind) -> str:
    return f"{kind.platform} {_short(kind.os)}"


def _short(version: str) -> str:
    return ".".join(version.split(".")[:2])


def devices(ask: Ask, chosen: Iterable[LabDevice]) -> dict[str, Any]:
    """Devices by runtime; a runtime without devices has an empty list."""
    age, found = ask.call.world.age, dict[str, Any]()
    if age > 10:
        found = {row["identifier"]: [] for row in runtimes(ask)}
    for device in chosen:
        key = _heading(device.kind) if age <= 10 else device.kind.runtime
        found.setdefault(key, []).append(_row(device, age))
    return found


def _kinds(ask: Ask) -> list[Kind]:
    """What is known on this Mac: the kinds of the lab, whether there are devices of them or not."""
    found = [*(device.kind for device in _simulators(ask)), *(kind for kind in KINDS.values() if not kind.physical)]
    return [kind for kind in found if not kind.unavailable]


def types(ask: Ask) -> list[dict[str, Any]]:
    """Device types; they tell no size and no scale."""
    found: dict[str, dict[str, Any]] = {}
    for kind in _kinds(ask):
        found.setdefault(kind.type, {
            "productFamily": kind.family,
            "bundlePath": f"{PROFILES}/DeviceTypes/{kind.model}.simdevicetype",
            "maxRuntimeVersion": 4_294_967_295,
            "maxRuntimeVersionString": "65535.255.255",
            "identifier": TYPES + kind.type,
            "modelIdentifier": kind.product,
            "minRuntimeVersionString": "15.0.0",
            "minRuntimeVersion": 983_040,
            "name": kind.model,
        })  # fmt: skip
    return list(found.values())


def runtimes(ask: Ask) -> list[dict[str, Any]]:
    """Runtimes; the version may have a third number, the identifier never has."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for kind in _kinds(ask):
        row = found.setdefault((kind.runtime, kind.build), {
            "bundlePath": f"{PROFILES}/Runtimes/{kind.platform} {kind.os}.simruntime",
            "buildversion": kind.build,
            "platform": kind.platform,
            "runtimeRoot": f"{PROFILES}/Runtimes/{kind.platform} {kind.os}.simruntime/Contents/Resources/RuntimeRoot",
            "identifier": kind.runtime,
            "version": kind.os,
            "isInternal": False,
            "isAvailable": True,
            "name": f"{kind.platform} {kind.os}",
            "supportedDeviceTypes": [],
        })  # fmt: skip
        supported = {
            "bundlePath": f"{PROFILES}/DeviceTypes/{kind.model}.simdevicetype",
            "name": kind.model,
            "identifier": TYPES + kind.type,
            "productFamily": kind.family,
        }
        if supported not in row["supportedDeviceTypes"]:
            row["supportedDeviceTypes"].append(supported)
    return list(found.values())


def pairs(ask: Ask) -> dict[str, Any]:
    """Watches with the phone each is paired to: the first that is available."""
    known = [device for device in _simulators(ask) if not device.kind.unavailable]
    phone = next((device for device in known if device.kind.family == "iPhone"), None)
    found: dict[str, Any] = {}
    for watch in (device for device in known if device.kind.family == "Apple Watch"):
        if phone is not None:
            both = {"watch": watch, "phone": phone}
            row: dict[str, Any] = {
                side: {"name": d.title, "udid": d.udid, "state": d.state} for side, d in both.items()
            }
            up = watch.state == phone.state == "Booted"
            found[watch.identifier] = {**row, "state": f"(active, {'connected' if up else 'disconnected'})"}
    return found


async def listing(ask: Ask) -> int:
    """`list [-j|--json] [-v] [devices|devicetypes|runtimes|pairs] [TERM|available]`."""
    switches = ask.switches()
    what = ask.words[0] if ask.words else ""
    term = ask.words[1].lower() if len(ask.words) > 1 else ""
    if what not in ("", "devices", "devicetypes", "runtimes", "pairs"):
        what, term = "devices", what.lower()
    chosen = [device for device in _simulators(ask) if _fits(device, term)]
    if not {"j", "json"} & switches.keys():
        await ask.call.out(_text(ask, what, chosen))
        return 0
    data: dict[str, Any] = {}
    if what in ("", "devicetypes"):
        data["devicetypes"] = types(ask)
    if what in ("", "runtimes"):
        data["runtimes"] = runtimes(ask)
    if what in ("", "devices"):
        data["devices"] = devices(ask, chosen)
    if what in ("", "pairs"):
        data["pairs"] = pairs(ask)
    # Slashes are escaped, and a colon has a space in front, as the real one prints them.
    text = json.dumps(data, indent=2, separators=(",", " : "), ensure_ascii=False).replace("/", "\\/")
    await ask.call.out(text + "\n")
    return 0


def _fits(device: LabDevice, term: str) -> bool:
    if term in ("", "available"):
        return not (term and device.kind.unavailable)
    if term == "booted":
        return device.state == "Booted"
    return term in device.title.lower() or term == device.udid.lower()


def _text(ask: Ask, what: str, chosen: list[LabDevice]) -> str:
    lines: list[str] = []
    if what in ("", "devicetypes"):
        lines += ["== Device Types ==", *(f"{row['name']} ({row['identifier']})" for row in types(ask))]
    if what in ("", "runtimes"):
        rows = (f"{r['name']} ({r['version']} - {r['buildversion']}) - {r['identifier']}" for r in runtimes(ask))
        lines += ["== Runtimes ==", *rows]
    if what in ("", "devices"):
        lines.append("== Devices ==")
        # Every runtime has a heading; of two with the same number the last has the devices.
        known = [(row["identifier"], f"-- {row['platform']} {_short(row['version'])} --") for row in runtimes(ask)]
        last = {identifier: number for number, (identifier, _) in enumerate(known)}
        left = list(chosen)
        for number, (identifier, head) in enumerate(known):
            lines.append(head)
            here = [d for d in left if d.kind.runtime == identifier and "runtime profile" not in d.kind.unavailable]
            if last[identifier] == number:
                left = [device for device in left if device not in here]
                lines += map(_line, here)
        for identifier in dict.fromkeys(device.kind.runtime for device in left):
            lines.append(f"-- Unavailable: {identifier} --")
            lines += [_line(device) for device in left if device.kind.runtime == identifier]
    if what in ("", "pairs"):
        lines.append("== Device Pairs ==")
        for name, pair in pairs(ask).items():
            lines.append(f"{name} {pair['state']}")
            for side in ("watch", "phone"):
                row = pair[side]
                lines.append(f"    {side.title()}: {row['name']} ({row['udid']}) ({row['state']})")
    return "\n".join(lines) + "\n"


def _line(device: LabDevice) -> str:
    why = device.kind.unavailable
    return f"    {device.title} ({device.udid}) ({device.state}) " + (f"(unavailable, {why})" if why else "")


def kind_of(ask: Ask, type_word: str, runtime_word: str) -> tuple[Kind | None, Kind | None]:
    """The kinds that have this device type and this runtime, by identifier or name; None where there is none."""
    known = _kinds(ask)
    typed = next((k for k in known if type_word in (TYPES + k.type, k.model, k.type)), None)
    short = runtime_word.removeprefix(RUNTIMES)
    ran = next(
        (k for k in known if runtime_word in (k.runtime, _heading(k)) or short == k.runtime[len(RUNTIMES) :]), None
    )
    return typed, ran


SUBCOMMANDS: dict[str, Subcommand] = {"list": listing}
