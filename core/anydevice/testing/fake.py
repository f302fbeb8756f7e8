"""A backend without devices: any number of fake ones, with faults on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from anydevice_schemas import Device, DeviceRef, Manifest

from .. import driver as d
from .desk import OPERATIONS as ON_A_DESK
from .diagnosis import OPERATIONS as DIAGNOSIS
from .disk import FakeDisk
from .driver import CleaningDriver, FakeDriver
from .media import Tape
from .screen import FakeScreen, practice_screen
from .storing import OPERATIONS as STORING
from .upkeep import OPERATIONS as UPKEEP

OPERATIONS = [
    "screen.tree", "screen.image", "screen.geometry", "elements.set_text", "elements.focus", "elements.reveal",
    "elements.probe", "elements.at", "touch.tap", "touch.hold", "touch.swipe", "touch.drag", "pointer.move",
    "pointer.click", "pointer.drag", "pointer.wheel", "keys.press", "keys.type_text", "keys.focused", "apps.list",
    "apps.open", "apps.close", "apps.state", "links.open_url", "links.deliver_event", "navigation.back",
    "power.boot", "power.shutdown", "power.erase", "alerts.get", "alerts.accept", "alerts.dismiss", *ON_A_DESK,
    "recording.start", "recording.stop", "recording.status", "audio.start", "audio.level", "audio.stop",
    *STORING, *DIAGNOSIS, *UPKEEP,
]  # fmt: skip

WHY: dict[str, tuple[str, str]] = {
    "booting": ("It is starting.", "Wait until it is up."),
    "shutdown": ("", "Call boot with this device."),
    "offline": ("Its connection is down.", "Reconnect the device."),
    "unauthorized": ("It has not approved this host.", "Approve this host on the device."),
    "unavailable": ("What it runs on is not installed.", "Install its runtime."),
    "unknown": ("It did not say how it is.", "Call doctor."),
}
"""Reason and fix of the states in which a fake device cannot be driven."""


def fake_manifest(name: str = "fake", **changes: Any) -> Manifest:
    """A manifest that declares everything the fake driver can do; `changes` replace fields."""
    fields: dict[str, Any] = {
        "name": name,
        "summary": "Devices that do not exist, for tests.",
        "contract": ">=1.0,<2",
        "platforms": [{"name": name}],
        "device_classes": ["phone", "tablet", "tv", "desktop"],
        "operations": {op: {} for op in OPERATIONS},
        "list_ttl": 1.0,
    }
    return Manifest.model_validate(fields | changes)


@dataclass
class Fault:
    """What goes wrong on request.

    Attributes:
        hang_listing: Seconds a listing takes.
        fail_listing: Raised by a listing.
        operations: For an operation: an exception to raise, or seconds to hang before doing it.
        swallow: Operations that say they were done and are not.
        wrong_identity: What `identify()` answers instead of the truth.
        redirect: Another device's id that receives this one's touches.
    """

    hang_listing: float = 0.0
    fail_listing: BaseException | None = None
    operations: dict[str, Exception | float] = field(default_factory=dict)
    swallow: set[str] = field(default_factory=set)
    wrong_identity: DeviceRef | None = None
    redirect: str | None = None


class FakeBackend(d.Backend):
    """Fake devices by id.

    Args:
        ids: Ids of the devices; each is a ready phone with a practice screen.
        name: Name of backend and platform.
        cleans: Whether its drivers clean up after a holder; each clean-up is in `cleaned`, and may fail or hang by
            `fault.operations["clean"]`.
        **fields: Replace fields of every device row.
    """

    def __init__(
        self, ids: Sequence[str] = ("fake-1", "fake-2"), *, name: str = "fake", cleans: bool = False, **fields: Any
    ) -> None:
        super().__init__(d.HostServices("", ""))
        self.manifest = fake_manifest(name)
        self.rows: dict[str, Device] = {}
        self.screens: dict[str, FakeScreen] = {}
        self.fault = Fault()
        self.down: dict[str, str] = {}
        self.pending_losses: list[dict[str, Any]] = []
        self.drivers: list[FakeDriver] = []
        self.cleans = cleans
        self.cleaned: list[str] = []
        self.disks: dict[str, FakeDisk] = {}
        self.tapes: dict[str, Tape] = {}
        self.listening: dict[str, float] = {}
        self.loudness: dict[str, float] = {}
        for number, device_id in enumerate(ids, 1):
            self.add(device_id, name=f"Fake phone {number}", **fields)

    def add(self, device_id: str, **fields: Any) -> Device:
        """Adds a device; `fields` replace those of a ready phone."""
        row: dict[str, Any] = {
            "id": device_id,
            "name": device_id,
            "platform": self.manifest.platforms[0].name,
            "backend": self.manifest.name,
            "device_target": "mobile",
            "device_class": "phone",
            "kind": "virtual",
            "state": "ready",
            "id_kind": "serial",
        }
        device = Device.model_validate(row | fields)
        self.rows[device_id] = device
        self.screens[device_id] = practice_screen()
        self.disks[device_id] = FakeDisk()
        return device

    def screen(self, device_id: str) -> FakeScreen:
        """The screen of a device: the witness."""
        return self.screens[device_id]

    def set_state(self, device_id: str, state: str) -> None:
        """Changes a row's state, with the reason and the fix that go with it."""
        reason, fix = WHY.get(state, ("", ""))
        change = {"state": state, "reason": reason, "fix": fix}
        self.rows[device_id] = self.rows[device_id].model_copy(update=change)

    async def devices(self, env: d.Environment) -> Sequence[Device]:
        """See `Backend`."""
        if self.fault.hang_listing:
            await anyio.sleep(self.fault.hang_listing)
        if self.fault.fail_listing is not None:
            raise self.fault.fail_listing
        return list(self.rows.values())

    async def connect(self, device: Device, env: d.Environment) -> FakeDriver:
        """See `Backend`."""
        driver = (CleaningDriver if self.cleans else FakeDriver)(self, device)
        self.drivers.append(driver)
        return driver
