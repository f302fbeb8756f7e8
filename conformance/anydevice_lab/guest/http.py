"""A small HTTP server on a device's own port: as much of HTTP/1.1 as JSON-RPC needs, over any two ways of bytes."""

from __future__ import annotations

import anyio

from .ports import Link
from .shell import PipeClosed

HEAD_MOST, BODY_MOST = 64 * 1024, 8 << 20


class HttpServer:
    """Answers requests of any number of connections, each of which may carry many."""

    def __init__(self) -> None:
        self._scopes: set[anyio.CancelScope] = set()

    async def answer(self, line: str, body: bytes) -> bytes:
        """The whole answer to a request, given its first line and its body."""
        raise NotImplementedError

    def end(self) -> None:
        """Ends every connection."""
        for scope in self._scopes:
            scope.cancel()

    async def serve(self, link: Link) -> None:
        """Serves one connection."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            kept = b""
            try:
                while True:
                    while b"\r\n\r\n" not in kept and len(kept) < HEAD_MOST:
                        kept += await link.receive()
                    head, _, kept = kept.partition(b"\r\n\r\n")
                    lines = head.decode("latin-1").split("\r\n")
                    fields = {
                        name.strip().lower(): value.strip() for name, _, value in (x.partition(":") for x in lines[1:])
                    }
                    length = min(int(fields.get("content-length", "0")), BODY_MOST)
                    while len(kept) < length:
                        kept += await link.receive()
                    body, kept = kept[:length], kept[length:]
                    await link.send(await self.answer(lines[0], body))
                    if fields.get("connection", "").lower() == "close":
                        return
            except (PipeClosed, ValueError):
                return
            finally:
                self._scopes.discard(scope)


def reply(body: bytes, kind: str, status: str = "200 OK") -> bytes:
    """A whole answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: keep-alive\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
