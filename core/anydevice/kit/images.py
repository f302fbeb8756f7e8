"""What a picture is, from its own bytes: kind and size, with no image library."""

from __future__ import annotations

from dataclasses import dataclass

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
JPEG_SIGNATURE = b"\xff\xd8\xff"
_JPEG_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Start-of-frame markers (ITU-T T.81, table B.1); C4, C8 and CC in that range mean something else."""
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers that stand alone, with no length after them."""


@dataclass(slots=True, frozen=True)
class Picture:
    """Kind (`image/png`, `image/jpeg`) and size (pixels) of an encoded picture."""

    mime: str
    width: int
    height: int


def inspect(data: bytes) -> Picture:
    """Reads kind and size of a PNG or JPEG file.

    Raises:
        ValueError: It is neither, or it is cut short before its size.
    """
    if data.startswith(PNG_SIGNATURE):
        return _png(data)
    if data.startswith(JPEG_SIGNATURE):
        return _jpeg(data)
    raise ValueError("neither a PNG nor a JPEG file")


def _png(data: bytes) -> Picture:
    # The header chunk comes first: length, "IHDR", width, height (PNG specification, 11.2.2).
    if len(data) < 24 or data[12:16] != b"IHDR":
        raise ValueError("a PNG file without its header")
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if not width or not height:
        raise ValueError("a PNG file of size zero")
    return Picture("image/png", width, height)


def _jpeg(data: bytes) -> Picture:
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            raise ValueError("a JPEG file with a broken marker")
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
            continue
        if marker in _JPEG_ALONE:
            at += 2
            continue
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in _JPEG_FRAMES:
            if at + 9 > len(data):
                break
            height, width = (
                int.from_bytes(data[at + 5 : at + 7], "big"),
                int.from_bytes(data[at + 7 : at + 9], "big"),
            )
            return Picture("image/jpeg", width, height)
        if marker == 0xDA or length < 2:
            break
        at += 2 + length
    raise ValueError("a JPEG file without its frame header")
