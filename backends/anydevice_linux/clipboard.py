"""The clipboard of a desktop, over a connection that is opened on first use and holds what was written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio

from anydevice.driver import Acted, Clip, Clipboard, ClipKind
from anydevice_schemas.errors import AnydeviceError, ConnectionLost, DeviceOffline, Unsupported

from .live import Board, Lives

NAMES: Final[dict[str, ClipKind]] = {"text": "text", "files": "files", "png": "image"}
"""What the display's side calls a kind, and what it is called here; in the order they are taken."""


class LinuxClipboard(Clipboard):
    """What is written is there for as long as the driver, or until somebody else writes."""

    def __init__(self, lives: Lives) -> None:
        self._lives = lives
        self._opening = anyio.Lock()
        self._open: tuple[str, Board] | None = None

    async def read(self, kind: ClipKind | None = None) -> Clip:
        """See `Clipboard.read`."""
        board = await self._board()
        offered = await board.kinds()
        kinds = frozenset(NAMES[name] for name in offered)
        chosen = kind or next((NAMES[name] for name in NAMES if name in offered), None)
        if chosen is None or chosen not in kinds:
            return Clip(kinds)
        if chosen == "text":
            return Clip(kinds, text=await board.read_text())
        if chosen == "image":
            return Clip(kinds, image=await board.read_png())
        files = await board.read_files()
        return Clip(kinds, files=[_printable(path) for path in files] if files is not None else None)

    async def write_text(self, text: str) -> Acted:
        """See `Clipboard.write_text`."""
        await (await self._board()).write_text(text)
        return Acted("clipboard")

    async def write_image(self, png: bytes) -> Acted:
        """See `Clipboard.write_image`."""
        await (await self._board()).write_png(png)
        return Acted("clipboard")

    async def write_files(self, paths: Sequence[str]) -> Acted:
        """See `Clipboard.write_files`."""
        await (await self._board()).write_files([Path(path) for path in paths])
        return Acted("clipboard")

    async def clean(self) -> None:
        """Takes back what was written, if it still is on the clipboard: the next holder must not find it."""
        if self._open is not None and not self._open[1].lost:
            with suppress(ConnectionLost, DeviceOffline):  # it went with the connection
                await self._open[1].clear()

    async def aclose(self) -> None:
        """Lets go of the clipboard; what was written is gone."""
        opened, self._open = self._open, None
        if opened is not None:
            with suppress(AnydeviceError, OSError):
                await opened[1].aclose()

    async def _board(self) -> Board:
        live = await self._lives.get()
        async with self._opening:
            if self._open is not None and (self._open[0] != live.seat.mark or self._open[1].lost):
                await self.aclose()
            if self._open is None:
                if live.board is None:
                    raise Unsupported("This desktop has no clipboard.", operation="clipboard", alternatives=[])
                self._open = (live.seat.mark, await live.board())
            return self._open[1]


def _printable(path: str) -> str:
    """A path as text: bytes of it that are none are shown as such."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
