"""The rows of an hdc server as devices: each with its state, why it is not ready, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from anydevice_schemas import Device
from anydevice_schemas.device import DeviceKind, DeviceState

from .hdc import Row
from .reading.emulators import Virtual
from .reading.params import Identity

PLATFORM: Final = "harmonyos"
BACKEND: Final = "harmonyos"
PREFIX: Final = "emulator:"
"""Before the name of a virtual device that is named by it."""
AGAIN: Final = "Unplug it and plug it in again, or hdc tconn its address."
States = Mapping[str, tuple[DeviceState, str, str]]
STATES: Final[States] = {
    "Connected": ("ready", "", ""),
    "Unauthorized": (
        "unauthorized",
        "It has not approved this host.",
        "Unlock it and say yes to trusting this computer. No question: switch USB debugging off and on again.",
    ),
    "Ready": ("offline", "It is attached and not connected yet.", AGAIN),
    "Offline": ("offline", "It is attached and does not answer.", AGAIN),
    "Unknown": ("unknown", "The hdc server does not know its state.", "hdc list targets -v"),
}  # fmt: skip
"""What a state of the server means for us: state, reason, fix."""


@dataclass(slots=True, frozen=True)
class Known:
    """A row, and what the device behind it said of itself; None where it could not be asked, with the reason."""

    row: Row
    identity: Identity | None
    trouble: str = ""


def devices(known: Sequence[Known]) -> list[Device]:
    """One device for each thing there is: what is attached in two ways is listed once, by cable before by network."""
    found: list[Device] = []
    seen: set[str] = set()
    for one in sorted(known, key=lambda one: (one.row.state != "Connected", one.row.road != "USB", one.row.key)):
        serial = one.identity.serial if one.identity is not None and not one.identity.emulator else ""
        if serial and serial in seen:
            continue
        seen.add(serial)
        found.append(_device(one))
    return found


def virtual(one: Virtual, state: DeviceState = "shutdown") -> Device:
    """A virtual device that does not run, or is just starting."""
    starting = state == "booting"
    return Device(
        id=PREFIX + one.name,
        name=one.name[:256],
        platform=PLATFORM,
        backend=BACKEND,
        device_target="tv" if one.device_class == "tv" else "mobile",
        device_class=one.device_class,
        kind="emulator",
        state=state,
        id_kind="serial",
        reason="HarmonyOS is still starting." if starting else "The emulator does not run.",
        fix="Wait until it is up." if starting else "Call boot with this device.",
        os_version=one.version[:64],
        facts={"transport": "emulator"},
    )


def _device(one: Known) -> Device:
    row, identity = one.row, one.identity
    state, reason, fix = STATES.get(
        row.state, ("unknown", "The hdc server says something else.", "hdc list targets -v")
    )
    if row.state == "Connected" and identity is None:
        state, reason, fix = "unknown", one.trouble or "It does not say what it is.", "Call devices again."
    kind: DeviceKind = "emulator" if identity is not None and identity.emulator else "device"
    name = (identity.name if identity else "") or (identity.model if identity else "")
    if identity is not None and identity.emulator:
        name = identity.model or "Emulator"
    device_class = identity.device_class if identity else "phone"
    facts: dict[str, object] = {"transport": row.road.lower() or "unknown"}
    if identity is not None:
        facts |= {"api": identity.api, "hardwareSerial": identity.serial}
    return Device(
        id=row.key,
        name=(name or row.key)[:256],
        platform=PLATFORM,
        backend=BACKEND,
        device_target="tv" if device_class == "tv" else "mobile",
        device_class=device_class,
        kind=kind,
        state=state,
        id_kind="serial",
        reason=reason,
        fix=fix,
        os_version=(identity.version if identity else "")[:64],
        model=(identity.model if identity else "")[:256],
        facts=facts,
    )
