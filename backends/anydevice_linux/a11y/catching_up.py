"""Reading an application that keeps no cache (Qt): what is remembered of it, with what has changed read again.

Its events tell which objects changed; that some came or went they tell only sometimes (a row of a list, a widget that
is deleted), so whatever holds others is asked for its children each time. That one of several is no longer the chosen
one they do not tell at all, so those are looked at each time as well. Both are few of all objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio

from .apps import ACCESSIBLE, App
from .bus import Call, Link, first
from .cache import windows_of
from .mirror import Mirror
from .roles import MENUS
from .shape import UNKNOWN, Item, Shape, shape_of
from .states import SHOWING
from .walk import BROAD, Walker

LEAVES: Final = frozenset({7, 27, 29, 32, 35, 37, 40, 42, 43, 44, 48, 50, 51, 52, 56, 57, 58, 61, 62, 79, 88, 91, 130})
"""Roles that hold others only if they say so."""
FICKLE: Final = frozenset({8, 11, 32, 37, 38, 44, 45, 56, 91}) | MENUS
"""Roles of which one is chosen at a time, that are named after the one chosen, that a list re-uses, or that open."""
FICKLE_MOST: Final = 200
FILLER: Final = 20


class Reader:
    """One reading of such an application.

    Args:
        link: Its connection.
        app: The application.
        end: Time (of the loop) until which it may take.
        nodes: Objects at most.
    """

    def __init__(self, link: Link, app: App, end: float, nodes: int) -> None:
        self._link, self._app, self._end, self._nodes = link, app, end, nodes

    async def read(self) -> Shape:
        """All its objects.

        Raises:
            Silence, Died, Lost: It does not answer.
        """
        mirror = self._app.mirror
        if mirror is None or not mirror.over(self._link):
            mirror = self._app.mirror = await Mirror.start(self._link, self._app, self._left())
        windows = await windows_of(self._link, self._app, self._left())
        if mirror.believed() and await self._catch_up(mirror, windows):
            return mirror.shape
        mirror.begin()
        shape, holes = shape_of({}, windows)
        await self._walker(shape).fill(holes)
        mirror.walked(shape)
        return shape

    async def _catch_up(self, mirror: Mirror, windows: Sequence[str]) -> bool:
        """Reads what changed; False where not all of it could be read."""
        torn, touched = set(mirror.torn), set(mirror.touched)
        mirror.begin()
        shape = mirror.shape
        before = shape.unread
        for gone in set(shape.kids.get("", ())).difference(windows):
            mirror.forget(gone)
        shape.kids[""] = list(windows)
        walker = self._walker(shape)
        new = [path for path in windows if path not in shape.items]
        if new:
            await walker.fill(new)
        fickle = [item.path for item in shape.items.values() if item.role in FICKLE or _unborn(item)][:FICKLE_MOST]
        for path in fickle:
            if _unborn(shape.items[path]):
                self._app.kinds.pop(path, None)
        await walker.meet_again(mirror.known(torn | touched | set(fickle)))
        # What is in a menu says nothing when the menu opens and it comes to show.
        menus = [item.path for item in shape.items.values() if item.role in MENUS and item.mask & SHOWING]
        await walker.meet_again(mirror.known({kid for menu in menus for kid in shape.kids.get(menu, ())}))
        # A level of holders may bring new ones to light; those are walked whole, so once is enough.
        await self._children(mirror, walker, torn)
        shape.unread = max(0, shape.unread - before)
        return shape.unread == 0

    async def _children(self, mirror: Mirror, walker: Walker, torn: set[str]) -> None:
        """Asks everything that holds others for its children, and reads those that are new."""
        shape, name = mirror.shape, self._app.bus_name
        holders = [item for item in shape.items.values() if _holds(item, shape)]
        small = [item for item in holders if len(shape.kids.get(item.path, ())) <= BROAD]
        answers = await self._link.many(
            [Call(name, item.path, ACCESSIBLE, "GetChildren") for item in small], self._left()
        )
        holes: list[str] = []
        for at, item in enumerate(small):
            if answers[at] is None:
                continue
            now = [path for owner, path in first(answers, at, ()) if owner == name]
            if now == shape.kids.get(item.path, []):
                continue
            for gone in set(shape.kids.get(item.path, ())).difference(now):
                mirror.forget(gone)
            item.count = len(now)
            holes.append(item.path)
        for item in holders:
            known = len(shape.kids.get(item.path, ()))
            if known > BROAD and (item.path in torn or item.count not in (UNKNOWN, known)):
                mirror.drop_inside(item.path)
                holes.append(item.path)
        holes = [path for path in holes if path in shape.items]
        if holes:
            await walker.fill(holes)

    def _walker(self, shape: Shape) -> Walker:
        return Walker(self._link, self._app, shape, self._end, self._nodes)

    def _left(self) -> float:
        return max(0.01, self._end - anyio.current_time())


def _unborn(item: Item) -> bool:
    """Whether an object may have been met while it was made: Qt 5 then says of a text that it is a plain box."""
    return item.role == FILLER and bool(item.name)


def _holds(item: Item, shape: Shape) -> bool:
    return item.count != 0 or item.role not in LEAVES or bool(shape.kids.get(item.path))
