"""Bringing an element into view: by the toolkit's own means, else by the scroll bars around it, else by the wheel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import anyio
from dbus_fast import Variant

from anydevice.driver import Acted
from anydevice_schemas import Point

from .apps import App
from .bus import PROPERTIES, Call, Link, Refusal, first, get
from .coords import COMPONENT, extents
from .doing import DEADLINE, until
from .hands import Hands
from .near import Near
from .places import clips
from .reading import read_app
from .roles import SCROLL_BAR
from .shape import VALUE, Shape
from .states import SHOWING, VERTICAL
from .view import VALUE_FACE, below

ANYWHERE: Final = 6
PATIENCE: Final = 0.5
"""Seconds a toolkit may take to scroll."""
STEPS_MOST: Final = 40
"""How often a scroll bar is set until what is looked for shows."""
PAGE: Final = 0.8
"""Part of what shows that one step towards an element of unknown place moves by, at least."""
TURNS_MOST: Final = 60
SETTLE: Final = 0.02
READ: Final = 4.0

Look = Callable[[], Awaitable[Near]]


async def reveal(link: Link, app: App, look: Look, hands: Hands | None) -> Acted:
    """Scrolls an element into view.

    Args:
        link: Its application's connection.
        app: Its application.
        look: Takes a fresh look at it.
        hands: A wheel, where there is one.

    Returns:
        What was done; verified if some of the element was seen to show.
    """
    near = await look()
    if near.visible is not None:
        return Acted("none", verified=True, data={"scrolled": False})
    if near.top.hidden and near.window is not None and hands is not None:
        await hands.front(near.window)
        near, shown = await until(look, lambda now: now.visible is not None, PATIENCE)
        if shown:
            return Acted("window", verified=True, data={"scrolled": False})
    if app.toolkit not in ("gtk", "GTK", "Qt"):  # those three refuse it, or accept and do nothing
        call = Call(app.bus_name, near.item.path, COMPONENT, "ScrollTo", "u", (ANYWHERE,))
        accepted = first(await link.many([call], DEADLINE), 0, False)
        if accepted:
            near, shown = await until(look, lambda now: now.visible is not None, PATIENCE)
            if shown:
                return Acted("scroll-into-view", verified=True, data={"scrolled": True})
    moved = False
    for scroller in [item for item in near.line[1:] if clips(app, item)]:
        for bar in await _bars(link, app, scroller.path):
            moved = True
            near = await _by_bar(link, app, look, scroller.path, bar)
            if near.visible is not None:
                return Acted("scroll-bar", verified=True, data={"scrolled": True})
    if hands is not None:
        return await _by_wheel(look, near, hands)
    return Acted("scroll-bar" if moved else "none", verified=False, data={"scrolled": moved})


@dataclass(slots=True)
class _Bar:
    path: str
    vertical: bool
    least: float
    most: float
    value: float


async def _bars(link: Link, app: App, scroller: str) -> list[_Bar]:
    """The scroll bars of an area that can be moved, the vertical one first."""
    shape = app.shape
    if shape is None or scroller not in shape.items:
        shape = await read_app(link, app, READ)
    near = [kid for kid in shape.kids.get(scroller, ())]
    near += [inner for kid in near for inner in shape.kids.get(kid, ())]
    found = [shape.items[path] for path in near if shape.items[path].role == SCROLL_BAR]
    bars: list[_Bar] = []
    for item in found:
        if not item.faces & VALUE:
            continue
        names = ("MinimumValue", "MaximumValue", "CurrentValue")
        calls = [get(app.bus_name, item.path, VALUE_FACE, name) for name in names]
        told = await link.many([*calls, extents(app, item.path)], DEADLINE)
        box: list[int] = first(told, len(calls), [])
        upright = box[3] > box[2] if len(box) == 4 and box[2] != box[3] else bool(item.mask & VERTICAL)
        least, most, value = (float(first(told, at, 0.0)) for at in range(3))
        if most > least:
            bars.append(_Bar(item.path, upright, least, most, value))
    return sorted(bars, key=lambda bar: not bar.vertical)


async def _by_bar(link: Link, app: App, look: Look, scroller: str, bar: _Bar) -> Near:
    """Moves a scroll bar until the element shows: there where its place is known, else towards it.

    Never much further than it is thought to be: a list that makes its rows as they come near would drop it.
    """
    low, high = bar.least, bar.most
    near = await look()
    value = bar.value
    for _ in range(STEPS_MOST):
        way, guess = await _way(link, app, near, scroller, bar)
        if way == 0:
            return near
        low, high = (max(low, value), high) if way > 0 else (low, min(high, value))
        value = guess if guess is not None and low < guess < high else (low + high) / 2
        if way > 0 and high - low < 1:
            value = high
        call = Call(app.bus_name, bar.path, PROPERTIES, "Set", "ssv", (VALUE_FACE, "CurrentValue", Variant("d", value)))
        try:
            await link.ask(call, DEADLINE)
        except Refusal:
            return near
        bar.value = value
        await anyio.sleep(SETTLE)
        near, shown = await until(look, lambda now: now.visible is not None, 4 * SETTLE)
        if shown or high - low < 0.5:
            return near
    return near


async def _way(link: Link, app: App, near: Near, scroller: str, bar: _Bar) -> tuple[int, float | None]:
    """Which way to move a bar (1: towards its end), and a good guess where to; 0 where it would not help."""
    around = near.rects.get(scroller) or near.clip
    if near.rect is not None and around is not None:
        mine, area = (near.rect.center.y, around.center.y) if bar.vertical else (near.rect.center.x, around.center.x)
        if near.rect.width > 0 and near.rect.height > 0:
            apart = mine - area
            return (0, None) if abs(apart) < 1 else (1 if apart > 0 else -1, bar.value + apart)
    # The toolkit does not say where it is: judged by its place among what shows now.
    shape: Shape = await read_app(link, app, READ)
    order = below(shape, near.top.path, scroller)
    if near.item.path not in order:
        return 0, None
    mine_at = order.index(near.item.path)
    leaves = [at for at, path in enumerate(order) if shape.items[path].mask & SHOWING and not shape.kids.get(path)]
    leaves = [at for at in leaves if shape.items[order[at]].role != SCROLL_BAR]
    if not leaves:
        return 1, None
    clip = near.clip
    page = (clip.height if bar.vertical else clip.width) if clip is not None else (bar.most - bar.least) / 10
    each = page / len(leaves)
    if mine_at > leaves[-1]:
        return 1, bar.value + max(PAGE * page, (mine_at - leaves[-1]) * each)
    if mine_at < leaves[0]:
        return -1, bar.value - max(PAGE * page, (leaves[0] - mine_at) * each)
    return 0, None


async def _by_wheel(look: Look, near: Near, hands: Hands) -> Acted:
    """Turns the wheel over the area, towards the element as far as that is known, else down and then up."""
    last = near
    for direction in (1, -1):
        for _ in range(TURNS_MOST):
            area = last.clip
            if area is None or area.width <= 0 or area.height <= 0:
                return Acted("none", verified=False)
            way = direction
            if last.rect is not None and last.rect.height > 0:
                way = 1 if last.rect.center.y > area.center.y else -1
                if way != direction:
                    break
            await hands.wheel(Point(area.center.x, area.center.y), 0.0, way * area.height * 0.6)
            last, shown = await until(look, lambda now: now.visible is not None, 4 * SETTLE)
            if shown:
                return Acted("wheel", verified=True, data={"scrolled": True})
    return Acted("wheel", verified=False, data={"scrolled": True})
