"""`getprop`: what a device says it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from anydevice_schemas.device import DeviceClass

_PROP = re.compile(r"^\[([^\]]+)\]: \[(.*?)\]$", re.M | re.S)


def parse_props(text: str) -> dict[str, str]:
    """The properties of a `getprop` listing; values may be empty, and may have several lines."""
    return dict(_PROP.findall(text.replace("\r\n", "\n")))


@dataclass(slots=True, frozen=True)
class Identity:
    """What a device is, as its properties say.

    Attributes:
        serial: Its hardware serial; empty where it does not tell. The same over USB, TCP and mDNS.
        model: As a person calls it.
        release: Android's version, e.g. `14`.
        sdk: API level; 0 when it is not told.
        booted: Whether it came up whole.
        emulator: Whether it is one.
        avd: Name of the virtual device, for an emulator.
        device_class: Phone, tablet, tv, wearable.
    """

    serial: str
    model: str
    release: str
    sdk: int
    booted: bool
    emulator: bool
    avd: str
    device_class: DeviceClass


def identity(props: Mapping[str, str]) -> Identity:
    """Reads a device's identity from its properties."""
    traits = {word.strip() for word in props.get("ro.build.characteristics", "").split(",")}
    emulator = props.get("ro.kernel.qemu") == "1" or props.get("ro.boot.qemu") == "1" or "emulator" in traits
    sdk = props.get("ro.build.version.sdk", "")
    kind: DeviceClass = "phone"
    if "tv" in traits:
        kind = "tv"
    elif "watch" in traits:
        kind = "wearable"
    elif "tablet" in traits:
        kind = "tablet"
    return Identity(
        serial=props.get("ro.serialno", "") or props.get("ro.boot.serialno", ""),
        model=props.get("ro.product.model", "") or props.get("ro.product.system.model", ""),
        release=props.get("ro.build.version.release", ""),
        sdk=int(sdk) if sdk.isdigit() else 0,
        booted=props.get("sys.boot_completed") == "1" or props.get("dev.bootcomplete") == "1",
        emulator=emulator,
        avd=props.get("ro.boot.qemu.avd_name", "") or props.get("ro.kernel.qemu.avd_name", ""),
        device_class=kind,
    )
