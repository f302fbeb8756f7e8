"""Owning and reading an X selection (ICCCM 2): what is owned is served, large contents go in pieces both ways."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from Xlib import X
from Xlib import error as xerror
from Xlib.protocol import event, request

from .connection import Connection, readable

PIECE = 128 * 1024
"""Bytes sent at once; servers take 256 KiB in one request."""
GLANCE = 0.1
"""Seconds after which a reader looks whether it is still wanted."""
IDLE = 10.0
"""Seconds without a step after which a transfer in pieces is given up."""
LIMIT = 256 * 1024 * 1024
"""Bytes that are read at most."""
_LONGS = 1 << 24
"""Units of four bytes asked for at once: more than any property holds."""


class Silent(Exception):
    """The owner of the selection did not answer in time."""


class TooLarge(Exception):
    """The content is larger than `LIMIT`."""


@dataclass(slots=True)
class _Transfer:
    """A content on its way to another program, piece by piece."""

    window: Any
    property: int
    type: int
    format: int
    data: bytes
    at: int
    touched: float


class Selection:
    """One selection on one connection. Blocks; all of it in one thread, `rest` as often as there is nothing else.

    Args:
        connection: Its own.
        name: Of the selection: `CLIPBOARD`, `PRIMARY`.
        wake: Readable when `rest` has to return.
    """

    def __init__(self, connection: Connection, name: str, wake: socket.socket) -> None:
        self._x = connection
        self._wake = wake
        self._selection = self._atom(name)
        root = connection.screen().root
        self._window = root.create_window(0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)
        self._drop = self._atom("ANYDEVICE_SELECTION")
        self._offers: dict[int, tuple[int, bytes]] = {}
        self._since = 0
        self._transfers: dict[tuple[int, int], _Transfer] = {}
        self.abandoned = False
        """Set from outside: nobody waits any more for what is being read."""
        self.alive = time.monotonic()
        """When the server last answered."""
        self._seen: list[Any] = []
        """Events that a reader waits for."""

    # --- owning --------------------------------------------------------------------------------------------

    def own(self, offers: Mapping[str, tuple[str, bytes]]) -> bool:
        """Becomes the owner.

        Args:
            offers: Content by target, each with the type it is told to be of.

        Returns:
            Whether the server says that we are.
        """
        self._offers = {self._atom(target): (self._atom(type), data) for target, (type, data) in offers.items()}
        self._since = self._now()
        self._window.set_selection_owner(self._selection, self._since)
        return self.owned()

    def disown(self) -> None:
        """Leaves the selection without an owner, if it is ours."""
        if self.owned():
            request.SetSelectionOwner(
                display=self._x.display, window=X.NONE, selection=self._selection, time=self._since
            )
            self._x.settle()
        self._offers = {}

    def owned(self) -> bool:
        """Whether we are the owner."""
        owner = self._x.get_selection_owner(self._selection)
        return bool(owner != X.NONE and owner.id == self._window.id)

    # --- reading -------------------------------------------------------------------------------------------

    def targets(self, deadline: float) -> list[str]:
        """Names of what the owner offers; empty where there is none.

        Raises:
            Silent: It did not answer in `deadline` seconds.
        """
        if self._x.get_selection_owner(self._selection) == X.NONE:
            return []
        got = self._convert("TARGETS", deadline)
        if got is None:
            return []
        content = got[1]
        atoms = [int.from_bytes(content[at : at + 4], "little") for at in range(0, len(content) - 3, 4)]
        names = []
        for atom in atoms[:500]:
            try:
                names.append(self._x.get_atom_name(atom))
            except xerror.XError:
                continue
        return names

    def read(self, target: str, deadline: float) -> tuple[str, bytes] | None:
        """What the owner gives for a target: the name of its type, and the content. None where it refuses.

        Raises:
            Silent: It did not answer in `deadline` seconds, or stopped half way.
            TooLarge: There was more than `LIMIT`.
        """
        got = self._convert(target, deadline)
        return (self._x.get_atom_name(got[0]), got[1]) if got is not None else None

    def _convert(self, target: str, deadline: float) -> tuple[int, bytes] | None:
        end = time.monotonic() + deadline
        self._seen.clear()
        self._window.delete_property(self._drop)
        wanted = self._atom(target)
        self._window.convert_selection(self._selection, wanted, self._drop, self._now())

        def told(got: Any) -> bool:
            return bool(got.type == X.SelectionNotify and got.selection == self._selection and got.target == wanted)

        if self._await(told, end).property == X.NONE:
            return None
        self._seen = [got for got in self._seen if got.type != X.PropertyNotify]
        type, data = self._take()
        if type != self._atom("INCR"):
            return (type, data) if type else None
        content = bytearray()
        while True:
            self._await(self._dropped, end)
            type, piece = self._take()
            if not piece:
                return type, bytes(content)
            content += piece
            if len(content) > LIMIT:
                raise TooLarge
            end = max(end, time.monotonic() + min(deadline, IDLE))

    def _dropped(self, got: Any) -> bool:
        return bool(got.type == X.PropertyNotify and got.atom == self._drop and got.state == X.PropertyNewValue)

    def _take(self) -> tuple[int, bytes]:
        """Type and content of what was dropped for us, which thereby goes away."""
        got = self._window.get_property(self._drop, X.AnyPropertyType, 0, _LONGS, delete=True)
        if got is None:
            return 0, b""
        value = got._data["value"][1]
        if got.format == 32:
            return got.property_type, b"".join(int(number & 0xFFFFFFFF).to_bytes(4, "little") for number in value)
        return got.property_type, bytes(value)

    def _await(self, wanted: Callable[[Any], bool], end: float) -> Any:
        """The first event that is wanted; all others are served meanwhile.

        Raises:
            Silent: It did not come before `end`.
        """
        self._x.settle()  # sends what was asked for
        self.alive = time.monotonic()
        while True:
            self._serve()
            for number, got in enumerate(self._seen):
                if wanted(got):
                    del self._seen[: number + 1]
                    return got
            left = end - time.monotonic()
            if left <= 0 or self.abandoned:
                raise Silent
            readable([self._x.fileno()], min(left, GLANCE))

    # --- serving -------------------------------------------------------------------------------------------

    def rest(self) -> None:
        """Serves others until there is something else to do, or for a while."""
        self._serve()
        readable([self._x.fileno(), self._wake], 1.0 if self._transfers else None)
        self._serve()
        late = time.monotonic() - IDLE
        for key in [key for key, transfer in self._transfers.items() if transfer.touched < late]:
            del self._transfers[key]

    def _serve(self) -> None:
        served = False
        self.alive = time.monotonic()
        while self._x.pending_events():
            served = True
            got = self._x.next_event()
            if got.type == X.SelectionRequest:
                self._answer(got)
            elif got.type == X.SelectionClear and got.atom == self._selection:
                self._offers = {}
            elif got.type == X.PropertyNotify and (got.state == X.PropertyDelete or got.window.id != self._window.id):
                self._go_on(got)
            elif got.type in (X.SelectionNotify, X.PropertyNotify):
                self._seen.append(got)
        if served:
            self._x.settle()  # the library's own flush may leave a part of a large piece behind
            if self._x.display.event_queue:
                self._serve()  # what came in with the answer would wait for the next event

    def _answer(self, asked: Any) -> None:
        # Programs of old give no property; the target's name stands in for it.
        property = asked.property if asked.property != X.NONE else asked.target
        if asked.selection != self._selection or not self._offers:
            property = X.NONE
        elif asked.target == self._atom("MULTIPLE"):
            self._several(asked.requestor, property)
        elif not self._put(asked.requestor, property, asked.target):
            property = X.NONE
        notice = event.SelectionNotify(
            time=asked.time,
            requestor=asked.requestor,
            selection=asked.selection,
            target=asked.target,
            property=property,
        )
        asked.requestor.send_event(notice, event_mask=X.NoEventMask)

    def _put(self, window: Any, property: int, target: int) -> bool:
        """Puts the content for a target where the other program wants it; False for what is not offered."""
        if target == self._atom("TARGETS"):
            offered = [self._atom(name) for name in ("TARGETS", "MULTIPLE", "TIMESTAMP")]
            window.change_property(property, self._atom("ATOM"), 32, [*offered, *self._offers])
        elif target == self._atom("TIMESTAMP"):
            window.change_property(property, self._atom("INTEGER"), 32, [self._since])
        elif target in self._offers:
            type, data = self._offers[target]
            if len(data) <= PIECE:
                window.change_property(property, type, 8, data)
            else:
                key = (window.id, property)
                self._transfers[key] = _Transfer(window, property, type, 8, data, 0, time.monotonic())
                window.change_attributes(event_mask=X.PropertyChangeMask)
                window.change_property(property, self._atom("INCR"), 32, [len(data)])
        else:
            return False
        return True

    def _several(self, window: Any, property: int) -> None:
        try:
            got = window.get_property(property, X.AnyPropertyType, 0, 1024)
        except xerror.XError:
            return
        pairs = [int(number) for number in got.value] if got is not None and got.format == 32 else []
        for at in range(0, len(pairs) - 1, 2):
            if not self._put(window, pairs[at + 1], pairs[at]):
                pairs[at + 1] = X.NONE
        window.change_property(property, self._atom("ATOM_PAIR"), 32, pairs)

    def _go_on(self, got: Any) -> None:
        """The other program has taken a piece: gives it the next; an empty one is the end."""
        transfer = self._transfers.get((got.window.id, got.atom))
        if transfer is None or got.state != X.PropertyDelete:
            return
        piece = transfer.data[transfer.at : transfer.at + PIECE]
        transfer.window.change_property(transfer.property, transfer.type, transfer.format, piece)
        transfer.at += len(piece)
        transfer.touched = time.monotonic()
        if not piece:
            del self._transfers[(got.window.id, got.atom)]
            if transfer.window.id != self._window.id:
                transfer.window.change_attributes(event_mask=X.NoEventMask)

    # --- helpers -------------------------------------------------------------------------------------------

    def _atom(self, name: str) -> int:
        return int(self._x.display.get_atom(name))

    def _now(self) -> int:
        """The server's time, which it tells with every change of a property."""
        clock = self._atom("ANYDEVICE_CLOCK")
        self._window.change_property(clock, self._atom("INTEGER"), 32, [0])
        got = self._await(lambda got: got.type == X.PropertyNotify and got.atom == clock, time.monotonic() + IDLE)
        return int(got.time)


def first(names: Sequence[str], offered: Sequence[str]) -> str | None:
    """The first of some targets that is offered."""
    return next((name for name in names if name in offered), None)
