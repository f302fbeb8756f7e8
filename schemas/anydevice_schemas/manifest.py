"""A backend's manifest: what it is and can do, read without importing it."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Literal

from pydantic import Field, field_validator

from ._base import Word
from .command import Command
from .device import DeviceClass, DeviceKind
from .platforms import DeviceTarget, IdKind
from .practice import APP_ID

CONTRACT_VERSION = "1.0"
"""Version of the driver contract (MAJOR.MINOR), independent of the product's version."""

MANIFEST_FILE = "backend.toml"
"""Package data a backend's package must carry."""


class PlatformEntry(Word):
    """A platform word the backend brings (its own platform, or one that narrows it)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")
    platform: str = Field(default="", description="The platform it narrows; empty = itself.")
    id_kind: IdKind = "id"
    targets: list[DeviceTarget] = Field(default_factory=list)
    default_env: dict[str, str] = Field(default_factory=dict)


class Constraint(Word):
    """Where a declared operation exists."""

    kinds: list[DeviceKind] = Field(default_factory=list, description="Empty = all device kinds.")
    classes: list[DeviceClass] = Field(default_factory=list, description="Empty = all device classes.")
    min_os: str = ""
    experimental: bool = Field(default=False, description="Works where tried; counts for no conformance level.")
    note: str = ""


class Tool(Word):
    """A program or library outside Python's reach that the backend needs."""

    name: str
    why: str
    install: str = Field(description="What to type or do to get it.")
    optional: bool = False


class HostStep(Word):
    """A host command the conformance suite runs, as `prepare` and `restore` of `Practice` name them."""

    command: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Practice(Word):
    """How the conformance suite finds the practice app on this backend's devices."""

    opens: Literal["app", "url"] = Field(
        default="app", description="app: the installed practice app; url: the page the suite serves."
    )
    app: str = Field(default=APP_ID, description="Id of the practice app.")
    devices: list[str] = Field(
        default_factory=list,
        description="Ids of the devices that take part when none is asked for, best first; empty = any.",
    )
    folder: str = Field(
        default="", description="Folder of the devices in which files may be made; empty = where a shell begins."
    )
    package: str = Field(
        default="", description="An app's package to install and remove, as a path inside of the backend's own package."
    )
    prepare: list[HostStep] = Field(
        default_factory=list, description="Host commands that make a second device, before the run."
    )
    restore: list[HostStep] = Field(default_factory=list, description="Host commands that undo them, after it.")


class BackendCommand(Word):
    """A command that ships with a backend; the handler is imported on first call."""

    command: Command
    handler: str = Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$", description="`package.module:function`.")


Unseen = Literal["offscreen", "states", "renewal", "symbols"]
"""What a platform's own trees may not tell.

offscreen: elements that are not on screen. states: required, read-only and expanded. renewal: that an element was made
anew and looks the same. symbols: characters outside of the basic plane (emoji).
"""


class Manifest(Word):
    """Static facts of a backend (`backend.toml` in its package)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")
    summary: str = Field(max_length=300)
    contract: str = Field(description="Contract versions it is written for, e.g. `>=1.0,<2`.")
    platforms: list[PlatformEntry] = Field(min_length=1)
    device_classes: list[DeviceClass] = Field(min_length=1)
    operations: dict[str, Constraint] = Field(
        description="Every operation a driver of this backend may offer, e.g. `touch.swipe`."
    )
    absent: dict[str, str] = Field(
        default_factory=dict,
        description="Operations, or whole capabilities, that are not declared, and why; told to who asks for them.",
    )
    unseen: list[Unseen] = Field(
        default_factory=list,
        description="What no tree of this platform tells; cases about it are honestly absent.",
    )
    tools: list[Tool] = Field(default_factory=list)
    commands: list[BackendCommand] = Field(default_factory=list)
    practice: Practice = Practice()
    env: list[str] = Field(default_factory=list, description="Variables of the caller's environment it reads.")
    settings: list[str] | None = Field(
        default=None,
        description="Keys of its table of the configuration file; a key that is not among them is told as a mistake. "
        "Absent = not declared, and nothing is told.",
    )
    specialises: list[str] = Field(
        default_factory=list, description="Backends whose row for the same transport this one replaces."
    )
    discovery_deadline: float = Field(default=5.0, gt=0, le=60, description="Seconds a listing may take.")
    list_ttl: float = Field(default=1.0, ge=0, le=60, description="Seconds a listing stays good.")

    @field_validator("operations", mode="before")
    @classmethod
    def _list_is_short_for_unconstrained(cls, value: Any) -> Any:
        if isinstance(value, list):
            return {name: {} for name in value}
        return value

    @field_validator("contract")
    @classmethod
    def _contract_is_a_range(cls, value: str) -> str:
        parse_range(value)
        return value

    @staticmethod
    def from_toml(text: str) -> Manifest:
        """Parses a `backend.toml`.

        Raises:
            tomllib.TOMLDecodeError: It is not TOML.
            pydantic.ValidationError: It is not a manifest; the message names each field.
        """
        return Manifest.model_validate(tomllib.loads(text))


_TERM = re.compile(r"\s*(>=|<=|==|>|<)\s*(\d+)(?:\.(\d+))?\s*")


def parse_range(text: str) -> list[tuple[str, tuple[int, int]]]:
    """Reads a contract range such as ``>=1.0,<2``.

    Raises:
        ValueError: The text is no range.
    """
    terms: list[tuple[str, tuple[int, int]]] = []
    for part in text.split(","):
        match = _TERM.fullmatch(part)
        if match is None:
            raise ValueError(f"{part.strip()!r} is no contract range; write e.g. '>=1.0,<2'")
        terms.append((match[1], (int(match[2]), int(match[3] or 0))))
    return terms


def contract_accepts(range_text: str, version: str = CONTRACT_VERSION) -> bool:
    """Whether a contract version lies in a range.

    Raises:
        ValueError: The text is no range.
    """
    major, _, minor = version.partition(".")
    have = (int(major), int(minor or 0))
    checks = {
        ">=": have.__ge__,
        "<=": have.__le__,
        "==": have.__eq__,
        ">": have.__gt__,
        "<": have.__lt__,
    }
    return all(bool(checks[op](want)) for op, want in parse_range(range_text))
