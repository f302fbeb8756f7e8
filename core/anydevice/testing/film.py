"""A real video file without an encoder: QuickTime with whole PNG pictures, which players can show."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

SCALE = 1000
"""Units of time a second."""


def plain_png(width: int, height: int, grey: int = 255) -> bytes:
    """A picture of one grey (0 black, 255 white) and this size, as a real PNG file."""
    row = b"\0" + bytes([grey]) * width
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(row * height, 1)),
        (b"IEND", b""),
    ]
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def film(pictures: Sequence[bytes], shown: Sequence[int], fps: float, size: tuple[int, int]) -> bytes:
    """A video.

    Args:
        pictures: PNG files, each kept once.
        shown: Which of them each frame shows.
        fps: Frames a second.
        size: Width and height of the pictures, in pixels.
    """
    kind = _box(b"ftyp", b"qt  ", struct.pack(">I", 0x200), b"qt  ")
    data = _box(b"mdat", *pictures)
    starts, at = [], len(kind) + 8
    for picture in pictures:
        starts.append(at)
        at += len(picture)
    width, height = size
    tick = max(1, round(SCALE / fps))
    length, count = tick * len(shown), len(shown)
    table = _box(
        b"stbl",
        _table(b"stsd", _entry(width, height), count=1),
        _table(b"stts", struct.pack(">II", count, tick), count=1),
        _table(b"stsc", struct.pack(">III", 1, 1, 1), count=1),
        _full(b"stsz", struct.pack(">II", 0, count), *(struct.pack(">I", len(pictures[one])) for one in shown)),
        _table(b"stco", *(struct.pack(">I", starts[one]) for one in shown), count=count),
    )
    where = _box(b"dinf", _table(b"dref", _full(b"url ", flags=1), count=1))
    media = _box(
        b"mdia",
        _full(b"mdhd", struct.pack(">IIIIHH", 0, 0, SCALE, length, 0, 0)),
        _full(b"hdlr", b"mhlr", b"vide", bytes(12), b"\0"),
        _box(b"minf", _full(b"vmhd", bytes(8), flags=1), where, table),
    )
    place = struct.pack(">IIIII", 0, 0, 1, 0, length) + bytes(8) + struct.pack(">HHHH", 0, 0, 0, 0) + _UNTURNED
    track = _box(b"trak", _full(b"tkhd", place, struct.pack(">II", width << 16, height << 16), flags=3), media)
    header = struct.pack(">IIIIIH", 0, 0, SCALE, length, 0x10000, 0x100) + bytes(10) + _UNTURNED + bytes(24)
    return kind + data + _box(b"moov", _full(b"mvhd", header, struct.pack(">I", 2)), track)


_UNTURNED = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)


def _entry(width: int, height: int) -> bytes:
    body = bytes(6) + struct.pack(">H", 1) + bytes(16) + struct.pack(">HHIIIH", width, height, 0x480000, 0x480000, 0, 1)
    return _box(b"png ", body, bytes(32), struct.pack(">Hh", 24, -1))


def _box(kind: bytes, *body: bytes) -> bytes:
    whole = b"".join(body)
    return struct.pack(">I4s", len(whole) + 8, kind) + whole


def _full(kind: bytes, *body: bytes, flags: int = 0) -> bytes:
    return _box(kind, struct.pack(">I", flags), *body)


def _table(kind: bytes, *rows: bytes, count: int) -> bytes:
    return _full(kind, struct.pack(">I", count), *rows)
