"""The clipboard of a session, by wlr-data-control: it needs no window and no focus, unlike the ordinary one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio.to_thread

from anydevice.kit.waiting import readable
from anydevice_schemas.errors import ActionUnverified, CallTimeout, Unsupported

from .. import clips
from .compositor import DEADLINE, Compositor
from .connection import Connection, Thing
from .protocol import DATA_CONTROL_DEVICE, DATA_CONTROL_MANAGER, DATA_CONTROL_OFFER, DATA_CONTROL_SOURCE
from .session import Session

MOST: Final = 256 * 1024 * 1024
"""Bytes that are read of another program's content."""
CHUNK: Final = 1 << 20
LONGEST: Final = 120.0
"""Seconds after which a content that still comes in pieces is given up."""
STUCK: Final = 30.0
"""Seconds after which a program that takes nothing of what it asked for gets no more."""


@dataclass(slots=True)
class _Giving:
    """A content on its way to a program that asked for it."""

    fd: int
    left: memoryview
    alive: float = field(default_factory=time.monotonic)


class WClipboard:
    """The clipboard, on a connection and in a thread of its own.

    What was written is on the clipboard for as long as this is open and nobody else writes.
    """

    def __init__(self, compositor: Compositor) -> None:
        """Use `open`."""
        self._compositor = compositor
        self._device: Thing | None = None
        self._offered: dict[int, list[str]] = {}
        self._offers: dict[int, Thing] = {}
        self._selected: int | None = None
        self._source: Thing | None = None
        self._giving: list[_Giving] = []
        compositor.watch(lambda: [giving.fd for giving in self._giving], self._give)

    @classmethod
    async def open(cls, path: str, deadline: float = DEADLINE) -> WClipboard:
        """Connects to the clipboard of a session; arguments as of `Compositor.open`.

        Raises:
            DeviceOffline: The session cannot be reached.
        """
        return cls(await Compositor.open(path, deadline))

    @property
    def lost(self) -> bool:
        """Whether the connection ended; what was written is gone with it, and every call fails."""
        return self._compositor.lost

    async def write_text(self, text: str) -> None:
        """Puts text on the clipboard.

        Raises:
            InvalidArgument: It holds characters that are no text.
            ActionUnverified: Another program took the clipboard at once.
            Unsupported: The compositor does not offer it.
            DeviceOffline, ConnectionLost, CallTimeout: The session cannot be reached, or does not answer.
        """
        await self._own(clips.of_text(text))

    async def write_png(self, data: bytes) -> None:
        """Puts a picture on the clipboard.

        Raises:
            InvalidArgument: It is no PNG file.
            AnydeviceError: As `write_text`.
        """
        await self._own(clips.of_png(data))

    async def write_files(self, paths: Sequence[Path]) -> None:
        """Puts files on the clipboard, as a file manager's Copy does.

        Raises:
            InvalidArgument: There is none, or a path is not absolute.
            AnydeviceError: As `write_text`.
        """
        await self._own(clips.of_files(paths))

    async def kinds(self) -> list[str]:
        """What is on the clipboard, of `text`, `png` and `files`; empty where there is nothing of these.

        Raises:
            AnydeviceError: As `write_text`.
        """
        offered = await self._compositor.do(self._known)
        ways = {"text": clips.TEXTS, "png": clips.PICTURES, "files": clips.FILES}
        return [kind for kind, names in ways.items() if _first(names, offered) is not None]

    async def read_text(self) -> str | None:
        """The text on the clipboard, or None where there is none. Untrusted.

        Raises:
            AnydeviceError: As `write_text`.
        """
        got = await self._read(clips.TEXTS)
        return clips.as_text(*got) if got is not None else None

    async def read_png(self) -> bytes | None:
        """The picture on the clipboard as PNG, or None where there is none. Untrusted.

        Raises:
            Unsupported: There is one, of a kind that is not understood.
            AnydeviceError: As `write_text`.
        """
        got = await self._read(clips.PICTURES)
        return await anyio.to_thread.run_sync(clips.as_png, got[1]) if got is not None else None

    async def read_files(self) -> list[str] | None:
        """Paths of the files on the clipboard, or None where there are none. Untrusted.

        Raises:
            AnydeviceError: As `write_text`.
        """
        got = await self._read(clips.FILES)
        return clips.as_paths(got[1]) if got is not None else None

    async def clear(self) -> None:
        """Takes back what was written, if it still is on the clipboard.

        Raises:
            AnydeviceError: As `write_text`.
        """

        def disown(session: Session) -> None:
            if self._source is not None:
                session.connection.ask(self._source, "destroy")
                self._source = None
                session.connection.settle()

        await self._compositor.do(disown)

    async def aclose(self) -> None:
        """Closes the connection; what was written is gone. May be called more than once."""
        await self._compositor.aclose()

    # --- in the loop -----------------------------------------------------------------------------------

    async def _own(self, offers: clips.Offers) -> None:
        if not await self._compositor.do(lambda session: self._take(session, offers), sent="clipboard"):
            raise ActionUnverified(
                "Another program has taken the clipboard.",
                hint="Repeat the call; a clipboard manager may fight for it.",
                expected="ours",
                actual="another program's",
            )

    async def _read(self, names: Sequence[str]) -> tuple[str, bytes] | None:
        return await self._compositor.do(lambda session: self._fetch(session, names), LONGEST)

    # --- in the compositor's thread ----------------------------------------------------------------------

    def _ready(self, session: Session) -> Thing:
        """The device, which tells at once what is on the clipboard, and again whenever that changes."""
        if self._device is None:
            manager = session.take(DATA_CONTROL_MANAGER, "clipboard")
            seat = session.seat("clipboard")
            device: Thing = session.connection.ask(manager, "get_data_device", DATA_CONTROL_DEVICE, seat)
            device.hears = {
                "data_offer": lambda id: self._offer(session.connection, id),
                "selection": lambda id: self._select(session.connection, id),
                "primary_selection": lambda id: self._discard(session.connection, id),
            }
            self._device = device
        session.connection.settle()
        return self._device

    def _offer(self, connection: Connection, id: int) -> None:
        names: list[str] = []
        self._offered[id], self._offers[id] = names, connection.adopt(id, DATA_CONTROL_OFFER)
        self._offers[id].hears["offer"] = names.append

    def _select(self, connection: Connection, id: int) -> None:
        old, self._selected = self._selected, id or None
        if old is not None and old != self._selected:
            self._discard(connection, old)

    def _discard(self, connection: Connection, id: int) -> None:
        self._offered.pop(id, None)
        offer = self._offers.pop(id, None)
        if offer is not None and id != self._selected:
            connection.ask(offer, "destroy")

    def _known(self, session: Session) -> list[str]:
        self._ready(session)
        return self._offered.get(self._selected or 0, [])

    def _fetch(self, session: Session, names: Sequence[str]) -> tuple[str, bytes] | None:
        offered = self._known(session)
        name = _first(names, offered)
        if name is None or self._selected is None:
            return None
        reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            fcntl.fcntl(writer, fcntl.F_SETFL, 0)  # programs expect to be able to wait until there is room
            session.connection.ask(self._offers[self._selected], "receive", None, name, fds=[writer])
            os.close(writer)
            writer = -1
            return name, self._receive(session.connection, reader)
        finally:
            os.close(reader)
            if writer >= 0:
                os.close(writer)

    def _receive(self, connection: Connection, reader: int) -> bytes:
        """What comes through a pipe until it is closed; our own content is handed out meanwhile."""
        got = bytearray()
        alive = time.monotonic()
        while True:
            connection.listen([reader], [giving.fd for giving in self._giving], 0.05)
            self._give()
            if readable(reader, 0):
                chunk = os.read(reader, CHUNK)
                if not chunk:
                    return bytes(got)
                got += chunk
                alive = time.monotonic()
                if len(got) > MOST:
                    raise Unsupported(
                        "What is on the clipboard is too large.", operation="clipboard.read", alternatives=[]
                    )
            if time.monotonic() - alive > DEADLINE:
                raise CallTimeout(
                    "The program that holds the clipboard does not hand it out.",
                    after=DEADLINE,
                    waiting_for="another program",
                    hint="Call clipboard with action write to put something else there.",
                )

    def _take(self, session: Session, offers: clips.Offers) -> bool:
        device, connection = self._ready(session), session.connection
        manager = session.take(DATA_CONTROL_MANAGER, "clipboard")
        source: Thing = connection.ask(manager, "create_data_source", DATA_CONTROL_SOURCE)
        for name in offers:
            connection.ask(source, "offer", None, name)

        def send(name: str, fd: int) -> None:
            os.set_blocking(fd, False)
            self._giving.append(_Giving(fd, memoryview(offers[name][1] if name in offers else b"")))
            self._give()

        def cancelled() -> None:
            if self._source is source:
                self._source = None
            connection.ask(source, "destroy")

        source.hears = {"send": send, "cancelled": cancelled}
        self._source = source
        connection.ask(device, "set_selection", None, source)
        connection.settle()
        return self._source is source

    def _give(self) -> None:
        """Hands out as much as programs take now."""
        for giving in list(self._giving):
            try:
                while giving.left:
                    written = os.write(giving.fd, giving.left[:CHUNK])
                    giving.left, giving.alive = giving.left[written:], time.monotonic()
            except BlockingIOError:
                if time.monotonic() - giving.alive < STUCK:
                    continue
            except OSError:
                pass  # it does not want the rest
            with contextlib.suppress(OSError):
                os.close(giving.fd)
            self._giving.remove(giving)


def _first(names: Sequence[str], offered: Sequence[str]) -> str | None:
    return next((name for name in names if name in offered), None)
