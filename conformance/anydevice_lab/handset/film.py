"""Video files as `screenrecord` writes them, with real pictures: Motion JPEG in an MP4 file.

A real device encodes H.264, which needs an encoder; everything else is as there: a picture only when the screen
changed, times in the file, the index (`moov`) last, and only in a file that was finished.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise

Picture = tuple[float, bytes]
"""Seconds since the start, and a JPEG file."""
_MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
_SCALE = 1000
_MJPEG = 0x6C
"""Kind of stream in MPEG-4's registry."""


def box(name: bytes, *parts: bytes) -> bytes:
    """A box of an MP4 file."""
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), name) + body


def unfinished(pictures: Sequence[Picture] = ()) -> bytes:
    """What a recorder that was killed leaves: pictures without an index."""
    return _head() + box(b"mdat", b"".join(data for _, data in pictures))


def film(size: tuple[int, int], pictures: Sequence[Picture], seconds: float) -> bytes:
    """A whole file of at least one picture, that plays so long."""
    head = _head()
    data = b"".join(picture for _, picture in pictures)
    moov = _moov(size, pictures, max(1, round(seconds * _SCALE)), len(head) + 8)
    return head + box(b"mdat", data) + moov


def _head() -> bytes:
    return box(b"ftyp", b"isom", struct.pack(">I", 0x200), b"isomiso2mp41")


def _moov(size: tuple[int, int], pictures: Sequence[Picture], length: int, first: int) -> bytes:
    width, height = size
    starts = [round(at * _SCALE) for at, _ in pictures] + [length]
    lasts = [max(1, end - start) for start, end in pairwise(starts)]
    offsets, at = [], first
    for _, data in pictures:
        offsets.append(at)
        at += len(data)
    count = len(pictures)
    config = struct.pack(">BBB3xII", _MJPEG, 0x11, 0, 0, 0)
    es = struct.pack(">HB", 1, 0) + struct.pack(">BB", 4, len(config)) + config + b"\x06\x01\x02"
    sample = box(
        b"mp4v", bytes(6), struct.pack(">H", 1), bytes(16), struct.pack(">HHIIIH", width, height, 72 << 16, 72 << 16,
        0, 1), bytes(32), struct.pack(">Hh", 24, -1), box(b"esds", bytes(4), struct.pack(">BB", 3, len(es)), es),
    )  # fmt: skip
    table = box(
        b"stbl",
        box(b"stsd", bytes(4), struct.pack(">I", 1), sample),
        box(b"stts", bytes(4), struct.pack(">I", count), b"".join(struct.pack(">II", 1, last) for last in lasts)),
        box(b"stsc", bytes(4), struct.pack(">IIII", 1, 1, 1, 1)),
        box(b"stsz", bytes(4), struct.pack(">II", 0, count), b"".join(struct.pack(">I", len(d)) for _, d in pictures)),
        box(b"stco", bytes(4), struct.pack(">I", count), struct.pack(f">{count}I", *offsets)),
    )
    media = box(
        b"mdia",
        box(b"mdhd", struct.pack(">IIIIIHH", 0, 0, 0, _SCALE, length, 0x55C4, 0)),
        box(b"hdlr", bytes(8), b"vide", bytes(12), b"VideoHandle\0"),
        box(
            b"minf",
            box(b"vmhd", struct.pack(">I", 1), bytes(8)),
            box(b"dinf", box(b"dref", bytes(4), struct.pack(">I", 1), box(b"url ", struct.pack(">I", 1)))),
            table,
        ),
    )
    header = box(
        b"mvhd", struct.pack(">IIIIIIH", 0, 0, 0, _SCALE, length, 0x10000, 0x100), bytes(10), _MATRIX, bytes(24),
        struct.pack(">I", 2),
    )  # fmt: skip
    track = box(
        b"tkhd", struct.pack(">IIIIII", 7, 0, 0, 1, 0, length), bytes(16), _MATRIX,
        struct.pack(">II", width << 16, height << 16),
    )  # fmt: skip
    return box(b"moov", header, box(b"trak", track, media))
