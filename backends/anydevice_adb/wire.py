"""One connection to an adb server: requests, their OKAY or FAIL, and bytes; on the event loop, without a thread.

A request is four hexadecimal digits of length and the name of a service. `OKAY` lets it pass, `FAIL` is followed by a
block (four digits, text) with the reason. After a transport request the same connection carries one service of the
device.
(Android's `packages/modules/adb/OVERVIEW.TXT` and `SERVICES.TXT`.)
"""

from __future__ import annotations

import errno
import socket
from contextlib import suppress
from types import TracebackType

import anyio

LONGEST_REQUEST = 0xFFFF
"""Bytes a request may have; the server closes the connection on a longer one."""
CHUNK = 256 << 10
CONNECT = 3.0
"""Seconds a server may take to accept a connection."""


class Failure(Exception):
    """The server, or the device behind it, said no. `reason` is its own words: untrusted, and not for messages."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Closed(Exception):
    """The connection ended before what was to come had come."""


class Unreachable(Exception):
    """There is no server at the address; `silent` says that something is there and does not answer."""

    def __init__(self, silent: bool) -> None:
        super().__init__("silent" if silent else "refused")
        self.silent = silent


class Connection:
    """A connection. Close it with `close`, or use it as an asynchronous context."""

    def __init__(self, sock: socket.socket) -> None:
        """Use `open`; `sock` is connected and does not block."""
        self._socket = sock
        self._buffer = bytearray()
        self._closed = False

    @classmethod
    async def open(cls, host: str, port: int) -> Connection:
        """Connects.

        Raises:
            Unreachable: Nobody listens there, or nobody accepts.
        """
        sock: socket.socket | None = None
        with anyio.move_on_after(CONNECT):
            sock = await _connected(host, port)
        if sock is None:
            raise Unreachable(silent=True)
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(sock)

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed from this side."""
        return self._closed

    def close(self) -> None:
        """Ends the connection at once: the server, and a shell_v2 command on the device, see it end."""
        if not self._closed:
            self._closed = True
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()

    async def send(self, data: bytes | bytearray | memoryview) -> None:
        """Sends all of it.

        Raises:
            Closed: The other side is gone.
        """
        view = memoryview(data)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)
            except OSError as error:
                raise Closed from error

    async def receive(self, most: int = CHUNK) -> bytes:
        """What has come, at least one byte and at most `most`; empty once the other side is done."""
        if self._buffer:
            found = bytes(self._buffer[:most])
            del self._buffer[:most]
            return found
        return await self._some(most)

    async def exactly(self, count: int) -> bytes:
        """The next `count` bytes.

        Raises:
            Closed: There are fewer.
        """
        while len(self._buffer) < count:
            chunk = await self._some(max(CHUNK, count - len(self._buffer)))
            if not chunk:
                raise Closed
            self._buffer += chunk
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        return found

    async def block(self) -> bytes:
        """A block: four hexadecimal digits of length, then so many bytes.

        Raises:
            Closed: It is cut off, or no block.
        """
        return await self.exactly(_length(await self.exactly(4)))

    async def okay(self) -> None:
        """Reads the verdict on a request.

        Raises:
            Failure: It was refused.
            Closed: There is none.
        """
        verdict = await self.exactly(4)
        if verdict == b"FAIL":
            raise Failure((await self.block()).decode("utf-8", "replace"))
        if verdict != b"OKAY":
            raise Closed

    async def request(self, service: str) -> None:
        """Asks for a service, and reads the verdict.

        Raises:
            Failure: It was refused, or its name is longer than a request may be.
            Closed: The server ended the connection.
        """
        name = service.encode("utf-8", "surrogatepass")
        if len(name) > LONGEST_REQUEST:
            raise Failure("request too long")
        await self.send(b"%04x%s" % (len(name), name))
        await anyio.wait_readable(self._socket)  # no verdict can be there yet: do not look in vain
        await self.okay()

    async def _some(self, most: int) -> bytes:
        while True:
            try:
                return self._socket.recv(most)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)
            except OSError as error:
                if error.errno in (errno.ECONNRESET, errno.EPIPE):
                    return b""
                raise Closed from error


def _length(digits: bytes) -> int:
    try:
        return int(digits, 16)
    except ValueError:
        raise Closed from None


async def _connected(host: str, port: int) -> socket.socket:
    error: OSError | None = None
    for family, kind, protocol, _, address in await _addresses(host, port):
        sock = socket.socket(family, kind, protocol)
        sock.setblocking(False)
        try:
            code = sock.connect_ex(address)
            if code == errno.EINPROGRESS:
                code = sock.connect_ex(address)  # to this very machine it is through by now
            if code in (errno.EINPROGRESS, errno.EALREADY):
                await anyio.wait_writable(sock)
                code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code in (0, errno.EISCONN):
                return sock
            error = OSError(code, "connect")
        except BaseException:
            sock.close()
            raise
        sock.close()
    raise Unreachable(silent=False) from error


async def _addresses(host: str, port: int) -> list[tuple[int, int, int, str, tuple[object, ...]]]:
    numeric = host.replace(".", "").isdigit() or ":" in host
    if numeric:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 0, "", (host, port))]
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # no such host, or no name of one
        raise Unreachable(silent=False) from error
    return [(int(family), int(kind), protocol, name, tuple(address)) for family, kind, protocol, name, address in found]
