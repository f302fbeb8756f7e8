"""Files with debug symbols: Mach-O headers as the system's (`mach-o/loader.h`, `mach-o/fat.h`), with the UUID of the
build; what they name lies in a segment of the lab's own, because DWARF would be the compiler's work.
"""

from __future__ import annotations

import json
import struct
import uuid as uuids
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SEGMENT = b"__LAB"
CPUS = {"arm64": (0x0100000C, 0), "arm64e": (0x0100000C, 2), "x86_64": (0x01000007, 3)}
DSYM, UUID, SEGMENT_64 = 10, 0x1B, 0x19


class NoSymbols(ValueError):
    """A file has none that can be read."""


@dataclass(slots=True, frozen=True)
class Function:
    """A function: where it begins in its image, its length, its name, and where it was written, if that is known."""

    start: int
    size: int
    name: str
    place: str = ""


@dataclass(slots=True, frozen=True)
class Table:
    """The functions of one architecture of an image."""

    image: str
    functions: Sequence[Function]

    def say(self, word: str, offset: int) -> str:
        """What atos prints for an address: `name (in image) (place)`, `name (in image) + bytes`, or the word again."""
        for one in self.functions:
            if one.start <= offset < one.start + one.size:
                tail = f"({one.place})" if one.place else f"+ {offset - one.start}"
                return f"{one.name} (in {self.image}) {tail}"
        return word


def write(path: Path, image: str, builds: dict[str, tuple[str, Sequence[Function]]]) -> Path:
    """Writes a `.dSYM`: for each architecture the UUID of the build, and its functions; the file with the symbols."""
    file = path / "Contents/Resources/DWARF" / image
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(packed(image, builds))
    return file


def packed(image: str, builds: dict[str, tuple[str, Sequence[Function]]]) -> bytes:
    """The bytes of such a file: one header, or several behind one that says where they are."""
    parts = [(CPUS[arch], _thin(image, CPUS[arch], uuid, table)) for arch, (uuid, table) in builds.items()]
    if len(parts) == 1:
        return parts[0][1]
    at = 4096
    head, body = struct.pack(">II", 0xCAFEBABE, len(parts)), b""
    for (cpu, kind), part in parts:
        head += struct.pack(">IIIII", cpu, kind, at + len(body), len(part), 12)
        body += part + bytes(-len(part) % 4096)
    return head.ljust(at, b"\0") + body


def _thin(image: str, cpu: tuple[int, int], uuid: str, functions: Sequence[Function]) -> bytes:
    rows = [[one.start, one.size, one.name, one.place] for one in functions]
    data = json.dumps({"image": image, "functions": rows}).encode()
    at = 32 + 72 + 24
    segment = struct.pack(
        "<II16sQQQQIIII", SEGMENT_64, 72, SEGMENT, 0x1_0000_0000, len(data), at, len(data), 1, 1, 0, 0
    )
    named = struct.pack("<II16s", UUID, 24, uuids.UUID(uuid).bytes)
    head = struct.pack("<IIIIIIII", 0xFEEDFACF, *cpu, DSYM, 2, len(segment) + len(named), 0, 0)
    return head + segment + named + data


def read(path: Path) -> dict[str, Table]:
    """The functions in a file, by architecture.

    Raises:
        OSError: It cannot be read.
        NoSymbols: It is no such file.
    """
    data = path.read_bytes()
    try:
        if data[:4] == b"\xca\xfe\xba\xbe":
            (count,) = struct.unpack_from(">I", data, 4)
            rows = [struct.unpack_from(">IIIII", data, 8 + 20 * n) for n in range(count)]
            return dict(_read(data[at : at + size]) for _, _, at, size, _ in rows)
        return dict([_read(data)])
    except (struct.error, ValueError, KeyError) as error:
        raise NoSymbols(str(error)) from error


def _read(data: bytes) -> tuple[str, Table]:
    magic, cpu, kind, _, count = struct.unpack_from("<IIIII", data)
    if magic != 0xFEEDFACF:
        raise NoSymbols("no header")
    arch = next(name for name, both in CPUS.items() if both == (cpu, kind & 0xFFFFFF))
    here = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, here)
        if command == SEGMENT_64 and data[here + 8 : here + 24].rstrip(b"\0") == SEGMENT:
            at, length = struct.unpack_from("<QQ", data, here + 40)
            told = json.loads(data[at : at + length])
            return arch, Table(told["image"], [Function(*row) for row in told["functions"]])
        here += size
    raise NoSymbols("stripped")
