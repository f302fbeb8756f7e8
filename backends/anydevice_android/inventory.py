"""The rows of an adb server as devices: each with its state, why it is not ready, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from anydevice_adb import Row
from anydevice_schemas import Device
from anydevice_schemas.device import DeviceKind, DeviceState

from .reading.props import Identity

PLATFORM: Final = "android"
BACKEND: Final = "android"
States = Mapping[str, tuple[DeviceState, str, str]]
STATES: Final[States] = {
    "device": ("ready", "", ""),
    "offline": (
        "offline",
        "It is attached and does not answer.",
        "Unplug it and plug it in again, or adb reconnect offline.",
    ),
    "unauthorized": (
        "unauthorized",
        "It has not approved this host.",
        "Unlock it and say yes to 'Allow USB debugging?'. No question: switch USB debugging off and on again.",
    ),
    "authorizing": ("unauthorized", "It is being asked to approve this host.", "Unlock it and say yes."),
    "connecting": ("offline", "It is connecting.", "Wait a few seconds, then call devices."),
    "no permissions": (
        "unavailable",
        "This user may not open its USB device.",
        "Linux: install android-sdk-platform-tools-common, join the group plugdev, plug it in again.",
    ),
    "recovery": ("unavailable", "It runs its recovery system.", "adb reboot"),
    "sideload": ("unavailable", "It waits for an update.", "Choose 'reboot system' on it."),
    "rescue": ("unavailable", "It is in rescue mode.", "Restart it."),
    "bootloader": ("unavailable", "It is in its bootloader.", "fastboot reboot"),
}
"""What a state of the server means for us: state, reason, fix."""
BOOTING: Final = ("booting", "Android is still starting.", "Wait until it is up: wait, or call devices again.")
EMULATOR = "emulator-"


@dataclass(slots=True, frozen=True)
class Known:
    """A row, and what the device behind it said of itself; None where it could not be asked, with the reason."""

    row: Row
    identity: Identity | None
    trouble: str = ""


def devices(known: Sequence[Known]) -> list[Device]:
    """One device for each thing there is: what is attached in two ways is listed once, over the better one."""
    found: list[Device] = []
    best: dict[str, Known] = {}
    for one in sorted(known, key=_rank):
        hardware = one.identity.serial if one.identity and one.identity.serial else one.row.hardware_serial
        if one.row.ghost:
            found.append(_device(one))
        elif hardware in best and _same(best[hardware], one):
            continue
        else:
            best.setdefault(hardware, one)
            found.append(_device(one))
    return found


def _rank(one: Known) -> tuple[int, str]:
    """Cable before network, network address before a name that was found by itself."""
    serial = one.row.serial
    road = 2 if "._adb-tls-connect._tcp" in serial else 1 if ":" in serial else 0
    return (0 if one.row.state == "device" else 1) * 4 + road, serial


def _same(one: Known, other: Known) -> bool:
    """Whether two rows are one device: the same hardware serial, over two roads. Emulators may share a serial."""
    roads = {_rank(one)[0] % 4, _rank(other)[0] % 4}
    return len(roads) == 2 and not one.row.serial.startswith(EMULATOR)


def _device(one: Known) -> Device:
    row, identity = one.row, one.identity
    state, reason, fix = STATES.get(row.state, ("unknown", f"The adb server says: {row.state[:60]}.", "adb devices -l"))
    if row.why and row.state == "no permissions":
        reason = "This user may not open its USB device."
    if row.state == "device" and identity is None:
        state, reason, fix = (
            "unknown",
            one.trouble or "It does not say what it is.",
            "adb reconnect, then call devices.",
        )
    elif row.state == "device" and identity is not None and not identity.booted:
        state, reason, fix = BOOTING
    kind: DeviceKind = "device"
    if row.serial.startswith(EMULATOR) or (identity is not None and identity.emulator):
        kind = "emulator"
    model = (identity.model if identity else "") or row.facts.get("model", "").replace("_", " ")
    name = (identity.avd.replace("_", " ") if identity and identity.avd else "") or model or row.serial
    device_class = identity.device_class if identity else "phone"
    facts: dict[str, object] = {"transport": _road(row)}
    if identity is not None:
        facts |= {"api": identity.sdk, "hardwareSerial": identity.serial}
    return Device(
        id=row.serial
        if not row.ghost
        else f"{row.serial} {row.facts.get('usb', row.facts.get('transport_id', ''))}".strip(),
        name=name[:256],
        platform=PLATFORM,
        backend=BACKEND,
        device_target="tv" if device_class == "tv" else "mobile",
        device_class=device_class,
        kind=kind,
        state=state,
        id_kind="serial",
        reason=reason,
        fix=fix,
        os_version=identity.release if identity else "",
        model=model[:256],
        facts=facts,
    )


def _road(row: Row) -> str:
    if row.serial.startswith(EMULATOR):
        return "emulator"
    if "._adb-tls-connect._tcp" in row.serial:
        return "mdns"
    return "tcp" if ":" in row.serial else "usb"
