"""The device's own ports and sockets: what listens there, reached through adb or from the device's shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from ..guest.ports import Link, Listener, Ports, SocketLink, relay
from .transport import Connection, Stream, StreamClosed

if TYPE_CHECKING:
    from .adb_device import AdbDevice

__all__ = ["Link", "Listener", "Ports", "relay", "serve", "serve_reverse"]


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
        await relay(stream, SocketLink(other))


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
