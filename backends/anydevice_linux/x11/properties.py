"""Many properties of many windows in one round trip, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from Xlib import X
from Xlib import error as xerror
from Xlib.protocol import request

from .connection import Connection

LONGS = 1024
"""Units of four bytes that are read of a property at most; titles and lists are far shorter."""
_STRING = 31
"""The predefined atom STRING: Latin-1 text."""

Value = tuple[int, int, Any]
"""Type (atom), format (8, 16, 32) and content (bytes, or numbers)."""


class Ask:
    """Requests that travel together: what was asked for first is answered first, all in one round trip."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def property(self, window: int, name: str, longs: int = LONGS) -> Reply:
        """A property of a window."""
        asked = request.GetProperty(
            display=self._connection.display,
            defer=True,
            delete=False,
            window=window,
            property=self._connection.display.get_atom(name),
            type=X.AnyPropertyType,
            long_offset=0,
            long_length=longs,
        )
        return Reply(asked)

    def geometry(self, window: int) -> Reply:
        """Place (within its parent) and size of a window."""
        return Reply(request.GetGeometry(display=self._connection.display, defer=True, drawable=window))

    def origin(self, window: int, root: int) -> Reply:
        """Where a window's upper left corner is on the screen."""
        return Reply(
            request.TranslateCoords(
                display=self._connection.display, defer=True, src_wid=window, dst_wid=root, src_x=0, src_y=0
            )
        )

    def attributes(self, window: int) -> Reply:
        """Whether a window is mapped, and so on."""
        return Reply(request.GetWindowAttributes(display=self._connection.display, defer=True, window=window))

    def tree(self, window: int) -> Reply:
        """Parent and children of a window, the children from bottom to top."""
        return Reply(request.QueryTree(display=self._connection.display, defer=True, window=window))


class Reply:
    """An answer on its way. Reading it waits for it; a window that is gone gives None."""

    def __init__(self, asked: Any) -> None:
        self._asked = asked

    def get(self) -> Any | None:
        """The answer itself."""
        try:
            self._asked.reply()
        except xerror.XError:
            return None
        return self._asked

    def value(self) -> Value | None:
        """The content of a property; None where the window has none."""
        answer = self.get()
        if answer is None or answer.property_type == X.NONE:
            return None
        size, content = answer.value
        return answer.property_type, size, content

    def numbers(self) -> list[int]:
        """The content of a property of numbers; empty where it holds something else, or nothing."""
        value = self.value()
        if value is None or value[1] != 32:
            return []
        return [int(number) for number in value[2]]

    def number(self) -> int | None:
        """The first number of a property."""
        return next(iter(self.numbers()), None)

    def text(self) -> str | None:
        """The content of a property of text; what is no valid text is shown by replacement characters."""
        value = self.value()
        if value is None or value[1] != 8:
            return None
        raw = bytes(value[2]).split(b"\0", 1)[0]
        return raw.decode("latin-1" if value[0] == _STRING else "utf-8", "replace")


def names(connection: Connection, atoms: Iterable[int], known: dict[int, str]) -> Mapping[int, str]:
    """Names of atoms, in one round trip; `known` remembers them, since an atom keeps its name."""
    asked = {
        atom: request.GetAtomName(display=connection.display, defer=True, atom=atom)
        for atom in dict.fromkeys(atoms)
        if atom not in known and atom != X.NONE
    }
    for atom, reply in asked.items():
        try:
            reply.reply()
        except xerror.XError:
            continue
        name = reply.name
        known[atom] = name.decode("latin-1") if isinstance(name, bytes) else str(name)
    return known
