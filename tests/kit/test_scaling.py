"""Pictures are made smaller and cut to a part; what cannot be opened, or not here, is told."""

from __future__ import annotations

import io
import sys

import pytest
from PIL import Image

from anydevice.kit import images, scaling
from anydevice_schemas.errors import ToolMissing, Unsupported


def picture(kind: str = "PNG") -> bytes:
    """Four quarters of 10 by 10 pixels: red, green, blue, white."""
    made = Image.new("RGB", (20, 20), "white")
    for place, colour in {(0, 0): "red", (10, 0): "green", (0, 10): "blue"}.items():
        made.paste(colour, (*place, place[0] + 10, place[1] + 10))
    file = io.BytesIO()
    made.save(file, kind)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_part_of_a_picture_is_that_part_as_a_png_file(kind: str) -> None:
    data, width, height = scaling.cropped(picture(kind), (12, 2, 18, 8))
    assert (width, height) == (6, 6) and images.inspect(data) == images.Picture("image/png", 6, 6)
    with Image.open(io.BytesIO(data)) as part:
        red, green, blue = part.convert("RGB").getpixel((3, 3))  # type: ignore[misc]
    assert green > 100 > max(red, blue)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_picture_made_smaller_keeps_its_kind(kind: str) -> None:
    data = scaling.shrunk(picture(kind), f"image/{kind.lower()}", 10, 10)
    assert images.inspect(data) == images.Picture(f"image/{kind.lower()}", 10, 10)


@pytest.mark.parametrize("data", [b"", b"GIF89a", picture()[:60], b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_what_cannot_be_opened_is_told_as_what_the_device_gave(data: bytes) -> None:
    with pytest.raises(Unsupported) as refused:
        scaling.cropped(data, (0, 0, 1, 1))
    assert refused.value.details["operation"] == "screen.image"
    with pytest.raises(Unsupported):
        scaling.shrunk(data, "image/png", 1, 1)


def test_without_the_library_both_say_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)  # as if it were not installed
    with pytest.raises(ToolMissing) as refused:
        scaling.cropped(picture_before, (0, 0, 1, 1))
    assert refused.value.details["install"] == "pip install pillow"
    with pytest.raises(ToolMissing):
        scaling.shrunk(picture_before, "image/png", 1, 1)


picture_before = picture()
