"""The reference backend: every operation, every device class, the practice app in memory.

It passes the whole conformance catalogue, and every case of the catalogue is failed by a mutant of it.
"""

from __future__ import annotations

from typing import Any

from anydevice_schemas import Device, Manifest

from .. import driver as d
from .fake import OPERATIONS, FakeBackend, fake_manifest
from .practice import PracticeApp

FORMS: dict[str, dict[str, Any]] = {
    "phone": {"target": "mobile", "kind": "virtual", "size": (390, 844)},
    "tablet": {"target": "mobile", "kind": "virtual", "size": (820, 1180)},
    "tv": {"target": "tv", "kind": "virtual", "size": (1920, 1080)},
    "desktop": {"target": "desktop", "kind": "virtual", "size": (1280, 800)},
}
"""The device classes it has: device target, kind, and size of the screen in points."""

GLASS = ["phone", "tablet"]
POINTED = ["desktop"]
SHARED = [*GLASS, *POINTED]
PACKED = [*GLASS, "tv"]
FILES = ("trash", "tags", "set_tags", "search")
WINDOWS = ("list", "move", "resize", "minimize", "unminimize", "maximize", "unmaximize", "bring_up", "close")
ONLY: dict[str, list[str]] = {
    "touch.tap": GLASS, "touch.hold": GLASS, "touch.swipe": GLASS, "touch.drag": GLASS, "touch.multi_touch": GLASS,
    "keys.keyboard_state": GLASS, "keys.dismiss": GLASS, "keys.paste": GLASS,
    "pointer.move": POINTED, "pointer.click": POINTED,
    "pointer.drag": POINTED, "pointer.wheel": POINTED, **{f"windows.{verb}": POINTED for verb in WINDOWS},
    "clipboard.read": SHARED, "clipboard.write_text": SHARED, "clipboard.write_image": SHARED,
    "clipboard.write_files": POINTED,
    **{f"files.{verb}": POINTED for verb in FILES}, "files.push": PACKED, "files.pull": PACKED,
    "files.add_media": GLASS, "apps.install": PACKED, "apps.uninstall": PACKED,
    "apps.container": GLASS,
    **{f"forwards.{verb}": PACKED for verb in ("list", "add", "remove")},
    **{f"elements.{verb}": SHARED for verb in ("activate", "focus", "reveal", "set_text")},
    "remote.press": ["tv"], "remote.repeat": ["tv"], "remote.hold": ["tv"], "notifications.push": GLASS,
    "settings.orientation": GLASS, "settings.wifi": GLASS,
    "settings.app_data": PACKED,
    "settings.airplane": GLASS, "settings.location": GLASS, "settings.permission": GLASS, "settings.status_bar": GLASS,
}  # fmt: skip
"""Operations that only some classes have; the others have all of the rest. A tv has no way to an element but arrows."""


def reference_manifest(name: str = "reference") -> Manifest:
    """The manifest of the reference backend."""
    every = [*OPERATIONS, "elements.activate", "touch.multi_touch"]
    operations = {op: {"classes": ONLY[op]} if op in ONLY else {} for op in every}
    return fake_manifest(
        name,
        summary="Simulated devices in memory that do everything the contract knows.",
        device_classes=list(FORMS),
        operations=operations,
        practice={"folder": "/storage", "package": "testing/sample-package.json"},
    )


class ReferenceBackend(FakeBackend):
    """Two devices of every class, each running the practice app when it is opened.

    Args:
        host: As every backend takes it; nothing is stored.
        classes: Which device classes to have.
        name: Name of backend and platform.
    """

    def __init__(
        self,
        host: d.HostServices | None = None,
        *,
        classes: tuple[str, ...] = tuple(FORMS),
        name: str = "reference",
    ) -> None:
        super().__init__([], name=name, cleans=True)
        if host is not None:
            self.host = host
        self.manifest = reference_manifest(name)
        for device_class in classes:
            for number in (1, 2):
                self.add_form(device_class, f"{device_class}-{number}")

    def add_form(self, device_class: str, device_id: str) -> Device:
        """Adds a device of a class."""
        form = FORMS[device_class]
        device = self.add(
            device_id,
            name=device_id.replace("-", " ").title(),
            device_target=form["target"],
            device_class=device_class,
            kind=form["kind"],
        )
        width, height = form["size"]
        self.screens[device_id] = PracticeApp(width=width, height=height)
        return device

    def practice(self, device_id: str) -> PracticeApp:
        """The app model of a device."""
        app = self.screens[device_id]
        assert isinstance(app, PracticeApp)
        return app
