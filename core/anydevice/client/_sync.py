"""The blocking client."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Literal

from anydevice_schemas.errors import AnydeviceError, CallTimeout

from ..host import protocol, start
from ._answer import TRIES, Answer, answer_of, command_name, lost, merge

Progress = Callable[[float | None, str], None]
GRACE = 5.0
"""Seconds beyond a call's deadline that the daemon has to say how it ended."""

FAREWELL_SECONDS = 0.5


class _NotBegun(ConnectionError):
    """The connection ended before the daemon had read the request to its end."""


class _Link:
    """One connection, shared by the threads of a client: whoever waits first reads for all.

    Attributes:
        dead: It has ended.
        handed_over: And what was not answered on it was not begun: the daemon has been replaced by a newer version.
        last: The request that is being sent, or was sent last; None where it was something else.
        unread: The daemon had not read the end of what was sent last.
    """

    def __init__(self, connection: socket.socket, reply: dict[str, Any], rest: bytes) -> None:
        self.connection = connection
        self.reply = reply
        self.dead = False
        self.handed_over = False
        self.last: int | None = None
        self.unread = False
        self.reading = False
        self.boxes: dict[int, list[dict[str, Any]]] = {}
        self.changed = threading.Condition()
        self._lines = protocol.Lines(protocol.ANSWER_LIMIT)
        self._sending = threading.Lock()
        self._poll = select.poll()
        self._poll.register(connection.fileno(), select.POLLIN)
        self._sort(rest)

    def send(self, message: dict[str, Any]) -> None:
        """Sends one message, whole."""
        with self._sending:
            # Before it is sent: else the request before would for a moment be taken for the last, and be said again.
            self.last = message.get("id")
            self.connection.sendall(protocol.encode(message))

    def next(self, request: int, until: float | None) -> dict[str, Any] | None:
        """The next message for a request; None when the time is up.

        Raises:
            ConnectionError: The connection is gone.
        """
        while True:
            with self.changed:
                while self.reading and not self.boxes[request] and not self.dead:
                    if not self.changed.wait(_left(until)):
                        return None
                if self.boxes[request]:
                    return self.boxes[request].pop(0)
                if self.dead:
                    raise ConnectionError
                self.reading = True
            try:
                left = _left(until)
                if not self._poll.poll(None if left is None else left * 1000):
                    return None
                self._take()
            finally:
                with self.changed:
                    self.reading = False
                    self.changed.notify_all()

    def alive(self) -> bool:
        """Whether the daemon is still there, as far as can be told without asking it."""
        with self.changed:
            if not self.dead and not self.reading and self._poll.poll(0):
                self._take()
            return not self.dead

    def _take(self) -> None:
        """Reads what has come and puts it where it belongs."""
        try:
            data = self.connection.recv(262144)
        except OSError as error:
            self.unread |= protocol.left_unread(error)
            data = b""
        with self.changed:
            if not data:
                self.dead = True
            self._sort(data)

    def _sort(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            try:
                message = json.loads(line) if isinstance(line, bytes) else None
            except ValueError:
                message = None
            if not isinstance(message, dict):
                self.dead = True  # what follows cannot be trusted
                return
            if "handed_over" in message:
                self.handed_over = self.dead = True
                return
            box = self.boxes.get(message.get("id", -1))
            if box is not None:
                box.append(message)

    def close(self, *, goodbye: bool = False) -> None:
        """Ends the connection; whoever waits on it is told.

        Args:
            goodbye: Say that nobody comes back for what belongs to it.
        """
        with self.changed:
            before, self.dead = self.dead, True
            self.changed.notify_all()
        if goodbye and not before:
            with contextlib.suppress(OSError):  # it then waits for us a while, and no longer
                self.connection.settimeout(FAREWELL_SECONDS)
                self.connection.sendall(protocol.encode({"goodbye": True}))
        with contextlib.suppress(OSError):  # the daemon was faster
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())


