"""Who a device says it is, by its parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from anydevice_schemas.device import DeviceClass

ASKED: Final = (
    "const.product.name", "const.product.model", "const.product.devicetype", "const.build.characteristics",
    "const.ohos.apiversion", "const.product.software.version",
)  # fmt: skip
CLASSES: Final = {
    "phone": "phone", "default": "phone", "tablet": "tablet", "tv": "tv", "2in1": "tablet", "wearable": "wearable",
    "liteWearable": "wearable", "smartVision": "tv",
}  # fmt: skip
EMULATOR: Final = "emulator"
UDID: Final = "udid"
_UDID = re.compile(r"[0-9A-Fa-f]{16,64}")


@dataclass(slots=True, frozen=True)
class Identity:
    """Name, model, class, API level (0: not told), version of the software, whether it is an emulator, and the number
    it has for life (empty: not told)."""

    name: str = ""
    model: str = ""
    device_class: DeviceClass = "phone"
    api: int = 0
    version: str = ""
    emulator: bool = False
    serial: str = ""


def question() -> str:
    """The command line that asks for all of it in one round trip."""
    asked = " ".join(ASKED)
    return f'for k in {asked}; do echo "$k=$(param get $k)"; done; echo "{UDID}=$(bm get --udid | tail -n 1)"'


def parse_params(text: str) -> dict[str, str]:
    """Its answers; what the device refuses or does not have is left out."""
    found = {}
    for row in text.replace("\r", "").split("\n"):
        name, same, value = row.partition("=")
        value = value.strip()
        if same and name in ASKED and value and not value.startswith("Get parameter"):
            found[name] = value
        elif same and name == UDID and _UDID.fullmatch(value):
            found[name] = value.upper()
    return found


def identity(params: Mapping[str, str]) -> Identity:
    """Who it is."""
    name = params.get("const.product.name", "")
    kind = params.get("const.product.devicetype") or params.get("const.build.characteristics", "")
    api = params.get("const.ohos.apiversion", "")
    device_class = next((CLASSES[word] for word in kind.split(",") if word in CLASSES), "phone")
    return Identity(
        name=name,
        model=params.get("const.product.model", ""),
        device_class=cast("DeviceClass", device_class),
        api=int(api) if api.isdigit() else 0,
        version=params.get("const.product.software.version", ""),
        emulator=name.casefold() == EMULATOR,
        serial=params.get(UDID, ""),
    )
