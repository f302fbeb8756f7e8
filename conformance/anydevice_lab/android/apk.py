"""Packages: what an APK file says of itself, and writing one that a lab device installs.

The manifest in an APK is XML in a binary form (a pool of strings, then one chunk for each start and end of an element).
Packages that are written here have such a manifest and nothing that runs; they are not signed, so no real device takes
them.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

POOL, DOCUMENT, MAP, NAMESPACE, NAMESPACE_END, START, END = 0x0001, 0x0003, 0x0180, 0x0100, 0x0101, 0x0102, 0x0103
ANDROID = "http://schemas.android.com/apk/res/android"
NUMBERS = {
    "versionCode": 0x0101021B, "versionName": 0x0101021C, "label": 0x01010001, "testOnly": 0x01010272,
    "name": 0x01010003,
}  # fmt: skip
"""Resource number of each attribute of Android's own."""
NONE = 0xFFFFFFFF
TEXT, NUMBER, TRUTH = 0x03, 0x10, 0x12
UTF8 = 0x100
Attributes = dict[str, str | int | bool]


@dataclass
class Manifest:
    """What a package says of itself.

    Attributes:
        signer: Tells who signed it; packages of one signer have the same.
    """

    package: str
    version: int = 1
    label: str = ""
    test_only: bool = False
    permissions: list[str] = field(default_factory=list)
    signer: str = ""


