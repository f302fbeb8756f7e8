"""Messages on a Wayland socket: packing what is sent, unpacking what is heard."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final

HEAD: Final = struct.Struct("=IHH")
"""Of each message: the object, the number of the request or event, the length of it all."""
MOST: Final = 65_535
"""Bytes of a message."""

Argument = int | float | str | bytes | None
"""Objects go as their ids (none as None), descriptors beside the bytes."""


class Malformed(Exception):
    """Bytes that are no message."""


def pack(object: int, number: int, kinds: str, values: Sequence[Argument]) -> bytes:
    """A message without its descriptors.

    Args:
        object: Id of the object.
        number: Of the request.
        kinds: Of its arguments, as `protocol` says; descriptors among them take no value.
        values: The others, in order.
    """
    parts: list[bytes] = []
    rest = iter(values)
    for kind in kinds:
        if kind == "h":
            continue
        value = next(rest)
        if kind == "i":
            parts.append(struct.pack("=i", value))
        elif kind in "uon":
            parts.append(struct.pack("=I", value or 0))
        elif kind == "f":
            assert isinstance(value, (int, float))
            parts.append(struct.pack("=i", round(value * 256)))
        elif kind == "s":
            assert isinstance(value, str)
            parts.append(_array(value.encode() + b"\0"))
        else:
            raise AssertionError(kind)
    body = b"".join(parts)
    return HEAD.pack(object, number, HEAD.size + len(body)) + body


def unpack(kinds: str, body: bytes) -> Iterator[Argument]:
    """The values of an event without its descriptors.

    Raises:
        Malformed: The body is too short for them.
    """
    at = 0
    try:
        for kind in kinds:
            if kind == "h":
                continue
            if kind in "sa":
                (length,) = struct.unpack_from("=I", body, at)
                data = body[at + 4 : at + 4 + length]
                if len(data) < length:
                    raise Malformed
                yield data.rstrip(b"\0").decode("utf-8", "replace") if kind == "s" else data
                at += 4 + (length + 3) // 4 * 4
                continue
            (number,) = struct.unpack_from("=i" if kind in "if" else "=I", body, at)
            yield number / 256 if kind == "f" else number
            at += 4
    except struct.error as error:
        raise Malformed from error


def take(heard: bytearray) -> tuple[int, int, bytes] | None:
    """The first whole message of what was heard, which is taken out of it: object, number, body; None if there is none.

    Raises:
        Malformed: It says a length that none can have.
    """
    if len(heard) < HEAD.size:
        return None
    object, number, length = HEAD.unpack_from(heard)
    if length < HEAD.size:
        raise Malformed
    if len(heard) < length:
        return None
    body = bytes(heard[HEAD.size : length])
    del heard[:length]
    return object, number, body


def _array(data: bytes) -> bytes:
    return struct.pack("=I", len(data)) + data + bytes(-len(data) % 4)
