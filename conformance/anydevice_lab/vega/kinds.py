"""Which Vega devices the lab has."""

from __future__ import annotations

from dataclasses import dataclass

from ..android.kinds import CONSOLE_TOKEN, Kind

TRANSPORT = ("shell_v2", "stat_v2", "ls_v2", "fixed_push_mkdir")


@dataclass(frozen=True, slots=True)
class VegaKind(Kind):
    """A kind of Vega device; see `Kind` for what it has of any device behind an adb server.

    Attributes:
        architecture: As `uname -m` and `vega device info` tell it.
        build: As `vega device info` tells it.
        simulated: Whether it is a virtual device.
        screenshooter: Whether the compositor's own screenshot program works; it does on sticks only.
    """

    architecture: str = "aarch64"
    build: str = "OS 1.2 (TV Ship/102282480)"
    simulated: bool = False
    screenshooter: bool = True


VVD = VegaKind(
    "vvd", "Vega Virtual Device", "vvrp-tv-arm64", "vvrp",
    manufacturer="Amazon", width=1920, height=1080, density=160, characteristics="tv", tv=True, features=(),
    transport=TRANSPORT, avd="VirtualDevice", console_token=CONSOLE_TOKEN, simulated=True, screenshooter=False,
)  # fmt: skip
STICK = VegaKind(
    "stick", "Fire TV Stick 4K Select", "callisto", "callisto",
    manufacturer="Amazon", width=1920, height=1080, density=160, characteristics="tv", tv=True, features=(),
    transport=TRANSPORT, architecture="armv7l",
)  # fmt: skip
KINDS: dict[str, VegaKind] = {kind.name: kind for kind in (VVD, STICK)}
"""Every kind by its name."""
