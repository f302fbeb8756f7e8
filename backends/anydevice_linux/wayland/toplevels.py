"""Windows as the foreign-toplevel protocol tells them: titles, what belongs to what, and what has the keyboard."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Final

from .compositor import Compositor
from .connection import Thing
from .protocol import TOPLEVEL, TOPLEVEL_MANAGER
from .session import Session

STATES: Final = {0: "maximized", 1: "minimized", 2: "activated", 3: "fullscreen"}


@dataclass(slots=True, eq=False)
class Toplevel:
    """A window.

    Attributes:
        thing: The object.
        title, app: Untrusted text.
        state: Of `STATES`.
        parent: The window it is a dialog of.
    """

    thing: Thing
    title: str = ""
    app: str = ""
    state: frozenset[str] = frozenset()
    parent: Toplevel | None = field(default=None, repr=False)


ToplevelList = list[Toplevel]


class Toplevels:
    """The windows of a compositor, kept up to date by what it tells."""

    def __init__(self, compositor: Compositor) -> None:
        self._compositor = compositor
        self._found: dict[int, Toplevel] | None = None

    async def list(self) -> ToplevelList:
        """The windows as they are now.

        Raises:
            AnydeviceError: As `Compositor.do`.
        """
        return await self._compositor.do(self._read)

    # --- in the compositor's thread ----------------------------------------------------------------------

    def _read(self, session: Session) -> ToplevelList:
        if self._found is None:
            self._found = {}
            manager = session.take(TOPLEVEL_MANAGER, "windows")
            manager.hears["toplevel"] = lambda id: self._add(session, id)
            session.connection.settle()  # it tells them once it was taken
        session.connection.settle()
        return [*self._found.values()]

    def _add(self, session: Session, id: int) -> None:
        assert self._found is not None
        found = self._found
        thing = session.connection.adopt(id, TOPLEVEL)
        toplevel = found[id] = Toplevel(thing)

        def title(text: str) -> None:
            toplevel.title = text

        def app_id(text: str) -> None:
            toplevel.app = text

        def state(numbers: bytes) -> None:
            known = struct.unpack(f"={len(numbers) // 4}I", numbers)
            toplevel.state = frozenset(STATES[number] for number in known if number in STATES)

        def parent(id: int) -> None:
            toplevel.parent = found.get(id)

        def closed() -> None:
            found.pop(id, None)
            session.connection.ask(thing, "destroy")

        thing.hears = {"title": title, "app_id": app_id, "state": state, "parent": parent, "closed": closed}
