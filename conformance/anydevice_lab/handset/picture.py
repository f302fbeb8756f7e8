"""Pictures of the display, drawn from what its windows show."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from anydevice.testing.screen import FakeElement
from anydevice_schemas import EDITABLE, INTERACTIVE, Rect

from .geometry import Box
from .windows import Window

PAPER, INK, LINE, DARK, SHADE = (250, 250, 252), (28, 28, 32), (160, 160, 170), (0, 0, 0), (225, 230, 245)
FIELD = (255, 255, 255)
FILLS = {"button": (206, 222, 250), "textbox": FIELD, "searchbox": FIELD, "image": (236, 214, 190)}


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


def pixels(rect: Rect, box: Box, scale: float) -> Box:
    """Where a rectangle in points, inside a window's box, is on the display."""
    return Box(
        box.left + round(rect.x * scale),
        box.top + round(rect.y * scale),
        box.left + round((rect.x + rect.width) * scale),
        box.top + round((rect.y + rect.height) * scale),
    )


def draw(windows: Sequence[Window], size: tuple[int, int], *, dark: bool = False) -> Drawing:
    """What windows look like; the topmost comes first in them."""
    shapes: list[Shape] = []
    for window in reversed(windows):
        shapes.append(Shape(window.box, SHADE if window.bar else PAPER))
        for element in window.screen.elements:
            bounds = pixels(window.screen.place(element), window.box, window.scale).clip(window.box)
            if bounds is None or "hidden" in element.states:
                continue
            marked = element is window.screen.focus or element.role in INTERACTIVE
            fill = FILLS.get(element.role)
            shapes.append(Shape(bounds, fill, _text(element)[:200], round(16 * window.scale), marked))
    return Drawing(size, tuple(shapes), dark)


def _text(element: FakeElement) -> str:
    """What a person reads on it."""
    value = element.value or ""
    shown = "•" * len(value) if element.secure else value
    if element.role in EDITABLE and element.role != "spinbutton":
        return shown or element.name
    text = f"{element.name}: {shown}" if element.name and shown else element.name or shown
    if element.role in ("switch", "checkbox", "radio", "option"):
        return ("[x] " if "checked" in element.states else "[ ] ") + text
    return text


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
