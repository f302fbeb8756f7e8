"""A fresh look at one element and what is around it, without reading the rest of its application."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from anydevice_schemas import Node, Point, Rect

from . import surfaces
from .apps import ACCESSIBLE, App
from .bus import Call, Link, Refusal, first, get
from .coords import Shift, Window, away, extents, match, shift_of
from .keys import OTHER, Key, stale
from .names import name_of
from .places import HIDDEN, OFFSCREEN, SHOWN, by_geometry, by_rect, by_state, clips, drawn_apart
from .popups import Asked, Popup, may_open, opened_around, popup_of
from .roles import COMBO_BOX, TOPLEVEL, role_of
from .shape import ROOT, Item, Shape
from .states import DEFUNCT, MODAL, bits
from .tree import NAMED_BY_CONTENT, single
from .view import Top, View, below, chosen_text, identifier_call, identifier_of, note, reads, shown_text
from .walk import NULL, read_one

DEADLINE: Final = 2.0
"""Seconds one look may take."""
OPTIONS_MOST: Final = 100
DEPTH_MOST: Final = 200
TEXT_MOST: Final = 20_000
"""Characters of one element's text that are read."""


@dataclass(slots=True)
class Near:
    """One element and what is around it.

    Attributes:
        app: Its application.
        item: The element.
        line: The element and all around it up to the window, inmost first.
        view: The same as a view: places, texts, names.
        top: Its window.
        window: The X window, where it was found.
        rect: Where it is; None where that is nowhere.
        clip: The part of the screen it can show in: its window and what scrolls around it.
        windows: The windows of the display when it was looked at.
        popup: What is open over the window and has it inside, where that is drawn in a window of its own.
    """

    app: App
    item: Item
    line: list[Item]
    view: View
    top: Top
    rect: Rect | None
    clip: Rect | None
    rects: dict[str, Rect] = field(default_factory=dict)
    popup: Popup | None = None
    windows: Sequence[Window] = ()

    @property
    def window(self) -> Window | None:
        """The X window it is in."""
        return self.top.window

    @property
    def drawn_in(self) -> int | None:
        """Id of the X window it is drawn in."""
        window = self.window if self.popup is None else self.popup.window
        return window.id if window is not None else None

    @property
    def shift(self) -> Shift:
        """How extents of what is beside it map to the screen."""
        return self.popup.shift if self.popup is not None else self.top.shift

    @property
    def inside(self) -> list[Item]:
        """The line as far as it is drawn as one: in the same X window, or in the same popover."""
        if self.popup is not None:
            return self.line[: 1 + place_of(self.line, self.popup.path)]
        for at, (item, outer) in enumerate(pairwise(self.line)):
            apart = self.app.toolkit == "Qt" and drawn_apart(item.role, outer.role)
            if apart or (self.app.toolkit == "gtk" and item.mask & MODAL):  # a popover, drawn over all of its window
                return self.line[: 1 + at]
        return self.line

    @property
    def place(self) -> str:
        """`offscreen`, `hidden`, or empty."""
        return self.view.place.get(self.item.path, SHOWN)

    @property
    def visible(self) -> Rect | None:
        """The part of it that shows."""
        if self.rect is None or self.place != SHOWN:
            return None
        rect = self.rect if self.clip is None else self.rect.intersect(self.clip)
        return rect if rect is not None and rect.width > 0 and rect.height > 0 else None

    @property
    def key(self) -> Key:
        """Its key."""
        return Key(self.app.bus_name, self.item.path, self.item.role)

    def node(self) -> Node:
        """It, as answers carry it."""
        place = self.place
        if place == SHOWN and self.rect is not None and self.visible is None:
            place = OFFSCREEN
        return single(self.view, self.item, place, self.rect, top=self.item.path == self.top.path, title=self.top.title)

    def point(self) -> Point | None:
        """Where input for it goes."""
        visible = self.visible
        return visible.center if visible is not None else None


def place_of(line: Sequence[Item], path: str) -> int:
    """Place of an object in a line it is known to be in."""
    return next(at for at, item in enumerate(line) if item.path == path)


