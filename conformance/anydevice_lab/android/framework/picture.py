"""Pictures of the display, drawn from the same nodes that accessibility tells."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .geometry import Box
from .windows import SYSTEM, Window

PAPER, INK, LINE, DARK, SHADE = (250, 250, 252), (28, 28, 32), (160, 160, 170), (0, 0, 0), (225, 230, 245)
FILLS = {"Button": (206, 222, 250), "EditText": (255, 255, 255), "ImageView": (236, 214, 190)}


@dataclass(frozen=True)
class Shape:
    """One thing to draw: a rectangle and a text in it."""

    box: Box
    fill: tuple[int, int, int] | None
    text: str = ""
    size: int = 24
    marked: bool = False


@dataclass(frozen=True)
class Drawing:
    """Everything on a display of this size, the lowest first."""

    size: tuple[int, int]
    shapes: tuple[Shape, ...] = field(default=())
    dark: bool = False


def draw(windows: Sequence[Window], size: tuple[int, int], *, dark: bool = False) -> Drawing:
    """What windows look like; the topmost comes first in them."""
    shapes: list[Shape] = []
    for window in reversed(windows):
        shapes.append(Shape(window.box, SHADE if window.type == SYSTEM else PAPER))
        for node in window.root.walk():
            if node.element is None and not node.text:
                continue
            fill = FILLS.get(node.cls.rpartition(".")[2])
            text = node.text or (node.desc if not node.children else "")
            if node.checkable:
                text = ("[x] " if node.checked else "[ ] ") + text
            marked = node.focused or node.clickable
            shapes.append(Shape(node.bounds, fill, text[:200], round(16 * window.scale), marked))
    return Drawing(size, tuple(shapes), dark)


@lru_cache(maxsize=32)
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def image(drawing: Drawing) -> Any:
    """The picture, as Pillow has it."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", drawing.size, DARK if drawing.dark else PAPER)
    pen = ImageDraw.Draw(picture)
    for shape in drawing.shapes:
        box = (shape.box.left, shape.box.top, shape.box.right - 1, shape.box.bottom - 1)
        if box[2] < box[0] or box[3] < box[1]:
            continue
        pen.rectangle(box, fill=shape.fill, outline=LINE if shape.marked else None)
        if shape.text:
            pen.text((box[0] + 8, box[1] + 4), shape.text.split("\n")[0], fill=INK, font=_font(shape.size))
    return picture


@lru_cache(maxsize=4)
def png(drawing: Drawing) -> bytes:
    """The picture as a PNG file. One that was drawn before is not drawn again."""
    out = io.BytesIO()
    image(drawing).save(out, "PNG", compress_level=1)
    return out.getvalue()


def jpeg(drawing: Drawing, quality: int = 80) -> bytes:
    """The picture as a JPEG file."""
    out = io.BytesIO()
    image(drawing).save(out, "JPEG", quality=quality)
    return out.getvalue()


def raw(drawing: Drawing) -> bytes:
    """The picture as `screencap` writes it unless told otherwise: width, height, format, colours, then the pixels."""
    return struct.pack("<4I", *drawing.size, 1, 1) + bytes(image(drawing).convert("RGBA").tobytes())
