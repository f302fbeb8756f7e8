"""Two ways to talk to the facade over a real socket: the bare protocol, and the SDK's own client."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import SocketStream
from mcp.shared.message import SessionMessage

from anydevice.host.stream import HostStream
from anydevice.router import Router
from anydevice_mcp import McpFacade
from anydevice_schemas import Caller

MODERN = "2026-07-28"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PATIENCE = 30.0
_numbers = iter(range(1, 1_000_000))


@asynccontextmanager
async def connected(router: Router, facade: McpFacade | None = None, **options: Any) -> AsyncIterator[SocketStream]:
    """The client's end of a connection that the facade serves as the daemon would: over a Unix socket, cancelled
    once the client is gone, its sessions ended with it."""
    facade = facade or McpFacade()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    client = await SocketStream.from_socket(ours)
    raw = await SocketStream.from_socket(theirs)
    caller = Caller(
        principal="uid:test", transport="stdio", connection=f"mcp-test-{next(_numbers)}", cwd="/nowhere/project"
    )

    async def serve() -> None:
        async with HostStream(raw) as stream:
            await stream.while_wanted(facade.serve, stream, caller, router, options)
        router.services.sessions.end_connection(caller.connection)

    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        async with client:
            yield client
        with anyio.fail_after(PATIENCE):
            while router.services.sessions.implicit(caller):
                await anyio.sleep(0.01)


@asynccontextmanager
async def facade_running(router: Router) -> AsyncIterator[McpFacade]:
    """A facade with what the daemon keeps running for it."""
    facade = McpFacade()
    async with anyio.create_task_group() as group:
        group.start_soon(facade.run, router)
        yield facade
        group.cancel_scope.cancel()


class Bare:
    """A client that knows nothing but lines of JSON: everything sent and received is as it is on the wire."""

    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream
        self.seen: list[Any] = []
        self._buffer = b""
        self._id = 0
        self.modern = False
        self.capabilities: dict[str, Any] = {}
        self.answers: dict[str, Any] = {}

    async def raw(self, data: bytes) -> None:
        """Sends bytes as they are."""
        await self.stream.send(data)

    async def send(self, message: Any) -> None:
        """Sends a JSON value as a line."""
        await self.raw(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Any:
        """The next line, parsed."""
        with anyio.fail_after(PATIENCE):
            while b"\n" not in self._buffer:
                self._buffer += await self.stream.receive(65536)
        line, _, self._buffer = self._buffer.partition(b"\n")
        message = json.loads(line)
        self.seen.append(message)
        return message

    async def silence(self, seconds: float = 0.2) -> None:
        """Nothing comes for a while."""
        with anyio.move_on_after(seconds) as scope:
            raise AssertionError(f"nothing was expected: {await self.receive()}")
        assert scope.cancelled_caught

    def request(self, method: str, params: dict[str, Any] | None = None, id: Any = None) -> dict[str, Any]:
        """A request as a JSON value; in the modern era with its envelope."""
        if id is None:
            self._id += 1
            id = self._id
        params = dict(params or {})
        if self.modern:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "bare", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
                **params.get("_meta", {}),
            }
        return {"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params else {})}

    async def ask(self, method: str, params: dict[str, Any] | None = None, id: Any = None) -> dict[str, Any]:
        """Sends a request and returns its response, whatever comes between; answers what the server asks meanwhile
        with `answers`, by method."""
        message = self.request(method, params, id)
        await self.send(message)
        while True:
            reply = await self.receive()
            if isinstance(reply, dict) and reply.get("id") == message["id"] and "method" not in reply:
                return reply
            if isinstance(reply, dict) and "id" in reply and reply.get("method") in self.answers:
                await self.send({"jsonrpc": "2.0", "id": reply["id"], "result": self.answers[reply["method"]]})

    async def call(self, name: str, meta: dict[str, Any] | None = None, /, **arguments: Any) -> dict[str, Any]:
        """Calls a tool; returns its result.

        Raises:
            AssertionError: It was a protocol error.
        """
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        if meta:
            params["_meta"] = meta
        reply = await self.ask("tools/call", params)
        assert "result" in reply, reply
        return reply["result"]

    async def hello(self, era: str) -> dict[str, Any]:
        """Opens the conversation in a protocol revision; returns what the server says of itself."""
        if era == MODERN:
            self.modern = True
            return (await self.ask("server/discover"))["result"]
        params = {"protocolVersion": era, "capabilities": self.capabilities}
        params["clientInfo"] = {"name": "bare", "version": "1"}
        reply = await self.ask("initialize", params)
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply["result"]


@asynccontextmanager
async def sdk_streams(stream: SocketStream) -> AsyncIterator[tuple[Any, Any]]:
    """A transport for the SDK's client over a socket."""
    give, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, take = anyio.create_memory_object_stream[SessionMessage](0)

    async def reader() -> None:
        buffer = b""
        async with give:
            while True:
                try:
                    buffer += await stream.receive(65536)
                except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                    return
                *lines, buffer = buffer.split(b"\n")
                for line in lines:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    await give.send(SessionMessage(message))

    async def writer() -> None:
        async with take:
            async for message in take:
                data = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stream.send(data.encode() + b"\n")

    async with anyio.create_task_group() as group:
        group.start_soon(reader)
        group.start_soon(writer)
        try:
            yield read, write
        finally:
            group.cancel_scope.cancel()


def text_of(result: dict[str, Any]) -> str:
    """The text of a tool result."""
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
