"""One look at one application, from its objects to what is written in them."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from . import surfaces
from .apps import App
from .bus import Link
from .coords import Window, away, extents, local, match, shift_of
from .measuring import measure
from .names import name_of
from .places import by_geometry, by_state
from .popups import Asked, popups_of
from .reading import read_app
from .roles import DOCUMENTS
from .shape import Item
from .view import Top, View, Wish, details, left, order_menus


async def look(
    link: Link,
    app: App,
    windows: Sequence[Window],
    active: int | None,
    *,
    wish: Wish,
    deadline: float,
    popups: Asked,
) -> View:
    """Looks at an application.

    Args:
        link: Its connection.
        app: The application.
        windows: The windows of the display, the uppermost first.
        active: Id of the one that has the focus.
        wish: What is wanted.
        deadline: Seconds it may take.
        popups: Gives the windows that no manager manages.

    Raises:
        Silence, Died, Lost: It does not answer.
    """
    end = anyio.current_time() + deadline
    shape = await read_app(link, app, deadline * 0.8)
    view = View(app, shape)
    tops = [path for path in shape.kids.get("", ()) if path in shape.items]
    told = await link.many([extents(app, path) for path in tops], left(end))
    if app.wayland:
        named = [(path, shape.items[path].name, box[0] if box else None) for path, box in zip(tops, told, strict=True)]
        await surfaces.learn(link, app, named, windows)
    for path, answer in zip(tops, told, strict=True):
        view.tops.append(_top(app, shape.items[path], answer[0] if answer else None, windows))
    order = {window.id: at for at, window in enumerate(windows)}
    view.tops.sort(key=lambda top: _rank(top, active, order))
    if app.wayland:
        await surfaces.hang(link, view, windows)
    geometric = by_geometry(app)
    if not geometric:
        for top in view.tops:
            known = (top.path, top.hidden)
            if known not in shape.places:
                shape.places[known] = by_state(shape, top.path, hidden=top.hidden)
            view.place |= shape.places[known]
    else:
        view.popups = await popups_of(link, app, shape, popups, left(end))
        await measure(link, view, end)
    await details(link, view, wish, end, geometric=geometric)
    await order_menus(link, view, wish, end)
    return view


def _top(app: App, item: Item, told: Sequence[int] | None, windows: Sequence[Window]) -> Top:
    if told is not None and (told[2] <= 0 or told[3] <= 0):
        told = None
    title = name_of(item.name, app.toolkit)
    window = match(app, title, told, windows)
    shift = shift_of(app, told, window)
    rect = shift.rect(told) if told is not None else None
    if window is not None and (rect is None or not local(app)):
        rect = window.frame
    return Top(item.path, title, window, shift, rect, away(window))


def _rank(top: Top, active: int | None, order: dict[int, int]) -> tuple[int, int]:
    if top.window is None:
        return (1, -1)  # menus and tooltips are no windows to the window manager; they lie above
    return (0, 0) if top.window.id == active else (1, order.get(top.window.id, 1000))


def speaks(view: View) -> bool:
    """Whether a browser engine tells what is in its page, and not only that it has a window."""
    return any(item.role in DOCUMENTS for item in view.shape.items.values()) or len(view.shape.items) > 50
