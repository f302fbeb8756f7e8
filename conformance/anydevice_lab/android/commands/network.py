"""nc, ping and curl are not much used on a device; nc is there, and reaches the device's own ports."""

from __future__ import annotations

import anyio

from ..ports import relay
from ..programs import Invocation, Program
from ..transport import StreamClosed


class _Console:
    """A program's stdin and stdout as a link."""

    def __init__(self, call: Invocation) -> None:
        self._call = call

    async def send(self, data: bytes) -> None:
        await self._call.out(data)

    async def receive(self) -> bytes:
        data = await self._call.read()
        if not data:
            await anyio.sleep_forever()  # its input is at an end; it goes on printing what the other side sends
        return data


async def nc(call: Invocation) -> int:
    """`nc HOST PORT`: connects to a port of the device itself, such as one that is reversed to adb's host."""
    words = [word for word in call.args if not word.startswith("-")]
    if len(words) != 2 or words[0] not in ("localhost", "127.0.0.1"):
        await call.err("nc: Timeout\n")
        return 1
    listener = call.device.ports.at(f"tcp:{words[1]}")
    if listener is None:
        await call.err("nc: connect: Connection refused\n")
        return 1
    near, far = _pair()
    async with anyio.create_task_group() as group:

        async def serve() -> None:
            await listener(far)
            group.cancel_scope.cancel()

        group.start_soon(serve)
        await relay(_Console(call), near)
        group.cancel_scope.cancel()
    return 0


class _End:
    """One end of a pipe with two ways."""

    def __init__(self, out: anyio.abc.ObjectSendStream[bytes], into: anyio.abc.ObjectReceiveStream[bytes]) -> None:
        self._out, self._in = out, into

    async def send(self, data: bytes) -> None:
        try:
            await self._out.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise StreamClosed from None

    async def receive(self) -> bytes:
        try:
            return await self._in.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            raise StreamClosed from None


def _pair() -> tuple[_End, _End]:
    out1, in1 = anyio.create_memory_object_stream[bytes](1)
    out2, in2 = anyio.create_memory_object_stream[bytes](1)
    return _End(out1, in2), _End(out2, in1)


PROGRAMS: dict[str, Program] = {"nc": nc, "netcat": nc}
