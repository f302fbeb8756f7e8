"""One client of the hdc server: what it sends in frames, and what is said to it."""

from __future__ import annotations

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from ..guest.ports import GONE
from ..guest.shell import PipeClosed
from . import wire


class Channel:
    """One connection.

    Args:
        stream: Of the client.
        number: Of the channel.

    Attributes:
        key: The key in the client's answer to the greeting.
        kept: Whether the client asked to keep it open after a command of the server's own.
        old: Whether the server is of the 2.x versions, which say some things otherwise.
    """

    def __init__(self, stream: SocketStream, number: int, *, old: bool = False) -> None:
        self.stream, self.number, self.old = stream, number, old
        self.key, self.kept = "", False
        self._reader = BufferedByteReceiveStream(stream)
        self._lock = anyio.Lock()

    async def receive(self) -> bytes:
        """The next frame.

        Raises:
            PipeClosed: The client has gone, or sends what is no frame.
        """
        try:
            (length,) = wire.LENGTH.unpack(await self._reader.receive_exactly(wire.LENGTH.size))
            if length > wire.MOST:
                raise PipeClosed
            return await self._reader.receive_exactly(length) if length else b""
        except GONE:
            raise PipeClosed from None

    async def command(self) -> tuple[int, bytes]:
        """The next frame of a transfer: its command, and what follows.

        Raises:
            PipeClosed: The client has gone.
        """
        data = await self.receive()
        if len(data) < wire.COMMAND.size:
            raise PipeClosed
        return wire.COMMAND.unpack(data[: wire.COMMAND.size])[0], data[wire.COMMAND.size :]

    async def send(self, data: bytes, *, short: int = 0) -> None:
        """Sends one frame; of its last bytes so many are left out, for a connection that is lost in the middle.

        Raises:
            PipeClosed: The client has gone.
        """
        framed = wire.frame(data)
        try:
            async with self._lock:
                await self.stream.send(framed[: len(framed) - short])
        except GONE:
            raise PipeClosed from None

    async def tell(self, text: str) -> None:
        """Says a line: one that does not end by itself ends in CR LF."""
        await self.send((text if text.endswith("\n") else text + "\r\n").encode("utf-8", "surrogateescape"))

    async def fail(self, text: str) -> None:
        """Says what went wrong."""
        await self.tell(f"[Fail]{text}")

    async def inform(self, text: str) -> None:
        """Says what is worth knowing."""
        await self.tell(f"[Info]{text}")

    async def order(self, command: int, payload: bytes = b"") -> None:
        """Sends a frame of a transfer."""
        await self.send(wire.COMMAND.pack(command) + payload)
