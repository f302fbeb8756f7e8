"""What lies over an element: a dialog of its app, something drawn above it in its window, or another window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio

from anydevice_schemas import Point

from .apps import ACCESSIBLE, App
from .bus import Call, Link, first, get
from .cache import windows_of
from .coords import COMPONENT, Shift, Window, Windows, extents, frame_of
from .keys import Key
from .names import name_of
from .near import DEADLINE, Near
from .roles import COMBO_BOX, DOCUMENTS, MENUS, VIEWPORT, role_of
from .states import MODAL, SHOWING, VISIBLE, bits
from .walk import NULL

SIBLINGS_MOST: Final = 64
"""Containers with more children are lists; nothing in them is drawn over its neighbours."""
FILLER: Final = 20
"""A box that only arranges; input goes through it."""
HIT_PAUSE: Final = 0.02
"""Seconds after which a browser engine that was asked once knows better what is at a point."""
HITS_MOST: Final = 3
DEPTH_MOST: Final = 60
INSIDE_MOST: Final = 8
"""How far inside of an element what lies at a point of it is looked for."""


@dataclass(slots=True, frozen=True)
class Cover:
    """What lies over an element at a point.

    Attributes:
        text: Role and name; untrusted.
        key: Its key, where it has one.
        outside: It belongs to another window that does not keep input from the element's own.
    """

    text: str
    key: str | None = None
    outside: bool = False


async def cover_of(link: Link, near: Near, point: Point, windows: Windows) -> Cover | None:
    """What lies over an element at a point; None where input for it would reach it.

    Args:
        link: The connection of its application.
        near: The element.
        point: Where.
        windows: The windows of the display.

    Raises:
        Silence, Died, Lost: The application does not answer.
    """
    modal = await modal_over(link, near, near.windows)
    if modal is not None:
        return modal
    other = await _window_over(near, point, windows)
    if other is not None:
        return other
    if near.app.toolkit == "Chromium" and any(item.role in DOCUMENTS for item in near.line):
        return await _hit_over(link, near, point)
    return await _drawn_over(link, near, point)


async def modal_over(link: Link, near: Near, windows: Sequence[Window]) -> Cover | None:
    """A dialog of the same application that keeps input from the element's window: it says so itself, or its window."""
    app, name = near.app, near.app.bus_name
    others = [path for path in await windows_of(link, app, DEADLINE) if path != near.top.path]
    if not others:
        return None
    own = near.window.id if near.window is not None else None
    titles = {w.title.strip() for w in windows if w.pid == app.pid and w.id != own and "modal" in w.state}
    calls = [Call(name, path, ACCESSIBLE, "GetState") for path in others]
    told = await link.many(calls + [get(name, path, ACCESSIBLE, "Name") for path in others], DEADLINE)
    for at, path in enumerate(others):
        mask, title = bits(first(told, at, [])), str(first(told, at + len(others), "")).strip()
        if mask & SHOWING and (mask & MODAL or title in titles):
            return await _described(link, app, path, top=True)
    return None


async def _window_over(near: Near, point: Point, windows: Windows) -> Cover | None:
    """Another window at the point."""
    found = await windows.at(point)
    own = near.drawn_in
    if found is None or found.id == own:
        return None
    if near.app.wayland and (own is None or near.popup is not None):
        return None  # what is open over a window is no window to the compositor, and lies above all of them
    if own is None and found.pid == near.app.pid:
        return None  # a menu or tooltip: it is no window to the window manager, so nothing finer can be said
    if found.pid == near.app.pid and near.line[-1].path == near.top.path and _is_popup(near, found):
        return None
    name = found.title.strip()
    return Cover(f"window {name}".strip(), outside=True)


def _is_popup(near: Near, found: Window) -> bool:
    """Whether the element is in a menu that hangs on the window but is drawn in a window of its own."""
    if not any(item.role in MENUS or item.role == COMBO_BOX for item in near.line[1:]):
        return False
    return near.rect is not None and found.frame.intersect(near.rect) is not None


async def _drawn_over(link: Link, near: Near, point: Point) -> Cover | None:
    """Something of the same window that is drawn after the element or what holds it, and contains the point."""
    app, name = near.app, near.app.bus_name
    # What is in an open menu is drawn in a window of its own: nothing outside of the menu lies over it.
    inner_most = next((at for at, item in enumerate(near.inside) if at and item.role in MENUS), len(near.inside) - 1)
    line = [item.path for item in near.inside[: inner_most + 1]]
    around = line[1:]
    lists = await link.many([get(name, path, ACCESSIBLE, "ChildCount") for path in around], DEADLINE)
    small = [
        (inner, outer)
        for at, (inner, outer) in enumerate(zip(line, around, strict=False))
        if 1 < int(first(lists, at, 0)) <= SIBLINGS_MOST
    ]
    answers = await link.many([Call(name, outer, ACCESSIBLE, "GetChildren") for _, outer in small], DEADLINE)
    later: list[str] = []
    for (inner, _), answer in zip(small, answers, strict=True):
        kids = [path for _, path in (answer[0] if answer else ())]
        if inner in kids:
            later.extend(kids[kids.index(inner) + 1 :])
    if not later:
        return None
    calls = [Call(name, path, ACCESSIBLE, "GetState") for path in later] + [extents(app, path) for path in later]
    told = await link.many(calls, DEADLINE)
    for at, path in reversed(list(enumerate(later))):
        state, box = told[at], told[at + len(later)]
        if not state or not box or not _shows(bits(state[0]), app):
            continue
        if app.toolkit == "gtk" and bits(state[0]) & MODAL:
            return await _described(link, app, path)  # a popover: whatever is pressed beside it only closes it
        rect = near.shift.rect(box[0])
        if rect is not None and rect.contains(point):
            hit = await deepest(link, app, near.shift, path, point)
            # GTK 3 tells a popover beside the rest of its window, and once more in what it hangs on.
            if hit is not None and not await _belongs(link, near, hit):
                return await _described(link, app, hit)
    return None


