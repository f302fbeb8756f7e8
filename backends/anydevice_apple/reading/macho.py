"""Which build a Mach-O file is of: the UUIDs in its header, one an architecture. Layout: Apple's `mach-o/loader.h`,
`mach-o/fat.h` and `mach/machine.h`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO, Final

THIN: Final = {b"\xcf\xfa\xed\xfe": ("<", 32), b"\xce\xfa\xed\xfe": ("<", 28), b"\xfe\xed\xfa\xcf": (">", 32),
               b"\xfe\xed\xfa\xce": (">", 28)}  # fmt: skip
FAT: Final = {b"\xca\xfe\xba\xbe": ">IIIII", b"\xca\xfe\xba\xbf": ">IIQQII"}
LC_UUID: Final = 0x1B
SLICES: Final = 32
COMMANDS: Final = 4 << 20
"""Bytes of load commands that are read."""
CPU: Final = {0x01000007: "x86_64", 7: "i386", 12: "armv7", 0x0100000C: "arm64", 0x0200000C: "arm64_32"}
ARM64E: Final = (0x0100000C, 2)


@dataclass(slots=True, frozen=True)
class Slice:
    """One architecture of a file, by Apple's word, and the UUID of its build: 32 upper-case hexadecimal digits."""

    arch: str
    uuid: str


class NotMachO(ValueError):
    """It is no Mach-O file, or a damaged one."""


def slices(file: BinaryIO) -> list[Slice]:
    """The architectures of a file that say which build they are of.

    Raises:
        NotMachO: It is no such file.
    """
    try:
        return [found for at in _starts(file) if (found := _slice(file, at)) is not None]
    except (struct.error, OverflowError) as error:
        raise NotMachO("it ends too early") from error


def _starts(file: BinaryIO) -> list[int]:
    file.seek(0)
    magic = file.read(4)
    if magic in THIN:
        return [0]
    if magic not in FAT:
        raise NotMachO("it begins like no such file")
    (count,) = struct.unpack(">I", file.read(4))
    if count > SLICES:  # class files of Java begin with the same four bytes
        raise NotMachO("it has too many architectures")
    row = struct.Struct(FAT[magic])
    return [row.unpack(file.read(row.size))[2] for _ in range(count)]


def _slice(file: BinaryIO, at: int) -> Slice | None:
    file.seek(at)
    magic = file.read(4)
    if magic not in THIN:
        raise NotMachO("an architecture in it is no such file")
    order, head = THIN[magic]
    cpu, kind, _, count, size = struct.unpack(f"{order}IIIII", file.read(20))
    file.seek(at + head)
    commands = file.read(min(size, COMMANDS))
    here = 0
    for _ in range(count):
        command, length = struct.unpack_from(f"{order}II", commands, here)
        if length < 8:
            raise NotMachO("a load command has no length")
        if command == LC_UUID:
            (uuid,) = struct.unpack_from("16s", commands, here + 8)
            arm64e = (cpu, kind & 0x00FFFFFF) == ARM64E
            return Slice("arm64e" if arm64e else CPU.get(cpu, f"cpu{cpu}"), uuid.hex().upper())
        here += length
    return None
