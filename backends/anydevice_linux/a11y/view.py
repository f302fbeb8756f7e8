"""One look at one application: what it holds, where that is, and what is written in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from anydevice_schemas import Rect

from .apps import ACCESSIBLE, App
from .bus import Call, Link, get
from .coords import NOWHERE, Shift, Window, extents
from .names import name_of
from .places import HIDDEN, OFFSCREEN, SHOWN
from .popups import Popup
from .roles import COMBO_BOX, HOLDERS, INFO_BAR, LABEL, PASSWORD, STATUS_BAR
from .shape import ACTION, EDITABLE_TEXT, SELECTION, TEXT, UNKNOWN, VALUE, Item, Shape
from .states import SELECTED

TEXT_FACE: Final = "org.a11y.atspi.Text"
VALUE_FACE: Final = "org.a11y.atspi.Value"
SELECTION_FACE: Final = "org.a11y.atspi.Selection"
TEXTUAL: Final = frozenset({52, 60, 61, 76, 77, 79})
"""Roles whose text is their value (never 40, passwords)."""
STATUS: Final = frozenset({INFO_BAR, STATUS_BAR})
"""Roles whose text is their value where they have a name besides it."""
NUMERIC: Final = frozenset({15, 42, 48, 51, 52, 103, 114})
"""Roles whose number is their value, where they have no text."""
NAMED_BY_OTHERS: Final = frozenset({7, 11, 15, 40, 44, 51, 52, 61, 62, 79, 98, 31, 55, 65, 66, 130})
"""Roles that are named by a label beside them, where they have no name of their own."""
NAMED_BY_CHOICE: Final = frozenset({"Qt"})
"""Toolkits whose lists to choose from are named after what is chosen; only a label beside them says what for."""
LABELLED_BY: Final = 2
QT_IDS: Final = "QApplication."
EMBEDDED: Final = "\ufffc"
"""Stands in a text for an object that is in it."""
IDS_AT_ONCE: Final = 250
"""Identifiers of elements off screen that one look asks for; they never change, so later looks ask for the rest."""
IDS_MOST: Final = 50_000
WITH_IDS: Final = ACTION | EDITABLE_TEXT | VALUE
"""Elements with one of these interfaces are asked for an identifier, and so is whatever does more than hold others."""
WITHOUT_IDS: Final = frozenset({"GTK"})
"""Toolkits that never have one."""


@dataclass(slots=True)
class Top:
    """A window of an application.

    Attributes:
        path: Its object.
        title: As the application says it.
        window: The X window, where it was found.
        shift: How extents in it map to the screen.
        rect: Its place.
        hidden: It is minimized, or not mapped at all.
    """

    path: str
    title: str
    window: Window | None = None
    shift: Shift = NOWHERE
    rect: Rect | None = None
    hidden: bool = False


@dataclass(slots=True)
class View:
    """What was seen of one application.

    Attributes:
        app: The application.
        shape: All its objects.
        tops: Its windows, the one with the focus first.
        place: `offscreen`, `hidden`, or empty for what shows, by path.
        rects: Places of what was asked for, in points of the screen, by path.
        values: Texts and numbers, by path.
        labels: Names given by other objects, by path.
        popups: What is open over its windows, by path.
        shifts: How extents map to the screen where that differs from the window around, by path.
        cut: How many texts were cut.
    """

    app: App
    shape: Shape
    tops: list[Top] = field(default_factory=list)
    place: dict[str, str] = field(default_factory=dict)
    rects: dict[str, Rect] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    popups: dict[str, Popup] = field(default_factory=dict)
    shifts: dict[str, Shift] = field(default_factory=dict)
    cut: int = 0


@dataclass(slots=True, frozen=True)
class Wish:
    """What a look is for.

    Attributes:
        mode: As `TreeScope.mode`.
        root: Path to start from; empty for everything.
        max_text: Characters of a text at most.
    """

    mode: str = "viewport"
    root: str = ""
    max_text: int = 512


async def details(link: Link, view: View, wish: Wish, end: float, *, geometric: bool) -> None:
    """Asks for places, texts, numbers and labels, all in one go."""
    app, shape = view.app, view.shape
    items = shape.items
    calls: list[Call] = []
    asked: list[tuple[str, str, Shift | int]] = []  # path, what, the shift or the most characters
    names_ids, unnamed = app.toolkit not in WITHOUT_IDS, IDS_AT_ONCE
    if len(app.ids) > IDS_MOST:
        app.ids.clear()
    for top in view.tops:
        paths = below(shape, top.path, wish.root)
        for path in paths:
            item = items[path]
            place = view.place.get(path, SHOWN)
            if path == top.path:
                continue
            if place == HIDDEN or (wish.mode == "viewport" and place == OFFSCREEN):
                continue
            if place == SHOWN and not geometric:
                calls.append(extents(app, path))
                asked.append((path, "extents", view.shifts.get(path, top.shift)))
            for what, call in reads(app, item, wish.max_text):
                calls.append(call)
                asked.append((path, what, wish.max_text))
            seen = place == SHOWN
            asks = names_ids and (item.faces & WITH_IDS or item.role not in HOLDERS) and path not in app.ids
            if asks and (seen or unnamed > 0):
                unnamed -= not seen
                calls.append(identifier_call(app, path))
                asked.append((path, "id", 0))
    answers = await link.many(calls, left(end))
    for (path, what, more), answer in zip(asked, answers, strict=True):
        if not answer:
            if what == "id":
                app.ids[path] = ""
            continue
        value = getattr(answer[0], "value", answer[0])
        if what == "extents":
            assert isinstance(more, Shift)
            rect = more.rect(value)
            if rect is not None:
                view.rects[path] = rect
        elif what == "id":
            app.ids[path] = identifier_of(value)
        else:
            note(view, path, what, value, wish.max_text)
    for path, item in items.items():
        if item.role == COMBO_BOX and not view.values.get(path):
            chosen_text(view, path)
            if path not in view.values and app.toolkit == "GTK":
                shown_text(view, path)
    for top in view.tops:
        if top.rect is not None:
            view.rects[top.path] = top.rect


def reads(app: App, item: Item, most: int) -> list[tuple[str, Call]]:
    """The calls that read what an object holds: each with what it reads.

    Args:
        app: The application.
        item: The object.
        most: Characters at most.
    """
    name, role, faces, path = app.bus_name, item.role, item.faces, item.path
    out: list[tuple[str, Call]] = []
    if role == PASSWORD:
        pass
    elif role in TEXTUAL | STATUS and faces & TEXT:
        out.append(("text", text_call(app, path, most + 1)))
    elif role in NUMERIC and faces & VALUE:
        out.append(("number", get(name, path, VALUE_FACE, "CurrentValue")))
    elif role == COMBO_BOX and faces & SELECTION:
        out.append(("chosen", Call(name, path, SELECTION_FACE, "GetSelectedChild", "i", (0,))))
    elif role == COMBO_BOX and faces & TEXT:
        out.append(("text", text_call(app, path, most + 1)))
    nameless = role in NAMED_BY_OTHERS and not item.name.strip()
    if nameless or (role == COMBO_BOX and app.toolkit in NAMED_BY_CHOICE):
        out.append(("labels", Call(name, path, ACCESSIBLE, "GetRelationSet")))
    return out


def text_call(app: App, path: str, most: int) -> Call:
    """The call that reads at most so many characters of an object's text.

    Qt may answer with nothing where more is asked for than there is; it is asked for everything.
    """
    return Call(app.bus_name, path, TEXT_FACE, "GetText", "ii", (0, -1 if app.toolkit == "Qt" else most))


def note(view: View, path: str, what: str, value: Any, most: int) -> None:
    """Files the answer to one of the calls of `reads`."""
    if what == "text":
        text = str(value).replace(EMBEDDED, "")
        if view.shape.items[path].role == COMBO_BOX and not text:
            chosen_text(view, path)
            return
        if len(text) > most:
            text = text[:most]
            view.cut += 1
        view.values[path] = text
    elif what == "number":
        view.values[path] = number(value)
    elif what == "chosen":
        chosen = view.shape.items.get(value[1])
        if chosen is not None and chosen.name:
            view.values[path] = chosen.name.strip()[:most]
    elif what == "labels":
        for kind, targets in value:
            if kind == LABELLED_BY:
                texts = [view.shape.items[target].name.strip() for _, target in targets if target in view.shape.items]
                label = " ".join(text for text in texts if text)
                if label:
                    view.labels[path] = label


def chosen_text(view: View, path: str) -> None:
    """Files the option of a list that is chosen, where the list itself does not say which."""
    shape = view.shape
    line = shape.line(path)
    for option in below(shape, line[-1].path, path) if line else ():
        item = shape.items[option]
        if item.mask & SELECTED and option != path and item.name.strip():
            view.values[path] = item.name.strip()
            return


def shown_text(view: View, path: str) -> None:
    """Files what is written on a list that says its choice in no other way, as GTK 4's do."""
    shape = view.shape
    line = shape.line(path)
    for inner in below(shape, line[-1].path, path) if line else ():
        item = shape.items[inner]
        word = name_of(item.name, view.app.toolkit)
        if item.role == LABEL and word and view.place.get(inner, SHOWN) == SHOWN:
            view.values[path] = word
            return


