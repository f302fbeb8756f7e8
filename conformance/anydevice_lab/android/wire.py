"""The packets of the adb transport, as a device sends and receives them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEADER = struct.Struct("<6I")
VERSION = 0x01000001
"""From this version on both sides leave the checksum out once they are connected."""
MAX_DATA = 1 << 20
"""Bytes of data in one packet that the device takes."""


def word(name: str) -> int:
    """The number of a command of four letters."""
    return int.from_bytes(name.encode(), "little")


CNXN, AUTH, OPEN, OKAY, WRTE, CLSE = (word(name) for name in ("CNXN", "AUTH", "OPEN", "OKAY", "WRTE", "CLSE"))
TOKEN, SIGNATURE, PUBLIC_KEY = 1, 2, 3
"""What an AUTH packet holds (its first argument)."""


class BadPacket(ValueError):
    """What arrived is no packet."""


@dataclass(slots=True, frozen=True)
class Packet:
    """One packet: command, its two arguments, data."""

    command: int
    arg0: int = 0
    arg1: int = 0
    data: bytes = b""

    def pack(self) -> bytes:
        """Header and data as they go over the wire."""
        total = sum(self.data) & 0xFFFFFFFF if self.command in (CNXN, AUTH) else 0
        return (
            HEADER.pack(self.command, self.arg0, self.arg1, len(self.data), total, self.command ^ 0xFFFFFFFF)
            + self.data
        )


def header(data: bytes) -> tuple[int, int, int, int]:
    """Command, both arguments and the length of the data that follows.

    Raises:
        BadPacket: The magic number does not fit, or the data would be longer than the device takes.
    """
    command, arg0, arg1, length, _, magic = HEADER.unpack(data)
    if magic != command ^ 0xFFFFFFFF or length > MAX_DATA:
        raise BadPacket("no packet of the adb transport")
    return command, arg0, arg1, length
