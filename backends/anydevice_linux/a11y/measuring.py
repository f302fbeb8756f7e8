"""Where the elements of an application are that does not say what shows: asked only as far as something can show."""

from __future__ import annotations

from typing import Final

import anyio

from .bus import Link
from .coords import Shift, extents
from .places import HIDDEN, OFFSCREEN, SHOWN, Around, around_popup, by_rect, judge
from .states import SHOWING, VISIBLE
from .view import View, below

WHOLE: Final = 300
"""Up to so many objects are asked for all at once; of more, level by level, and not inside what is off screen."""


async def measure(link: Link, view: View, end: float) -> None:
    """Fills in the places of a view.

    Args:
        link: The application's connection.
        view: The view; its windows are known.
        end: Time (of the loop) until which it may take.

    Raises:
        Silence, Died, Lost: There was no answer.
    """
    for top in view.tops:
        if top.rect is not None:
            view.rects[top.path] = top.rect
    items = view.shape.items
    visible = [path for path, item in items.items() if item.mask & (VISIBLE | SHOWING)]
    if len(visible) > WHOLE:
        await _by_level(link, view, end)
        return
    shifts: dict[str, Shift] = {}
    for top in view.tops:
        for path in below(view.shape, top.path, ""):
            around = shifts.get(items[path].parent, top.shift)
            shifts[path] = view.popups[path].shift if path in view.popups else around
        del shifts[top.path]
    await _ask(link, view, [(path, shifts[path]) for path in visible if path in shifts], end)
    for top in view.tops:
        view.place |= by_rect(
            view.app, view.shape, top.path, view.rects, top.rect, hidden=top.hidden, popups=view.popups
        )


async def _by_level(link: Link, view: View, end: float) -> None:
    app, items, kids = view.app, view.shape.items, view.shape.kids
    level = [(top.path, Around(HIDDEN if top.hidden else SHOWN, top.rect, 0), top.shift) for top in view.tops]
    while level:
        wanted = [
            (path, shift) for path, around, shift in level if around.role and items[path].mask & (VISIBLE | SHOWING)
        ]
        await _ask(link, view, wanted, end)
        deeper: list[tuple[str, Around, Shift]] = []
        for path, around, shift in level:
            own = kids.get(path, ())
            outer = around_popup(view.popups[path], around) if path in view.popups else around
            place, inner = judge(app, items[path], view.rects.get(path), outer, parent=bool(own))
            view.place[path] = place
            if place in (HIDDEN, OFFSCREEN):
                _same_inside(view, path, place)
            else:
                deeper.extend(
                    (kid, inner, view.popups[kid].shift if kid in view.popups else shift)
                    for kid in own
                    if kid not in view.place
                )
        level = deeper


def _same_inside(view: View, path: str, place: str) -> None:
    """What is inside of something that does not show does not show either."""
    items, kids = view.shape.items, view.shape.kids
    todo = [(kid, place) for kid in kids.get(path, ())]
    while todo:
        at, around = todo.pop()
        if at in view.place:
            continue
        own = around if items[at].mask & (VISIBLE | SHOWING) else HIDDEN
        view.place[at] = own
        todo.extend((kid, own) for kid in kids.get(at, ()))


async def _ask(link: Link, view: View, wanted: list[tuple[str, Shift]], end: float) -> None:
    left = max(0.01, end - anyio.current_time())
    answers = await link.many([extents(view.app, path) for path, _ in wanted], left)
    for (path, shift), answer in zip(wanted, answers, strict=True):
        rect = shift.rect(answer[0]) if answer else None
        if rect is not None:
            view.rects[path] = rect