def identifier_call(app: App, path: str) -> Call:
    """The call that asks for an object's identifier: its own, or in a browser engine the one of the page."""
    if app.toolkit == "Chromium":
        return Call(app.bus_name, path, ACCESSIBLE, "GetAttributes")
    return get(app.bus_name, path, ACCESSIBLE, "AccessibleId")


def identifier_of(value: Any) -> str:
    """The identifier in the answer to such a call."""
    if isinstance(value, dict):
        return str(value.get("id", ""))
    name = str(value)
    if name.startswith(QT_IDS):  # the classes around it, and last its own name, or its class where it has none
        name = name.rpartition(".")[2]
        return "" if name[:1] == "Q" and name[1:2].isupper() else name
    return name


def number(value: float) -> str:
    """A number as a person writes it: no point where it is whole."""
    value = float(value)
    return str(int(value)) if value.is_integer() else repr(round(value, 6))


def below(shape: Shape, top: str, root: str) -> list[str]:
    """Paths below a window, parents before children, in document order; only what is in `root` where that is given."""
    start = top
    if root:
        line = shape.line(root)
        if not line or line[-1].path != top:
            return []
        start = root
    out: list[str] = []
    seen: set[str] = set()
    kids = shape.kids
    todo = [start]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        out.append(path)
        own = kids.get(path)
        if own:
            todo.extend(reversed(own))
    return out


async def order_menus(link: Link, view: View, wish: Wish, end: float) -> None:
    """Puts the items of menus in order; their cache entries do not say it."""
    shape, name, everything = view.shape, view.app.bus_name, wish.mode != "viewport"
    items, place = shape.items, view.place
    loose = [
        path
        for path, own in shape.kids.items()
        if len(own) > 1
        and path in items
        and (items[path].count == UNKNOWN or items[own[0]].index < 0)
        and (everything or any(place.get(kid, HIDDEN) == SHOWN for kid in own))
    ]
    if not loose:
        return
    answers = await link.many([Call(name, path, ACCESSIBLE, "GetChildren") for path in loose], left(end))
    for path, answer in zip(loose, answers, strict=True):
        if answer:
            order = {child: at for at, (_, child) in enumerate(answer[0])}
            shape.kids[path].sort(key=lambda one: order.get(one, len(order)))


def left(end: float) -> float:
    """Seconds until `end`, on the event loop's clock; never none at all."""
    return max(0.01, end - anyio.current_time())
