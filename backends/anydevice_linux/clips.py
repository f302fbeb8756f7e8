"""What is on a clipboard, as Linux programs name and write it: text, pictures, files."""

from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from PIL import Image as Pictures

from anydevice.kit import images
from anydevice_schemas.errors import InvalidArgument, Unsupported

UTF8, PLAIN, PLAIN_UTF8 = "UTF8_STRING", "text/plain", "text/plain;charset=utf-8"
URI_LIST, COPIED_FILES = "text/uri-list", "x-special/gnome-copied-files"
TEXTS: Final = (UTF8, PLAIN_UTF8, PLAIN, "STRING")
PICTURES: Final = ("image/png", "image/bmp", "image/jpeg", "image/tiff", "image/webp")
FILES: Final = (URI_LIST, COPIED_FILES)
"""The kinds of each content, the best first."""
_MOST_PIXELS: Final = 100_000_000

Offers = dict[str, tuple[str, bytes]]
"""What is offered, by the name it is asked for: the kind it is handed out as, and its bytes."""


def of_text(text: str) -> Offers:
    """Text, as it is offered.

    Raises:
        InvalidArgument: It holds characters that are no text.
    """
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raw = b"\0"
    if b"\0" in raw:
        raise InvalidArgument(
            "The text holds characters that cannot be on a clipboard.",
            param="text",
            expected="text without NUL and surrogates",
        )
    offers: Offers = {UTF8: (UTF8, raw), PLAIN_UTF8: (PLAIN_UTF8, raw), PLAIN: (PLAIN, raw), "TEXT": (UTF8, raw)}
    with contextlib.suppress(UnicodeEncodeError):  # Latin-1, which does not have all characters
        offers["STRING"] = ("STRING", text.encode("latin-1"))
    return offers


def of_png(data: bytes) -> Offers:
    """A picture, as it is offered.

    Raises:
        InvalidArgument: It is no PNG file.
    """
    try:
        kind = images.inspect(data).mime
    except ValueError:
        kind = ""
    if kind != "image/png":
        raise InvalidArgument("The picture is no PNG file.", param="png", expected="a PNG file")
    return {"image/png": ("image/png", data)}


def of_files(paths: Sequence[Path]) -> Offers:
    """Files, as a file manager's Copy offers them.

    Raises:
        InvalidArgument: There is none, or a path is not absolute.
    """
    if not paths or not all(path.is_absolute() for path in paths):
        raise InvalidArgument("The files cannot be copied.", param="files", expected="absolute paths, at least one")
    addresses = ["file://" + quote(bytes(path)) for path in paths]
    listed = "".join(f"{address}\r\n" for address in addresses).encode()
    copied = "\n".join(["copy", *addresses]).encode()
    plain = "\n".join(map(str, paths)).encode("utf-8", "surrogateescape")
    return {
        URI_LIST: (URI_LIST, listed),
        COPIED_FILES: (COPIED_FILES, copied),
        UTF8: (UTF8, plain),
        PLAIN_UTF8: (PLAIN_UTF8, plain),
    }


def as_text(kind: str, data: bytes) -> str:
    """The text in a content of one of `TEXTS`."""
    return data.decode("latin-1" if kind == "STRING" else "utf-8", "replace").rstrip("\0")


def as_paths(listed: bytes) -> list[str]:
    """Paths of files of this host in a list of addresses; all else in it is left out."""
    paths = []
    for line in listed.decode("utf-8", "replace").replace("\r", "").split("\n"):
        try:
            parts = urlsplit(line.strip())
        except ValueError:
            continue
        if parts.scheme == "file" and parts.hostname in (None, "localhost", socket.gethostname().lower()):
            path = unquote(parts.path, errors="surrogateescape")
            if path.startswith("/") and "\0" not in path:
                paths.append(path)
    return paths


def as_png(data: bytes) -> bytes:
    """A picture of any kind that is understood, as PNG.

    Raises:
        Unsupported: It is of another kind.
    """
    if data.startswith(images.PNG_SIGNATURE):
        return data
    try:
        with Pictures.open(io.BytesIO(data)) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise ValueError("too large")
            file = io.BytesIO()
            picture.convert("RGBA").save(file, "PNG", compress_level=3)
    except Exception as error:  # the data is another program's, and so is what is wrong with it
        raise Unsupported(
            "The picture on the clipboard is of a kind that is not understood.",
            operation="clipboard.read",
            alternatives=[],
        ) from error
    return file.getvalue()
