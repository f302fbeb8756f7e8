"""Reading the pixels of a PNG, as far as browsers write them."""

from __future__ import annotations

import zlib


def colours(png: bytes) -> set[tuple[int, ...]]:
    """Every colour (red, green, blue) in a picture of 8 bits a channel, not interlaced."""
    header, data = b"", b""
    at = 8
    while at < len(png):
        length, kind = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        body = png[at + 8 : at + 8 + length]
        header, data = (body if kind == b"IHDR" else header), data + (body if kind == b"IDAT" else b"")
        at += 12 + length
    width, depth, colour, interlaced = int.from_bytes(header[:4], "big"), header[8], header[9], header[12]
    assert (depth, interlaced) == (8, 0) and colour in (2, 6), "not a picture this reads"
    step = 3 if colour == 2 else 4
    found: set[tuple[int, ...]] = set()
    raw, above = zlib.decompress(data), bytes(width * step)
    for start in range(0, len(raw), width * step + 1):
        above = _unfiltered(raw[start], raw[start + 1 : start + 1 + width * step], above, step)
        found |= {tuple(above[x : x + 3]) for x in range(0, len(above), step)}
    return found


def _unfiltered(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    """One line without its filter (PNG specification, chapter 9)."""
    out = bytearray()
    for i, value in enumerate(line):
        left, up = (out[i - step] if i >= step else 0), above[i]
        corner = above[i - step] if i >= step else 0
        guess = left + up - corner
        nearest = min((left, up, corner), key=lambda other: abs(guess - other))
        out.append((value + (0, left, up, (left + up) // 2, nearest)[kind]) & 255)
    return bytes(out)
