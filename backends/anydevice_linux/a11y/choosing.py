"""Choosing an option of a combo box: by its own interfaces, else by opening it and pressing the option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from anydevice.driver import Acted
from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import ActionUnverified, InvalidArgument, Unsupported

from .apps import ACCESSIBLE, App
from .bus import Call, Link, first, get
from .coords import extents
from .doing import DEADLINE, do_action, press_action, until
from .hands import Hands
from .near import Near
from .popups import Asked, may_open, opened, popups_of
from .reading import read_app
from .roles import LABEL, LIST_ITEM
from .shape import EDITABLE_TEXT, SELECTION, Shape
from .states import EDITABLE, SELECTED, bits
from .view import NAMED_BY_CHOICE, SELECTION_FACE, TEXTUAL, below, text_call
from .walk import NULL, read_one

EDITABLE_FACE: Final = "org.a11y.atspi.EditableText"
PATIENCE: Final = 1.5
"""Seconds a list may take to have what it was given."""
POPUP_PATIENCE: Final = 2.5
"""Seconds a list may take to open and come to rest."""
READ: Final = 4.0
APART: Final = 10.0
"""Points by which two presses have to be apart not to be taken for a double one."""
OPTIONS_MOST: Final = 500


async def choose(link: Link, app: App, near: Near, text: str, *, key: str, hands: Hands | None, popups: Asked) -> Acted:
    """Chooses an option of a combo box; types into one that can be typed into and has no such option.

    Args:
        link: Its application's connection.
        app: Its application.
        near: The combo box.
        text: The option.
        key: Its key.
        hands: Keyboard and pointer, where there are.
        popups: Gives the windows that no manager manages.

    Raises:
        InvalidArgument: It has no such option.
        ActionUnverified: It did not open.
        Unsupported: Its options are not known before it is opened, and nobody lent a pointer.
    """
    name, path = app.bus_name, near.item.path
    options = await _options(link, app, path)
    named = {label: (option, place) for option, label, place in options}
    wanted = named.get(text.strip()) or next(
        (found for label, found in named.items() if label.casefold() == text.strip().casefold()), None
    )
    if wanted is None:
        field = await _entry_in(link, app, path)
        if field is not None:
            call = Call(name, field, EDITABLE_FACE, "SetTextContents", "s", (text,))
            done = await link.many([call], DEADLINE)
            if first(done, 0, False):
                answers = await link.many([text_call(app, field, len(text) + 1)], DEADLINE)
                return Acted("set-text", verified=first(answers, 0, "") == text)
        if not options and may_open(app) and hands is not None:
            return await _from_popover(link, app, near, text, key=key, hands=hands, popups=popups)
        if not options:  # some toolkits make the options only when the list is opened
            raise Unsupported(
                "The options of this list are not known before it is opened.",
                hint="Press it, look (snapshot), then press the option.",
                operation="elements.set_text",
                alternatives=["elements.activate", "pointer.click"],
            )
        raise _no_such(key, list(named))
    option, place = wanted
    if hands is not None and app.toolkit in NAMED_BY_CHOICE:  # there an option's own means only mark it
        await _by_popup(link, app, near, option, hands)
        return Acted("mouse", verified=await _is_chosen(link, app, near, option, text))
    chosen = False
    if near.item.faces & SELECTION and place >= 0:
        call = Call(name, path, SELECTION_FACE, "SelectChild", "i", (place,))
        chosen = bool(first(await link.many([call], DEADLINE), 0, False))
    verified = await _is_chosen(link, app, near, option, text) if chosen else False
    if not verified:
        number = await press_action(link, app, option)
        if number is not None:
            await do_action(link, app, option, number)
            verified = await _is_chosen(link, app, near, option, text)
    if not verified and hands is not None:
        await _by_popup(link, app, near, option, hands)
        return Acted("mouse", verified=await _is_chosen(link, app, near, option, text))
    return Acted("select-option", verified=verified)


def _no_such(key: str, options: list[str]) -> InvalidArgument:
    return InvalidArgument(
        "The list has no such option.",
        hint="Take one of the options listed in details.",
        param="text",
        expected="one of its options",
        options=options[:OPTIONS_MOST],
        element=key,
    )


async def _from_popover(link: Link, app: App, near: Near, text: str, *, key: str, hands: Hands, popups: Asked) -> Acted:
    """Opens a list of GTK 4, which makes its options only then, and presses one where it is."""
    path = near.item.path
    if near.window is not None:
        await hands.front(near.window)
    number = await press_action(link, app, path)
    point = near.point()
    if number is not None:
        await do_action(link, app, path, number)
    elif point is not None:
        await hands.click(point)
    last: list[dict[str, Rect]] = [{}]

    async def read() -> bool:
        now = await _opened_options(link, app, path, popups)
        rested = bool(now) and now == last[0]
        last[0] = now
        return rested

    await until(read, bool, POPUP_PATIENCE)
    found = last[0]
    if not found:
        raise ActionUnverified(
            "The list was pressed and was not seen to open.", expected="its options show", actual="none shows"
        )

    async def shown() -> str:
        shape = await read_app(link, app, READ)
        return next((label for label in _labels(shape, path) if label != UNCHOSEN), "")

    wanted = next((label for label in (text.strip(), *found) if _same(label, text) and label in found), None)
    if wanted is None:
        chosen = await shown()
        if chosen in found:
            await hands.click(_elsewhere(app, found[chosen]))  # closes it, and changes nothing
        raise _no_such(key, list(found))
    await hands.click(_elsewhere(app, found[wanted]))

    now, same = await until(shown, lambda label: _same(label, text), PATIENCE)
    return Acted("mouse", verified=same, data={} if same else {"actual": now})


async def _opened_options(link: Link, app: App, path: str, popups: Asked) -> dict[str, Rect]:
    """Where the options of an open list are, by label; empty while it is closed."""
    shape = await read_app(link, app, READ)
    inside = [popover for popover in opened(shape) if any(item.path == path for item in shape.line(popover))]
    if not inside:
        return {}
    shift = (await popups_of(link, app, shape, popups, DEADLINE))[inside[0]].shift
    options = [one for one in _below(shape, inside[0]) if shape.items[one].role == LIST_ITEM][:OPTIONS_MOST]
    told = await link.many([extents(app, option) for option in options], DEADLINE)
    out: dict[str, Rect] = {}
    for option, box in zip(options, told, strict=True):
        rect = shift.rect(box[0]) if box else None
        if rect is not None and rect.width > 0 and rect.height > 0:
            out.setdefault(" ".join(_labels(shape, option)), rect)
    return out


def _labels(shape: Shape, path: str) -> list[str]:
    """What is written in an object, but for what is open over it."""
    popovers = set(opened(shape))
    return [
        shape.items[inner].name.strip()
        for inner in _below(shape, path)
        if shape.items[inner].role == LABEL
        and not any(item.path in popovers for item in shape.line(inner)[: _depth(shape, inner, path)])
    ]


def _below(shape: Shape, path: str) -> list[str]:
    line = shape.line(path)
    return below(shape, line[-1].path, path) if line else []


def _depth(shape: Shape, inner: str, path: str) -> int:
    return next((at for at, item in enumerate(shape.line(inner)) if item.path == path), 0)


def _same(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()


UNCHOSEN: Final = "(None)"
"""What a list of GTK 4 would show if nothing were chosen; it is among its labels all the time."""


async def _by_popup(link: Link, app: App, near: Near, option: str, hands: Hands) -> None:
    """Opens a list and presses one of its options where it is then."""
    answers = await link.many([get(app.bus_name, option, ACCESSIBLE, "Parent")], DEADLINE)
    _, around = first(answers, 0, ("", NULL))
    calls = [extents(app, option), extents(app, around)]

    async def places() -> tuple[list[int], list[int]]:
        told = await link.many(calls, DEADLINE)
        return first(told, 0, []), first(told, 1, [])

    closed = await places()
    if near.window is not None:
        await hands.front(near.window)
    number = await press_action(link, app, near.item.path)
    if number is not None:
        await do_action(link, app, near.item.path, number)
    last = closed

    async def read() -> bool:
        nonlocal last
        now = await places()
        # A list that is closed has no size, or its options are where they were not when it opens.
        opened = _has_size(now[1]) and (not _has_size(closed[1]) or now != closed)
        rested, last = now == last, now
        return opened and rested and _has_size(now[0])

    _, open_now = await until(read, bool, POPUP_PATIENCE)
    rect = near.top.shift.rect(last[0]) if open_now else None
    if rect is not None:
        await hands.click(_elsewhere(app, rect))


def _elsewhere(app: App, rect: Rect) -> Point:
    """A point of an option that was not pressed just before: a second press of one place counts as a double one, and
    lists that are open do not take those. Options remember for themselves, also while others are pressed in between."""
    points = [Point(rect.x + rect.width * across, rect.center.y) for across in (0.5, 0.25, 0.75, 0.4)]
    point = next((one for one in points if all(_apart(one, other) for other in app.pressed)), points[0])
    app.pressed = [*app.pressed[1 - len(points) :], point]
    return point


def _apart(one: Point, other: Point) -> bool:
    return abs(one.x - other.x) >= APART or abs(one.y - other.y) >= APART


def _has_size(box: Sequence[int]) -> bool:
    return len(box) == 4 and box[2] > 0 and box[3] > 0


async def _is_chosen(link: Link, app: App, near: Near, option: str, text: str) -> bool:
    """Whether a list has taken an option: it says so of the option, or of itself."""
    name, path = app.bus_name, near.item.path

    async def read() -> str:
        state = await link.many([Call(name, option, ACCESSIBLE, "GetState")], DEADLINE)
        chosen = bits(first(state, 0, [])) & SELECTED  # in the list that opens; Qt takes it only when that is closed
        if chosen and not near.item.faces & SELECTION and app.toolkit not in NAMED_BY_CHOICE:
            return text
        answers = await link.many(
            [Call(name, path, SELECTION_FACE, "GetSelectedChild", "i", (0,)), get(name, path, ACCESSIBLE, "Name")],
            DEADLINE,
        )
        owner, child = first(answers, 0, ("", NULL))
        if owner != name or child == NULL:
            return str(first(answers, 1, ""))
        label = await link.many([get(name, child, ACCESSIBLE, "Name")], DEADLINE)
        return str(first(label, 0, ""))

    _, same = await until(read, lambda now: now.strip().casefold() == text.strip().casefold(), PATIENCE)
    return same


async def _options(link: Link, app: App, path: str) -> list[tuple[str, str, int]]:
    """The options of a combo box: path, label, place among its options."""
    name = app.bus_name
    level = [path]
    for _ in range(3):
        answers = await link.many([Call(name, one, ACCESSIBLE, "GetChildren") for one in level], DEADLINE)
        kids = [kid for answer in answers for owner, kid in (answer[0] if answer else ()) if owner == name]
        if not kids:
            return []
        asked = [Call(name, kid, ACCESSIBLE, "GetRole") for kid in kids[:OPTIONS_MOST]]
        asked += [get(name, kid, ACCESSIBLE, "Name") for kid in kids[:OPTIONS_MOST]]
        told = await link.many(asked, DEADLINE)
        count = len(asked) // 2
        roles = [int(first(told, at, 0)) for at in range(count)]
        found = [
            (kids[at], str(first(told, count + at, "")).strip(), at) for at in range(count) if roles[at] in _OPTION
        ]
        if found:
            return found
        level = [kid for kid, role in zip(kids, roles, strict=False) if role not in TEXTUAL]
    return []


_OPTION: Final = frozenset({8, 32, 35, 45, 56, 91})
"""Roles of options."""


async def _entry_in(link: Link, app: App, path: str) -> str | None:
    """Path of the field inside a combo box that can be typed into, or its own."""
    item = await read_one(link, app.bus_name, path, DEADLINE)
    if item.faces & EDITABLE_TEXT and item.mask & EDITABLE:
        return path
    kids = await link.value(Call(app.bus_name, path, ACCESSIBLE, "GetChildren"), DEADLINE)
    for _, kid in kids or ():
        found = await read_one(link, app.bus_name, kid, DEADLINE)
        if found.faces & EDITABLE_TEXT and found.mask & EDITABLE:
            return str(kid)
    return None
