"""Pictures made smaller, and parts of pictures."""

from __future__ import annotations

import io
from types import ModuleType

from anydevice_schemas.errors import ToolMissing, Unsupported

MOST_PIXELS = 200_000_000
"""Pixels of a picture that is shrunk; what claims more is not opened."""


def shrunk(data: bytes, mime: str, width: int, height: int) -> bytes:
    """A picture in another size, in the format it had. Blocks; call it in a worker thread.

    Args:
        data: A PNG or JPEG file.
        mime: Which of the two.
        width, height: Pixels it shall have.

    Raises:
        ToolMissing: The library that shrinks pictures is not installed.
        Unsupported: The picture cannot be read.
    """
    pictures = _library("Ask for unit=pixels, without maxDimension.")
    kind = "JPEG" if mime == "image/jpeg" else "PNG"
    try:
        with pictures.open(io.BytesIO(data), formats=[kind]) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise ValueError("too large")
            plain = picture if picture.mode in ("RGB", "RGBA", "L") else picture.convert("RGB")
            small = plain.resize((width, height), pictures.Resampling.BOX, reducing_gap=2.0)
            file = io.BytesIO()
            if kind == "JPEG":
                small.save(file, kind, quality=85)
            else:
                small.save(file, kind, compress_level=3)
    except Exception as error:  # the picture is a device's, and so is what is wrong with it
        raise Unsupported(
            "The picture cannot be made smaller.",
            hint="Ask for unit=pixels, without maxDimension.",
            operation="screen.image",
            alternatives=[],
            reason=type(error).__name__,
        ) from error
    return file.getvalue()


def cropped(data: bytes, box: tuple[int, int, int, int]) -> tuple[bytes, int, int]:
    """A part of a picture as a PNG file, with its width and height in pixels. Blocks; call it in a worker thread.

    Args:
        data: A PNG or JPEG file.
        box: Left, top, right and bottom in pixels of the picture.

    Raises:
        ToolMissing: The library that opens pictures is not installed.
        Unsupported: The picture cannot be read.
    """
    pictures = _library("Ask for a picture of the whole screen.")
    file = io.BytesIO()
    try:
        with pictures.open(io.BytesIO(data), formats=["PNG", "JPEG"]) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise ValueError("too large")
            part = picture.crop(box)
            part.save(file, "PNG", compress_level=1)
    except Exception as error:  # the picture is a device's, and so is what is wrong with it
        raise Unsupported(
            "The picture cannot be read.",
            hint="Ask for a picture of the whole screen.",
            operation="screen.image",
            alternatives=[],
            reason=type(error).__name__,
        ) from error
    return file.getvalue(), part.width, part.height


def _library(otherwise: str) -> ModuleType:
    try:
        from PIL import Image
    except ImportError:
        raise ToolMissing(
            "The library that opens pictures is not installed.",
            hint=f"Install it (details say how). {otherwise}",
            tools=["pillow"],
            install="pip install pillow",
        ) from None
    return Image
