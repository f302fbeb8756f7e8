"""Rows of the adb server and installed images as devices: each once, with its state, why, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from anydevice_adb import Row
from anydevice_schemas import Device
from anydevice_schemas.device import DeviceKind, DeviceState

from .sdk import Image

PLATFORM: Final = "vega"
BACKEND: Final = "vega"
EMULATOR: Final = "emulator-"
PREFIX: Final = "vvd:"
DSN_MOST: Final = 64
"""Characters of a device's own serial number, which the SDK's program calls a stick by."""
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost"})
_OS = re.compile(r"\bOS (\d+(?:\.\d+)*)")


@dataclass(slots=True, frozen=True)
class Identity:
    """What a guest said of itself: host name and processor; and what the SDK's program tells of it, where it does."""

    hostname: str
    architecture: str = ""
    info: Mapping[str, Any] | None = None


@dataclass(slots=True, frozen=True)
class Known:
    """A row, and what the device behind it said; None where it could not be asked, with the reason."""

    row: Row
    identity: Identity | None
    trouble: str = ""


def devices(known: Sequence[Known]) -> list[Device]:
    """One device for each thing there is: what is attached in two ways is listed once, over the better one."""
    found: list[Device] = []
    hosts: set[str] = set()
    consoles = {one.row.serial for one in known if one.row.serial.startswith(EMULATOR)}
    for one in sorted(known, key=_rank):
        host, _, port = one.row.serial.rpartition(":")
        if host in LOOPBACK and port.isdigit() and f"{EMULATOR}{int(port) - 1}" in consoles:
            continue  # somebody connected to the virtual device by its address as well
        name = one.identity.hostname if one.identity is not None else ""
        if name and name in hosts:
            continue
        hosts.add(name)
        found.append(device(one))
    return found


def device(one: Known) -> Device:
    """A row as a device."""
    row, identity = one.row, one.identity
    state, reason, fix = _state(one)
    emulator = row.serial.startswith(EMULATOR)
    info = identity.info or {} if identity is not None else {}
    kind: DeviceKind = "emulator" if emulator or info.get("simulated") is True else "device"
    product = str(info.get("product", ""))
    build = _OS.search(str(info.get("buildDescription", "")))
    facts: dict[str, Any] = {"road": "emulator" if emulator else "tcp" if ":" in row.serial else "usb"}
    if identity is not None:
        facts |= {"hostname": identity.hostname, "architecture": identity.architecture}
    if info:
        facts["developerMode"] = info.get("inDeveloperMode") is True
    return Device(
        id=row.serial,
        name="Vega Virtual Device" if kind == "emulator" else "Fire TV",
        platform=PLATFORM,
        backend=BACKEND,
        device_target="tv",
        device_class="tv",
        kind=kind,
        state=state,
        id_kind="serial",
        reason=reason,
        fix=fix,
        os_version=build[1] if build else "",
        model=product[:256],
        aliases=[dsn] if (dsn := str(info.get("idme", ""))) and len(dsn) <= DSN_MOST else [],
        facts=facts,
    )


def image_row(image: Image, *, booting: bool = False) -> Device:
    """An installed image of a virtual device that does not run."""
    return Device(
        id=PREFIX + image.name,
        name=f"Vega Virtual Device ({image.name})",
        platform=PLATFORM,
        backend=BACKEND,
        device_target="tv",
        device_class="tv",
        kind="emulator",
        state="booting" if booting else "shutdown",
        id_kind="serial",
        reason="It is still starting." if booting else "The virtual device does not run.",
        fix="Wait until it is up." if booting else "Call boot with this device.",
        facts={"road": "emulator", "sdk": image.version},
    )


def _rank(one: Known) -> tuple[int, str]:
    """What works before what does not; by cable or as a virtual device before by address."""
    return (0 if one.row.state == "device" else 2) + (1 if ":" in one.row.serial else 0), one.row.serial


def _state(one: Known) -> tuple[DeviceState, str, str]:
    if one.row.state == "device" and one.identity is not None:
        return "ready", "", ""
    if one.row.state == "device":
        return "unknown", one.trouble or "It does not answer.", "Wait a few seconds, then call devices."
    if one.row.state == "unauthorized":
        return "unauthorized", "It has not approved this host.", "Say yes on its screen."
    return "offline", "It is attached and does not answer now.", "Wait a few seconds, then call devices."
