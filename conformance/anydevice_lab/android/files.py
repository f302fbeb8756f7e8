"""The device's files: a folder of this host, and how paths of the device lead into it and back.

There is no chroot (that would need root). Command lines and arguments that name a path below one of `PLACES` are led
into the folder before they run; in what programs print, the folder's own path is taken away again. Paths outside of
these places are the host's; a path that a program puts together itself at run time is not led anywhere.
"""

from __future__ import annotations

import re
from pathlib import Path

PLACES = ("sdcard", "storage/emulated/0", "mnt/sdcard", "data", "system", "product", "vendor")
"""Where the device has files of its own, without the leading slash."""
SAME = {"storage/emulated/0": "sdcard", "mnt/sdcard": "sdcard", "storage/self/primary": "sdcard"}
"""Places that are other names of one."""
_BEFORE = r"(?<![\w./\-])"
_PLACE = re.compile(
    (_BEFORE + r"/(sdcard|storage/emulated/0|storage/self/primary|mnt/sdcard|data|system/bin|system|product|vendor)"
     r"(?=$|[/\s'\";|&<>)`,:=])").encode()
)  # fmt: skip


class Files:
    """The files of one device.

    Args:
        root: The folder that is the device's root; made here, with what a device has from the start.
        programs: Folder of the device's programs, which is its `/system/bin`.
        shell: The host's shell that runs command lines, which is its `/system/bin/sh`.
    """

    def __init__(self, root: Path, programs: Path, shell: str = "/bin/sh") -> None:
        self.root, self.programs = root, programs
        for place in ("sdcard/DCIM", "sdcard/Download", "sdcard/Pictures", "sdcard/Movies", "sdcard/Android"):
            (root / place).mkdir(parents=True, exist_ok=True)
        for place in ("data/local/tmp", "data/app", "system/etc", "product", "vendor"):
            (root / place).mkdir(parents=True, exist_ok=True)
        self._ways = (
            (str(programs).encode(), b"/system/bin"),
            (str(root).encode(), b""),
            (f"E: {shell}: ".encode(), b"/system/bin/sh: "),
            (f"{shell}: ".encode(), b"/system/bin/sh: "),
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
        if plain == "system/bin" or plain.startswith("system/bin/"):
            return self.programs / plain[len("system/bin/") :]
        for name, place in SAME.items():
            if plain == name or plain.startswith(name + "/"):
                plain = place + plain[len(name) :]
                break
        return self.root / plain

    def inward(self, text: bytes) -> bytes:
        """A command line with the device's paths led into its folder."""

        def lead(found: re.Match[bytes]) -> bytes:
            return str(self.host("/" + found[1].decode())).encode()

        return _PLACE.sub(lead, text)

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
