"""The device's end of one adb connection: handshake, streams, flow control.

An adb server connects by TCP. After CNXN (and AUTH, where the device asks for it) it opens streams; each carries one
service. On a stream every WRTE is answered by OKAY before the next may follow, in both directions, so that a slow
reader slows its writer and nobody else.
"""

from __future__ import annotations

import os
import socket
import sys
import traceback
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from ..guest.shell import PipeClosed
from . import wire
from .adbkey import PublicKey, read_key
from .wire import Packet

GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, anyio.IncompleteRead, OSError)
"""What reading and writing raise once the other side is away."""


class StreamClosed(PipeClosed):
    """The other side closed the stream, or the connection is gone."""


class Stream:
    """One stream of a connection, as a service sees it.

    Attributes:
        accepted: Whether the service took it.
        closed: Whether the other side closed it or the connection is gone.
        ended: Called once it is.
    """

    def __init__(self, connection: Connection, local: int, remote: int) -> None:
        self.connection, self.local, self.remote = connection, local, remote
        self.closed = False
        self.accepted = False
        self.ended: Callable[[], None] | None = None
        self._came: deque[bytes] = deque()
        self._more: anyio.Event | None = None
        self._free: anyio.Event | None = None
        self._lock = anyio.Lock()
        self._left = b""

    async def accept(self) -> None:
        """Tells the other side that the service is there."""
        self.accepted = True
        self.connection.send(Packet(wire.OKAY, self.local, self.remote))

    async def send(self, data: bytes) -> None:
        """Sends data, in packets as long as the other side takes; returns when it took all of them.

        Raises:
            StreamClosed: It did not.
        """
        size = self.connection.max_data
        async with self._lock:
            for start in range(0, len(data), size):
                await self._send_one(data[start : start + size])

    async def _send_one(self, data: bytes) -> None:
        if self.closed:
            raise StreamClosed
        self._free = anyio.Event()
        self.connection.send(Packet(wire.WRTE, self.local, self.remote, data))
        await self._free.wait()
        if self.closed:
            raise StreamClosed

    async def receive(self) -> bytes:
        """The next data; only now may the other side send more.

        Raises:
            StreamClosed: There is no more.
        """
        if self._left:
            data, self._left = self._left, b""
            return data
        while not self._came:
            if self.closed:
                raise StreamClosed
            self._more = anyio.Event()
            await self._more.wait()
        data = self._came.popleft()
        if not self.closed:
            self.connection.send(Packet(wire.OKAY, self.local, self.remote))
        return data

    async def exactly(self, count: int) -> bytes:
        """The next so many bytes.

        Raises:
            StreamClosed: There are not so many.
        """
        parts: list[bytes] = []
        while count > 0:
            data = await self.receive()
            parts.append(data[:count])
            self._left = data[count:]
            count -= len(parts[-1])
        return b"".join(parts)

    async def aclose(self) -> None:
        """Closes it from this side."""
        if self.connection.forget(self):
            self.end()
            # Zero says that the service was refused.
            self.connection.send(Packet(wire.CLSE, self.local if self.accepted else 0, self.remote))

    # --- called by the connection ---

    def arrived(self, data: bytes) -> None:
        """Data came in."""
        if not self.closed:
            self._came.append(data)
            if self._more is not None:
                self._more.set()

    def taken(self, remote: int) -> None:
        """The other side took what was sent, or took the stream itself."""
        self.remote = remote
        if self._free is not None:
            self._free.set()

    def wait_for_other_side(self) -> None:
        """From now on nothing may be sent until the other side has taken the stream."""
        self._free = anyio.Event()

    async def opened(self) -> None:
        """Waits until the other side has taken the stream.

        Raises:
            StreamClosed: It refused.
        """
        if self._free is not None:
            await self._free.wait()
        if self.closed:
            raise StreamClosed

    def end(self) -> None:
        """Nothing more comes, and nothing more is taken."""
        self.closed = True
        for waited in (self._free, self._more):
            if waited is not None:
                waited.set()
        if self.ended is not None:
            self.ended()


Service = Callable[[Stream, bytes], Awaitable[None]]
"""Serves a destination on a stream; it accepts the stream, or returns without doing so to refuse it."""


class Gate:
    """Who is let in: the policy of one device's handshake.

    Attributes:
        asks: Whether it asks for a signature at all.
        keys: The keys it knows.
        answers: Whether it ever says that it is connected; an offline device does not.
        waiting: Public keys that were shown to it and that nobody approved yet.
    """

    def __init__(self, keys: list[PublicKey], *, asks: bool = True, answers: bool = True) -> None:
        self.keys, self.asks, self.answers = keys, asks, answers
        self.waiting: list[PublicKey] = []
        self.approved = anyio.Event()

    def approve(self) -> None:
        """A person presses Allow for every key that waits."""
        self.keys += self.waiting
        self.waiting = []
        self.approved.set()
        self.approved = anyio.Event()


