"""The device's own ports and sockets: what listens there, reached through adb or from the device's shell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

import anyio

from .transport import GONE, Connection, Stream, StreamClosed

if TYPE_CHECKING:
    from .adb_device import AdbDevice

FIRST_FREE = 40_000


class Link(Protocol):
    """Two ways of bytes: a stream of adb, or a program's stdin and stdout."""

    async def send(self, data: bytes) -> None:
        """Sends all of it."""

    async def receive(self) -> bytes:
        """The next piece; raises `StreamClosed` at the end."""


Listener = Callable[[Link], Awaitable[None]]
"""Serves one connection to its end."""


class Ports:
    """What listens on one device, by address as adb writes it (`tcp:9008`, `localabstract:name`)."""

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


async def serve(device: AdbDevice, stream: Stream, destination: bytes) -> None:
    """Serves `tcp:PORT[:HOST]` and `localabstract:NAME`: what listens on the device.

    Else, for tcp, what listens on this host's loopback, which the programs that the device's shell starts share.
    """
    address = destination.decode("utf-8", "replace")
    kind, _, rest = address.partition(":")
    port = rest.partition(":")[0]
    listener = device.ports.at(f"tcp:{port}" if kind == "tcp" else address)
    device.journal.add("connect", address=address)
    if listener is not None:
        await stream.accept()
        await listener(stream)
        return
    if kind != "tcp" or not port.isdigit():
        return
    try:
        with anyio.fail_after(5):
            other = await anyio.connect_tcp("127.0.0.1", int(port))
    except (OSError, TimeoutError):
        return
    await stream.accept()
    async with other:
        await relay(stream, _Socket(other))


class _Socket:
    """A TCP connection as a link."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream

    async def send(self, data: bytes) -> None:
        try:
            await self._stream.send(data)
        except GONE:
            raise StreamClosed from None

    async def receive(self) -> bytes:
        try:
            return await self._stream.receive()
        except GONE:
            raise StreamClosed from None


async def relay(one: Link, two: Link) -> None:
    """Carries bytes both ways until either side has ended."""
    async with anyio.create_task_group() as group:

        async def carry(source: Link, target: Link) -> None:
            try:
                while True:
                    await target.send(await source.receive())
            except StreamClosed:
                group.cancel_scope.cancel()

        group.start_soon(carry, one, two)
        group.start_soon(carry, two, one)


async def serve_reverse(device: AdbDevice, stream: Stream, destination: bytes) -> None:
    """Serves `reverse:...`. Unlike the server's forwards it answers one OKAY, and lists without any."""
    command = destination.decode("utf-8", "replace").partition(":")[2]
    device.journal.add("reverse", command=command)
    await stream.accept()
    ports = device.ports
    if command == "list-forward":
        rows = "".join(f"host-1 {remote} {local}\n" for remote, local in ports.reversed.items())
        await stream.send(_block(rows))
    elif command == "killforward-all":
        for address in list(ports.reversed):
            ports.close(address)
        await stream.send(b"OKAY")
    elif command.startswith("killforward:"):
        address = command.removeprefix("killforward:")
        if address not in ports.reversed:
            await stream.send(b"FAIL" + _block(f"listener '{address}' not found"))
            return
        ports.close(address)
        await stream.send(b"OKAY")
    elif command.startswith("forward:"):
        await stream.send(_forward(stream.connection, ports, command.removeprefix("forward:")))
    else:
        await stream.send(b"FAIL" + _block("not a reverse forwarding command"))


def _forward(connection: Connection, ports: Ports, words: str) -> bytes:
    keep = words.startswith("norebind:")
    remote, _, local = words.removeprefix("norebind:").partition(";")
    if not local:
        return b"FAIL" + _block(f"bad forward: {words}")
    told = b""
    if remote == "tcp:0":
        remote = f"tcp:{ports.free()}"
        told = _block(remote.removeprefix("tcp:"))
    if remote in ports.reversed:
        if keep:
            return b"FAIL" + _block(f"cannot rebind existing socket {remote}")
        ports.close(remote)

    async def listener(link: Link) -> None:
        try:
            host = await connection.open(local)
        except StreamClosed:
            return
        try:
            await relay(link, host)
        finally:
            with anyio.CancelScope(shield=True):
                await host.aclose()

    if not ports.listen(remote, listener):
        return b"FAIL" + _block("cannot bind listener: Address already in use")
    ports.reversed[remote] = local
    return b"OKAY" + told


def _block(text: str) -> bytes:
    data = text.encode()
    return b"%04x" % len(data) + data
