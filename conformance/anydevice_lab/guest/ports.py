"""A device's own ports and sockets: what listens there, and how connections are carried to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio

from .shell import PipeClosed

GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, anyio.IncompleteRead, OSError)
"""What reading and writing raise once the other side is away."""
FIRST_FREE = 40_000


class Link(Protocol):
    """Two ways of bytes."""

    async def send(self, data: bytes) -> None:
        """Sends all of it; raises `PipeClosed` where nobody takes it."""

    async def receive(self) -> bytes:
        """The next piece; raises `PipeClosed` at the end."""


Listener = Callable[[Link], Awaitable[None]]
"""Serves one connection to its end."""


class Ports:
    """What listens on one device, by address (`tcp:9008`, `localabstract:name`).

    Attributes:
        reversed: Addresses that lead to this host, with where they lead.
    """

    def __init__(self) -> None:
        self._listeners: dict[str, Listener] = {}
        self.reversed: dict[str, str] = {}

    def listen(self, address: str, listener: Listener) -> bool:
        """Something begins to listen; False where something else does already."""
        if address in self._listeners:
            return False
        self._listeners[address] = listener
        return True

    def close(self, address: str) -> None:
        """Nothing listens there any more."""
        self._listeners.pop(address, None)
        self.reversed.pop(address, None)

    def at(self, address: str) -> Listener | None:
        """What listens there."""
        return self._listeners.get(address)

    def free(self) -> int:
        """A port nothing listens on."""
        port = FIRST_FREE
        while f"tcp:{port}" in self._listeners:
            port += 1
        return port


class SocketLink:
    """A connection of this host as a link."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream

    async def send(self, data: bytes) -> None:
        """Sends all of it."""
        try:
            await self._stream.send(data)
        except GONE:
            raise PipeClosed from None

    async def receive(self) -> bytes:
        """The next piece."""
        try:
            return await self._stream.receive()
        except GONE:
            raise PipeClosed from None


async def relay(one: Link, two: Link) -> None:
    """Carries bytes both ways until either side has ended."""
    async with anyio.create_task_group() as group:

        async def carry(source: Link, target: Link) -> None:
            try:
                while True:
                    await target.send(await source.receive())
            except PipeClosed:
                group.cancel_scope.cancel()

        group.start_soon(carry, one, two)
        group.start_soon(carry, two, one)
