"""Which cookie a display asks for: reading X authority files (Xau, `man Xauthority`)."""

from __future__ import annotations

import os
import socket
from pathlib import Path

MAGIC_COOKIE = b"MIT-MAGIC-COOKIE-1"
"""The only scheme spoken here."""
_INTERNET, _INTERNET6, _LOCAL, _WILD = 0, 6, 256, 65535
_LIMIT = 1_000_000
"""Bytes of an authority file that are read at most."""


def default_file() -> str | None:
    """Where this user's authority file is by convention, if it exists; no environment is asked."""
    path = Path(os.path.expanduser("~")) / ".Xauthority"
    return str(path) if path.is_file() else None


def cookie(path: str | None, peer: socket.socket, number: int) -> tuple[bytes, bytes]:
    """Scheme and cookie for a display.

    Args:
        path: An authority file; None where there is none.
        peer: The connection to the display.
        number: The display's number.

    Returns:
        Scheme and data; both empty where the file says nothing about this display, or cannot be read.
    """
    if path is None:
        return b"", b""
    try:
        with open(path, "rb") as file:
            raw = file.read(_LIMIT)
    except OSError:
        return b"", b""
    addresses = _addresses(peer)
    wanted = str(number).encode()
    for family, address, display, scheme, data in _entries(raw):
        if scheme != MAGIC_COOKIE or display not in (b"", wanted):
            continue
        if family == _WILD or (family, address) in addresses:
            return scheme, data
    return b"", b""


def _addresses(peer: socket.socket) -> set[tuple[int, bytes]]:
    local = (_LOCAL, socket.gethostname().encode())
    if peer.family == socket.AF_UNIX:
        return {local}
    host = peer.getpeername()[0]
    if peer.family == socket.AF_INET6:
        packed, family = socket.inet_pton(socket.AF_INET6, host), _INTERNET6
        loopback = host == "::1"
    else:
        packed, family = socket.inet_aton(host), _INTERNET
        loopback = host.startswith("127.")
    # A display that ssh forwards is reached by TCP, and its cookie is kept under the name of this host.
    return {(family, packed), local} if loopback else {(family, packed)}


def _entries(raw: bytes) -> list[tuple[int, bytes, bytes, bytes, bytes]]:
    """Family, address, display number, scheme and data of each entry; what is cut short at the end is left out."""
    entries: list[tuple[int, bytes, bytes, bytes, bytes]] = []
    at = 0
    while at + 2 <= len(raw):
        family = int.from_bytes(raw[at : at + 2], "big")
        at += 2
        parts = []
        for _ in range(4):
            if at + 2 > len(raw):
                return entries
            length = int.from_bytes(raw[at : at + 2], "big")
            part = raw[at + 2 : at + 2 + length]
            if len(part) < length:
                return entries
            parts.append(part)
            at += 2 + length
        entries.append((family, parts[0], parts[1], parts[2], parts[3]))
    return entries
