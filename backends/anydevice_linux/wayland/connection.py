"""A connection to a Wayland compositor: objects, requests and events, in blocking code for one thread."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from anydevice.kit.waiting import readable

from . import wire
from .protocol import CALLBACK, DISPLAY, REGISTRY, Interface

CHUNK: Final = 65_536
DESCRIPTORS: Final = 28
"""As many as libwayland sends beside one piece."""
SERVER_IDS: Final = 0xFF000000
"""Ids from here on are given by the compositor."""

Heard = Callable[..., object]


class Broken(Exception):
    """The connection ended; the text says why, in our words."""


class TooSlow(Exception):
    """The compositor did not say in time what was waited for."""


@dataclass(slots=True)
class Thing:
    """An object of the compositor, known by both sides.

    Attributes:
        id: Its number.
        interface: What it is.
        hears: What is called for its events, by their names.
        gone: It was destroyed; the compositor may not know yet.
    """

    id: int
    interface: Interface
    hears: dict[str, Heard] = field(default_factory=dict, repr=False)
    gone: bool = False


@dataclass(slots=True, frozen=True)
class Global:
    """Something the compositor offers: its number there, its version."""

    number: int
    version: int


class Connection:
    """What is spoken on one socket. For one thread; `shutdown` may be called from any."""

    def __init__(self, path: str, take: Callable[[socket.socket], None] = lambda _: None) -> None:
        """Connects.

        Args:
            path: Of the socket.
            take: Given the socket before anything blocks on it, so that somebody can cut it.

        Raises:
            OSError: There is no compositor at the path, or it refuses.
            Broken: It speaks no Wayland.
        """
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        take(self._socket)
        self._heard = bytearray()
        self._fds: deque[int] = deque()
        self._free: list[int] = []
        self._next = 2
        self._reason = ""
        self._kept: bytearray | None = None
        self.offered: dict[str, list[Global]] = {}
        """What the compositor offers, by interface."""
        self.on_global: list[Callable[[], object]] = []
        """Called when that has changed."""
        self.display = Thing(1, DISPLAY)
        self._things: dict[int, Thing] = {1: self.display}
        self.display.hears = {"error": self._on_error, "delete_id": self._on_delete}
        try:
            self._socket.connect(path)
            self.registry = self.ask(self.display, "get_registry", REGISTRY)
            self.registry.hears = {"global": self._on_global, "global_remove": self._on_global_remove}
            self.settle()
        except BaseException:
            self.close()
            raise

    def fileno(self) -> int:
        """Of the socket."""
        return self._socket.fileno()

    def close(self) -> None:
        """Lets go of everything; the compositor forgets all that was made on this connection."""
        with contextlib.suppress(OSError):
            self._socket.close()
        while self._fds:
            os.close(self._fds.popleft())

    # --- asking ------------------------------------------------------------------------------------------

    def ask(self, thing: Thing, name: str, new: Interface | None = None, *values: Any, fds: Sequence[int] = ()) -> Any:
        """Sends a request.

        Args:
            thing: Whom to ask.
            name: Of the request.
            new: Interface of the object it makes, where it makes one.
            values: Its arguments without the new object and descriptors; objects as `Thing` or None.
            fds: Descriptors that go along; they stay open here.

        Returns:
            The object it made; None where it makes none.

        Raises:
            Broken: The connection ended.
        """
        number, kinds = next((at, kinds) for at, (word, kinds) in enumerate(thing.interface.requests) if word == name)
        made = self._make(new) if new is not None else None
        given = [value.id if isinstance(value, Thing) else value for value in values]
        if made is not None:
            given.insert(kinds.replace("h", "").index("n"), made.id)
        self._send(wire.pack(thing.id, number, kinds, given), fds)
        if name == thing.interface.ends:
            self._forget(thing)
        return made

    def bind(self, interface: Interface, number: int, version: int) -> Thing:
        """Takes something the compositor offers.

        Raises:
            Broken: The connection ended.
        """
        made = self._make(interface)
        self._send(wire.pack(self.registry.id, 0, "usun", [number, interface.name, version, made.id]), ())
        return made

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Requests without descriptors that are made meanwhile are sent in one piece, at the end.

        A compositor passes on in one piece what it was told in one; each piece costs a program that is busy much of
        the room it has for what it has not heard yet.
        """
        self._kept = bytearray()
        try:
            yield
        finally:
            kept, self._kept = self._kept, None
            if kept:
                self._send(bytes(kept), ())

    def settle(self) -> None:
        """Returns once the compositor has done all that was asked before; what it said meanwhile was heard.

        Raises:
            Broken: The connection ended.
        """
        done: list[bool] = []
        callback = self.ask(self.display, "sync", CALLBACK)
        callback.hears["done"] = lambda _: done.append(True)
        while not done:
            self._hear(None)
        callback.gone = True

    def until(self, ready: Callable[[], object], seconds: float) -> None:
        """Listens until something is so.

        Raises:
            TooSlow: It is not so in time.
            Broken: The connection ended.
        """
        end = time.monotonic() + seconds
        while not ready():
            left = end - time.monotonic()
            if left <= 0:
                raise TooSlow
            self._hear(left)

    def listen(self, readers: Sequence[int] = (), writers: Sequence[int] = (), seconds: float | None = None) -> None:
        """Hears what there is; waits for something on the socket, or on other descriptors, which it does not touch.

        Args:
            readers: Descriptors that may have something to read.
            writers: Descriptors that may have room.
            seconds: How long at most; None for as long as it takes.

        Raises:
            Broken: The connection ended.
        """
        self._hear(seconds, readers, writers)

    # --- inside ------------------------------------------------------------------------------------------

    def _make(self, interface: Interface) -> Thing:
        if self._free:
            id = self._free.pop()
        else:
            id, self._next = self._next, self._next + 1
        thing = self._things[id] = Thing(id, interface)
        return thing

    def adopt(self, id: int, interface: Interface) -> Thing:
        """An object that the compositor made, from an event that carries a new one."""
        thing = self._things[id] = Thing(id, interface)
        return thing

    def _forget(self, thing: Thing) -> None:
        thing.gone = True
        thing.hears = {}
        if thing.id >= SERVER_IDS:
            self._things.pop(thing.id, None)

    def _send(self, data: bytes, fds: Sequence[int]) -> None:
        if self._kept is not None:
            assert not fds, "descriptors go at once"
            self._kept += data
            return
        try:
            sent = socket.send_fds(self._socket, [data], list(fds)) if fds else self._socket.send(data)
            if sent < len(data):
                self._socket.sendall(data[sent:])
        except OSError as error:
            self._listen_last()
            raise Broken(self._reason or "it closed the connection") from error

    def _listen_last(self) -> None:
        """Hears why a connection ended, which is said before its end."""
        with contextlib.suppress(Broken, OSError):
            while readable(self._socket.fileno(), 0):
                self._hear(0)

    def _hear(self, seconds: float | None, readers: Sequence[int] = (), writers: Sequence[int] = ()) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        for reader in readers:
            poll.register(reader, select.POLLIN)
        for writer in writers:
            poll.register(writer, select.POLLOUT)
        ready = poll.poll(None if seconds is None else max(0.0, seconds) * 1000)
        if not any(fd == self._socket.fileno() for fd, _ in ready):
            return
        try:
            data, fds, _, _ = socket.recv_fds(self._socket, CHUNK, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            raise Broken(self._reason or "it closed the connection") from error
        self._fds.extend(fds)
        if not data:
            raise Broken(self._reason or "it closed the connection")
        self._heard += data
        try:
            while (message := wire.take(self._heard)) is not None:
                self._tell(*message)
        except wire.Malformed as error:
            raise Broken("it does not speak the protocol") from error
        if self._reason:
            raise Broken(self._reason)

    def _tell(self, id: int, number: int, body: bytes) -> None:
        thing = self._things.get(id)
        if thing is None:
            return  # destroyed by us, and its last words were on their way
        if number >= len(thing.interface.events):
            return  # of a later version than was asked for: cannot be, and harms nobody
        name, kinds = thing.interface.events[number]
        values: list[Any] = list(wire.unpack(kinds, body))
        if "h" in kinds:
            if not self._fds:
                raise wire.Malformed
            values.insert(kinds.index("h"), self._fds.popleft())
        hears = thing.hears.get(name)
        if hears is not None and not thing.gone:
            hears(*values)
        elif "h" in kinds:
            os.close(values[kinds.index("h")])

    def _on_error(self, object: int, code: int, _text: str) -> None:
        thing = self._things.get(object)
        name = thing.interface.name if thing is not None else "an object"
        self._reason = f"it refused a request to {name} (error {code})"

    def _on_delete(self, id: int) -> None:
        if self._things.pop(id, None) is not None:
            self._free.append(id)

    def _on_global(self, number: int, name: str, version: int) -> None:
        self.offered.setdefault(name, []).append(Global(number, version))
        for call in self.on_global:
            call()

    def _on_global_remove(self, number: int) -> None:
        for name, offers in self.offered.items():
            self.offered[name] = [offer for offer in offers if offer.number != number]
        for call in self.on_global:
            call()
