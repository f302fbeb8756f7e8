"""Which devices the lab has."""

from __future__ import annotations

from dataclasses import dataclass, replace

BASE_FEATURES = (
    "shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir", "apex", "fixed_push_symlink_timestamp",
    "remount_shell",
)  # fmt: skip
NEWER_FEATURES = (*BASE_FEATURES, "abb", "abb_exec", "track_app", "sendrecv_v2")
LEANBACK = (
    "android.software.leanback", "android.software.leanback_only", "android.hardware.type.television",
)  # fmt: skip
HANDHELD = ("android.hardware.touchscreen", "android.hardware.touchscreen.multitouch", "android.hardware.camera")


CONSOLE_TOKEN = "Q3Jvc3Nmb290aW5n"
"""What consoles of emulators ask for; the lab's home has it in `.emulator_console_auth_token`."""


@dataclass(frozen=True, slots=True)
class Display:
    """A display of a device: 64-bit id, size in pixels, whether it is dark."""

    id: int
    width: int
    height: int
    dark: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of device.

    Attributes:
        name: What the lab is asked for.
        model, product, device, manufacturer: As properties and banner have them.
        api, release: Level and version of Android.
        width, height: Of the display in its natural orientation, in pixels.
        density: Pixels an inch; 160 is one pixel a point.
        characteristics: `ro.build.characteristics`.
        tv: Driven by arrow keys, without bars of the system.
        features: What `pm list features` has.
        transport: Features of the transport it advertises.
        avd: Name of the virtual device; empty = no emulator.
        console_token: What the emulator's console asks for; empty = nothing.
        state: `device`, `unauthorized` (until a person approves) or `offline`.
        displays: Physical displays, where there are several.
    """

    name: str
    model: str
    product: str
    device: str
    manufacturer: str = "Google"
    api: int = 36
    release: str = "16"
    width: int = 1080
    height: int = 2400
    density: int = 420
    characteristics: str = "nosdcard"
    tv: bool = False
    features: tuple[str, ...] = HANDHELD
    transport: tuple[str, ...] = NEWER_FEATURES
    avd: str = ""
    console_token: str = ""
    state: str = "device"
    displays: tuple[Display, ...] = ()


PHONE = Kind("phone", "Pixel 8", "shiba", "shiba")
TABLET = Kind(
    "tablet", "Pixel Tablet", "tangorpro", "tangorpro",
    api=35, release="15", width=2560, height=1600, density=320, characteristics="tablet,nosdcard",
)  # fmt: skip
TV = Kind(
    "tv", "ADT-3", "adt3", "adt3",
    api=31, release="12", width=1920, height=1080, density=320, characteristics="tv,nosdcard", tv=True,
    features=LEANBACK, transport=BASE_FEATURES,
)  # fmt: skip
EMULATOR = Kind(
    "emulator", "sdk_gphone64_x86_64", "sdk_gphone64_x86_64", "emu64xa",
    api=35, release="15", characteristics="emulator", avd="Pixel_8_API_35", console_token=CONSOLE_TOKEN,
)  # fmt: skip
TV_EMULATOR = replace(
    TV, name="tv-emulator", model="AOSP TV on x86", product="sdk_google_atv_x86", device="generic_x86",
    avd="Television_4K_API_31",
)  # fmt: skip
FOLDABLE = Kind(
    "foldable", "Pixel 9 Pro Fold", "comet", "comet",
    width=1080, height=2424, density=390,
    displays=(Display(4619827677550801152, 1080, 2424), Display(4619827677550801153, 2076, 2152, dark=True)),
)  # fmt: skip
KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        PHONE, TABLET, TV, EMULATOR, TV_EMULATOR, FOLDABLE,
        replace(PHONE, name="old-phone", model="Nexus 5X", product="bullhead", device="bullhead", manufacturer="LGE",
                api=27, release="8.1.0", width=1080, height=1920, transport=("shell_v2", "cmd")),
        replace(PHONE, name="ancient-phone", model="Nexus 5", product="hammerhead", device="hammerhead",
                manufacturer="LGE", api=22, release="5.1.1", width=1080, height=1920, density=480, transport=()),
        replace(PHONE, name="unauthorized", state="unauthorized"),
        replace(PHONE, name="offline", state="offline"),
        replace(EMULATOR, name="locked-emulator", console_token="a1b2c3d4e5f6"),
    )
}  # fmt: skip
"""Every kind by its name."""
