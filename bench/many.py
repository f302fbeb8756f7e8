"""Many agents at once, each on a device of its own: what one call takes beside forty-nine others."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import anyio
from anyio.abc import SocketStream

from anydevice.host.stream import HostStream
from anydevice.router import Router
from anydevice.testing import FakeBackend, fake_router
from anydevice_mcp import McpFacade
from anydevice_schemas import Caller

CLIENTS = 50
ROUNDS = 10


class _Client:
    """Lines of JSON over a socket, as a host's program has them."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream, self._buffer, self._id = stream, b"", 0

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """One request, and its answer."""
        self._id += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        await self._stream.send(line.encode() + b"\n")
        while True:
            while b"\n" not in self._buffer:
                self._buffer += await self._stream.receive(65536)
            line_, _, self._buffer = self._buffer.partition(b"\n")
            reply: dict[str, Any] = json.loads(line_)
            if reply.get("id") == self._id:
                return reply

    async def hello(self) -> None:
        """The handshake."""
        await self.ask("initialize", protocolVersion="2025-11-25", capabilities={},
                       clientInfo={"name": "bench", "version": "1"})  # fmt: skip
        await self._stream.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    async def call(self, name: str, **arguments: Any) -> None:
        """A tool call that has to succeed."""
        reply = await self.ask("tools/call", name=name, arguments=arguments)
        assert reply["result"]["isError"] is False, reply


async def _joined(stack: AsyncExitStack, group: Any, router: Router, facade: McpFacade, number: int) -> _Client:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    client = await stack.enter_async_context(await SocketStream.from_socket(ours))
    stream = HostStream(await SocketStream.from_socket(theirs))
    caller = Caller(principal="uid:bench", transport="stdio", connection=f"bench-{number}")
    group.start_soon(facade.serve, stream, caller, router, {})
    found = _Client(client)
    await found.hello()
    return found


async def many(report: Callable[..., float]) -> None:
    """Prints what a call takes alone, and beside 49 others."""
    facade = McpFacade()
    async with fake_router(FakeBackend([f"fake-{n}" for n in range(CLIENTS)])) as (router, _):  # noqa: SIM117
        async with AsyncExitStack() as stack, anyio.create_task_group() as group:
            clients = [await _joined(stack, group, router, facade, n) for n in range(CLIENTS)]
            alone: list[float] = []
            for _ in range(ROUNDS * 3):
                started = time.perf_counter()
                await clients[1].call("press", device="fake-1", target="Increment")
                alone.append(time.perf_counter() - started)

            async def rounds(number: int, into: list[float]) -> None:
                for _ in range(ROUNDS):
                    started = time.perf_counter()
                    await clients[number].call("press", device=f"fake-{number}", target="Increment")
                    into.append(time.perf_counter() - started)

            together: list[float] = []
            began = time.perf_counter()
            async with anyio.create_task_group() as all_:
                for number in range(CLIENTS):
                    all_.start_soon(rounds, number, together)
            whole = time.perf_counter() - began
            group.cancel_scope.cancel()
    one = report("MCP: a press, one client", alone)
    report(f"MCP: a press, each of {CLIENTS} clients at once", together)
    rate, slowest = CLIENTS * ROUNDS / whole, max(together) * 1e3
    print(f"  {rate:.0f} calls a second by all {CLIENTS}, {1 / one:.0f} by one; slowest {slowest:.0f} ms")
