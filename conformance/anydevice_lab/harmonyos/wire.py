"""The bytes of the hdc channel: greeting, frames, and the structs of a file that the client itself reads or writes."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

BANNER = b"OHOS HDC"
VERSION = "Ver: 3.2.0f"
LENGTH = struct.Struct(">I")
COMMAND = struct.Struct("<H")
KEY_ROOM = 32
"""Bytes of the part of a greeting that is a number first, and then the key of a device."""
VERSION_ROOM = 64
HELLO = 12 + KEY_ROOM
WITH_VERSION = HELLO + VERSION_ROOM
MOST = 1 << 20
"""Bytes in one frame that the server takes."""

CHECK_SERVER = 13
FILE_INIT, FILE_CHECK, FILE_BEGIN, FILE_DATA, FILE_FINISH = 3000, 3001, 3002, 3003, 3004
FILE_MODE, DIR_MODE = 3006, 3007
APP_INIT, APP_CHECK, APP_BEGIN, APP_DATA, APP_FINISH, APP_UNINSTALL = 3500, 3501, 3502, 3503, 3504, 3505
PREFIX = 64
"""Bytes before the data in a frame of data; its head lies in them, and zeros behind that."""
PIECE = 49_152
"""Bytes of data in one frame."""


def greeting(number: int, *, version: str = "") -> bytes:
    """What the server says first: its banner and the number of the channel (and its version, on some builds)."""
    banner = BANNER + bytes(3) + b"H"
    union = LENGTH.pack(number) + bytes(KEY_ROOM - LENGTH.size)
    return banner + union + (version.encode().ljust(VERSION_ROOM, b"\0") if version else b"")


def frame(payload: bytes) -> bytes:
    """One frame."""
    return LENGTH.pack(len(payload)) + payload


def key_of(answer: bytes) -> str | None:
    """The key in a client's answer to the greeting; None where it is no answer to one."""
    if len(answer) < 12 or not answer.startswith(BANNER):
        return None
    return answer[12 : 12 + KEY_ROOM].split(b"\0")[0].decode("utf-8", "replace")


def waits(answer: bytes) -> bool:
    """Whether a client's answer says that it waits for a device."""
    return answer[11:12] == b"W"


# --- structs: fields with numbers, as protocol buffers write them ---


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def pack(fields: Mapping[int, int | str]) -> bytes:
    """Fields by number; zeros and empty texts are left out."""
    out = b""
    for number, value in fields.items():
        if isinstance(value, str):
            data = value.encode()
            out += _varint(number << 3 | 2) + _varint(len(data)) + data if data else b""
        elif value:
            out += _varint(number << 3) + _varint(int(value))
    return out


def unpack(data: bytes) -> dict[int, int | bytes]:
    """The fields of a struct.

    Raises:
        ValueError: It is none.
    """
    found: dict[int, int | bytes] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            if at >= len(data) or shift > 63:
                raise ValueError("a number does not end")
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            found[tag >> 3] = varint()
        elif tag & 7 == 2:
            length = varint()
            if at + length > len(data):
                raise ValueError("a text does not end")
            found[tag >> 3] = data[at : at + length]
            at += length
        else:
            raise ValueError(f"there is no kind of field {tag & 7}")
    return found


@dataclass
class Transfer:
    """What is told of a file before its data: `TransferConfig`.

    Attributes:
        size: In bytes.
        path: Where it is to go.
        name: Its own name.
        options, function: Of an install.
        folder: Working directory of the client.
        compression: How its data are packed; 0 = not at all.
    """

    size: int = 0
    path: str = ""
    name: str = ""
    options: str = ""
    function: str = ""
    folder: str = ""
    compression: int = 0

    def pack(self) -> bytes:
        """It as bytes."""
        return pack({
            1: self.size, 4: self.options, 5: self.path, 6: self.name, 8: self.compression, 10: self.function,
            11: self.folder,
        })  # fmt: skip

    @classmethod
    def unpack(cls, data: bytes) -> Transfer:
        """It out of bytes.

        Raises:
            ValueError: They are none.
        """
        found = unpack(data)

        def text(number: int) -> str:
            value = found.get(number, b"")
            return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""

        def count(number: int) -> int:
            value = found.get(number, 0)
            return value if isinstance(value, int) else 0

        return cls(count(1), text(5), text(6), text(4), text(10), text(11), count(8))


def data_frame(command: int, index: int, data: bytes) -> bytes:
    """One frame of a file's data, from a place in the file on."""
    head = pack({1: index, 3: len(data), 4: len(data)})
    return COMMAND.pack(command) + head.ljust(PREFIX, b"\0") + data


def data_of(payload: bytes) -> tuple[int, bytes]:
    """Place in the file and data of a frame of data, without its command.

    Raises:
        ValueError: It is none, or its data are compressed.
    """
    if len(payload) < PREFIX:
        raise ValueError("no frame of data")
    head = unpack(payload[:PREFIX].rstrip(b"\0"))
    index, packed, size = head.get(1, 0), head.get(2, 0), head.get(3, 0)
    data = payload[PREFIX:]
    if not isinstance(index, int) or packed or size != len(data):
        raise ValueError("data of another form")
    return index, data
