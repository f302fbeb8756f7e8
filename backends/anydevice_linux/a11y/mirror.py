"""What an application holds, kept up to date by what it tells, where it keeps no cache that could be asked (Qt).

A mirror is believed only while it can be: its connection is the one its events come over, the registry has agreed to
have them sent, and the last whole walk is not long ago. Events arrive before the answers to what is asked after them:
one question to the application is enough to know that everything it has told until then is there. Whoever acts on an
element looks at it afresh all the same.

Only this one application is asked for events: others would begin to talk as well, and a browser engine that starts
while somebody listens to everything keeps half a cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import anyio

from .bus import Call, Link, Trouble
from .shape import Item, Shape

if TYPE_CHECKING:
    from .apps import App

AGE_MOST: Final = 10.0
"""Seconds after which everything is walked again, whatever the events said."""
CHANGES_MOST: Final = 400
"""Changes above which a whole walk is no more work."""
EVENTS: Final = ("object:children-changed", "object:property-change", "object:state-changed", "object:model-changed")
_REGISTRY: Final = ("org.a11y.atspi.Registry", "/org/a11y/atspi/registry", "org.a11y.atspi.Registry")
_BUS: Final = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
_CHANGED: Final = f"type='signal',sender='{_BUS[0]}',member='NameOwnerChanged',arg0='{_REGISTRY[0]}'"


class Mirror:
    """The objects of one application, and what of them is known to have changed since.

    Attributes:
        shape: What it held.
        torn: Objects whose children changed.
        touched: Objects that changed themselves.
    """

    def __init__(self, link: Link, app: App) -> None:
        self._link, self._name = link, app.bus_name
        self._told = self._deaf = False
        self._walked = float("-inf")
        self.shape = Shape()
        self.torn: set[str] = set()
        self.touched: set[str] = set()

    @classmethod
    async def start(cls, link: Link, app: App, deadline: float) -> Mirror:
        """Begins to listen. Where the bus does not let us, the mirror is simply never believed.

        Args:
            link: The application's connection.
            app: The application.
            deadline: Seconds each question may take.

        Raises:
            Lost: The bus is gone.
        """
        mirror = cls(link, app)
        link.listen(mirror._heard)
        rules = (f"type='signal',sender='{app.bus_name}',interface='org.a11y.atspi.Event.Object'", _CHANGED)
        try:
            for rule in rules:
                await link.ask(Call(*_BUS, "AddMatch", "s", (rule,)), deadline)
            calls = [Call(*_REGISTRY, "RegisterEvent", "sass", (event, [], app.bus_name)) for event in EVENTS]
            mirror._told = None not in await link.many(calls, deadline)
        except Trouble:
            if link.lost:
                raise
        return mirror

    def over(self, link: Link) -> bool:
        """Whether its events come over this connection: over another one, or once the registry that was asked for them
        is gone, some may have been missed."""
        return link is self._link and not self._deaf

    def believed(self) -> bool:
        """Whether it may be used, with what is torn and touched read again."""
        young = anyio.current_time() - self._walked < AGE_MOST
        return self._told and young and len(self.torn) + len(self.touched) <= CHANGES_MOST

    def begin(self) -> None:
        """Forgets the changes so far: a whole walk begins."""
        self.torn.clear()
        self.touched.clear()

    def walked(self, shape: Shape) -> None:
        """Takes over the outcome of a whole walk. What changed during it stays to be read again."""
        self.shape = shape
        self._walked = anyio.current_time() if not shape.unread else float("-inf")

    def drop_inside(self, path: str) -> None:
        """Forgets everything inside of an object."""
        items, kids = self.shape.items, self.shape.kids
        todo = list(kids.pop(path, ()))
        while todo:
            at = todo.pop()
            if items.pop(at, None) is not None:
                todo.extend(kids.pop(at, ()))

    def forget(self, path: str) -> None:
        """Forgets an object and everything inside of it."""
        self.drop_inside(path)
        self.shape.items.pop(path, None)

    def known(self, paths: set[str]) -> list[Item]:
        """The objects of these that are in it."""
        return [self.shape.items[path] for path in paths if path in self.shape.items]

    def _heard(self, message: Any) -> None:
        if message.member == "NameOwnerChanged" and message.body and message.body[0] == _REGISTRY[0]:
            self._deaf = True
        if message.sender != self._name or not str(message.interface).startswith("org.a11y.atspi.Event."):
            return
        if message.member in ("ChildrenChanged", "ModelChanged"):
            self.torn.add(message.path)
        else:
            self.touched.add(message.path)
