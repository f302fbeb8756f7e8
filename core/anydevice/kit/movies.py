"""What a video file is, from its own bytes: kind, size, length, and whether it is whole, with no video library."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

INDEX_MOST = 64 << 20
"""Bytes of an index that are read; one of an hour at 30 frames a second takes about two million."""
_EBML = b"\x1a\x45\xdf\xa3"
_BRANDS = {b"qt  ": "video/quicktime"}


@dataclass(slots=True, frozen=True)
class Movie:
    """What a video file says of itself.

    Attributes:
        mime: `video/mp4`, `video/quicktime`, `video/webm` or `video/x-matroska`.
        seconds: How long it plays; None where it does not say.
        width, height: Pixels; None where it does not say.
        frames: Pictures in it; None where it does not say.
    """

    mime: str
    seconds: float | None = None
    width: int | None = None
    height: int | None = None
    frames: int | None = None


def inspect(path: Path) -> Movie:
    """Reads what a video file is. Blocking; call it in a worker thread.

    Raises:
        ValueError: It is no video file of a kind known here, or it is cut short.
        OSError: It cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(64)
        if head.startswith(_EBML):
            return Movie("video/webm" if b"webm" in head else "video/x-matroska")
        if head[4:8] != b"ftyp":
            raise ValueError("no video file of a kind that is known")
        mime = _BRANDS.get(head[8:12], "video/mp4")
        boxes = {kind: (begin, end) for kind, begin, end in _boxes(file, 0, size)}
        if b"moov" not in boxes or b"mdat" not in boxes:
            raise ValueError("a video file without its index, or without its pictures")
        begin, end = boxes[b"moov"]
        if end - begin > INDEX_MOST:
            raise ValueError("a video file with an index that is too large")
        return _movie(file, mime, begin, end)


def _movie(file: BinaryIO, mime: str, begin: int, end: int) -> Movie:
    seconds: float | None = None
    for kind, start, stop in _boxes(file, begin, end):
        if kind == b"mvhd":
            seconds = _length(_read(file, start, stop))
        elif kind == b"trak":
            track = _track(file, start, stop)
            if track is not None:
                return Movie(mime, seconds, *track)
    raise ValueError("a video file without a track of pictures")


def _track(file: BinaryIO, begin: int, end: int) -> tuple[int, int, int | None] | None:
    """Width, height and number of frames of a track; None when it is none of pictures."""
    width = height = 0
    frames: int | None = None
    video = False
    waiting = [(begin, end)]
    while waiting:
        for kind, start, stop in _boxes(file, *waiting.pop()):
            if kind in (b"mdia", b"minf", b"stbl"):
                waiting.append((start, stop))
            elif kind == b"tkhd":
                width, height = (value >> 16 for value in struct.unpack(">II", _read(file, stop - 8, stop)))
            elif kind == b"hdlr":
                video = video or _read(file, start + 8, start + 12) == b"vide"
            elif kind == b"stts":
                frames = _frames(_read(file, start, stop))
    return (width, height, frames or None) if video else None


def _length(header: bytes) -> float | None:
    """Seconds of a movie header (ISO/IEC 14496-12, 8.2.2); None where it says nothing (fragments)."""
    scale, length = (
        struct.unpack_from(">IQ", header, 20) if header[:1] == b"\1" else struct.unpack_from(">II", header, 12)
    )
    return length / scale if scale and length else None


def _frames(times: bytes) -> int:
    """Samples of a table of times (ISO/IEC 14496-12, 8.6.1.2)."""
    (count,) = struct.unpack_from(">I", times, 4)
    return sum(struct.unpack_from(">I", times, 8 + 8 * row)[0] for row in range(count))


def _boxes(file: BinaryIO, begin: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """The boxes between two places: kind, where the body begins, where it ends."""
    at = begin
    while at < end:
        head = _read(file, at, min(at + 16, end))
        if len(head) < 8:
            raise ValueError("a video file that is cut short")
        size, kind = struct.unpack(">I4s", head[:8])
        skip = 8
        if size == 1 and len(head) == 16:
            size, skip = struct.unpack(">Q", head[8:])[0], 16
        elif size == 0:
            size = end - at
        if size < skip or at + size > end:
            raise ValueError("a video file that is cut short")
        yield kind, at + skip, at + size
        at += size


def _read(file: BinaryIO, begin: int, end: int) -> bytes:
    file.seek(begin)
    data = file.read(end - begin)
    if len(data) != end - begin:
        raise ValueError("a video file that is cut short")
    return data
