"""Keys of elements: which object on which bus, and what kind of object it was when the key was given out."""

from __future__ import annotations

from typing import NamedTuple

from anydevice_schemas.errors import StaleRef

from .roles import APPLICATION
from .shape import ROOT

GONE = "gone"
APP_GONE = "the app it was in has ended"
OTHER = "something else is in its place"


class Key(NamedTuple):
    """An accessible object: its application's name on the bus, its path there, and its role (AT-SPI's number).

    Neither name nor path is ever given to another object while the bus runs; a toolkit that re-uses its objects for
    other things gives itself away by the role.
    """

    bus_name: str
    path: str
    role: int

    def __str__(self) -> str:
        return f"{self.bus_name}{self.path}#{self.role}"


def parse(key: str) -> Key:
    """The parts of a key.

    Raises:
        StaleRef: It is none of ours.
    """
    name, slash, rest = key.partition("/")
    path, mark, role = rest.rpartition("#")
    if not slash or not mark or not role.isdigit() or not name.startswith(":"):
        raise stale(key, "unknown on this device")
    return Key(name, slash + path, int(role))


def app_key(bus_name: str) -> str:
    """The key of an application itself."""
    return f"{bus_name}{ROOT}#{APPLICATION}"


def stale(key: str, reason: str) -> StaleRef:
    """The error for an element that is gone.

    Args:
        key: The element's.
        reason: Why.
    """
    return StaleRef("The element is gone.", ref=key, reason=reason, nearest_matches=[])
