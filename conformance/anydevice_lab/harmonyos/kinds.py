"""Which HarmonyOS devices the lab has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

State = Literal["Connected", "Unauthorized", "Ready", "Offline", "Unknown"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of device.

    Attributes:
        name: What the lab is asked for.
        model, product, brand: As parameters have them.
        type: `const.product.devicetype`.
        api, release: Level and version of the system.
        uitest: Version of the `uitest` program.
        width, height: Of the display in its natural orientation, in pixels.
        ratio: Pixels of one point ("vp").
        connection: How it is connected: USB, TCP, UART.
        key: Its connect key, with `{}` for a number; empty = made of letters and digits.
        state: As the server lists it.
        emulator: Name of the emulator it is; empty = a real device.
        recorder: Whether it has a screen recorder.
        debuggable: Whether it runs a build for development, whose shell may do more.
    """

    name: str
    model: str
    product: str
    brand: str = "HUAWEI"
    type: str = "phone"
    api: int = 20
    release: str = "6.0.0.130(SP8C00E130R4P11)"
    uitest: str = "6.0.2.2"
    width: int = 1260
    height: int = 2720
    ratio: float = 3.25
    connection: str = "USB"
    key: str = ""
    state: State = "Connected"
    emulator: str = ""
    recorder: bool = True
    debuggable: bool = False

    @property
    def tv(self) -> bool:
        """Driven by arrow keys, without bars of the system."""
        return self.type == "tv"

    @property
    def old(self) -> bool:
        """Whether it is a build of 5.0: other spellings, fewer subcommands."""
        return self.api < 15


PHONE = Kind("phone", "ALN-AL00", "HUAWEI Mate 60 Pro")
TABLET = Kind(
    "tablet", "WEB-W00", "HUAWEI MatePad Pro 13.2", type="tablet", width=2880, height=1920, ratio=2.25,
)  # fmt: skip
TV = Kind(
    "tv", "HD65MONA", "HUAWEI Vision smart screen 5", type="tv", width=1920, height=1080, ratio=2.0,
    connection="TCP", key="192.0.2.{}:10178", recorder=False,
)  # fmt: skip
EMULATOR = Kind(
    "emulator", "emulator", "emulator", api=24, release="6.1.1(24)", uitest="7.0.0.1", width=1320, height=2856,
    ratio=3.5, connection="TCP", key="127.0.0.1:{}", emulator="Pura 90", recorder=False,
)  # fmt: skip
KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        PHONE, TABLET, TV, EMULATOR,
        replace(PHONE, name="old-phone", model="NOH-AN00", product="HUAWEI Mate 40 Pro", api=12,
                release="5.0.0.22(SP35DEVC00E22R4P1log)", uitest="5.0.1.2", width=1344, height=2772),
        replace(TV, name="tv-emulator", model="emulator", product="emulator", key="127.0.0.1:{}", emulator="Vision TV"),
        replace(PHONE, name="board", model="ohos", product="OpenHarmony 5.1", brand="default", type="default", api=18,
                release="5.1.0.107", uitest="6.0.1.2", width=720, height=1280, ratio=2.0, recorder=False,
                debuggable=True),
        replace(PHONE, name="unauthorized", state="Unauthorized"),
        replace(PHONE, name="offline", state="Offline"),
        replace(PHONE, name="ready", state="Ready"),
        replace(PHONE, name="serial-port", connection="UART", key="/dev/ttyS{}", state="Ready"),
    )
}  # fmt: skip
"""Every kind by its name."""
FIRST_PORT = 5555
"""Emulators have this port in their keys, and every second one above it. The lab listens on none of them."""
