"""`anydevice mcp`: what an MCP host starts. Lines between its stdio and the daemon's socket, as they are.

It imports the standard library only, and looks at no more of the protocol than it takes to outlive the daemon (see
`conversation`). When the daemon cannot be had, the host's requests are answered with a JSON-RPC error, so that the
reason shows up where a person looks.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
import time

from ..places import home_path
from . import protocol, record, start
from .conversation import Conversed, Cut, error_line, is_handshake, requests_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from anydevice_schemas.errors import AnydeviceError

CHUNK = 65536
REQUEST_SECONDS = 10.0
"""How long a refusal waits for a request, or for one more, that it can be the answer to."""

LOOK_SECONDS = 0.25
"""How often a pump whose daemon went away looks whether somebody has started another one."""

HANDSHAKE_SECONDS = 30.0
"""Seconds a new daemon gets to answer the handshake that is said again."""

TRIES = 5
"""How often in a row a daemon may go away while it is greeted."""

YOUNG = 1.0
"""Seconds after which a connection that ends without a word was not ended by how it began."""

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
    pump = _Pump(facade, protocol.hello(facade, "stdio", options=options))
    try:
        pump.connect()
    except Exception as error:  # every refusal is told to the host in its own protocol
        return _refuse(facade, _wire_of(error))
    return pump.run()


def _wire_of(error: Exception) -> dict[str, Any]:
    """A refusal as it goes over the wire. Raises what is none."""
    if isinstance(error, OSError):
        return {"code": "upstream_unavailable", "message": str(error)}
    if not hasattr(error, "to_wire"):
        raise error
    typed: AnydeviceError = error  # type: ignore[assignment]
    return typed.to_wire()


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


class _Pump:
    """Two directions, one thread each: neither can hold up the other. The main thread reads from the daemon, and
    connects; the other one reads from the host, and waits while there is no connection.
    """

    def __init__(self, facade: str, hello: bytes) -> None:
        self.facade = facade
        self.hello = hello
        self.conversed = Conversed()
        self.connection: socket.socket | None = None
        self.daemon: dict[str, Any] | None = None
        self.token: str | None = None
        self.first = b""
        self.unread = False
        self.host_ended = False
        self.wanted = False
        self.refusal: dict[str, Any] | None = None
        self.asked = time.monotonic()
        self.changed = threading.Condition()
        self.sending = threading.Lock()

    def connect(self, *, begin: bool = True) -> None:
        """Says hello, and what the daemon has to hear again; starts a daemon unless told not to.

        Raises:
            AnydeviceError: As `start.greet`.
            OSError: The daemon went away again.
        """
        connection, reply, first = start.greet(protocol.resumed(self.hello, self.token), start=begin)
        try:
            self.token = reply.get("resume")
            if handshake := self.conversed.handshake():
                first = self._shake_hands(connection, handshake, first)
            self.unread = False
            connection.sendall(self.conversed.again())
        except BaseException:
            connection.close()
            raise
        self.daemon = record.read_record(home_path())
        with self.changed:
            self.connection, self.first, self.wanted = connection, first, False
            self.changed.notify_all()

    @staticmethod
    def _shake_hands(connection: socket.socket, handshake: bytes, first: bytes) -> bytes:
        """Says the host's handshake again and waits for its answer; returns what came besides."""
        connection.settimeout(HANDSHAKE_SECONDS)
        connection.sendall(handshake)
        cut, others = Cut(), b""
        while True:
            for line in cut.feed(first):
                well = is_handshake(line)
                if well is None:
                    others += line
                elif well:
                    connection.settimeout(None)
                    return others + cut.rest
                else:
                    raise _unavailable("The daemon does not go on with this conversation.")
            first = connection.recv(CHUNK)
            if not first:
                raise ConnectionError

    def run(self) -> int:
        """Runs until either side has ended for good; returns the exit code."""
        threading.Thread(target=self._outwards, daemon=True).start()
        try:
            while True:
                began = time.monotonic()
                heard = self._inwards()
                self._hang_up()
                _write(self.conversed.lost(final=self.host_ended, unread=self.unread))
                if self.host_ended:
                    return 0
                young = not heard and time.monotonic() - began < YOUNG and not self.conversed.handed_over
                if young and self.daemon is not None and record.lives(self.daemon):
                    # It lives and ended the connection before it said a word: it would do so again.
                    return self._give_up(_unavailable("The daemon ended the connection.").to_wire())
                try:
                    if not self._reconnect():
                        _write(self.conversed.lost(final=True))
                        return 0
                except Exception as error:  # as in `main`
                    return self._give_up(_wire_of(error))
        except BrokenPipeError:
            return 0  # the host does not read any more

    def _hang_up(self) -> None:
        with self.changed:
            ended, self.connection = self.connection, None
        assert ended is not None
        with contextlib.suppress(OSError):
            ended.shutdown(socket.SHUT_RDWR)
        with self.sending:  # nobody is sending on it any more
            ended.close()

    def _give_up(self, wire: dict[str, Any]) -> int:
        """Tells the host why there is no server any more, as the answer to whatever it has asked and still asks."""
        _write(self.conversed.refused(wire))
        with self.changed:
            self.refusal = wire
            self.asked = time.monotonic()
            self.changed.notify_all()
        _tell(self.facade, _text_of(wire))
        with self.changed:
            while not self.host_ended and (left := self.asked + REQUEST_SECONDS - time.monotonic()) > 0:
                self.changed.wait(left)
        return EXIT_LOST

    def _inwards(self) -> bool:
        """From the daemon to the host, whole lines only; returns whether anything came."""
        assert self.connection is not None
        cut, data, heard = Cut(), self.first, False
        while True:
            lines = cut.feed(data)
            if lines:
                heard = True
                _write(self.conversed.heard(lines))
            try:
                data = self.connection.recv(CHUNK)
            except ConnectionError as error:
                self.unread |= protocol.left_unread(error)
                data = b""
            if not data:
                if cut.rest and self.host_ended:
                    _write(cut.rest)
                return heard

    def _outwards(self) -> None:
        """From the host to the daemon."""
        cut = Cut(protocol.LINE_LIMIT)
        with contextlib.suppress(OSError):
            while data := os.read(0, CHUNK):
                self._send(cut.feed(data))
            self._send([cut.rest] if cut.rest else [])
        with self.changed:
            self.host_ended = True
            self.changed.notify_all()
            with contextlib.suppress(OSError):
                if self.connection is not None:
                    self.connection.shutdown(socket.SHUT_WR)  # the answers that are still on their way arrive

    def _send(self, lines: list[bytes]) -> None:
        if not lines:
            return
        data = b"".join(lines)
        while True:
            with self.changed:
                while self.connection is None and self.refusal is None:
                    self.wanted = True
                    self.changed.notify_all()
                    self.changed.wait()
                connection, refusal = self.connection, self.refusal
                self.asked = time.monotonic()
            if refusal is not None:
                _write(b"".join(error_line(id_, refusal) for line in lines for id_ in requests_of(line)))
                return
            with self.sending:
                if connection is None or connection is not self.connection:
                    continue  # it ended meanwhile
                self.conversed.said(lines)
                try:
                    sent = connection.send(data)
                except OSError as error:
                    self.conversed.unsaid(lines)  # it had ended already, and nothing arrived
                    self.unread |= protocol.left_unread(error)
                else:
                    try:
                        connection.sendall(memoryview(data)[sent:])
                    except OSError:  # the main thread deals with what is not answered
                        self.unread = True
                    return
            with self.changed:
                self.changed.wait_for(lambda gone=connection: self.connection is not gone, LOOK_SECONDS)  # type: ignore[misc]

    def _reconnect(self) -> bool:
        """Waits until there is a daemon, or reason to start one; False when the host has ended meanwhile.

        Raises:
            AnydeviceError: The daemon cannot be had.
        """
        tried: object = None
        failures = 0
        while True:
            with self.changed:
                if self.host_ended and not self.wanted:
                    return False
                wanted = self.wanted or self.conversed.waiting()
            found = record.read_record(home_path())
            there = found is not None and found != tried and record.lives(found)
            if wanted or there:
                tried = found
                try:
                    self.connect(begin=wanted)
                    return True
                except OSError:
                    tried, failures = None, failures + 1
                    if failures > TRIES:
                        raise _unavailable("The daemon goes away whenever it is greeted.") from None
                    time.sleep(0.05 * failures)
                except Exception as error:
                    if wanted or not hasattr(error, "to_wire"):
                        raise
            with self.changed:
                if not self.host_ended and not self.wanted:
                    self.changed.wait(LOOK_SECONDS)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def _refuse(facade: str, wire: dict[str, Any]) -> int:
    """Tells the host why there is no server: a line on stderr, and an error as the answer to whatever it asks.

    A host may ask more than once before it gives up: one that speaks several protocol revisions tries them in turn,
    and shows a person only the last answer.
    """
    _tell(facade, _text_of(wire))
    with contextlib.suppress(OSError):  # the host does not read any more
        for request in _requests():
            _write(error_line(request, wire))
    return EXIT_LOST


def _text_of(wire: dict[str, Any]) -> str:
    return f"{wire['code']}: {wire['message']} {wire.get('hint') or ''}".strip()


def _unavailable(message: str) -> AnydeviceError:
    from anydevice_schemas.errors import UpstreamUnavailable

    return UpstreamUnavailable(
        message, upstream="daemon", enable_hint="anydevice status", hint="Restart this server to connect again."
    )


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