async def look_at(
    link: Link,
    app: App,
    key: Key,
    windows: Sequence[Window],
    screen: Rect | None,
    *,
    popups: Asked,
    deadline: float = DEADLINE,
) -> Near:
    """Looks at one element.

    Args:
        link: Its application's connection.
        app: Its application.
        key: The element.
        windows: The windows of the display.
        screen: What of the coordinate space is on screen.
        popups: Gives the windows that no manager manages.
        deadline: Seconds each question may take.

    Raises:
        StaleRef: It is not the element any more that the key was given for.
        Refusal: There is no such element (any more).
        Silence, Died, Lost: There was no answer.
    """
    line = await _line(link, app, key.path, deadline)
    item = line[0]
    if item.mask & DEFUNCT:
        raise Refusal("defunct")
    if item.role != key.role:
        raise stale(str(key), OTHER)
    shape = Shape({one.path: one for one in line}, {one.parent: [one.path] for one in line})
    view = View(app, shape)
    asked = [(what, call) for what, call in reads(app, item, TEXT_MOST)]
    calls = [extents(app, one.path) for one in line] + [call for _, call in asked]
    calls.append(identifier_call(app, key.path))
    answers = await link.many(calls, deadline)
    told = [answer[0] if answer else None for answer in answers[: len(line)]]
    top_item, top_told = line[-1], told[-1]
    if top_told is not None and (top_told[2] <= 0 or top_told[3] <= 0):
        top_told = None
    title = name_of(top_item.name, app.toolkit)
    if app.wayland:
        await surfaces.learn(link, app, [(top_item.path, title, top_told)], windows)
    window = match(app, title, top_told, windows)
    shift = shift_of(app, top_told, window)
    if app.wayland and window is None:
        shift = await surfaces.hung_top(link, app, windows)
    top = Top(top_item.path, title, window, shift, hidden=away(window))
    if top_told is not None:
        top.rect = shift.rect(top_told)
    view.tops.append(top)
    at = opened_around(line) if may_open(app) else None
    popup = None
    if at is not None:
        popup = popup_of(app, line[at].path, told[at], told[at + 1], await popups())
        view.popups[popup.path] = popup
    elif app.wayland:
        at, popup = await surfaces.hung(link, app, line, top)
    rects = _rects(line, told, shift, at, popup)
    if by_geometry(app):
        view.place = by_rect(app, shape, top.path, rects, top.rect, hidden=top.hidden, popups=view.popups)
    else:
        view.place = by_state(shape, top.path, hidden=top.hidden)
    for (what, _), answer in zip(asked, answers[len(line) :], strict=False):
        if answer:
            await _complete(link, view, what, getattr(answer[0], "value", answer[0]), deadline=deadline)
            note(view, key.path, what, getattr(answer[0], "value", answer[0]), TEXT_MOST)
    nameless = not name_of(item.name, app.toolkit) and key.path not in view.labels
    if (nameless and role_of(item.role) in NAMED_BY_CONTENT) or (item.role == COMBO_BOX and app.toolkit == "GTK"):
        await _written_in(link, view, item)
    if item.role == COMBO_BOX and not view.values.get(key.path):
        if app.toolkit == "GTK":
            shown_text(view, key.path)
        else:
            await _options(link, view, item)
            chosen_text(view, key.path)
    identifier = identifier_of(first(answers, len(answers) - 1, ""))
    if identifier:
        app.ids[key.path] = identifier
    near = Near(app, item, line, view, top, rects.get(key.path), screen, rects, popup)
    near.clip, near.windows = _clip(near, screen), windows
    return near


async def _written_in(link: Link, view: View, item: Item) -> None:
    """Looks what is written now in an element that does not say it itself, where the last look found texts in it."""
    old = view.app.shape
    if old is None or item.path not in old.items:
        return
    inside = [path for path in below(old, old.line(item.path)[-1].path, item.path) if path != item.path][:OPTIONS_MOST]
    name = view.app.bus_name
    calls = [get(name, path, ACCESSIBLE, "Name") for path in inside]
    answers = await link.many(calls + [extents(view.app, path) for path in inside], DEADLINE)
    for at, path in enumerate(inside):
        if answers[at]:
            box = answers[at + len(inside)]
            if box and (box[0][2] <= 0 or box[0][3] <= 0):
                view.place[path] = HIDDEN
            view.shape.items[path] = replace(old.items[path], name=str(first(answers, at, "")))
            view.shape.kids.setdefault(old.items[path].parent, []).append(path)


async def _options(link: Link, view: View, item: Item) -> None:
    """Looks which of a list's options, as they were last seen, is chosen now."""
    old = view.app.shape
    if old is None or item.path not in old.items:
        return
    top = old.line(item.path)[-1].path
    known = [path for path in below(old, top, item.path) if path != item.path][:OPTIONS_MOST]
    states = await link.many([Call(view.app.bus_name, path, ACCESSIBLE, "GetState") for path in known], DEADLINE)
    for path, state in zip(known, states, strict=True):
        if state:
            view.shape.items[path] = replace(old.items[path], mask=bits(state[0]))
            view.shape.kids.setdefault(old.items[path].parent, []).append(path)


