"""Simulators and physical devices as rows: each with its state, why it is not ready, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from anydevice_schemas import Device
from anydevice_schemas.device import DeviceClass, DeviceState

from .reading.coredevice import PhysicalDevice
from .reading.simulators import SYSTEMS, Simulator, type_name

PLATFORM: Final = "apple"
BACKEND: Final = "apple"
States = Mapping[str, tuple[DeviceState, str, str]]
STATES: Final[States] = {
    "Booted": ("ready", "", ""),
    "Shutdown": ("shutdown", "It is shut down.", "boot"),
    "Booting": ("booting", "It is starting.", "Wait until it is up: boot waits for it."),
    "Shutting Down": ("unknown", "It is shutting down.", "Wait some seconds, then boot it."),
    "Creating": ("unavailable", "Xcode is making it.", "Wait some seconds, then call devices."),
    "Deleting": ("unavailable", "Xcode is deleting it.", "Choose another one."),
}
"""What a state of a simulator means for us: state, reason, fix."""
WHY: Final[Mapping[str, tuple[str, str]]] = {
    "runtime profile not found": (
        "The system it runs is not installed.",
        "Xcode, Settings, Components: install the runtime; or delete the simulator.",
    ),
    "device type not supported by runtime": (
        "The system it runs does not know this kind of device.",
        "Make a simulator of another kind.",
    ),
}


def simulator(row: Simulator) -> Device | None:
    """A simulator as a row; None for watches and headsets, which are not driven."""
    kind = _class(row.os, row.type or row.name)
    if kind is None:
        return None
    state, reason, fix = STATES.get(
        row.state, ("unknown", "It is in a state that is not known.", "xcrun simctl list devices")
    )
    if not row.available:
        state = "unavailable"
        reason, fix = next(
            (told for sentence, told in WHY.items() if row.why.startswith(sentence)),
            ("Xcode cannot use it.", "xcrun simctl list devices tells why."),
        )
    facts: dict[str, object] = {"appleState": row.state}
    if row.why:
        facts["why"] = row.why[:300]
    return Device(
        id=row.udid,
        name=row.name[:256] or row.udid,
        platform=PLATFORM,
        backend=BACKEND,
        device_target="tv" if kind == "tv" else "mobile",
        device_class=kind,
        kind="simulator",
        state=state,
        id_kind="udid",
        reason=reason,
        fix=fix,
        os_version=row.version,
        model=type_name(row.type)[:256],
        facts=facts,
    )


def physical(row: PhysicalDevice) -> Device | None:
    """A physical device as a row; None for watches, and for what does not say what it is and was never paired."""
    if row.platform and row.platform not in SYSTEMS:
        return None
    kind = _class(row.platform or "iOS", row.kind or row.model or row.name)
    if kind is None:
        return None
    state: DeviceState = "ready"
    reason = fix = ""
    if not row.paired:
        state, reason = "unauthorized", "It is not paired with this Mac."
        fix = "Connect it by cable, unlock it and trust this Mac."
    elif row.tunnel == "unavailable" or (not row.tunnel and not row.transport):
        state, reason = "offline", "It is out of reach."
        fix = "Connect it by cable, or bring it into the same network, and unlock it."
    elif row.developer_mode == "disabled":
        state, reason = "unavailable", "Its developer mode is off."
        fix = "On the device: Settings, Privacy & Security, Developer Mode."
    return Device(
        id=row.udid or row.identifier,
        name=(row.name or row.model or row.identifier)[:256],
        platform=PLATFORM,
        backend=BACKEND,
        device_target="tv" if kind == "tv" else "mobile",
        device_class=kind,
        kind="device",
        state=state,
        id_kind="udid",
        reason=reason,
        fix=fix,
        os_version=row.version,
        model=row.model[:256],
        facts={"coreDevice": row.identifier, "transport": row.transport or "none"},
    )


def _class(system: str, kind: str) -> DeviceClass | None:
    if system and system not in SYSTEMS:
        return None
    words = kind.replace("-", " ").casefold()
    if system == "tvOS" or "apple tv" in words or "appletv" in words:
        return "tv"
    if "watch" in words or "vision" in words:
        return None
    return "tablet" if "ipad" in words else "phone"
