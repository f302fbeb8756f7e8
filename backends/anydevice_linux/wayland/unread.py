"""How much of what a compositor said its programs have not read yet, as the kernel tells it of the sockets.

A compositor ends a program whose socket is full. Somebody who types faster than a busy program reads would end it.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import Final

SOCK_DIAG: Final = 4
BY_FAMILY: Final = 20
DUMP: Final = 0x301
HEAD: Final = struct.Struct("=IHHII")
"""Of each netlink message: length, kind, flags, number, port."""
ASK: Final = struct.Struct("=BBHIIIII")
"""Family, protocol, padding, states, inode, what to show, cookie (two words)."""
TOLD: Final = struct.Struct("=BBBBIII")
"""Family, type, state, padding, inode, cookie (two words)."""
CONNECTED: Final = 1 << 1
NAMES_AND_QUEUES: Final = 0x1 | 0x10
NAME, QUEUES = 0, 4
ERROR, DONE = 2, 3
CHUNK: Final = 65_536
PATIENCE: Final = 0.5
"""Seconds the kernel may take; it answers at once."""


def unread(path: str) -> dict[int, int]:
    """Bytes of memory that each program's unread part takes, by the inode of the compositor's end of its connection.

    Args:
        path: Of the compositor's socket.

    Raises:
        OSError: The kernel does not tell it here.
    """
    found: dict[int, int] = {}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, SOCK_DIAG) as peer:
        peer.settimeout(PATIENCE)
        peer.bind((0, 0))
        request = ASK.pack(socket.AF_UNIX, 0, 0, CONNECTED, 0, NAMES_AND_QUEUES, 0, 0)
        peer.send(HEAD.pack(HEAD.size + len(request), BY_FAMILY, DUMP, 1, 0) + request)
        while True:
            for kind, body in _messages(peer.recv(CHUNK)):
                if kind == DONE:
                    return found
                if kind == ERROR:
                    raise OSError("the kernel tells nothing of sockets")
                parts = dict(_parts(body[TOLD.size :]))
                if parts.get(NAME, b"").rstrip(b"\0").decode("utf-8", "replace") == path and QUEUES in parts:
                    found[TOLD.unpack_from(body)[4]] = struct.unpack_from("=II", parts[QUEUES])[1]


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + HEAD.size <= len(data):
        length, kind, *_ = HEAD.unpack_from(data, at)
        yield kind, data[at + HEAD.size : at + length]
        at += max(HEAD.size, (length + 3) & ~3)


def _parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        yield kind, data[at + 4 : at + length]
        at += max(4, (length + 3) & ~3)
