"""What `Emulator -list -details` lists: virtual devices, between remarks of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, cast

from anydevice_schemas.device import DeviceClass

CLASSES: Final = {"phone": "phone", "foldable": "phone", "tablet": "tablet", "tv": "tv", "2in1": "tablet",
                  "wearable": "wearable"}  # fmt: skip


@dataclass(slots=True, frozen=True)
class Virtual:
    """A virtual device: its name, what it is, whether the program says it runs, its version, its screen in pixels."""

    name: str
    device_class: DeviceClass = "phone"
    running: bool = False
    version: str = ""
    width: int = 0
    height: int = 0


def parse_list(text: str) -> list[Virtual]:
    """Reads the list; all values of it are texts, and prose may come before and after."""
    start = text.find("[")
    while start >= 0:
        try:
            data, _ = json.JSONDecoder().raw_decode(text[start:])
        except ValueError:
            start = text.find("[", start + 1)
            continue
        if isinstance(data, list):
            return [made for row in data if isinstance(row, dict) and (made := _virtual(row)) is not None]
        start = text.find("[", start + 1)
    return []


def _virtual(row: dict[str, Any]) -> Virtual | None:
    def word(name: str) -> str:
        return str(row.get(name, ""))

    name = word("name")
    if not name:
        return None
    kind = word("deviceType").replace(" ", "").casefold()
    sides = [word(f"hw.lcd.single.{side}") or word(f"hw.lcd.{side}") for side in ("width", "height")]
    width, height = (int(side) if side.isdigit() else 0 for side in sides)
    return Virtual(
        name,
        cast("DeviceClass", CLASSES.get(kind, "phone")),
        word("isRunning").casefold() == "true",
        word("os.osVersion"),
        width,
        height,
    )
