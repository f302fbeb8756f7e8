"""An HTTP/1.1 server on this host's loopback, as small as the agent's own."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskGroup

HEAD_MOST, BODY_MOST = 64 * 1024, 32 << 20
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
           500: "Internal Server Error", 501: "Not Implemented"}  # fmt: skip


@dataclass
class Message:
    """A request.

    Attributes:
        method, path, query: What is asked for.
        body: JSON that came with it; an empty object where there was none.
        host: What the caller called the server.
    """

    method: str
    path: str
    query: dict[str, str]
    body: dict[str, object]
    host: str


class Cut(Exception):
    """The connection is closed unanswered."""


Handler = Callable[[Message], Awaitable[tuple[int, object]]]


class HttpServer:
    """Serves JSON on one port.

    Args:
        handler: Answers a request with HTTP status and JSON.

    Attributes:
        port: Where it listens; 0 until then.
    """

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.port = 0
        self._listener: anyio.abc.Listener[SocketStream] | None = None
        self._scope = anyio.CancelScope()

    async def listen(self, ports: list[int]) -> bool:
        """Takes the first of the ports that is free; False if none is."""
        for port in ports:
            try:
                listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
            except OSError:
                continue
            self._listener = listener
            self.port = listener.extra(SocketAttribute.local_port)
            return True
        return False

    async def run(self) -> None:
        """Serves until it is ended."""
        assert self._listener is not None
        with self._scope:
            try:
                async with anyio.create_task_group() as group:
                    await self._listener.serve(lambda stream: self._talk(stream, group))
            finally:
                with anyio.CancelScope(shield=True):
                    await self._listener.aclose()

    def end(self) -> None:
        """Ends every connection and listens no more."""
        self._scope.cancel()

    async def _talk(self, stream: SocketStream, group: TaskGroup) -> None:
        kept = b""
        async with stream:
            try:
                while True:
                    while b"\r\n\r\n" not in kept:
                        if len(kept) > HEAD_MOST:
                            return
                        kept += await stream.receive()
                    head, _, kept = kept.partition(b"\r\n\r\n")
                    lines = head.decode("latin-1").split("\r\n")
                    fields = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
                    length = int(fields.get("content-length") or "0")
                    if length > BODY_MOST:
                        return
                    while len(kept) < length:
                        kept += await stream.receive()
                    raw, kept = kept[:length], kept[length:]
                    message = _message(lines[0], fields, raw)
                    status, answer = await self._apart(group, message)
                    await stream.send(_reply(status, answer))
                    if fields.get("connection", "").lower() == "close":
                        return
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, ValueError, Cut):
                return

    async def _apart(self, group: TaskGroup, message: Message) -> tuple[int, object]:
        """Handles a request to its end, whether or not its caller is still there."""
        done, kept = anyio.Event(), list[tuple[int, object] | BaseException]()

        async def handle() -> None:
            try:
                kept.append(await self._handler(message))
            except Cut as cut:
                kept.append(cut)
            finally:
                done.set()

        group.start_soon(handle)
        await done.wait()
        found = kept[0]
        if isinstance(found, BaseException):
            raise found
        return found


def _message(line: str, fields: dict[str, str], raw: bytes) -> Message:
    method, target, *_ = [*line.split(" "), "", ""]
    parts = urlsplit(target)
    try:
        body = json.loads(raw) if raw.strip() else {}
    except ValueError:
        body = {}
    return Message(
        method.upper(), unquote(parts.path), dict(parse_qsl(parts.query, keep_blank_values=True)),
        body if isinstance(body, dict) else {}, fields.get("host", ""),
    )  # fmt: skip


def _reply(status: int, answer: object) -> bytes:
    body = json.dumps(answer, ensure_ascii=False).encode()
    head = (
        f"HTTP/1.1 {status} {REASONS.get(status, 'Unknown')}\r\nServer: WebDriverAgent/1.0\r\n"
        f"Content-Type: application/json;charset=UTF-8\r\nConnection: Keep-Alive\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
