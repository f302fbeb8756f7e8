"""Kind and size of pictures, from bytes built by the formats' own rules."""

from __future__ import annotations

import struct
import zlib

import pytest

from anydevice.kit.images import Picture, inspect


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x7f" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def jpeg(width: int, height: int, *, before: bytes = b"") -> bytes:
    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00"
    return b"\xff\xd8" + before + b"\xff\xc0" + struct.pack(">H", len(frame) + 2) + frame + b"\xff\xd9"


def test_a_png_tells_its_size() -> None:
    assert inspect(png(300, 7)) == Picture("image/png", 300, 7)


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"\xff\xe0\x00\x04JF",
        b"\xff\xff\xff\xe1\x00\x03x",  # fill bytes before a marker
        b"\xff\xc4\x00\x04ab",  # a table whose marker lies among the frame markers
        b"\xff\x01",  # a marker that stands alone
    ],
)
def test_a_jpeg_tells_its_size_whatever_comes_before(before: bytes) -> None:
    assert inspect(jpeg(640, 480, before=before)) == Picture("image/jpeg", 640, 480)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a" + b"\0" * 30,
        png(1, 1)[:20],
        b"\x89PNG\r\n\x1a\n" + b"\0" * 30,
        png(5, 5).replace(struct.pack(">I", 5), struct.pack(">I", 0), 1),
        b"\xff\xd8\xff",
        jpeg(10, 10)[:8],
        b"\xff\xd8\xff\xe0\x00\x01",
        b"\xff\xd8\xff\xda\x00\x08abcdef",
    ],
)
def test_anything_else_or_cut_short_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        inspect(data)
