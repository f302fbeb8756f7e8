"""Where the windows of programs are on Wayland: a program knows its own surfaces only, the compositor where they lie.

Extents count from the corner of a program's surface, which is its window with the shadow it draws around it. Where the
window begins in it is told by nobody; it follows from what is in the window, where that fits exactly.

What is open over a window (menus, lists to choose from) has a surface of its own, and the compositor tells nobody
where. GTK 3 counts it from something that differs from menu to menu; it is believed where the menu then touches what it
was opened from. Whatever does not fit is not placed: nothing here is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .apps import ACCESSIBLE, App
from .bus import Call, Link, first, get
from .cache import windows_of
from .coords import COMPONENT, NOWHERE, WINDOW_LOCAL, Shift, Window, extents, match, shift_of
from .names import name_of
from .popups import Popup
from .roles import COMBO_BOX, MENU
from .shape import Item
from .states import SHOWING, VISIBLE, bits
from .view import Top, View

DEADLINE: Final = 2.0
"""Seconds one question may take."""
INSIDE_MOST: Final = 40
"""Children of a window that are looked at."""
DEPTH_MOST: Final = 5
"""How deep the content of a window may be hidden in it."""
ROOMY: Final = frozenset({"gtk", "Qt"})
"""Toolkits whose content never lies in their shadow."""
CLOSE: Final = 1
"""Points by which programs round."""
BESIDE: Final = 10
"""Points by which a menu may overlap the one it opens from."""


async def learn(
    link: Link,
    app: App,
    tops: Sequence[tuple[str, str, Sequence[int] | None]],
    windows: Sequence[Window],
) -> None:
    """Finds out how wide the shadows of windows are whose surfaces are larger than what the compositor shows.

    Args:
        link: The application's connection.
        app: The application; its `margins` are filled in.
        tops: Path, title and extents of each of its windows.
        windows: The windows of the session.

    Raises:
        Silence, Died, Lost: There was no answer.
    """
    for path, title, told in tops:
        window = match(app, name_of(title, app.toolkit), told, windows)
        if window is None or told is None or told[2] <= 0 or app.margin(told, window.client) is not None:
            continue
        margin = await _margin(link, app, path, told, (int(window.client.width), int(window.client.height)))
        if margin is not None:
            app.learn_margin(told, window.client, margin)


async def _margin(
    link: Link, app: App, path: str, told: Sequence[int], size: tuple[int, int]
) -> tuple[int, int] | None:
    """Where a window of a size begins in its surface: where its content begins, if that ends where the window ends.

    Content that begins in the very corner leaves no room for a shadow, however much of it the compositor cuts off; but
    browser engines count their shadow as content.
    """
    level = [path]
    for depth in range(DEPTH_MOST):
        answers = await link.many([Call(app.bus_name, one, ACCESSIBLE, "GetChildren") for one in level], DEADLINE)
        kids = [kid for at in range(len(level)) for owner, kid in first(answers, at, ()) if owner == app.bus_name]
        boxes = await _shown(link, app, kids[:INSIDE_MOST])
        if not boxes:
            return None
        if depth == 0 and app.toolkit in ROOMY and _corner(list(boxes.values())) == (told[0], told[1]):
            return 0, 0
        found = _fitting(list(boxes.values()), size) if depth == 0 else _whole(list(boxes.values()), size)
        if found is not None:
            return found[0] - told[0], found[1] - told[1]
        level = [kid for kid, box in boxes.items() if box[2] >= size[0] and box[3] >= size[1]]
    return None


async def _shown(link: Link, app: App, paths: Sequence[str]) -> dict[str, Sequence[int]]:
    """Extents of those of some objects that show, by path."""
    calls = [Call(app.bus_name, path, ACCESSIBLE, "GetState") for path in paths] + [
        extents(app, path) for path in paths
    ]
    answers = await link.many(calls, DEADLINE)
    return {
        path: box
        for at, path in enumerate(paths)
        if bits(first(answers, at, [])) & (SHOWING | VISIBLE)
        and (box := _box(answers, at + len(paths)))
        and box[2] > 0
        and box[0] >= 0
        and box[1] >= 0
    }


def _corner(boxes: Sequence[Sequence[int]]) -> tuple[int, int]:
    return min(box[0] for box in boxes), min(box[1] for box in boxes)


def _fitting(boxes: Sequence[Sequence[int]], size: tuple[int, int]) -> tuple[int, int] | None:
    """Where objects begin that lie beside each other and fill a window of a size together; None where they do not."""
    wide, high = size
    lefts = sorted({box[0] for box in boxes if any(abs(b[0] + b[2] - box[0] - wide) <= CLOSE for b in boxes)})
    tops = sorted({box[1] for box in boxes if any(abs(b[1] + b[3] - box[1] - high) <= CLOSE for b in boxes)})
    return (lefts[0], tops[0]) if lefts and tops else None


def _whole(boxes: Sequence[Sequence[int]], size: tuple[int, int]) -> tuple[int, int] | None:
    """Where the one object begins that fills a window of a size; None where none does, or it may be one of several."""
    found = {(box[0], box[1]) for box in boxes if abs(box[2] - size[0]) <= CLOSE and abs(box[3] - size[1]) <= CLOSE}
    return found.pop() if len(found) == 1 else None


async def hang(link: Link, view: View, windows: Sequence[Window]) -> None:
    """Places what is open over the windows of an application: the compositor does not list it.

    Args:
        link: The application's connection.
        view: What was seen of it; its windows are known.
        windows: The windows of the session.

    Raises:
        Silence, Died, Lost: There was no answer.
    """
    app, items = view.app, view.shape.items
    holder = _holder(view.tops, app, windows)
    for top in view.tops:
        if top.window is None and holder is not None and _plain(app, holder.window):
            top.shift = holder.shift
    if app.toolkit != "gtk":
        return
    for path, item in items.items():
        own = [kid for kid in view.shape.kids.get(path, ()) if kid in items and items[kid].mask & SHOWING]
        if item.role != MENU or not own:
            continue
        line = view.shape.line(path)
        around = next((top for top in view.tops if line and top.path == line[-1].path), None)
        if around is None:
            continue
        inner, anchor = _opened(line, own)
        outer = view.shifts.get(anchor, around.shift) if not _of_x(around.window) else NOWHERE
        shift = await _hung(link, app, inner, anchor, outer)
        view.shifts |= dict.fromkeys([*inner, *own], shift)


async def hung_top(link: Link, app: App, windows: Sequence[Window]) -> Shift:
    """The shift of something open over a window that its application tells as a window of its own.

    Args:
        link: The application's connection.
        app: The application.
        windows: The windows of the session.

    Raises:
        Silence, Died, Lost: There was no answer.
    """
    holder, name = holder_of(app, windows), app.bus_name
    if holder is None or not _plain(app, holder):
        return NOWHERE
    tops = await windows_of(link, app, DEADLINE)
    told = await link.many([extents(app, top) for top in tops], DEADLINE)
    named = await link.many([get(name, top, ACCESSIBLE, "Name") for top in tops], DEADLINE)
    for at, top in enumerate(tops):
        box, title = first(told, at, None), str(first(named, at, ""))
        window = match(app, name_of(title, app.toolkit), box, windows)
        if window is not None and window.id == holder.id:
            await learn(link, app, [(top, title, box)], windows)
            return shift_of(app, box, window)
    return NOWHERE


async def hung(link: Link, app: App, line: Sequence[Item], top: Top) -> tuple[int | None, Popup | None]:
    """What an element is in that is open over a window: its place in the line, inmost first; None where it is in none.

    Args:
        link: The application's connection.
        app: The application.
        line: The element and all around it.
        top: Its window.

    Raises:
        Silence, Died, Lost: There was no answer.
    """
    if app.toolkit != "gtk":
        return None, None
    popup: Popup | None = None
    found: int | None = None
    # From the window inwards: a menu that opens from another one lies where that one lies.
    for at in range(len(line) - 2, -1, -1):
        opens = line[at].role == MENU and (at > 0 or line[1].role == COMBO_BOX)
        if not opens:
            continue
        whole = line[at + 1].role == COMBO_BOX
        inner, anchor = _opened(line[at:], [] if whole else await _children(link, app, line[at].path))
        around = popup.shift if popup is not None else NOWHERE if _of_x(top.window) else top.shift
        found = at if whole else at - 1
        popup = Popup(line[found].path, None, await _hung(link, app, inner, anchor, around), None)
    return found, popup


def _plain(app: App, window: Window | None) -> bool:
    """Whether what is open over a window is counted from the corner of that window."""
    return app.toolkit == "Qt" and not _of_x(window)


def _of_x(window: Window | None) -> bool:
    """Whether a window is that of an X program, whose menus are counted from somewhere else again."""
    return window is not None and "xwayland" in window.state


def _opened(line: Sequence[Item], own: Sequence[str]) -> tuple[Sequence[str], str]:
    """What of a menu (the first of a line) is drawn in the surface that is open, and what that was opened from."""
    if len(line) > 1 and line[1].role == COMBO_BOX:
        return [line[0].path], line[1].path
    return own, line[0].path


async def _children(link: Link, app: App, path: str) -> list[str]:
    answer = await link.many([Call(app.bus_name, path, ACCESSIBLE, "GetChildren")], DEADLINE)
    return [kid for owner, kid in first(answer, 0, ()) if owner == app.bus_name]


def holder_of(app: App, windows: Sequence[Window]) -> Window | None:
    """The window over which an application has something open: the one with the keyboard, or its only one."""
    own = [window for window in windows if window.pid == app.pid and window.shown]
    focused = [window for window in own if "focused" in window.state]
    return focused[0] if focused else own[0] if len(own) == 1 else None


def _holder(tops: Sequence[Top], app: App, windows: Sequence[Window]) -> Top | None:
    window = holder_of(app, windows)
    return next(
        (top for top in tops if window is not None and top.window is not None and top.window.id == window.id), None
    )


async def _hung(link: Link, app: App, inner: Sequence[str], anchor: str, shift: Shift) -> Shift:
    """The shift of what lies in something that is open over a window.

    It is told as if the shadow around it were none, so all in it lies further left and up by that shadow: by as much as
    its first objects lie inside its surface.

    Args:
        link: The application's connection.
        app: The application.
        inner: Objects that begin where it begins.
        anchor: What it was opened from.
        shift: The shift of that.

    Returns:
        The shift; none at all where it would not touch what it was opened from.
    """
    paths = inner[:INSIDE_MOST]
    calls = [extents(app, path) for path in (anchor, *paths)]
    calls += [Call(app.bus_name, path, COMPONENT, "GetExtents", "u", (WINDOW_LOCAL,)) for path in paths]
    answers = await link.many(calls, DEADLINE)
    from_box = _box(answers, 0)
    boxes = [
        (outer, own)
        for at in range(len(paths))
        if (outer := _box(answers, 1 + at)) and (own := _box(answers, 1 + len(paths) + at)) and own[2] > 1
    ]
    if not boxes or not from_box or shift.x is None or shift.y is None:
        return NOWHERE
    left, up = min(own[0] for _, own in boxes), min(own[1] for _, own in boxes)
    origin = (boxes[0][0][0] - boxes[0][1][0], boxes[0][0][1] - boxes[0][1][1])
    low = origin[1] + max(own[1] + own[3] for _, own in boxes) - up
    if not _touches(origin, low, from_box):
        return NOWHERE
    return Shift(shift.x - left, shift.y - up)


def _touches(origin: tuple[int, int], low: int, anchor: Sequence[int]) -> bool:
    """Whether something with its upper left corner at a point hangs below another thing, lies over it, or beside it."""
    x, y, width, height = anchor
    over = abs(origin[0] - x) <= CLOSE and origin[1] <= y + height + CLOSE and low >= y - CLOSE
    beside = abs(origin[0] - x - width) <= BESIDE and abs(origin[1] - y) <= BESIDE
    return over or beside


def _box(answers: Sequence[Any], at: int) -> Sequence[int]:
    """Extents among answers; empty where there are none."""
    box: Sequence[int] = first(answers, at, [])
    return box if len(box) == 4 else []