class Connection:
    """One connection of an adb server to the device.

    Args:
        socket_stream: The TCP connection.
        gate: Who is let in.
        banner: Text of the CNXN packet.
        service: Serves each stream.
        tasks: Where services run; they may outlive the connection.
    """

    def __init__(
        self, socket_stream: SocketStream, gate: Gate, banner: str, service: Service, tasks: TaskGroup
    ) -> None:
        self.max_data = 4096
        self._socket, self._gate, self._banner = socket_stream, gate, banner
        self._service, self._tasks = service, tasks
        self._reader = BufferedByteReceiveStream(socket_stream)
        self._outgoing: list[bytes] = []
        self._waiting: anyio.Event | None = None
        self._writing = self._gone = False
        self._streams: dict[int, Stream] = {}
        self._next = 1
        self._token = b""
        self.connected = False

    async def serve(self) -> None:
        """Speaks until one side hangs up."""
        raw = self._socket.extra(SocketAttribute.raw_socket)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with anyio.create_task_group() as group:
            group.start_soon(self._write)
            try:
                while True:
                    command, arg0, arg1, length = wire.header(await self._reader.receive_exactly(wire.HEADER.size))
                    data = await self._reader.receive_exactly(length) if length else b""
                    if not self._gate.answers:
                        continue
                    self._take(group, Packet(command, arg0, arg1, data))
            except (*GONE, wire.BadPacket):
                pass
            finally:
                group.cancel_scope.cancel()
                await self.hang_up()

    async def open(self, destination: str) -> Stream:
        """Opens a stream to a service of the adb server's host.

        Raises:
            StreamClosed: It refused.
        """
        stream = Stream(self, self._next, 0)
        self._next += 1
        self._streams[stream.local] = stream
        stream.accepted = True
        stream.wait_for_other_side()
        self.send(Packet(wire.OPEN, stream.local, 0, destination.encode() + b"\0"))
        await stream.opened()
        return stream

    async def hang_up(self) -> None:
        """Closes the connection; every stream on it ends."""
        self._gone = True
        for stream in list(self._streams.values()):
            stream.end()
        self._streams.clear()
        with anyio.CancelScope(shield=True), anyio.move_on_after(1):
            rest, self._outgoing = b"".join(self._outgoing), []
            if rest and not self._writing:
                with suppress(*GONE):
                    await self._socket.send(rest)
            await self._socket.aclose()

    def send(self, packet: Packet) -> None:
        """Sends one packet whole, after those before it; what can no longer be sent is dropped."""
        if not self._gone:
            self._outgoing.append(packet.pack())
            if self._waiting is not None:
                self._waiting.set()

    async def _write(self) -> None:
        """Writes what is to be sent, as much at once as there is."""
        try:
            while True:
                while not self._outgoing:
                    self._waiting = anyio.Event()
                    await self._waiting.wait()
                data, self._outgoing = b"".join(self._outgoing), []
                self._writing = True
                await self._socket.send(data)
                self._writing = False
        except GONE:
            self._gone = True

    def forget(self, stream: Stream) -> bool:
        """Takes a stream out; False when it was out already."""
        return self._streams.pop(stream.local, None) is not None

    def _take(self, group: TaskGroup, packet: Packet) -> None:
        if packet.command == wire.CNXN:
            self.max_data = max(1, min(packet.arg1, wire.MAX_DATA))
            if self._gate.asks:
                self._ask()
            else:
                self._welcome()
        elif packet.command == wire.AUTH:
            self._authenticate(group, packet)
        elif not self.connected:
            return
        elif packet.command == wire.OPEN:
            stream = Stream(self, self._next, packet.arg0)
            self._next += 1
            self._streams[stream.local] = stream
            self._tasks.start_soon(self._run, stream, packet.data.rstrip(b"\0"))
        elif (mine := self._streams.get(packet.arg1)) is None:
            if packet.command == wire.WRTE:
                self.send(Packet(wire.CLSE, 0, packet.arg0))
        elif packet.command == wire.WRTE:
            mine.arrived(packet.data)
        elif packet.command == wire.OKAY:
            mine.taken(packet.arg0)
        elif packet.command == wire.CLSE:
            self._streams.pop(mine.local, None)
            mine.end()
            self.send(Packet(wire.CLSE, mine.local, mine.remote))

    async def _run(self, stream: Stream, destination: bytes) -> None:
        try:
            await self._service(stream, destination)
        except* StreamClosed:
            pass
        except* Exception as problem:
            # A mistake in one service is told, and takes no other with it.
            sys.stderr.write("".join(traceback.format_exception(problem)))
        finally:
            with anyio.CancelScope(shield=True):
                await stream.aclose()

    def _ask(self) -> None:
        self._token = os.urandom(20)
        self.send(Packet(wire.AUTH, wire.TOKEN, 0, self._token))

    def _welcome(self) -> None:
        self.connected = True
        self.send(Packet(wire.CNXN, wire.VERSION, wire.MAX_DATA, self._banner.encode()))

    def _authenticate(self, group: TaskGroup, packet: Packet) -> None:
        if packet.arg0 == wire.SIGNATURE:
            if any(key.signed(self._token, packet.data) for key in self._gate.keys):
                self._welcome()
            else:
                self._ask()
        elif packet.arg0 == wire.PUBLIC_KEY:
            try:
                key = read_key(packet.data)
            except ValueError:
                return
            group.start_soon(self._wait_for_approval, key)

    async def _wait_for_approval(self, key: PublicKey) -> None:
        while key not in self._gate.keys:
            if key not in self._gate.waiting:
                self._gate.waiting.append(key)
            await self._gate.approved.wait()
        self._welcome()
