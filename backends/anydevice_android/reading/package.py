"""The name of the package in an APK, from its binary manifest.

A manifest is a chunk of chunks, each with its kind (2 bytes), the length of its head (2) and its whole length (4). The
first holds all strings; names and values of the elements that follow are numbers of strings. (Android's
`frameworks/base/libs/androidfw/include/androidfw/ResourceTypes.h`.)
"""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

_XML, _STRINGS, _ELEMENT = 0x0003, 0x0001, 0x0102
_UTF8 = 1 << 8
MOST = 4 << 20
"""Bytes of a manifest that are read."""


def package_name(apk: Path) -> str:
    """The package's name; blocks for a moment.

    Raises:
        ValueError: The file is no APK, or its manifest cannot be read.
    """
    try:
        with zipfile.ZipFile(apk) as archive, archive.open("AndroidManifest.xml") as file:
            data = file.read(MOST)
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, NotImplementedError) as error:
        raise ValueError("no APK") from error
    try:
        return _manifest(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError("no binary manifest") from error


def _manifest(data: bytes) -> str:
    kind, head, _ = struct.unpack_from("<HHI", data)
    if kind != _XML:
        raise ValueError("no binary manifest")
    at, strings = head, [""]
    while at + 8 <= len(data):
        kind, head, size = struct.unpack_from("<HHI", data, at)
        if size < 8:
            break
        if kind == _STRINGS:
            strings = _strings(data, at, head)
        elif kind == _ELEMENT:
            _, name, start, each, count = struct.unpack_from("<IIHHH", data, at + head)
            first = at + head + start
            if strings[name] == "manifest":
                for number in range(count):
                    _, key, raw = struct.unpack_from("<III", data, first + number * each)
                    if strings[key] == "package" and raw != 0xFFFFFFFF:
                        return str(strings[raw])
            break
        at += size
    raise ValueError("the manifest names no package")


def _strings(data: bytes, at: int, head: int) -> list[str]:
    count, _, flags, start, _ = struct.unpack_from("<IIIII", data, at + 8)
    offsets = struct.unpack_from(f"<{count}I", data, at + head)
    return [(_utf8 if flags & _UTF8 else _utf16)(data, at + start + offset) for offset in offsets]


def _utf8(data: bytes, at: int) -> str:
    at += 2 if data[at] & 0x80 else 1  # how many characters; then how many bytes
    size = data[at]
    at += 1
    if size & 0x80:
        size, at = (size & 0x7F) << 8 | data[at], at + 1
    return data[at : at + size].decode("utf-8", "replace")


def _utf16(data: bytes, at: int) -> str:
    (size,) = struct.unpack_from("<H", data, at)
    at += 2
    if size & 0x8000:
        size, at = (size & 0x7FFF) << 16 | struct.unpack_from("<H", data, at)[0], at + 2
    return data[at : at + 2 * size].decode("utf-16-le", "replace")
