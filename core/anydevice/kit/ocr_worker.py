"""The process that reads text in pictures, so that what it needs is never loaded into the daemon.

    python -m anydevice.kit.ocr_worker IDLE

Pictures come in on stdin, each as its length (four bytes) and its bytes; what was read goes out on stdout, each answer
as its length and JSON: `{"lines": [...]}` or `{"error": "..."}`. It ends when stdin does, or after IDLE seconds without
a picture.
"""

from __future__ import annotations

import json
import os
import select
import struct
import sys
from typing import Any, BinaryIO

THREADS = 2
LONGEST_SIDE = 3000
"""Pixels; a larger picture is looked at smaller."""
LEAST_SIDE = 320
"""Pixels; a smaller picture is filled up."""
TILE, OVERLAP, TILES_MOST = (672, 448), 64, 30
"""Size of the parts of a picture that are looked at besides, by how much they lie over each other, how many at most."""
EDGE = 3
"""Pixels from the edge of a part within which what is read may be cut."""
SHARED = 0.3


def main(idle: float) -> None:
    """Answers pictures until there are no more."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print must not print into the answers
    source = os.fdopen(0, "rb", buffering=0)
    engine: Any = None
    while (data := _next(source, idle)) is not None:
        try:
            if engine is None:
                engine = _engine()
            answer: dict[str, Any] = {"lines": _read(engine, data)}
        except ImportError as error:
            answer = {"error": f"{type(error).__name__}: {error}", "missing": True}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        text = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
        out.write(struct.pack(">I", len(text)) + text)
        out.flush()


def _next(source: BinaryIO, idle: float) -> bytes | None:
    if not select.select([source], [], [], idle)[0]:
        return None
    head = _exactly(source, 4)
    return None if head is None else _exactly(source, struct.unpack(">I", head)[0])


def _exactly(source: BinaryIO, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = source.read(size - len(data))
        if not piece:
            return None
        data += piece
    return bytes(data)


def _engine() -> Any:
    from rapidocr import RapidOCR

    parameters = {
        "Global.log_level": "critical",
        "Global.max_side_len": LONGEST_SIDE,
        "Det.limit_side_len": LEAST_SIDE,
        "Det.thresh": 0.2,
        "Det.box_thresh": 0.3,
        "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    return RapidOCR(params=parameters)


def _read(engine: Any, data: bytes) -> list[dict[str, Any]]:
    """Lines with their words; boxes as left, top, width, height in pixels.

    The engine overlooks single words on a large and empty screen, so that parts of it are looked at too: whatever is
    found only there is added.
    """
    import cv2
    import numpy

    picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise ValueError("the picture cannot be decoded")
    height, width = picture.shape[:2]
    below, beside = max(0, LEAST_SIDE - height), max(0, LEAST_SIDE - width)
    if below or beside:
        # Filled up instead of enlarged: the engine takes enlarged words for lines of their own.
        ground = [int(value) for value in numpy.median(picture.reshape(-1, 3), axis=0)]
        picture = cv2.copyMakeBorder(picture, 0, below, 0, beside, cv2.BORDER_CONSTANT, value=ground)
    lines = _lines(engine, picture, 0, 0)
    cut = []
    for left, top, right, bottom in tiles(width, height):
        tile = picture[top:bottom, left:right]
        boxes = engine(tile, use_det=True, use_cls=False, use_rec=False).boxes
        if boxes is None or all(_known(_box(corners, left, top), lines) for corners in boxes):
            continue
        for line in _lines(engine, tile, left, top):
            x, y, across, down = line["box"]
            inside = (
                (x > left + EDGE or left == 0)
                and (y > top + EDGE or top == 0)
                and (x + across < right - EDGE or right == width)
                and (y + down < bottom - EDGE or bottom == height)
            )
            if not inside:
                cut.append(line)  # the neighbour may have all of it
            elif not _known(line["box"], lines):
                lines.append(line)
    for line in sorted(cut, key=lambda one: -float(one["box"][2])):
        if not _known(line["box"], lines):
            lines.append(line)
    return lines


def tiles(width: int, height: int) -> list[tuple[int, int, int, int]]:
    """Parts of a large picture that lie over each other's edges (left, top, right, bottom); none of a small one."""
    across, down = TILE
    while True:
        columns = max(1, -(-(width - OVERLAP) // (across - OVERLAP)))
        rows = max(1, -(-(height - OVERLAP) // (down - OVERLAP)))
        if columns * rows <= TILES_MOST:
            break
        across, down = round(across * 1.25), round(down * 1.25)
    if columns * rows == 1:
        return []
    return [
        (x, y, min(width, x + across), min(height, y + down))
        for y in (row * (down - OVERLAP) for row in range(rows))
        for x in (column * (across - OVERLAP) for column in range(columns))
    ]


def _lines(engine: Any, picture: Any, left: int, top: int) -> list[dict[str, Any]]:
    words = {"return_word_box": True, "return_single_char_box": False}
    found = engine(picture, use_det=True, use_cls=False, use_rec=True, **words)
    if getattr(found, "txts", None) is None or found.boxes is None:
        return []
    runs = found.word_results or [()] * len(found.txts)
    return [
        {
            "text": text,
            "box": _box(corners, left, top),
            "confidence": round(float(score), 3),
            "words": [[word, _box(place, left, top)] for word, _, place in own if place is not None],
        }
        for corners, text, score, own in zip(found.boxes, found.txts, found.scores, runs, strict=True)
    ]


def _known(box: list[float], lines: list[dict[str, Any]]) -> bool:
    """Whether a good part of a box is in a line that was read already, or has one in it."""
    for line in lines:
        x, y, width, height = line["box"]
        across = min(box[0] + box[2], x + width) - max(box[0], x)
        down = min(box[1] + box[3], y + height) - max(box[1], y)
        if across > 0 and down > 0 and across * down > SHARED * min(box[2] * box[3], width * height):
            return True
    return False


def _box(corners: Any, left: int, top: int) -> list[float]:
    xs, ys = [float(corner[0]) for corner in corners], [float(corner[1]) for corner in corners]
    return [left + min(xs), top + min(ys), max(xs) - min(xs), max(ys) - min(ys)]


if __name__ == "__main__":
    main(float(sys.argv[1]))
