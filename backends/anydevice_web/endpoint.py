"""Browsers that run already: their DevTools address, and the WebSocket to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anyio
import sniffio

from anydevice_schemas.errors import InvalidArgument, MachineUnreachable, ToolMissing, Unsupported

PROBE_DEADLINE = 1.0
"""Seconds an endpoint may take to say who it is; a listing waits no longer for it."""
CONNECT_DEADLINE = 5.0
_MOST = 256 << 10


@dataclass(slots=True, frozen=True)
class Found:
    """An endpoint that answered.

    Attributes:
        socket: Address of the browser's WebSocket. Its path names the very process: another browser refuses it.
        version: What the browser says it is; empty where only a socket is known.
    """

    socket: str
    version: str


def check_url(url: str) -> str:
    """An endpoint's address in its plain form.

    Raises:
        InvalidArgument: It is none.
    """
    parts = urlsplit(url.strip())
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https", "ws", "wss") or not parts.hostname or port == -1:
        raise InvalidArgument(
            "This is no address of a browser.", param="endpoint", expected="http://HOST:PORT or ws://HOST:PORT/PATH"
        )
    return url.strip()


async def probe(url: str, *, deadline: float = PROBE_DEADLINE) -> Found:
    """Asks an endpoint who it is.

    Raises:
        MachineUnreachable: It is silent, or no browser (details say why).
    """
    parts = urlsplit(url)
    socket_path = parts.scheme in ("ws", "wss") and parts.path not in ("", "/")
    try:
        with anyio.fail_after(deadline):
            answer = await _get(url, "/json/version")
    except TimeoutError:
        raise _unreachable(parts.netloc, f"no answer in {deadline:g} s") from None
    except (OSError, anyio.BrokenResourceError) as error:
        raise _unreachable(parts.netloc, type(error).__name__) from error
    if answer is None:
        if socket_path:
            return Found(url, "")
        raise _unreachable(parts.netloc, "something answers there that is no browser")
    if socket_path:
        return Found(url, str(answer.get("Browser", "")))
    # Behind a forwarded port the browser names an address of its own; the one we reached is the right one.
    path = urlsplit(str(answer.get("webSocketDebuggerUrl", ""))).path or "/devtools/browser"
    scheme = "wss" if parts.scheme in ("https", "wss") else "ws"
    return Found(f"{scheme}://{parts.netloc}{path}", str(answer.get("Browser", "")))


async def connect(socket: str) -> WebSocketTransport:
    """Opens the WebSocket of a browser.

    Raises:
        Unsupported: The event loop is not asyncio, which the websockets library needs.
        ToolMissing: The websockets library is not installed.
        MachineUnreachable: The browser did not take the connection.
    """
    if sniffio.current_async_library() != "asyncio":
        raise Unsupported(
            "Attaching to a running browser needs the asyncio event loop.",
            operation="web.attach",
            alternatives=["boot a browser of this host", "run anydevice on asyncio"],
        )
    try:
        from websockets.asyncio.client import connect as open_socket
        from websockets.exceptions import InvalidHandshake, InvalidURI
    except ImportError as error:
        raise ToolMissing(
            "Attaching to a running browser needs the websockets library.",
            tools=["websockets"],
            install="pip install 'anydevice[web]'",
        ) from error
    try:
        connection = await open_socket(
            socket,
            max_size=None,
            compression=None,
            ping_interval=None,
            open_timeout=CONNECT_DEADLINE,
            close_timeout=1.0,
            proxy=None,
        )
    except (OSError, TimeoutError, InvalidHandshake, InvalidURI) as error:
        raise _unreachable(urlsplit(socket).netloc, type(error).__name__) from error
    return WebSocketTransport(connection)


class WebSocketTransport:
    """A browser's WebSocket as a `Transport`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def send(self, message: bytes) -> None:
        """See `Transport`."""
        from websockets.exceptions import ConnectionClosed

        try:
            await self._connection.send(message.decode())
        except ConnectionClosed as error:
            raise anyio.BrokenResourceError from error

    async def receive(self) -> bytes:
        """See `Transport`."""
        from websockets.exceptions import ConnectionClosed

        try:
            message = await self._connection.recv(decode=False)
        except ConnectionClosed as error:
            raise anyio.EndOfStream from error
        return bytes(message)

    async def aclose(self) -> None:
        """See `Transport`."""
        await self._connection.close()


async def _get(url: str, path: str) -> dict[str, Any] | None:
    """A small GET; None when the answer is no JSON object."""
    parts = urlsplit(url)
    secure = parts.scheme in ("https", "wss")
    host, port = parts.hostname or "", parts.port or (443 if secure else 80)
    stream = await (anyio.connect_tcp(host, port, tls=True) if secure else anyio.connect_tcp(host, port))
    async with stream:
        # Browsers answer only to an address or localhost in Host (DNS rebinding), so the peer's own is given.
        peer = stream.extra(anyio.abc.SocketAttribute.remote_address)
        name = f"[{peer[0]}]" if ":" in str(peer[0]) else peer[0]
        request = f"GET {path} HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n"
        await stream.send(request.encode())
        data = bytearray()
        try:
            while len(data) < _MOST:
                data += await stream.receive()
                head, gap, body = bytes(data).partition(b"\r\n\r\n")
                if gap and len(body) >= _length(head):
                    break
        except anyio.EndOfStream:
            pass
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n", 1)[0]:
        return None
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            value = line.partition(b":")[2].strip()
            return int(value) if value.isdigit() else _MOST
    return _MOST


def _unreachable(machine: str, reason: str) -> MachineUnreachable:
    return MachineUnreachable(
        "The browser's endpoint is silent.",
        hint="Start that browser with --remote-debugging-port, then call devices.",
        machine=machine,
        last_seen=None,
        reason=reason,
    )
