"""Pictures of the display: as the display itself has them, and turned as a person sees them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from ...handset.geometry import Box
from ...handset.picture import Drawing, Shape, draw, image, jpeg

if TYPE_CHECKING:
    from .machine import Machine


class NoPictures(RuntimeError):
    """The lab draws with a library that is not here."""


def drawing(machine: Machine) -> Drawing:
    """What is shown now."""
    return draw(machine.windows() if machine.awake else [], machine.geometry.size, dark=not machine.awake)


def seen(shown: Drawing, kind: str = "png") -> bytes:
    """The picture as a person sees it."""
    return _file(_image(shown), kind)


def framebuffer(shown: Drawing, rotation: int, kind: str = "png") -> bytes:
    """The picture as the display has it, which knows of no turning."""
    picture = _image(shown)
    if rotation % 4:
        picture = picture.rotate(90 * (rotation % 4), expand=True)
    return _file(picture, kind)


def upright(shown: Drawing, rotation: int) -> Drawing:
    """A drawing in the display's own size, for films: what lies on its side is turned by exchanging x and y."""
    height = shown.size[1]
    if not rotation % 2:
        return shown
    shapes = tuple(
        Shape(Box(height - s.box.bottom, s.box.left, height - s.box.top, s.box.right), s.fill, s.text, s.size, s.marked)
        for s in shown.shapes
    )
    return Drawing((height, shown.size[0]), shapes, shown.dark)


def frame(shown: Drawing, quality: int) -> bytes:
    """A picture of a film, as JPEG."""
    try:
        return jpeg(shown, quality)
    except ImportError:
        raise NoPictures("The lab draws with Pillow, which is not here: pip install 'anydevice[apple]'") from None


def part(shown: Drawing, box: tuple[int, int, int, int]) -> bytes:
    """A part of the picture, in pixels: left, top, right, bottom."""
    return _file(_image(shown).crop(box), "png")


def _image(shown: Drawing) -> Any:
    try:
        return image(shown)
    except ImportError:
        raise NoPictures("The lab draws with Pillow, which is not here: pip install 'anydevice[apple]'") from None


def _file(picture: object, kind: str) -> bytes:
    out = io.BytesIO()
    names = {"png": "PNG", "jpeg": "JPEG", "tiff": "TIFF", "bmp": "BMP"}
    options = {"compress_level": 1} if kind == "png" else {}
    picture.save(out, names.get(kind, "PNG"), **options)  # type: ignore[attr-defined]
    return out.getvalue()
