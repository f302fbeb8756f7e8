"""The daemon's end of a connection, as facades get it: a byte stream that knows when its client is really gone."""

from __future__ import annotations

import select
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream

from anydevice_schemas.errors import InvalidArgument

SEND_DEADLINE = 30.0
"""Seconds a client may leave what it is sent unread before its connection is given up."""

REST_OF_LINE = 1.0
"""Seconds a paused stream waits for the end of a line that has begun."""

GONE_CHECK = 0.2
"""Seconds between looks at a client that has ended its own direction; five times that at one that has not."""

CHUNK = 65536


class HostStream(ByteStream):
    """A local socket with what was read ahead put back, and sends that are whole or end the connection.

    A client that only ended its own direction (a half-close) still gets its answers; one that is gone does not
    keep anything running: see `while_wanted`.

    Attributes:
        goodbye: The client ended its direction and still listens, or said that it does not come back.
        paused: Nothing more is read; what serves the stream is told that the client has ended its direction.
    """

    def __init__(self, raw: SocketStream) -> None:
        self._raw = raw
        self._socket: socket.socket = raw.extra(SocketAttribute.raw_socket)
        self._ahead = b""
        self.goodbye = False
        self.paused = False
        self._whole = True
        self._receiving: anyio.CancelScope | None = None
        self._ended = anyio.Event()
        self._sending = anyio.Lock(fast_acquire=True)
        self._patience = SEND_DEADLINE
        self._send_scope: anyio.CancelScope | None = None

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        """Those of the socket."""
        return self._raw.extra_attributes

    async def first_line(self, limit: int) -> bytes:
        """The first line, without its end; what came behind it is kept for `receive`.

        Raises:
            InvalidArgument: It is longer than `limit` bytes.
            EndOfStream: The client went away before its end.
        """
        while (end := self._ahead.find(b"\n")) < 0:
            if len(self._ahead) > limit:
                raise InvalidArgument(
                    "The first line is too long to be a hello.", param="hello", expected=f"{limit} bytes"
                )
            self._ahead += await self._raw.receive(CHUNK)
        line, self._ahead = self._ahead[:end], self._ahead[end + 1 :]
        return line

    async def receive(self, max_bytes: int = CHUNK) -> bytes:
        """See `anyio.abc.ByteStream`."""
        if not self._ahead and not (self.paused and self._whole):
            await self._read_ahead(max_bytes)
        # A paused stream ends where a line does: what comes behind it was not read, and is said again elsewhere.
        upto = max_bytes
        if self.paused:
            upto = 0 if self._whole else min(max_bytes, self._ahead.find(b"\n") + 1 or max_bytes)
        data, self._ahead = self._ahead[:upto], self._ahead[upto:]
        if not data:
            self._ended.set()
            raise anyio.EndOfStream
        self._whole = data.endswith(b"\n")
        return data

    async def _read_ahead(self, max_bytes: int) -> None:
        try:
            if not self.paused:
                with anyio.CancelScope() as self._receiving:
                    self._ahead = await self._raw.receive(max_bytes)
                self._receiving = None
            if self.paused and not self._ahead and not self._whole:
                with anyio.move_on_after(REST_OF_LINE):
                    self._ahead = await self._raw.receive(max_bytes)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            self._ended.set()
            self.goodbye = self.goodbye or not self.gone()
            raise

    def pause(self) -> None:
        """Reads nothing more, except for the rest of a line that has begun."""
        self.paused = True
        if self._receiving is not None:
            self._receiving.cancel()

    async def send(self, item: bytes) -> None:
        """Sends all of it: not even a cancelled caller leaves half of it behind.

        Raises:
            BrokenResourceError: The client is gone, or did not read for too long.
        """
        async with self._sending:
            with anyio.move_on_after(self._patience, shield=True) as self._send_scope:
                await self._raw.send(item)
            if self._send_scope.cancelled_caught:
                with anyio.CancelScope(shield=True):
                    await self._raw.aclose()
                raise anyio.BrokenResourceError

    def hurry(self, seconds: float) -> None:
        """From now on a client that does not read gets only this long, what is being sent to it included."""
        self._patience = seconds
        if self._send_scope is not None:
            self._send_scope.deadline = min(self._send_scope.deadline, anyio.current_time() + seconds)

    def busy(self) -> bool:
        """Whether something is being sent right now."""
        return self._sending.locked()

    async def send_eof(self) -> None:
        """Ends our direction."""
        await self._raw.send_eof()

    async def aclose(self) -> None:
        """Ends the connection."""
        await self._raw.aclose()

    def gone(self) -> bool:
        """Whether the client has closed both directions, not only ended its own."""
        poll = select.poll()
        try:
            poll.register(self._socket.fileno(), 0)
            return any(flags & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, flags in poll.poll(0))
        except (OSError, ValueError):
            return True

    async def while_wanted(self, work: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Runs `work(*args)`, cancelled once the client is gone altogether."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._cancel_when_gone, group.cancel_scope)
            await work(*args)
            group.cancel_scope.cancel()

    async def _cancel_when_gone(self, scope: anyio.CancelScope) -> None:
        # No event loop reports that a peer has hung up, and work that does not read would never notice.
        while not self.gone():
            if self._ended.is_set():
                await anyio.sleep(GONE_CHECK)
            else:
                with anyio.move_on_after(5 * GONE_CHECK):
                    await self._ended.wait()
        scope.cancel()