async def _belongs(link: Link, near: Near, path: str) -> bool:
    """Whether an object is the element, around it or inside of it."""
    around, name = {item.path for item in near.line}, near.app.bus_name
    if path in around:
        return True
    for _ in range(INSIDE_MOST):
        answers = await link.many([get(name, path, ACCESSIBLE, "Parent")], DEADLINE)
        owner, path = first(answers, 0, ("", NULL))
        if owner != name or path == NULL:
            return False
        if path == near.item.path:
            return True
    return False


def _shows(mask: int, app: App) -> bool:
    return bool(mask & (VISIBLE if app.toolkit == "GTK" else SHOWING))


async def deepest(link: Link, app: App, shift: Shift, path: str, point: Point) -> str | None:
    """The inmost object that shows at a point inside of one that contains it.

    Args:
        link: The application's connection.
        app: The application.
        shift: How extents in the window map to the screen.
        path: Where to begin.
        point: Where to look.

    Returns:
        Its path; None where there is nothing but boxes that arrange.
    """
    name = app.bus_name
    at, solid = path, None
    for _ in range(DEPTH_MOST):
        known = await link.many(
            [Call(name, at, ACCESSIBLE, "GetRole"), get(name, at, ACCESSIBLE, "ChildCount")], DEADLINE
        )
        role, count = int(first(known, 0, 0)), int(first(known, 1, 0))
        if role != FILLER:
            solid = at
        if count > SIBLINGS_MOST or (role in DOCUMENTS and app.toolkit == "Chromium"):
            # The toolkit knows its own lists better than a look at every one of their items.
            return await sure_point(link, app, shift, at, point) or solid
        if count <= 0:
            break
        listed = await link.many([Call(name, at, ACCESSIBLE, "GetChildren")], DEADLINE)
        kids = [kid for owner, kid in first(listed, 0, ()) if owner == name]
        told = await link.many(
            [Call(name, kid, ACCESSIBLE, "GetState") for kid in kids] + [extents(app, kid) for kid in kids], DEADLINE
        )
        inner = None
        nowhere: list[str] = []
        for index, kid in enumerate(kids):
            state, box = told[index], told[index + len(kids)]
            rect = shift.rect(box[0]) if box else None
            if state and _shows(bits(state[0]), app) and rect is not None and rect.contains(point):
                inner = kid  # what comes later lies above
            elif rect is None and state and bits(state[0]) & VISIBLE:
                nowhere.append(kid)
        if inner is None and nowhere:
            roles = await link.many([Call(name, kid, ACCESSIBLE, "GetRole") for kid in nowhere], DEADLINE)
            inner = next((kid for index, kid in enumerate(nowhere) if first(roles, index, 0) == VIEWPORT), None)
        if inner is None:
            break
        at = inner
    return solid


async def _hit_over(link: Link, near: Near, point: Point) -> Cover | None:
    """What a browser engine finds at a point, where that is neither in the element nor around it."""
    app = near.app
    document = next(item.path for item in reversed(near.line) if item.role in DOCUMENTS)
    around = {item.path for item in near.line}
    hit: str | None = None
    for attempt in range(2):
        hit = await sure_point(link, app, near.top.shift, document, point)
        if hit is None or hit in around:
            return None
        up = hit
        for _ in range(DEPTH_MOST):
            owner, up = await link.value(get(app.bus_name, up, ACCESSIBLE, "Parent"), DEADLINE) or ("", NULL)
            if up == near.item.path:
                return None
            if owner != app.bus_name or up == NULL or up in around:
                break
        if attempt == 0:
            await anyio.sleep(HIT_PAUSE)
    assert hit is not None
    return await _described(link, app, hit)


async def sure_point(link: Link, app: App, shift: Shift, start: str, point: Point) -> str | None:
    """As `at_point`, again until what is found contains the point: browser engines first answer from memory."""
    for attempt in range(HITS_MOST):
        if attempt:
            await anyio.sleep(HIT_PAUSE)
        hit = await at_point(link, app, shift, start, point)
        if hit is None:
            return None
        box = await link.many([extents(app, hit)], DEADLINE)
        rect = shift.rect(box[0][0]) if box[0] else None
        if rect is not None and rect.contains(point):
            return hit
    return None


async def at_point(link: Link, app: App, shift: Shift, start: str, point: Point) -> str | None:
    """Path of the inmost object at a point that a toolkit finds, beginning from one; None where it finds none."""
    name, (x, y) = app.bus_name, shift.inward(point)
    at: str | None = None
    todo = start
    for _ in range(DEPTH_MOST):
        answer = await link.many(
            [Call(name, todo, COMPONENT, "GetAccessibleAtPoint", "iiu", (x, y, frame_of(app)))], DEADLINE
        )
        owner, found = first(answer, 0, ("", NULL))
        if owner != name or found in (NULL, todo):
            break
        at = todo = found
    return at


async def _described(link: Link, app: App, path: str, *, top: bool = False) -> Cover:
    name = app.bus_name
    answers = await link.many([Call(name, path, ACCESSIBLE, "GetRole"), get(name, path, ACCESSIBLE, "Name")], DEADLINE)
    role = int(first(answers, 0, 0))
    words = f"{role_of(role, top=top)} {name_of(str(first(answers, 1, '')), app.toolkit)}".strip()
    return Cover(words, str(Key(name, path, role)))
