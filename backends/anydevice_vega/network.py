"""Connections to a port of the device for an HTTP client: adb's own streams, without a port of this host."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anyio
import httpcore2

from anydevice_adb import AdbDevice, Connection
from anydevice_adb.wire import Closed
from anydevice_schemas.errors import AnydeviceError, CallTimeout

CONNECT = 5.0
"""Seconds a connection may take unless told otherwise."""


class AdbStream(httpcore2.AsyncNetworkStream):
    """One connection, as httpcore2 reads and writes it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has come; empty at the end."""
        try:
            with anyio.fail_after(timeout):
                return await self._connection.receive(max_bytes)
        except TimeoutError as error:
            raise httpcore2.ReadTimeout from error
        except Closed as error:
            raise httpcore2.ReadError from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Sends all of it."""
        try:
            with anyio.fail_after(timeout):
                await self._connection.send(buffer)
        except TimeoutError as error:
            raise httpcore2.WriteTimeout from error
        except Closed as error:
            raise httpcore2.WriteError from error

    async def aclose(self) -> None:
        """Ends it."""
        self._connection.close()


class AdbNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to ports of one device. Names of hosts mean nothing: every one is the device itself.

    Attributes:
        refused: Why the last connection was not made, as adb told it.
    """

    def __init__(self, adb: AdbDevice) -> None:
        self._adb = adb
        self.refused: AnydeviceError | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to a port of the device."""
        self.refused = None
        try:
            return AdbStream(await self._adb.open(f"tcp:{port}", deadline=timeout or CONNECT))
        except CallTimeout as error:
            self.refused = error
            raise httpcore2.ConnectTimeout from error
        except AnydeviceError as error:
            self.refused = error
            raise httpcore2.ConnectError from error

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await anyio.sleep(seconds)
