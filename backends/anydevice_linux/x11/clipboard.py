"""The clipboard: text, pictures and files. X keeps none; whoever wrote it last holds it, and hands it out."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from Xlib import error as xerror

from anydevice.kit import images
from anydevice_schemas.errors import (
    ActionUnverified,
    CallTimeout,
    ConnectionLost,
    DeviceOffline,
    Unsupported,
)

from .. import clips
from . import authority
from .connection import CONNECTION_ERRORS, Connection
from .selection import Selection, Silent, TooLarge, first
from .worker import Stopped, TooLate, Worker

T = TypeVar("T")
DEADLINE = 3.0
"""Seconds another program may take to hand out what it holds."""
LONGEST = 120.0
"""Seconds after which a content that still comes in pieces is given up."""


class Clipboard:
    """The clipboard of a display, on a connection and in a thread of its own.

    What was written is on the clipboard for as long as this is open and nobody else writes.
    """

    def __init__(self, name: str, xauthority: str | None) -> None:
        """Use `open`."""
        self.name = name
        self._xauthority = xauthority if xauthority is not None else authority.default_file()
        self._socket: socket.socket | None = None
        self._connection: Connection | None = None
        self._selection: Selection | None = None
        self._lost = False
        self._closed = False
        self._hear, self._wake = socket.socketpair()
        self._hear.setblocking(False)
        self._wake.setblocking(False)
        self._worker = Worker(
            f"clipboard of {name}", self._cut, rest=self._rest, nudge=self._nudge, abandon=self._abandon
        )

    @classmethod
    async def open(cls, name: str, xauthority: str | None = None, deadline: float = DEADLINE) -> Clipboard:
        """Connects to the clipboard of a display; arguments as of `XDisplay.open`.

        Raises:
            DeviceOffline: There is no such display, it refuses, or it does not answer.
        """
        clipboard = cls(name, xauthority)
        try:
            await clipboard._worker.run(clipboard._connect, deadline)
        except (TooLate, xerror.DisplayError, *CONNECTION_ERRORS) as error:
            await clipboard.aclose()
            raise _offline() from error
        except BaseException:
            await clipboard.aclose()
            raise
        return clipboard

    @property
    def lost(self) -> bool:
        """Whether the connection ended; what was written is gone with it, and every call fails."""
        return self._lost or self._closed

    async def write_text(self, text: str) -> None:
        """Puts text on the clipboard.

        Raises:
            InvalidArgument: It holds characters that are no text.
            ActionUnverified: Another program took the clipboard at once.
            DeviceOffline, ConnectionLost, CallTimeout: The display cannot be reached, or does not answer.
        """
        await self._own(clips.of_text(text))

    async def write_png(self, data: bytes) -> None:
        """Puts a picture on the clipboard.

        Raises:
            InvalidArgument: It is no PNG file.
            ActionUnverified, DeviceOffline, ConnectionLost, CallTimeout: As `write_text`.
        """
        await self._own(clips.of_png(data))

    async def write_files(self, paths: Sequence[Path]) -> None:
        """Puts files on the clipboard, as a file manager's Copy does.

        Raises:
            InvalidArgument: There is none, or a path is not absolute.
            ActionUnverified, DeviceOffline, ConnectionLost, CallTimeout: As `write_text`.
        """
        await self._own(clips.of_files(paths))

    async def kinds(self) -> list[str]:
        """What is on the clipboard, of `text`, `png` and `files`; empty where there is nothing of these.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `write_text`.
        """
        offered = await self._ask(lambda selection: selection.targets(DEADLINE))
        found = {
            "text": first(clips.TEXTS, offered),
            "png": first(clips.PICTURES, offered),
            "files": first(clips.FILES, offered),
        }
        return [kind for kind, target in found.items() if target is not None]

    async def read_text(self) -> str | None:
        """The text on the clipboard, or None where there is none. Untrusted.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `write_text`.
        """
        got = await self._read(clips.TEXTS)
        if got is None:
            return None
        return clips.as_text(*got)

    async def read_png(self) -> bytes | None:
        """The picture on the clipboard as PNG, or None where there is none. Untrusted.

        Raises:
            Unsupported: There is one, of a kind that is not understood.
            DeviceOffline, ConnectionLost, CallTimeout: As `write_text`.
        """
        got = await self._read(clips.PICTURES)
        if got is None or got[1].startswith(images.PNG_SIGNATURE):
            return got[1] if got is not None else None
        return await self._in_thread(lambda: clips.as_png(got[1]), 10.0)

    async def read_files(self) -> list[str] | None:
        """Paths of the files on the clipboard, or None where there are none. Untrusted.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `write_text`.
        """
        got = await self._read(clips.FILES)
        return clips.as_paths(got[1]) if got is not None else None

    async def clear(self) -> None:
        """Takes back what was written, if it still is on the clipboard.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `write_text`.
        """
        await self._ask(lambda selection: selection.disown())

    async def aclose(self) -> None:
        """Closes the connection; what was written is gone. May be called more than once."""
        if self._closed:
            return
        self._closed = True
        try:
            await self._worker.run(self._disconnect, 1.0)
        except (TooLate, Stopped):
            self._cut()
        self._worker.stop()

    # --- in the loop -----------------------------------------------------------------------------------

    async def _own(self, offers: Mapping[str, tuple[str, bytes]]) -> None:
        if not await self._ask(lambda selection: selection.own(offers)):
            raise ActionUnverified(
                "Another program has taken the clipboard.",
                hint="Repeat the call; a clipboard manager may fight for it.",
                expected="ours",
                actual="another program's",
            )

    async def _read(self, targets: Sequence[str]) -> tuple[str, bytes] | None:
        def read(selection: Selection) -> tuple[str, bytes] | None:
            target = first(targets, selection.targets(DEADLINE))
            return selection.read(target, DEADLINE) if target is not None else None

        return await self._ask(read)

    async def _ask(self, work: Callable[[Selection], T]) -> T:
        if self.lost:
            raise _offline()

        asked = time.monotonic()

        def run() -> T:
            if self._selection is None or self._lost:
                raise ConnectionError
            self._selection.abandoned = False
            return work(self._selection)

        def stuck() -> bool:
            alive = self._selection.alive if self._selection is not None else asked
            return time.monotonic() - max(asked, alive) > DEADLINE + 0.5

        # Another program's slowness is found out in the thread, and a large content may take its time as long as
        # there is more of it; what is watched from here is the server.
        return await self._in_thread(run, LONGEST, stuck)

    async def _in_thread(self, work: Callable[[], T], deadline: float, stuck: Callable[[], bool] | None = None) -> T:
        try:
            return await self._worker.run(work, deadline, stuck)
        except Silent:
            raise CallTimeout(
                "The program that holds the clipboard does not hand it out.",
                after=DEADLINE,
                waiting_for="another program",
                hint="Call clipboard with action write to put something else there.",
            ) from None
        except TooLarge:
            raise Unsupported(
                "What is on the clipboard is too large.", operation="clipboard.read", alternatives=[]
            ) from None
        except TooLate:
            raise CallTimeout("The X server did not answer in time.", after=DEADLINE, waiting_for="X server") from None
        except (Stopped, *CONNECTION_ERRORS) as error:
            if self._connection is not None and self._connection.display.socket_error is None and not self._lost:
                raise
            self._lost = True
            raise ConnectionLost(
                "The connection to the clipboard was lost.",
                hint="Call devices to see whether the display is still there.",
                restarted=False,
            ) from error

    def _cut(self) -> None:
        self._lost = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # gone already
                self._socket.shutdown(socket.SHUT_RDWR)

    def _abandon(self) -> None:
        if self._selection is not None:
            self._selection.abandoned = True

    def _nudge(self) -> None:
        with contextlib.suppress(OSError):  # full of nudges, or closed
            self._wake.send(b".")

    # --- in the thread ---------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._connection = Connection(self.name, self._xauthority, self._take)
        self._selection = Selection(self._connection, "CLIPBOARD", self._hear)

    def _take(self, peer: socket.socket) -> None:
        self._socket = peer

    def _rest(self) -> None:
        selection = self._selection
        try:
            if selection is not None and not self._lost:
                selection.rest()
            else:
                self._hear.setblocking(True)
                self._hear.recv(1)
                self._hear.setblocking(False)
            while self._hear.recv(4096):
                pass
        except BlockingIOError:
            pass  # all nudges heard
        except xerror.XError:
            pass  # a window of another program is gone; its business
        except CONNECTION_ERRORS:
            self._lost = True

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(*CONNECTION_ERRORS):  # lost before
                self._connection.close()
        self._lost = True


def _offline() -> DeviceOffline:
    return DeviceOffline(
        "The X display cannot be reached.",
        state="offline",
        fix="Start the desktop again (boot, for one of ours), then repeat the call.",
    )
