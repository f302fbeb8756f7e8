"""One connection to an hdc server: the handshake, and frames.

A frame is its length as four bytes, the highest first, and so many bytes. The server speaks first: a banner and room
for a key. The client answers with the same bytes and the key of the device it means in that room; then one command is
sent, and frames come until the server closes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Final

import anyio
from anyio.abc import SocketStream

BANNER: Final = b"OHOS HDC"
KEY_AT: Final = 12
"""Where the key lies in the greeting; before it is the banner."""
KEY_SIZE: Final = 32
GREETINGS: Final = (44, 108)
"""Sizes of the greeting: without and with the server's version."""
CONNECT: Final = 3.0
"""Seconds a server may take to accept a connection."""
LARGEST: Final = 16 << 20
"""Bytes of a frame that are believed; a longer one is none."""
CHUNK: Final = 256 << 10


class Closed(Exception):
    """The connection ended before what was to come had come."""


class Unreachable(Exception):
    """There is no server at the address; `silent` says that something is there and does not answer."""

    def __init__(self, silent: bool) -> None:
        super().__init__("silent" if silent else "refused")
        self.silent = silent


class NoServer(Exception):
    """What answers at the address is no hdc server."""


class Connection:
    """A channel of the server, bound to one device or to none. Close it, or use it as an asynchronous context."""

    def __init__(self, stream: SocketStream) -> None:
        """Use `open`."""
        self._stream = stream
        self._buffer = bytearray()
        self._sent = True

    @classmethod
    async def open(cls, host: str, port: int, key: str = "") -> Connection:
        """Connects, and names the device that is meant.

        Args:
            key: The device's connect key; empty for commands of the server itself.

        Raises:
            Unreachable: Nobody listens there, or nobody accepts.
            NoServer: It is another kind of server, or the key is longer than there is room for.
            Closed: It ended in the middle of the greeting.
        """
        name = key.encode()
        if len(name) > KEY_SIZE:
            raise NoServer("key too long")
        stream: SocketStream | None = None
        try:
            with anyio.move_on_after(CONNECT):
                stream = await anyio.connect_tcp(host, port)
        except OSError as error:
            raise Unreachable(silent=False) from error
        if stream is None:
            raise Unreachable(silent=True)
        made = cls(stream)
        try:
            await made._greet(name)
        except BaseException:
            await made.close()
            raise
        return made

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection at once: the server, and the command on the device, see it end."""
        await anyio.aclose_forcefully(self._stream)

    async def command(self, text: str) -> None:
        """Sends the one command of this channel.

        It says nothing where the server closed already: a refusal may have been sent before the command was, and is
        still there to be read.
        """
        try:
            await self._send(text.encode("utf-8", "surrogatepass") + b"\0")
        except Closed:
            self._sent = False

    @property
    def sent(self) -> bool:
        """Whether the command got through to the server, as far as this side knows."""
        return self._sent

    async def frames(self) -> AsyncIterator[bytes]:
        """What is answered, frame by frame, until the server closes.

        Raises:
            Closed: It ended in the middle of a frame, or before a command got through and without a word.
        """
        any_came = False
        while True:
            frame = await self._frame()
            if frame is None:
                if not self._sent and not any_came:
                    raise Closed
                return
            any_came = True
            yield frame

    async def answer(self, most: int) -> tuple[bytes, int]:
        """Everything that is answered, at most `most` bytes of it (the last of them), and how many were dropped.

        Raises:
            Closed: As `frames`.
        """
        kept, dropped = bytearray(), 0
        async for frame in self.frames():
            kept += frame
            if len(kept) > 2 * most:
                dropped += len(kept) - most
                del kept[:-most]
        if len(kept) > most:
            dropped += len(kept) - most
            del kept[:-most]
        return bytes(kept), dropped

    async def _greet(self, key: bytes) -> None:
        greeting = await self._frame()
        if greeting is None:
            raise Closed
        if len(greeting) not in GREETINGS or not greeting.startswith(BANNER):
            raise NoServer("another greeting")
        end = KEY_AT + KEY_SIZE
        await self._send(greeting[:KEY_AT] + key.ljust(KEY_SIZE, b"\0") + greeting[end:])

    async def _send(self, payload: bytes) -> None:
        try:
            await self._stream.send(len(payload).to_bytes(4, "big") + payload)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise Closed from error

    async def _frame(self) -> bytes | None:
        """The next frame; None where the server closed between two frames."""
        head = await self._exactly(4, first=True)
        if head is None:
            return None
        size = int.from_bytes(head, "big")
        if size > LARGEST:
            raise NoServer("a frame too large")
        body = await self._exactly(size)
        assert body is not None
        return body

    async def _exactly(self, count: int, *, first: bool = False) -> bytes | None:
        while len(self._buffer) < count:
            try:
                self._buffer += await self._stream.receive(CHUNK)
            except anyio.EndOfStream:
                if first and not self._buffer:
                    return None
                raise Closed from None
            except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                # A server that refuses at the handshake may reset the connection; what it said was read before.
                if first and not self._buffer:
                    return None
                raise Closed from error
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        return found
