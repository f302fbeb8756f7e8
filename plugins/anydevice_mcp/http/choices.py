"""The table `[mcp.http]` of the configuration."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")


class ChoiceError(ValueError):
    """The table cannot be used; the message says which key and why."""


@dataclass(frozen=True)
class Choices:
    """Where to listen, for whom.

    Attributes:
        port: 0 = any that is free.
        host: Address to listen on.
        hosts: What a `Host` header may say, with or without a port; beyond loopback a person has to say it.
        origins: What an `Origin` header may say; pages of a browser send one, programs none.
        body: Bytes a request may have.
        rate, burst: Requests a second one token may make for long, and at once.
        idle: Seconds without a request after which a session ends.
        sessions: Sessions at once.
    """

    port: int
    host: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    body: int = 4 * 1024 * 1024
    rate: float = 50.0
    burst: int = 200
    idle: float = 1800.0
    sessions: int = 1000

    @property
    def loopback(self) -> bool:
        """Whether only this host can come."""
        return ipaddress.ip_address(self.host).is_loopback


_KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "port": (int, "a port, 0 for any"),
    "host": (str, "an address of this host"),
    "hosts": (list, "a list of host names"),
    "origins": (list, "a list of origins"),
    "body": (int, "a number of bytes"),
    "rate": ((int, float), "requests a second"),
    "burst": (int, "a number of requests"),
    "idle": ((int, float), "seconds"),
    "sessions": (int, "a number of sessions"),
}


def read(table: Any) -> Choices | None:
    """What `[mcp]` says of HTTP; None = nothing, so there is none.

    Raises:
        ChoiceError: A key or value that means nothing, or that would let everybody in.
    """
    if not isinstance(table, Mapping):
        raise ChoiceError("mcp must be a table")
    unknown = set(table) - {"http"}
    if unknown:
        raise ChoiceError(f"unknown key mcp.{min(unknown)}; known is mcp.http")
    found = table.get("http")
    if found is None:
        return None
    if not isinstance(found, Mapping):
        raise ChoiceError("mcp.http must be a table")
    values: dict[str, Any] = {}
    for key, value in found.items():
        if key not in _KINDS:
            raise ChoiceError(f"unknown key mcp.http.{key}; known are {', '.join(_KINDS)}")
        kind, expected = _KINDS[key]
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits or (isinstance(value, int | float) and value < (0 if key == "port" else 1)):
            raise ChoiceError(f"mcp.http.{key} must be {expected}")
        if isinstance(value, list):
            if not all(isinstance(each, str) and each for each in value):
                raise ChoiceError(f"mcp.http.{key} must be {expected}")
            values[key] = tuple(value)
        else:
            values[key] = value
    if not 0 <= values.get("port", -1) <= 65535:
        raise ChoiceError("mcp.http.port must be a port, 0 for any")
    choices = Choices(**values)
    try:
        loopback = choices.loopback
    except ValueError:
        raise ChoiceError("mcp.http.host must be an address of this host, as 127.0.0.1") from None
    if not loopback and not choices.hosts:
        raise ChoiceError(
            f"mcp.http.host {choices.host} lets other hosts in: say in mcp.http.hosts by which names they may ask, "
            "and put something in front of it that encrypts"
        )
    return choices
