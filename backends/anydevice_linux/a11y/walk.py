"""Walking an application object by object, where its cache does not know: in whole levels, within budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio

from .apps import ACCESSIBLE, App
from .bus import Call, Link, Refusal, Silence, first, get
from .shape import ROOT, Item, Shape, faces_of
from .states import bits

NODES_MOST: Final = 25_000
"""Objects of one application that are read at most."""
BROAD: Final = 200
"""Children that are asked for in one question; of more they are fetched one by one, as far as the budget goes."""
NULL: Final = "/org/a11y/atspi/null"


class Walker:
    """Fills the holes of a shape.

    Args:
        link: The application's connection.
        app: The application.
        shape: What is known.
        end: Time (of the loop) at which to stop.
        nodes: Objects at most.
    """

    def __init__(self, link: Link, app: App, shape: Shape, end: float, nodes: int = NODES_MOST) -> None:
        self._link, self._app, self._shape, self._end, self._nodes = link, app, shape, end, nodes

    async def fill(self, holes: Sequence[str]) -> None:
        """Reads what is below these objects (and the objects themselves, where they are not known).

        Raises:
            Died, Lost: The application or the bus is gone. Time that is up is counted, not raised.
        """
        shape = self._shape
        try:
            unknown = [path for path in holes if path not in shape.items]
            if unknown:
                await self._meet([(path, "", index) for index, path in enumerate(unknown)])
            level = [path for path in holes if path in shape.items]
            seen = set(level)
            while level:
                found = await self._below(level)
                new = [entry for entry in found if entry[0] not in shape.items]
                room = max(0, self._nodes - len(shape.items))
                shape.unread += len(new) - min(len(new), room)
                await self._meet(new[:room])
                # What was known already keeps its own children, unless those are a hole too (then it is in the list).
                level = [path for path, _, _ in new[:room] if path in shape.items and path not in seen]
                seen.update(level)
        except Silence:
            shape.unread += 1
        for parent, paths in list(shape.kids.items()):
            if any(path not in shape.items for path in paths):
                shape.kids[parent] = [path for path in paths if path in shape.items]

    async def meet_again(self, items: Sequence[Item]) -> None:
        """Asks known objects how they are now; those that are gone are forgotten.

        Raises:
            Silence, Died, Lost: There was no answer.
        """
        entries = [(item.path, item.parent, item.index) for item in items]
        for item in items:
            self._shape.items.pop(item.path, None)
        await self._meet(entries)

    def _left(self) -> float:
        return max(0.01, self._end - anyio.current_time())

    async def _below(self, parents: Sequence[str]) -> list[tuple[str, str, int]]:
        """The children of these: path, parent's path, place."""
        name, shape = self._app.bus_name, self._shape
        out: list[tuple[str, str, int]] = []
        few: list[str] = []
        broad: list[Call] = []
        asked: list[tuple[str, int]] = []
        for path in parents:
            count = shape.items[path].count
            if count == 0:
                shape.kids[path] = []
            elif count > BROAD:
                most = max(0, self._nodes - len(shape.items))
                shape.unread += max(0, count - most)
                for index in range(min(count, most)):
                    broad.append(Call(name, path, ACCESSIBLE, "GetChildAtIndex", "i", (index,)))
                    asked.append((path, index))
            else:
                few.append(path)
        answers = await self._link.many([Call(name, path, ACCESSIBLE, "GetChildren") for path in few], self._left())
        for path, answer in zip(few, answers, strict=True):
            children = list(dict.fromkeys(child for owner, child in (answer[0] if answer else ()) if owner == name))
            shape.kids[path] = children
            out.extend((child, path, index) for index, child in enumerate(children))
        if broad:
            singles = await self._link.many(broad, self._left())
            for (path, index), answer in zip(asked, singles, strict=True):
                owner, child = answer[0] if answer else ("", NULL)
                if owner != name or child == NULL:
                    continue
                if index == 0 or path not in shape.kids:
                    shape.kids[path] = []
                shape.kids[path].append(child)
                out.append((child, path, index))
        for child, parent, index in out:
            known = shape.items.get(child)
            if known is not None:
                known.parent, known.index = parent, index
        return out

    async def _meet(self, entries: Sequence[tuple[str, str, int]]) -> None:
        """Asks objects who they are. One that is listed twice (Chromium's address bar does so) is asked once."""
        name = self._app.bus_name
        entries = list({entry[0]: entry for entry in entries}.values())
        fixed = self._app.kinds
        calls: list[Call] = []
        for path, _, _ in entries:
            calls.append(get(name, path, ACCESSIBLE, "Name"))
            calls.append(get(name, path, ACCESSIBLE, "ChildCount"))
            calls.append(Call(name, path, ACCESSIBLE, "GetState"))
            if path not in fixed:
                calls.append(Call(name, path, ACCESSIBLE, "GetRole"))
                calls.append(Call(name, path, ACCESSIBLE, "GetInterfaces"))
                calls.append(get(name, path, ACCESSIBLE, "Description"))
        answers = await self._link.many(calls, self._left())
        at = 0
        for path, parent, index in entries:
            kind = fixed.get(path)
            mask = answers[at + 2]
            if kind is None:
                if mask is not None:
                    kind = fixed[path] = (
                        int(first(answers, at + 3, 0)),
                        faces_of(first(answers, at + 4, ())),
                        str(first(answers, at + 5, "")),
                    )
                step = 6
            else:
                step = 3
            if mask is not None and kind is not None:  # else it is gone by now
                role, faces, about = kind
                label = str(first(answers, at, ""))
                count = int(first(answers, at + 1, 0))
                self._shape.items[path] = Item(path, parent, index, count, faces, label, role, about, bits(mask[0]))
            at += step


async def read_one(link: Link, bus_name: str, path: str, deadline: float) -> Item:
    """One object as it is now, asked directly.

    Raises:
        Refusal: There is no such object (any more).
        Silence, Died, Lost: There was no answer.
    """
    calls = [
        Call(bus_name, path, ACCESSIBLE, "GetState"),
        Call(bus_name, path, ACCESSIBLE, "GetRole"),
        Call(bus_name, path, ACCESSIBLE, "GetInterfaces"),
        get(bus_name, path, ACCESSIBLE, "Name"),
        get(bus_name, path, ACCESSIBLE, "Description"),
        get(bus_name, path, ACCESSIBLE, "ChildCount"),
        get(bus_name, path, ACCESSIBLE, "Parent"),
        Call(bus_name, path, ACCESSIBLE, "GetIndexInParent"),
    ]
    answers = await link.many(calls, deadline)
    if answers[0] is None or answers[1] is None:
        raise Refusal("no such object")
    owner, parent = first(answers, 6, ("", NULL))
    return Item(
        path,
        parent if owner == bus_name and parent not in (ROOT, NULL) else "",
        int(first(answers, 7, -1)),
        int(first(answers, 5, 0)),
        faces_of(first(answers, 2, ())),
        str(first(answers, 3, "")),
        int(first(answers, 1, 0)),
        str(first(answers, 4, "")),
        bits(first(answers, 0, [])),
    )
