"""A device's files: a folder of this host, and how paths of the device lead into it and back.

There is no chroot (that would need root). Command lines and arguments that name a path below one of its places are led
into the folder before they run; in what programs print, the folder's own path is taken away again. Paths outside of
these places are the host's; a path that a program puts together itself at run time is not led anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_BEFORE = r"(?<![\w./\-*?\]})])"
_AFTER = r"(?=$|[/\s'\";|&<>)`,:=])"


@dataclass(frozen=True)
class Layout:
    """Where a device has files of its own; paths without the leading slash, save for `programs`.

    Attributes:
        places: Folders of its own.
        same: Places that are other names of one.
        made: Folders that are there from the start.
        programs: Where its programs are; a path below one of the places.
    """

    places: tuple[str, ...]
    same: Mapping[str, str]
    made: tuple[str, ...]
    programs: str = "/system/bin"

    @property
    def pattern(self) -> re.Pattern[bytes]:
        """Finds paths of these places in a command line."""
        longest = sorted({*self.places, *self.same, self.programs[1:]}, key=len, reverse=True)
        return re.compile(f"{_BEFORE}/({'|'.join(map(re.escape, longest))}){_AFTER}".encode())


class Files:
    """The files of one device.

    Args:
        root: The folder that is the device's root; made here, with what a device has from the start.
        programs: Folder of the device's programs.
        layout: Where the device has files of its own.
        shell: The host's shell that runs command lines, which is the device's `sh`.
    """

    def __init__(self, root: Path, programs: Path, layout: Layout, shell: str = "/bin/sh") -> None:
        self.root, self.programs, self.layout = root, programs, layout
        for place in layout.made:
            (root / place).mkdir(parents=True, exist_ok=True)
        self._place = layout.pattern
        there = layout.programs.encode()
        self._ways = (
            (str(programs).encode(), there),
            (str(root).encode(), b""),
            (f"E: {shell}: ".encode(), there + b"/sh: "),
            (f"{shell}: ".encode(), there + b"/sh: "),
        )

    def host(self, path: str) -> Path:
        """Where a path of the device is on this host. One that is nowhere on the device leads into its root."""
        parts: list[str] = []
        for part in path.split("/"):
            if part == "..":
                del parts[-1:]
            elif part not in ("", "."):
                parts.append(part)
        plain = "/".join(parts)
        own = self.layout.programs[1:]
        if plain == own or plain.startswith(own + "/"):
            return self.programs / plain[len(own) + 1 :]
        for name, place in self.layout.same.items():
            if plain == name or plain.startswith(name + "/"):
                plain = place + plain[len(name) :]
                break
        return self.root / plain

    def inward(self, text: bytes) -> bytes:
        """A command line with the device's paths led into its folder."""

        def lead(found: re.Match[bytes]) -> bytes:
            return str(self.host("/" + found[1].decode())).encode()

        return self._place.sub(lead, text)

    def outward(self, text: bytes) -> bytes:
        """A text of a program with the folder's own path taken away."""
        for here, there in self._ways:
            text = text.replace(here, there)
        return text

    def outward_word(self, word: str) -> str:
        """The same for one argument."""
        return self.outward(word.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


class Outward:
    """`Files.outward` for a stream of bytes, whose pieces may end in the middle of a path."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._ways = (str(files.root).encode(), str(files.programs).encode())
        self._kept = b""

    def feed(self, data: bytes) -> bytes:
        """What can be told of the stream so far."""
        data = self._kept + data
        keep = max((self._begun(data, way) for way in self._ways), default=0)
        self._kept = data[len(data) - keep :] if keep else b""
        return self._files.outward(data[: len(data) - keep] if keep else data)

    def rest(self) -> bytes:
        """What was kept back when the stream has ended."""
        data, self._kept = self._kept, b""
        return data

    @staticmethod
    def _begun(data: bytes, way: bytes) -> int:
        """How many bytes at the end of the data may be the beginning of a path."""
        start = data.rfind(way[:1], max(0, len(data) - len(way) + 1))
        while start >= 0:
            if way.startswith(data[start:]):
                longest = start
                for earlier in range(max(0, len(data) - len(way) + 1), start):
                    if way.startswith(data[earlier:]):
                        longest = earlier
                        break
                return len(data) - longest
            start = data.rfind(way[:1], max(0, len(data) - len(way) + 1), start)
        return 0
