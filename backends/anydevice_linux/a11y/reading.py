"""Reading one application whole, by the shortest road its toolkit offers."""

from __future__ import annotations

import anyio

from .apps import ACCESSIBLE, App
from .bus import Link, first, get
from .cache import items_of, read_cache, windows_of
from .catching_up import Reader
from .roles import MENU, WINDOW
from .shape import Shape, shape_of
from .walk import NODES_MOST, Walker


async def read_app(link: Link, app: App, deadline: float, *, nodes: int = NODES_MOST) -> Shape:
    """All objects of an application; what did not fit into the budgets is counted in `Shape.unread`.

    Args:
        link: Its connection.
        app: The application.
        deadline: Seconds it may take.
        nodes: Objects at most.

    Raises:
        Silence: It does not answer at all.
        Died, Lost: It or the bus is gone.
    """
    end = anyio.current_time() + deadline
    if app.toolkit == "Qt":
        shape = await Reader(link, app, end, nodes).read()
    else:
        rows = await read_cache(link, app, deadline)
        windows = await windows_of(link, app, max(0.01, end - anyio.current_time()))
        if app.shape is not None and app.told == (rows, windows):
            return app.shape
        shape, holes = shape_of(items_of(app, rows), windows)
        app.told = (rows, list(windows)) if not holes and len(rows) <= nodes else None
        if holes:
            await Walker(link, app, shape, end, nodes).fill(holes)
        if await _bring_home(link, app, shape, max(0.01, end - anyio.current_time())):
            app.told = None
    app.shape = shape
    return shape


async def _bring_home(link: Link, app: App, shape: Shape, deadline: float) -> bool:
    """Puts the list of an open combo box back into it: the cache has it in the window that it is drawn in.

    Returns whether there was anything that may have to be put back.
    """
    items, kids = shape.items, shape.kids
    away = [
        (top, menu)
        for top in kids.get("", ())
        if top in items and items[top].role == WINDOW
        for menu in kids.get(top, ())
        if items[menu].role == MENU
    ]
    if not away:
        return False
    answers = await link.many([get(app.bus_name, menu, ACCESSIBLE, "Parent") for _, menu in away], deadline)
    for at, (top, menu) in enumerate(away):
        _, home = first(answers, at, ("", ""))
        if home == top or home not in items:
            continue
        items[menu].parent = home
        if menu not in kids.setdefault(home, []):
            kids[home].append(menu)
        kids[top].remove(menu)
        if not kids[top]:
            kids[""].remove(top)
            del items[top]
    return True
