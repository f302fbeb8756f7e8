"""Addresses to names of functions, by Xcode's `atos` and the debug symbols of the very build that crashed.

`atos` does not ask whether the symbols are of that build: it names whatever lies at an address. So the UUIDs are
compared here, from the files themselves, and symbols of another build are never used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anydevice_schemas.errors import ToolMissing, UpstreamUnavailable

from .reading.macho import NotMachO, Slice, slices
from .xcrun import INSTALL, NO_TOOL, Xcrun

AT_ONCE: Final = 200
"""Addresses of one start of `atos`: a command line has an end."""
DEADLINE: Final = 60.0
"""Seconds of one start: large symbols take long to load."""
ENTRIES: Final = 20_000
"""Files and folders that are looked through for symbols."""
DWARF: Final = "Contents/Resources/DWARF"
_NAMED: Final = re.compile(
    r"(?P<symbol>.+?) \(in (?P<image>[^)]*)\)(?: \+ (?P<offset>\d+)| \((?P<place>[^()]*:\d+)\))?"
)
SAID: Final = 1000


@dataclass(slots=True, frozen=True)
class Symbols:
    """One architecture of a file with debug symbols."""

    path: Path
    arch: str
    uuid: str


@dataclass(slots=True, frozen=True)
class Named:
    """What lies at an address: a function, and the file and line, where they are known, else the bytes into it."""

    symbol: str
    place: str = ""


def inside(path: Path) -> tuple[list[Symbols], bool]:
    """The symbols at a path: of a file, of a `.dSYM`, or of everything in a folder; and whether all was looked at.

    Blocks; links are not followed.
    """
    if path.is_file():
        return list(_of(path)), True
    if (path / DWARF).is_dir():
        return [one for file in sorted((path / DWARF).iterdir()) for one in _of(file)], True
    found: list[Symbols] = []
    seen = 0
    for folder, folders, files in os.walk(path):
        seen += 1 + len(files)
        if seen > ENTRIES:
            return found, False
        if Path(folder).parts[-3:] == tuple(DWARF.split("/")):
            found += [one for file in sorted(files) for one in _of(Path(folder, file))]
        folders.sort()
    return found, True


def _of(path: Path) -> Iterator[Symbols]:
    if path.is_symlink() or not path.is_file():
        return
    try:
        with path.open("rb") as file:
            known: Sequence[Slice] = slices(file)
    except (OSError, NotMachO):
        return
    for one in known:
        yield Symbols(path, one.arch, one.uuid)


async def names(xcrun: Xcrun, symbols: Symbols, base: int, addresses: Iterable[int]) -> dict[int, Named]:
    """What lies at addresses of an image that was loaded at `base`; those nobody knows are left out.

    Raises:
        UpstreamUnavailable: `atos` fails, or says something else than a line for each address.
        CallTimeout: It does not end; ToolMissing: there is no Xcode.
    """
    left = sorted(set(addresses))
    found: dict[int, Named] = {}
    while left:
        now, left = left[:AT_ONCE], left[AT_ONCE:]
        words = ("-o", str(symbols.path), "-arch", symbols.arch, "-l", f"{base:#x}", *(f"{one:#x}" for one in now))
        done = await xcrun.run("atos", *words, deadline=DEADLINE)
        if done.code != 0 and NO_TOOL in done.complaint:
            raise ToolMissing("Xcode's atos is not here.", tools=["atos"], install=INSTALL)
        lines = [line for line in done.text.splitlines() if line.strip()]
        if done.code != 0 or len(lines) != len(now) or done.cut:
            raise UpstreamUnavailable(
                "atos did not name the addresses.",
                upstream="atos",
                enable_hint="See details.said, which are its own words; doctor tells whether Xcode is complete.",
                status=done.code,
                said=(done.complaint or done.text)[:SAID],
                asked=len(now),
                answered=len(lines),
            )
        for address, line in zip(now, lines, strict=True):
            if (told := _NAMED.fullmatch(line.strip())) is None or told["symbol"].startswith("0x"):
                continue  # it says the address again where it knows nothing
            offset = f" + {told['offset']}" if told["offset"] else ""
            found[address] = Named(told["symbol"] + offset, told["place"] or "")
    return found
