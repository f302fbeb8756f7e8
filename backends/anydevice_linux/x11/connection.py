"""A connection of python-xlib that knows one server only.

The library keeps extension numbers for all its connections together and takes its cookie from the environment of
the process. Here each connection has its own, so that displays of different servers and users can be open at once.
"""

from __future__ import annotations

import math
import select
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

from Xlib import display as _display
from Xlib import error as _error
from Xlib.ext import xtest
from Xlib.protocol import display as _protocol
from Xlib.protocol import rq
from Xlib.support import connect

from anydevice_schemas.errors import Unsupported

from . import authority


def readable(sources: Sequence[Any], seconds: float | None) -> None:
    """Waits until one of some sockets (or descriptors) can be read, for `seconds` at most. Blocks."""
    _Polls.select(sources, (), (), seconds)


class _Polls:
    """Stands in for the library's `select`, which knows no descriptor above 1023; a busy process has those."""

    error = OSError

    @staticmethod
    def select(
        reading: Sequence[Any], writing: Sequence[Any], _: Sequence[Any], seconds: float | None
    ) -> tuple[list[Any], list[Any], list[Any]]:
        poll = select.poll()
        wanted: dict[int, list[Any]] = {}
        for sources, bits in ((reading, select.POLLIN), (writing, select.POLLOUT)):
            for source in sources:
                number = source if isinstance(source, int) else source.fileno()
                have = wanted.setdefault(number, [0, source])
                have[0] |= bits
        for number, (bits, _source) in wanted.items():
            poll.register(number, bits)
        got = poll.poll(None if seconds is None else max(0, math.ceil(seconds * 1000)))
        # What broke can be read and written: that is how the reader finds out.
        ready = [(bits & ~select.POLLOUT, bits & ~select.POLLIN, wanted[number][1]) for number, bits in got]
        return [one for read, _, one in ready if read], [one for _, write, one in ready if write], []


_protocol.select = _Polls


class _Opening(threading.local):
    """What the connection being opened in this thread wants: see `_authenticate`."""

    active = False
    xauthority: str | None = None
    taken: Callable[[socket.socket], None] = staticmethod(lambda _: None)


_opening = _Opening()
_library_authenticate = connect.get_auth


def _authenticate(
    peer: socket.socket, name: str, protocol: str | None, host: str | None, number: int
) -> tuple[bytes, bytes]:
    """Stands in for the library's look-up, and steps aside for connections that are not ours."""
    if not _opening.active:
        found: tuple[bytes, bytes] = _library_authenticate(peer, name, protocol, host, number)
        return found
    _opening.taken(peer)
    return authority.cookie(_opening.xauthority, peer, number)


connect.get_auth = _authenticate


class Connection(_display.Display):  # type: ignore[misc]
    """One connection with XTEST, and nothing fetched that is not needed.

    Blocks; to be used in one thread only.

    Attributes:
        errors: Errors of requests that have no answer, as the server told them; the oldest are dropped.
        xkb: Number of the keyboard extension, once it is in use.
        tells_owners: Whether the server tells which process a window is of; None until it was asked.
        keeps_events: Whether somebody still waits for events; else they are thrown away after each call.
    """

    def __init__(self, name: str, xauthority: str | None, taken: Callable[[socket.socket], None]) -> None:
        """Opens it.

        Args:
            name: Of the display, e.g. `:1`.
            xauthority: Path of its authority file.
            taken: Given the socket as soon as it is connected, so that another thread can cut it.

        Raises:
            DisplayError: There is no such display, or it refuses.
            OSError: The connection broke.
        """
        private = {
            "extension_major_opcodes": {},
            "error_classes": dict(_protocol.Display.error_classes),
            "event_classes": dict(_protocol.Display.event_classes),
        }
        own = type("OwnDisplay", (_display._BaseDisplay,), private)
        _opening.active, _opening.xauthority, _opening.taken = True, xauthority, taken
        try:
            self.display = own(name)
        finally:
            _opening.active = False
        self._keymap_codes: list[tuple[int, ...]] = [()] * 256
        self._keymap_syms: dict[int, list[tuple[int, int]]] = {}
        self.keysym_translations: dict[int, str] = {}
        self.extensions: list[str] = []
        self.class_extension_dicts: dict[str, dict[str, Any]] = {}
        self.display_extension_methods: dict[str, Any] = {}
        self.extension_event = rq.DictWrapper({})
        self.errors: list[Exception] = []
        self.keeps_events = False
        self.xkb: int | None = None
        self.tells_owners: bool | None = None
        self.display.set_error_handler(self._note)
        found = self.query_extension(xtest.extname)
        if found is not None:
            self.display.set_extension_major(xtest.extname, found.major_opcode)
            xtest.init(self, found)
            self.extensions.append(xtest.extname)

    def give(self, kind: int, detail: int = 0, x: int = 0, y: int = 0) -> None:
        """Gives the server an input event as if from a mouse or keyboard; sent with the next `settle`.

        Args:
            kind: `X.KeyPress`, `X.ButtonPress`, `X.MotionNotify`, …
            detail: Keycode or button.
            x, y: Where to, in pixels of the screen, for a motion.

        Raises:
            Unsupported: The server takes no input from programs.
        """
        if xtest.extname not in self.extensions:
            raise Unsupported(
                "The X server takes no input from programs: it lacks the XTEST extension.",
                operation="input",
                alternatives=["elements.activate", "elements.set_text"],
            )
        self.xtest_fake_input(kind, detail, x=x, y=y)

    def settle(self) -> None:
        """Waits until the server has carried out all that was sent."""
        self.sync()

    def tidy(self) -> None:
        """Throws away events nobody waits for: some come unasked, and would pile up."""
        if not self.keeps_events and self.display.event_queue:
            self.display.event_queue.clear()

    def _note(self, error: Exception, _request: object) -> int:
        del self.errors[:-20]
        self.errors.append(error)
        return 1


CONNECTION_ERRORS = (_error.ConnectionClosedError, OSError, AttributeError, TypeError, ValueError)
"""What the library raises when its connection ended: besides the honest ones it stumbles over its own emptied state."""
