"""Which Apple devices the lab has: simulators and devices, their types and runtimes, sizes in points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Family = Literal["iPhone", "iPad", "Apple TV", "Apple Watch"]
TYPES = "com.apple.CoreSimulator.SimDeviceType."
RUNTIMES = "com.apple.CoreSimulator.SimRuntime."


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of device.

    Attributes:
        name: What the lab is asked for.
        title: Name of the device, as a person gave it.
        model: Name of the device type (marketing name).
        type: Last word of the device type's identifier.
        product: Model identifier (`iPhone18,3`).
        platform, os, build: Of the system it runs.
        width, height: Of the screen held upright, in points.
        scale: Pixels of a point.
        status_bar, bottom: What the system has at the top and at the bottom, in points.
        home_button: A button below the screen; without one a swipe from the lower edge goes home.
        hid: Size that raw touches are measured in, where it is not the screen's (models that are scaled down).
        physical: No simulator.
        state: `Booted` or `Shutdown` at the start; of a device: `connected`, `disconnected`, `unavailable`, `unpaired`.
        unavailable: Why Xcode does not offer it; empty = it does.
        runner: Whether WebDriverAgent is installed from the start.
    """

    name: str
    title: str
    model: str
    type: str
    product: str
    family: Family = "iPhone"
    platform: str = "iOS"
    os: str = "26.5"
    build: str = "23F77"
    width: int = 402
    height: int = 874
    scale: int = 3
    status_bar: int = 54
    bottom: int = 34
    home_button: bool = False
    hid: tuple[int, int] | None = None
    physical: bool = False
    state: str = "Booted"
    unavailable: str = ""
    runner: bool = True

    @property
    def tv(self) -> bool:
        """Whether a remote drives it."""
        return self.family == "Apple TV"

    @property
    def runtime(self) -> str:
        """Identifier of the runtime: major and minor version only."""
        return f"{RUNTIMES}{self.platform}-{'-'.join(self.os.split('.')[:2])}"


IPHONE = Kind("iphone", "iPhone 17", "iPhone 17", "iPhone-17", "iPhone18,3")
IPAD = Kind(
    "ipad", "iPad Air 11-inch (M3)", "iPad Air 11-inch (M3)", "iPad-Air-11-inch-M3", "iPad15,3", family="iPad",
    width=820, height=1180, scale=2, status_bar=24, bottom=20,
)  # fmt: skip
APPLETV = Kind(
    "appletv", "Apple TV 4K (3rd generation) (at 1080p)", "Apple TV 4K (3rd generation) (at 1080p)",
    "Apple-TV-4K-3rd-generation-1080p", "AppleTV14,1", family="Apple TV", platform="tvOS", os="26.4", build="23L5001",
    width=1920, height=1080, scale=1, status_bar=0, bottom=0,
)  # fmt: skip
DEVICE = Kind(
    "iphone-device", "Lab iPhone", "iPhone 16 Pro", "iPhone-16-Pro", "iPhone17,1", os="18.5", build="22F76",
    status_bar=62, physical=True, state="connected",
)  # fmt: skip
KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        IPHONE, IPAD, APPLETV, DEVICE,
        replace(IPHONE, name="iphone-off", state="Shutdown"),
        replace(IPHONE, name="iphone-ios18", os="18.5", build="22F77", state="Shutdown"),
        replace(IPHONE, name="iphone-mini", title="iPhone 13 mini", model="iPhone 13 mini", type="iPhone-13-mini",
                product="iPhone14,4", width=375, height=812, status_bar=50, hid=(360, 780)),
        replace(IPHONE, name="iphone-se", title="iPhone SE (3rd generation)", model="iPhone SE (3rd generation)",
                type="iPhone-SE-3rd-generation", product="iPhone14,6", width=375, height=667, scale=2, status_bar=20,
                bottom=0, home_button=True),
        replace(IPHONE, name="iphone-unavailable", title="iPhone 15", model="iPhone 15", type="iPhone-15",
                product="iPhone15,4", os="17.5", build="21F79", state="Shutdown",
                unavailable='runtime profile not found using "System" match policy'),
        replace(IPHONE, name="iphone-lost-runtime", os="26.4", build="23E244",
                unavailable="runtime profile not found"),
        replace(IPHONE, name="watch", title="Apple Watch Series 11 (46mm)", model="Apple Watch Series 11 (46mm)",
                type="Apple-Watch-Series-11-46mm", product="Watch7,17", family="Apple Watch", platform="watchOS",
                os="26.0", build="23R352", width=208, height=248, scale=2, state="Shutdown", runner=False),
        replace(DEVICE, name="iphone-device-27", title="New iPhone", os="27.0", build="24A335"),
        replace(DEVICE, name="iphone-device-wifi", title="Wireless iPhone", state="disconnected"),
        replace(DEVICE, name="iphone-device-away", title="Unreachable iPhone", state="unavailable"),
        replace(DEVICE, name="iphone-device-unpaired", title="", state="unpaired"),
        replace(DEVICE, name="appletv-device", title="Living Room", model="Apple TV 4K (3rd generation)",
                type="Apple-TV-4K-3rd-generation", product="AppleTV14,1", family="Apple TV", platform="tvOS",
                width=1920, height=1080, scale=1, status_bar=0, bottom=0, state="disconnected"),
        replace(DEVICE, name="watch-device", title="dev’s Apple Watch", model="Apple Watch Series 5",
                type="Apple-Watch-Series-5-44mm", product="Watch5,4", family="Apple Watch", platform="watchOS",
                os="10.0.1", build="21R360", width=184, height=224, scale=2, state="disconnected", runner=False),
    )
}  # fmt: skip
"""Every kind by its name. `iphone-lost-runtime` is booted although its runtime is gone, as has been seen."""