class Host:
    """What can be asked of the daemon itself."""

    def __init__(self, ask: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
        self._ask = ask

    def status(self) -> dict[str, Any]:
        """Process, version, sessions, held devices."""
        return self._ask("status", {})

    def catalogue(self) -> dict[str, Any]:
        """Every command with its inputs."""
        return self._ask("catalogue", {})

    def pending(self) -> list[dict[str, Any]]:
        """Confirmations that wait for a person."""
        pending: list[dict[str, Any]] = self._ask("pending", {})["pending"]
        return pending

    def approve(self, token: str) -> dict[str, Any]:
        """Approves a confirmation token, as a person."""
        return self._ask("approve", {"token": token})

    def artefact(self, name: str) -> bytes:
        """The bytes of a file a call made."""
        import base64

        return base64.b64decode(self._ask("artefact", {"name": name})["data"])

    def stop(self) -> dict[str, Any]:
        """Stops the daemon, with everything it holds."""
        return self._ask("stop", {})


class Client:
    """A connection to the daemon; every command of the catalogue is a method.

    May be shared by threads: calls run beside one another. After the daemon went away, the call that ran raises
    `ConnectionLost` and the next one connects anew, as the same caller: its sessions are its own again. A daemon that
    is replaced by a newer version is not noticed.

    Args:
        home: The home folder; `ANYDEVICE_HOME`, else `~/.anydevice`, when None.
        cwd: The working directory to act for; this process's own when None.
        environ: The environment to pick the allow-listed variables from; this process's own when None.
        start: Start a daemon when none runs.
        deadline: Seconds connecting may take.
        transport: `cli` for a command line: its implicit sessions belong to user and working directory, and
            outlive the connection.
        conversation: `host` asks only the daemon itself, of whatever version it is; no calls.

    Raises:
        UpstreamUnavailable: There is no daemon and none could be started.
        Refused: The daemon is of another version.
    """

    def __init__(
        self,
        *,
        home: str | None = None,
        cwd: str | None = None,
        environ: Mapping[str, str] | None = None,
        start: bool = True,
        deadline: float = start.START_DEADLINE,
        transport: Literal["python", "cli"] = "python",
        conversation: Literal["call", "host"] = "call",
    ) -> None:
        self._home = home
        self._start = start
        self._deadline = deadline
        self._hello = protocol.hello(conversation, transport, cwd=cwd, environ=environ)
        self._resume: str | None = None
        self._opening = threading.Lock()
        self._counter = 0
        self._link: _Link | None = None
        self._current: list[_Link] = []
        # A program that ends, or forgets its client, keeps no device from the next one.
        self._farewell = weakref.finalize(self, _say_goodbye, self._current, os.getpid())
        self.host = Host(partial(self._request, "host"))
        self._open()

    def call(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        deadline: float | None = None,
        progress: Progress | None = None,
        **named: Any,
    ) -> Answer:
        """Makes one call and waits for its answer.

        Args:
            command: Name of the command.
            arguments: Arguments by their wire names; those given by keyword are added.
            deadline: Seconds until the daemon ends the call and says how; the command's own limit when None.
            progress: Told how far long commands are (0 to 1 or None, and a message), in this thread.
            **named: Arguments in snake_case; None = not given.

        Raises:
            AnydeviceError: The typed error of the answer.
            ConnectionLost: The daemon went away; `may_have_acted` in its details.
            CallTimeout: The daemon itself fell silent.
        """
        more = {} if deadline is None else {"deadline": deadline}
        until = None if deadline is None else time.monotonic() + deadline + GRACE
        request = merge(arguments, named)
        return answer_of(self._request("call", command, request, more=more, until=until, progress=progress))

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self.call, command_name(name))

    @property
    def greeting(self) -> Mapping[str, Any]:
        """What the daemon said at connect: version, pid, digest of its catalogue."""
        return self._open().reply

    def disconnect(self) -> None:
        """Ends the connection, and with it its implicit sessions. (`close` is a command.)"""
        link, self._link = self._link, None
        self._current.clear()
        if link is not None:
            link.close(goodbye=self._resume is not None)
        self._resume = None

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.disconnect()

    def _open(self) -> _Link:
        with self._opening:
            if self._link is None or not self._link.alive():
                if self._link is not None:
                    self._link.close()
                hello = protocol.resumed(self._hello, self._resume)
                greeted = start.greet(hello, home=self._home, start=self._start, deadline=self._deadline)
                self._link = _Link(*greeted)
                self._resume = greeted[1].get("resume")
                self._current[:] = [self._link] if self._resume is not None else []
            return self._link

    def _request(
        self,
        kind: str,
        name: str,
        arguments: dict[str, Any],
        *,
        more: dict[str, Any] | None = None,
        until: float | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """One request and its end: the answer of a call, the result of an operation."""
        tries = 0
        while True:
            link = self._open()
            try:
                return self._exchange(link, kind, name, arguments, more or {}, until, progress)
            except ConnectionError as error:
                link.close()
                if link.handed_over:
                    continue
                tries += 1
                begun = not isinstance(error, _NotBegun)
                if begun or tries >= TRIES:
                    raise lost(name, begun=begun) from None

    def _exchange(  # noqa: PLR0917 - private, called once
        self,
        link: _Link,
        kind: str,
        name: str,
        arguments: dict[str, Any],
        more: dict[str, Any],
        until: float | None,
        progress: Progress | None,
    ) -> dict[str, Any]:
        """One request on one connection.

        Raises:
            ConnectionError: The connection ended before the answer came; `_NotBegun` where nothing can have been done.
        """
        with link.changed:
            self._counter += 1
            request = self._counter
            link.boxes[request] = []
        ended = False
        try:
            try:
                link.send({"id": request, kind: name, "arguments": arguments, **more})
            except ConnectionError:
                # What came before the end says whether the request is to be said again.
                with contextlib.suppress(ConnectionError):
                    while link.next(request, time.monotonic() + FAREWELL_SECONDS) is not None:
                        pass
                raise _NotBegun from None  # of a line that did not get away whole, nothing is done
            while True:
                message = link.next(request, until)
                if message is None:
                    raise CallTimeout(f"The daemon did not say how {name} ended.", after=0, waiting_for="daemon")
                if "progress" in message:
                    if progress is not None:
                        progress(message["progress"]["done"], message["progress"]["message"])
                    continue
                ended = True
                if "error" in message:
                    raise AnydeviceError.from_wire(message["error"])
                found: dict[str, Any] = message["answer" if kind == "call" else "result"]
                return found
        except ConnectionError:
            ended = True
            if link.unread and link.last == request:
                raise _NotBegun from None
            raise
        finally:
            with link.changed:
                del link.boxes[request]
            if not ended and not link.dead:
                # Interrupted, by whatever: the daemon must not go on for nobody.
                try:
                    link.send({"cancel": request})
                except OSError:
                    link.close()


def _say_goodbye(current: list[_Link], process: int) -> None:
    """Ends the connection of a client that is gone; not in a fork of its process, whose connection it is not."""
    if os.getpid() == process:
        for link in current:
            link.close(goodbye=True)


def connect(**options: Any) -> Client:
    """A `Client`; the arguments are its own."""
    return Client(**options)
