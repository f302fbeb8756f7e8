"""Which elements show: by the state where a toolkit's state can be believed, else by where they are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from anydevice_schemas import Rect

from .apps import App
from .popups import Popup
from .roles import COMBO_BOX, LIST, MENUS, PAGE_TAB, SCROLL_BAR, SCROLLERS, VIEWPORT
from .shape import Item, Shape
from .states import SHOWING, VISIBLE

OFFSCREEN: Final = "offscreen"
HIDDEN: Final = "hidden"
SHOWN: Final = ""
UNKNOWN_ROLE: Final = 67


def by_geometry(app: App) -> bool:
    """Whether SHOWING says nothing in this toolkit: GTK 4 sets it on windows only, Qt on what is scrolled away too."""
    return app.toolkit in ("GTK", "Qt")


def clips(app: App, item: Item) -> bool:
    """Whether something never shows what of its content lies outside of itself."""
    return item.role in SCROLLERS or (app.toolkit == "Qt" and item.role not in MENUS and item.role != COMBO_BOX)


def by_state(shape: Shape, top: str, *, hidden: bool) -> dict[str, str]:
    """What shows below one window, where SHOWING can be believed.

    What does not show is off screen if it is in something that scrolls, else hidden: a closed menu, another page.

    Args:
        shape: The application.
        top: Path of the window.
        hidden: The window itself does not show.
    """
    out: dict[str, str] = {}
    items, kids = shape.items, shape.kids
    todo: list[tuple[str, str, bool, int]] = [(top, HIDDEN if hidden else SHOWN, False, 0)]
    while todo:
        path, around, scrolls, parent_role = todo.pop()
        item = items[path]
        if around == HIDDEN:
            place = HIDDEN
        elif item.mask & SHOWING:
            place = SHOWN
        elif item.role == VIEWPORT and item.mask & VISIBLE:
            place = around  # GTK 3 takes it for gone as soon as it is scrolled
        elif not item.mask & VISIBLE or parent_role in MENUS or parent_role == PAGE_TAB:
            place = HIDDEN
        else:
            place = OFFSCREEN if scrolls and item.role != SCROLL_BAR else HIDDEN
        out[path] = place
        own = kids.get(path)
        if own:
            role = item.role
            scrolls = scrolls or role in SCROLLERS
            todo.extend((kid, place, scrolls, role) for kid in own if kid not in out)
    return out


def by_rect(
    app: App,
    shape: Shape,
    top: str,
    rects: Mapping[str, Rect],
    area: Rect | None,
    *,
    hidden: bool,
    popups: Mapping[str, Popup] = MappingProxyType({}),
) -> dict[str, str]:
    """What shows below one window, judged by where things are.

    Args:
        app: The application.
        shape: What it holds.
        top: Path of the window.
        rects: Places of the elements, as far as they were told.
        area: Place of the window; None where that is not known.
        hidden: The window itself does not show.
        popups: What is open over it, by path.
    """
    out: dict[str, str] = {}
    items, kids = shape.items, shape.kids
    todo = [(top, Around(HIDDEN if hidden else SHOWN, area, 0))]
    while todo:
        path, around = todo.pop()
        own = kids.get(path, ())
        if path in popups:
            around = around_popup(popups[path], around)
        place, inner = judge(app, items[path], rects.get(path), around, parent=bool(own))
        out[path] = place
        todo.extend((kid, inner) for kid in own if kid not in out)
    return out


class Around(NamedTuple):
    """What an object inherits: whether what holds it shows, the part of the screen it can show in, and the role of that
    holder (0: none, it is a window)."""

    place: str
    clip: Rect | None
    role: int


def drawn_apart(role: int, around: int) -> bool:
    """Whether an object of this role in one of that role is drawn in a window of its own: a menu, or what a combo box
    opens."""
    return role in MENUS or (role == LIST and around == COMBO_BOX)


def around_popup(popup: Popup, around: Around) -> Around:
    """What a popover inherits: it is drawn in a window of its own, and nothing around it cuts it off.

    Args:
        popup: The popover.
        around: What it would inherit otherwise.
    """
    return Around(HIDDEN if popup.hidden else SHOWN, popup.rect, around.role or UNKNOWN_ROLE)


def judge(app: App, item: Item, rect: Rect | None, around: Around, *, parent: bool) -> tuple[str, Around]:
    """Whether one object shows, judged by where it is, and what those in it inherit.

    Args:
        app: The application.
        item: The object.
        rect: Its place, where that was told.
        around: What it inherits.
        parent: It holds others.
    """
    clip = around.clip
    if drawn_apart(item.role, around.role):
        clip = None
    if around.place == HIDDEN or not item.mask & (VISIBLE | SHOWING):
        place = HIDDEN
    elif around.role == 0:
        place = SHOWN
    elif rect is None:
        place = around.place
    elif rect.width <= 0 or rect.height <= 0:
        # Boxes without a size of their own may hold things that have one; menus and pages that are closed do not.
        closed = around.role in MENUS or around.role in (PAGE_TAB, COMBO_BOX) or item.role == SCROLL_BAR
        place = HIDDEN if closed or not parent else around.place
    elif clip is not None and rect.intersect(clip) is None:
        place = OFFSCREEN
    else:
        place = SHOWN
    if parent and clips(app, item) and rect is not None and rect.width > 0 and place == SHOWN:
        clip = rect if clip is None else rect.intersect(clip) or clip
    return place, Around(place, clip, item.role or UNKNOWN_ROLE)
