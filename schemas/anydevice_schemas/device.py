"""Devices, and the selectors that name one."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ._base import Word
from .platforms import DeviceTarget, IdKind

DeviceClass = Literal["phone", "tablet", "tv", "wearable", "desktop", "browser", "board"]
DeviceKind = Literal["device", "simulator", "emulator", "virtual", "host", "browser", "endpoint"]
DeviceState = Literal["ready", "booting", "shutdown", "offline", "unauthorized", "unavailable", "conflict", "unknown"]
Health = Literal["good", "unknown", "suspect", "bad", "maintenance"]

USABLE_STATES: frozenset[str] = frozenset({"ready"})
"""States in which a device can be driven without booting it first."""

CANDIDATE_STATES: frozenset[str] = frozenset({"ready", "booting", "shutdown", "offline", "unauthorized", "unknown"})
"""States in which a device may be named at all; `unavailable` and `conflict` rows are shown, never chosen."""


class DeviceRef(Word):
    """The identity of a device as answers carry it."""

    id: str = Field(description="The platform's own id of the device.")
    name: str = Field(description="Its human name; not unique.")
    platform: str = Field(description="The platform it belongs to.")
    key: str = Field(description="`backend:id`, unique across everything listed.")


class Device(Word):
    """One row of the inventory: what exists, whether it can be driven, and what to do if not."""

    id: str = Field(min_length=1, max_length=256, description="The platform's own id, stable across restarts.")
    name: str = Field(max_length=256, description="Human name; not unique.")
    platform: str = Field(description="apple, android, harmonyos, vega, linux, web, or a vendor's own.")
    backend: str = Field(description="Name of the backend that drives it.")
    device_target: DeviceTarget = Field(description="mobile (phones, tablets), tv, or desktop (computers, browsers).")
    device_class: DeviceClass
    kind: DeviceKind
    state: DeviceState
    id_kind: IdKind = Field(default="id", description="The selector that names it by id besides `device`.")
    aliases: list[str] = Field(
        default_factory=list,
        max_length=8,
        description="Other ids it answers to for now, such as the serial of an emulator; an id of another row wins.",
    )
    reason: str = Field(default="", max_length=500, description="Why it is not ready, when it is not.")
    fix: str = Field(default="", max_length=500, description="What to do about it, when it is not ready.")
    health: Health = "unknown"
    os_version: str = ""
    model: str = ""
    shares: list[str] = Field(
        default_factory=list,
        description="Things it shares with other devices (an input focus, an automation slot); devices with a "
        "common word are driven one at a time.",
    )
    facts: dict[str, Any] = Field(default_factory=dict, description="Whatever else the backend knows.")

    @property
    def key(self) -> str:
        """`backend:id`: unique across everything listed."""
        return f"{self.backend}:{self.id}"

    def ref(self) -> DeviceRef:
        """The identity part of this row."""
        return DeviceRef(id=self.id, name=self.name, platform=self.platform, key=self.key)


class DeviceSelector(Word):
    """Which device: every field given must agree on the same one. All are optional.

    `device` is a full id (or `backend:id`), else a name: exact, case-insensitive, white space and `_` folded.
    `udid` and `serial` compare case-insensitively.
    """

    platform: str | None = Field(default=None, description="Narrows to a platform; ios and macos narrow apple.")
    device_target: DeviceTarget | None = Field(default=None, description="Narrows to a form: mobile, tv, desktop.")
    device: str | None = Field(default=None, min_length=1, description="Device id, or its unique name.")
    udid: str | None = Field(default=None, min_length=1, description="Apple device or simulator UDID.")
    serial: str | None = Field(default=None, min_length=1, description="Android, HarmonyOS or Vega serial.")
    android_device_allowlist: str | None = Field(
        default=None, description="Android serials that may be used, separated by space or comma."
    )
    session: str | None = Field(default=None, min_length=1, max_length=128, description="Session name or handle.")
    tenant: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9._-]{1,128}$",
        description="Tenant; narrows what the caller may do.",
    )
    run_id: str | None = Field(
        default=None, pattern=r"^[A-Za-z0-9._-]{1,128}$", description="Run the lease belongs to."
    )
    lease_id: str | None = Field(default=None, pattern=r"^[0-9a-fA-F]{16,128}$", description="Lease to act under.")

    def allowlists(self) -> dict[str, frozenset[str]]:
        """Ids that may be used, by platform, casefolded; a platform that is absent is not limited."""
        if self.android_device_allowlist is None:
            return {}
        words = self.android_device_allowlist.replace(",", " ").split()
        return {"android": frozenset(word.casefold() for word in words)}

    def names_a_device(self) -> bool:
        """True when an identity selector is given (device, udid, serial), not only scope."""
        return self.device is not None or self.udid is not None or self.serial is not None


class Switches(Word):
    """Command-independent switches, accepted by every device command."""

    response_level: Literal["digest", "default", "full"] = Field(
        default="default", description="How much the answer says: digest, default or full."
    )
    include_cost: bool = Field(default=False, description="Add cost (wallClockMs, roundTrips, waitedMs).")
    debug: bool = Field(default=False, description="Add diagnostics: the plan, timings and driver calls.")
    no_record: bool = Field(default=False, description="Leave this call out of the replay journal.")
    mcp_output_format: Literal["optimized", "json"] = Field(
        default="optimized", description="MCP text content: compact text, or the answer as JSON."
    )
    confirm_token: str | None = Field(
        default=None, max_length=128, description="One-shot token from a confirmation_required answer."
    )