def read_apk(data: bytes) -> Manifest | None:
    """What an APK says of itself; None if it is none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            raw = archive.read("AndroidManifest.xml")
            signed = [
                archive.read(name) for name in sorted(archive.namelist()) if name.endswith((".RSA", ".EC", ".DSA"))
            ]
        elements = list(_elements(raw))
    except (zipfile.BadZipFile, KeyError, OSError, ValueError, IndexError, struct.error):
        return None
    first = next((said for name, said in elements if name == "manifest"), {})
    app = next((said for name, said in elements if name == "application"), {})
    package = first.get("package")
    if not isinstance(package, str) or not package:
        return None
    version, label = first.get("versionCode", 1), app.get("label", "")
    return Manifest(
        package,
        version if isinstance(version, int) else 1,
        label if isinstance(label, str) and label else package,
        app.get("testOnly") is True,
        [str(said.get("name", "")) for name, said in elements if name == "uses-permission"],
        hashlib.sha256(b"".join(signed)).hexdigest() if signed else "",
    )


def write_apk(
    path: Path,
    package: str,
    *,
    version: int = 1,
    label: str = "",
    test_only: bool = False,
    permissions: Sequence[str] = (),
    signer: str = "lab",
    size: int = 1000,
) -> Path:
    """Writes a package that a lab device installs.

    Args:
        path: Where to.
        signer: Who signed it: an app is only updated by a package of the same signer.
        size: Bytes of code in it.

    Returns:
        The path.
    """
    app: Attributes = {"label": label or package, "testOnly": test_only}
    elements: list[tuple[str, Attributes]] = [("manifest", {"package": package, "versionCode": version})]
    elements += [("uses-permission", {"name": name}) for name in permissions]
    elements.append(("application", app))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("AndroidManifest.xml", _document(elements))
        archive.writestr("classes.dex", bytes(size))
        archive.writestr("META-INF/LAB.RSA", signer)
    return path


def _elements(raw: bytes) -> Iterator[tuple[str, Attributes]]:
    """Every element of a manifest, with its attributes by their local names."""
    kind, head, _ = struct.unpack_from("<HHI", raw)
    if kind != DOCUMENT:
        raise ValueError("no binary XML")
    at, pool = head, list[str]()
    while at + 8 <= len(raw):
        kind, head, size = struct.unpack_from("<HHI", raw, at)
        if size < 8:
            raise ValueError("a chunk without a size")
        if kind == POOL:
            pool = _pool(raw[at : at + size])
        elif kind == START:
            _, name, start, step, count = struct.unpack_from("<IIHHH", raw, at + head)
            said: Attributes = {}
            for number in range(count):
                place = at + head + start + number * step
                _, key, text, _, _, what, value = struct.unpack_from("<IIIHBBI", raw, place)
                if what == TEXT or text != NONE:
                    said[pool[key]] = pool[text if text != NONE else value]
                elif what in (NUMBER, TRUTH):
                    said[pool[key]] = value if what == NUMBER else bool(value)
            yield pool[name], said
        at += size


def _pool(chunk: bytes) -> list[str]:
    count, _, flags, start, _ = struct.unpack_from("<5I", chunk, 8)
    found: list[str] = []
    for offset in struct.unpack_from(f"<{count}I", chunk, 28):
        at = start + offset
        if flags & UTF8:
            at += 2 if chunk[at] & 0x80 else 1  # its length in UTF-16, which nobody needs
            length, at = chunk[at], at + 1
            if length & 0x80:
                length, at = (length & 0x7F) << 8 | chunk[at], at + 1
            found.append(chunk[at : at + length].decode("utf-8", "replace"))
        else:
            length, at = struct.unpack_from("<H", chunk, at)[0], at + 2
            if length & 0x8000:
                length, at = (length & 0x7FFF) << 16 | struct.unpack_from("<H", chunk, at)[0], at + 2
            found.append(chunk[at : at + 2 * length].decode("utf-16-le", "replace"))
    return found


def _document(elements: Sequence[tuple[str, Attributes]]) -> bytes:
    """Elements as a binary document: all but the first lie inside of it."""
    own = [name for name in NUMBERS if any(name in said for _, said in elements)]  # these come first, as the map wants
    pool = [*own, ANDROID, "android"]
    for name, said in elements:
        for word in (name, *said, *(value for value in said.values() if isinstance(value, str))):
            if word not in pool:
                pool.append(word)
    space = struct.pack("<IIII", 1, NONE, pool.index("android"), pool.index(ANDROID))
    starts = [_start(pool, name, said) for name, said in elements]
    ends = [_chunk(END, struct.pack("<IIII", 1, NONE, NONE, pool.index(name)), 16) for name, _ in elements]
    body = starts[0] + b"".join(start + end for start, end in zip(starts[1:], ends[1:], strict=True)) + ends[0]
    numbers = _chunk(MAP, struct.pack(f"<{len(own)}I", *(NUMBERS[name] for name in own)), 8)
    return _chunk(
        DOCUMENT,
        _strings(pool) + numbers + _chunk(NAMESPACE, space, 16) + body + _chunk(NAMESPACE_END, space, 16),
        8,
    )


def _chunk(kind: int, body: bytes, head: int) -> bytes:
    return struct.pack("<HHI", kind, head, 8 + len(body)) + body


def _strings(pool: Sequence[str]) -> bytes:
    data, offsets = b"", list[int]()
    for word in pool:
        offsets.append(len(data))
        encoded = word.encode("utf-16-le")
        data += struct.pack("<H", len(encoded) // 2) + encoded + b"\0\0"
    data += bytes(-len(data) % 4)
    begin = 28 + 4 * len(pool)
    return _chunk(POOL, struct.pack(f"<5I{len(pool)}I", len(pool), 0, 0, begin, 0, *offsets) + data, 28)


def _start(pool: Sequence[str], name: str, said: Attributes) -> bytes:
    body = struct.pack("<IIIIHHHHHH", 1, NONE, NONE, pool.index(name), 20, 20, len(said), 0, 0, 0)
    for key, value in said.items():
        space = pool.index(ANDROID) if key in NUMBERS else NONE
        if isinstance(value, str):
            text, kind, data = pool.index(value), TEXT, pool.index(value)
        elif isinstance(value, bool):
            text, kind, data = NONE, TRUTH, NONE if value else 0
        else:
            text, kind, data = NONE, NUMBER, value
        body += struct.pack("<IIIHBBI", space, pool.index(key), text, 8, 0, kind, data)
    return _chunk(START, body, 16)
