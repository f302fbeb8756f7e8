"""adbutils for code that wants its interface: the same client, without its sleeps and second connections.

Not used by the product, which needs calls it can cancel. The two private names of adbutils that are touched are held
by a test (`tests/adb/test_adb_compat.py`).
"""

from __future__ import annotations

import contextlib
import socket

import adbutils
from adbutils._adb import AdbConnection

_SOCKET, _TIMEOUT = "_AdbConnection__conn", "_BaseClient__socket_timeout"


class FastConnection(AdbConnection):  # type: ignore[misc]
    """A connection that neither sleeps when it is closed, nor starts a server, nor sends half a request."""

    def _safe_connect(self) -> socket.socket:
        sock: socket.socket = self._create_socket()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def send_command(self, cmd: str) -> None:
        """Sends a request whole; the base sends what fits."""
        raw = cmd.encode()
        self.conn.sendall(b"%04x%s" % (len(raw), raw))

    def close(self) -> None:
        """Closes at once; a read in another thread returns as well."""
        sock: socket.socket | None = getattr(self, _SOCKET)
        if sock is not None:
            setattr(self, _SOCKET, None)
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


class FastClient(adbutils.AdbClient):  # type: ignore[misc]
    """`adbutils.AdbClient` on such connections; the server's version is asked for once.

    Raises (every method): `adbutils.AdbError` and its kin, as the base. A server that does not run is an
    `AdbConnectionError`; none is started.
    """

    _version: int | None = None

    def make_connection(self, timeout: float | None = None) -> AdbConnection:
        """See `adbutils.AdbClient`."""
        connection = FastConnection(self.host, self.port)
        seconds = timeout or getattr(self, _TIMEOUT)
        if seconds:
            connection.conn.settimeout(seconds)
        return connection

    def server_version(self) -> int:
        """See `adbutils.AdbClient`."""
        if self._version is None:
            self._version = int(super().server_version())
        return self._version
