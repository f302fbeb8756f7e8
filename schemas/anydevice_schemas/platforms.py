"""The platforms the field knows by name, as data, so that core itself needs to name none of them.

A vendor's manifest may add platforms; these entries are reserved to nobody and only say what a selector
word means: which platform it names, which device targets it narrows to, and which id selector
(`udid`, `serial`) the platform's devices answer to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

IdKind = Literal["udid", "serial", "id"]
DeviceTarget = Literal["mobile", "tv", "desktop"]

DEVICE_TARGETS: tuple[DeviceTarget, ...] = ("mobile", "tv", "desktop")


@dataclass(frozen=True, slots=True)
class PlatformWord:
    """One word a caller may give as `platform`.

    Attributes:
        name: The word.
        platform: The platform it stands for (itself, or the one it narrows).
        id_kind: Which selector names its devices by id; `id` means only `device` does.
        targets: Device targets it narrows to; empty = all.
        allowlist: Name of the selector that lists which of its devices may be used, if it has one.
        default_env: Variables of the caller's environment that name a default device, mapped to the
            selector they stand for. Lowest priority, always named in the answer's selection.
    """

    name: str
    platform: str
    id_kind: IdKind = "id"
    targets: tuple[DeviceTarget, ...] = ()
    allowlist: str | None = None
    default_env: dict[str, str] = field(default_factory=dict)


WELL_KNOWN: tuple[PlatformWord, ...] = (
    PlatformWord("apple", "apple", "udid"),
    PlatformWord("ios", "apple", "udid", ("mobile", "tv")),
    PlatformWord("macos", "apple", "udid", ("desktop",)),
    PlatformWord(
        "android",
        "android",
        "serial",
        allowlist="androidDeviceAllowlist",
        default_env={"ANDROID_SERIAL": "serial"},
    ),
    PlatformWord("harmonyos", "harmonyos", "serial"),
    PlatformWord("vega", "vega", "serial", default_env={"VEGA_SERIAL": "serial", "VDA_SERIAL": "serial"}),
    PlatformWord("linux", "linux", "id"),
    PlatformWord("web", "web", "id"),
)

EVENT_TEMPLATE_VARIABLES: tuple[str, ...] = (
    "ANYDEVICE_APP_EVENT_URL_TEMPLATE",
    "AGENT_DEVICE_APP_EVENT_URL_TEMPLATE",
)
"""Variables of the caller's environment that may hold the URL template of `trigger-app-event`.

A platform's own variable comes first: the same name with ``_<PLATFORM>`` before ``_APP``.
"""


def event_template_variables(platform_words: tuple[str, ...]) -> tuple[str, ...]:
    """Names to look up for a device, most specific first, e.g. for ``("ios", "apple")``."""
    specific = [
        f"{prefix}_{word.upper()}_APP_EVENT_URL_TEMPLATE"
        for prefix in ("ANYDEVICE", "AGENT_DEVICE")
        for word in platform_words
    ]
    return (*specific, *EVENT_TEMPLATE_VARIABLES)


def well_known(name: str) -> PlatformWord | None:
    """The well-known word of this name (case-insensitive), or None."""
    folded = name.casefold()
    return next((word for word in WELL_KNOWN if word.name == folded), None)
