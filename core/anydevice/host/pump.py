"""`anydevice mcp`: what an MCP host starts. Bytes between its stdio and the daemon's socket, nothing else.

It imports the standard library only and understands no MCP, except for one thing: when the daemon cannot be
had, the host's requests are answered with a JSON-RPC error, so that the reason shows up where a person looks.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import sys
import threading
import time

from . import protocol, start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from anydevice_schemas.errors import AnydeviceError

CHUNK = 65536
REQUEST_SECONDS = 10.0
"""How long a refusal waits for a request, or for one more, that it can be the answer to."""

EXIT_USAGE = 2
EXIT_LOST = 1


def main(facade: str, argv: list[str]) -> int:
    """Connects stdio with a facade of the daemon until either side ends.

    Args:
        facade: Name of the facade, e.g. `mcp`.
        argv: Its options: ``--name value``, ``--name=value``, or ``--name`` for true. The daemon refuses those
            the facade does not have.

    Returns:
        The exit code: 0 when the host ended the conversation, 1 when the daemon did or cannot be had, 2 for
        options that cannot be read.
    """
    try:
        options = read_options(argv)
    except ValueError as error:
        _tell(facade, str(error))
        return EXIT_USAGE
    if options.pop("help", False):
        _tell(facade, f"usage: anydevice {facade} [--option value …]; the protocol is spoken on stdin and stdout")
        return 0
    try:
        connection, _, first = start.greet(protocol.hello(facade, "stdio", options=options))
    except OSError as error:
        return _refuse(facade, {"code": "upstream_unavailable", "message": str(error)})
    except Exception as error:  # every refusal is told to the host in its own protocol
        if not hasattr(error, "to_wire"):
            raise
        typed: AnydeviceError = error  # type: ignore[assignment]
        return _refuse(facade, typed.to_wire())
    return _pump(facade, connection, first)


def read_options(argv: list[str]) -> dict[str, Any]:
    """Reads ``--name value``, ``--name=value`` and ``--name``; names keep their hyphens.

    Raises:
        ValueError: A word that is no option, or an option given twice.
    """
    options: dict[str, Any] = {}
    words = list(argv)
    while words:
        word = words.pop(0)
        if not word.startswith("--") or len(word) < 3:
            raise ValueError(f"{word!r} is not an option; options start with --")
        name, equals, value = word[2:].partition("=")
        if name in options:
            raise ValueError(f"--{name} is given twice")
        if equals:
            options[name] = value
        elif words and not words[0].startswith("--"):
            options[name] = words.pop(0)
        else:
            options[name] = True
    return options


def _pump(facade: str, connection: socket.socket, first: bytes) -> int:
    """Two directions, one thread each: neither can hold up the other."""
    host_ended = threading.Event()

    def outwards() -> None:
        try:
            while data := os.read(0, CHUNK):
                connection.sendall(data)
            host_ended.set()
            connection.shutdown(socket.SHUT_WR)  # the answers that are still on their way arrive
        except OSError:
            return  # the daemon's side ended first; the main thread reports it

    threading.Thread(target=outwards, daemon=True).start()
    try:
        if first:
            _write(first)
        while data := connection.recv(CHUNK):
            _write(data)
    except (BrokenPipeError, ConnectionError) as error:
        if isinstance(error, BrokenPipeError):
            return 0  # the host does not read any more
    if host_ended.is_set():
        return 0
    _tell(facade, "the daemon ended the connection; restart this server to connect again")
    return EXIT_LOST


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def _refuse(facade: str, wire: dict[str, Any]) -> int:
    """Tells the host why there is no server: a line on stderr, and an error as the answer to whatever it asks.

    A host may ask more than once before it gives up: one that speaks several protocol revisions tries them in turn,
    and shows a person only the last answer.
    """
    text = f"{wire['code']}: {wire['message']}"
    if wire.get("hint"):
        text += f" {wire['hint']}"
    _tell(facade, text)
    error = {"code": -32000, "message": text, "data": wire}
    with contextlib.suppress(OSError):  # the host does not read any more
        for request in _requests():
            _write(json.dumps({"jsonrpc": "2.0", "id": request, "error": error}).encode() + b"\n")
    return EXIT_LOST


def _requests() -> Iterator[Any]:
    """The ids of the requests on stdin, until it ends or nothing comes for a while."""
    lines = protocol.Lines(protocol.LINE_LIMIT)
    until = time.monotonic() + REQUEST_SECONDS
    while (left := until - time.monotonic()) > 0:
        ready, _, _ = select.select([0], [], [], left)
        data = os.read(0, CHUNK) if ready else b""
        if not data:
            return
        for line in lines.feed(data):
            if isinstance(line, bytes):
                try:
                    message = protocol.decode(line)
                except protocol.Malformed:
                    continue
                if "method" in message and message.get("id") is not None:
                    yield message["id"]
                    until = time.monotonic() + REQUEST_SECONDS


def _tell(facade: str, text: str) -> None:
    sys.stderr.write(f"anydevice {facade}: {text}\n")
    sys.stderr.flush()