async def _complete(link: Link, view: View, what: str, value: object, *, deadline: float) -> None:
    """Looks at the objects an answer names, so that their names are known."""
    targets: list[tuple[str, str]] = []
    if what == "chosen" and isinstance(value, (list, tuple)):
        targets.append((value[0], value[1]))
    elif what == "labels" and isinstance(value, (list, tuple)):
        targets.extend(target for _, found in value for target in found)
    for name, path in targets:
        if name == view.app.bus_name and path != NULL and path not in view.shape.items:
            try:
                view.shape.items[path] = await read_one(link, name, path, deadline)
            except Refusal:
                continue


def _rects(
    line: Sequence[Item], told: Sequence[Sequence[int] | None], shift: Shift, popover: int | None, popup: Popup | None
) -> dict[str, Rect]:
    out: dict[str, Rect] = {}
    for at, (item, box) in enumerate(zip(line, told, strict=True)):
        own = popup.shift if popup is not None and popover is not None and at <= popover else shift
        rect = own.rect(box) if box is not None else None
        if rect is not None:
            out[item.path] = rect
    return out


def _clip(near: Near, screen: Rect | None) -> Rect | None:
    """The part of the screen in which an element can show."""
    clip = screen
    outermost = near.inside[-1].path
    for item in near.inside[1:]:
        rect = near.rects.get(item.path)
        inside = clips(near.app, item) or item.path == outermost
        if not inside or rect is None or rect.width <= 0 or rect.height <= 0:
            continue
        clip = rect if clip is None else clip.intersect(rect) or Rect(clip.x, clip.y, 0.0, 0.0)
    return clip


async def _line(link: Link, app: App, path: str, deadline: float) -> list[Item]:
    """An element and all around it, inmost first, each as it is now.

    Raises:
        Refusal: It is gone, or was taken out of its window.
    """
    known = [item.path for item in app.shape.line(path)] if app.shape is not None else []
    line: list[Item] = []
    if known:
        line = await _several(link, app, known, deadline)
    if not line:
        line = [await read_one(link, app.bus_name, path, deadline)]
    while line[-1].parent:
        if len(line) > DEPTH_MOST:
            raise Refusal("nested too deep")
        line.append(await read_one(link, app.bus_name, line[-1].parent, deadline))
    top = line[-1]
    if top.role not in TOPLEVEL and not await _is_top(link, app, top, deadline):
        raise Refusal("not in a window")
    return line


async def _several(link: Link, app: App, paths: Sequence[str], deadline: float) -> list[Item]:
    """The objects of a line as it was; as many of them, from the inmost outwards, as are still around each other."""
    assert app.shape is not None
    name = app.bus_name
    calls: list[Call] = []
    for path in paths:
        calls.append(Call(name, path, ACCESSIBLE, "GetState"))
        calls.append(get(name, path, ACCESSIBLE, "Parent"))
    first_path = paths[0]
    calls.append(Call(name, first_path, ACCESSIBLE, "GetRole"))
    calls.append(get(name, first_path, ACCESSIBLE, "Name"))
    calls.append(get(name, paths[-1], ACCESSIBLE, "Name"))
    answers = await link.many(calls, deadline)
    base = 2 * len(paths)
    line: list[Item] = []
    for at, path in enumerate(paths):
        old = app.shape.items[path]
        state = answers[2 * at]
        if state is None:
            break
        owner, parent = first(answers, 2 * at + 1, ("", NULL))
        up = "" if owner != name or parent in (ROOT, NULL) else parent
        label = old.name
        if at == len(paths) - 1:
            label = str(first(answers, base + 2, label))
        role = old.role
        if at == 0:
            label = str(first(answers, base + 1, label))
            role = int(first(answers, base, role))
        line.append(Item(path, up, old.index, old.count, old.faces, label, role, old.description, bits(state[0])))
        if parent == NULL and at < len(paths) - 1:
            break
        if at + 1 < len(paths) and up != paths[at + 1]:
            break
    if not line:
        raise Refusal("no such object")
    return line


async def _is_top(link: Link, app: App, item: Item, deadline: float) -> bool:
    """Whether an object without a parent is a window of its application, and not only taken out of one."""
    answer = await link.value(Call(app.bus_name, ROOT, ACCESSIBLE, "GetChildren"), deadline)
    return any(path == item.path for _, path in answer or ())
