"""Putting a text into an element: by its own interfaces, read back until it is there."""

from __future__ import annotations

from typing import Any, Final

from anydevice.driver import Acted
from anydevice_schemas.errors import ElementDisabled, InvalidArgument, Unsupported

from .apps import ACCESSIBLE, App
from .bus import PROPERTIES, Call, Link, Refusal, first, get
from .coords import COMPONENT, extents
from .doing import DEADLINE, do_action, press_action, until
from .hands import Hands
from .near import TEXT_MOST, Near
from .roles import COMBO_BOX, PASSWORD
from .shape import EDITABLE_TEXT, SELECTION, TEXT, VALUE
from .states import EDITABLE, READ_ONLY, SELECTED, bits
from .view import NUMERIC, SELECTION_FACE, TEXT_FACE, TEXTUAL, VALUE_FACE
from .walk import NULL, read_one

EDITABLE_FACE: Final = "org.a11y.atspi.EditableText"
PATIENCE: Final = 1.5
"""Seconds an element may take to hold what it was given."""
POPUP_PATIENCE: Final = 1.0
"""Seconds a list may take to open and come to rest."""
NAMED_BY_CHOICE: Final = frozenset({"Qt"})
"""Toolkits whose lists are named after what is chosen; being selected in the list that opens is not yet that."""
OPTIONS_MOST: Final = 500


async def write(link: Link, app: App, near: Near, text: str, *, key: str, hands: Hands | None) -> Acted:
    """Replaces the whole value of an element.

    Sliders and spin buttons take a number; a combo box takes one of its options; fields take any text, through the
    keyboard where the toolkit has no other way. Secure fields are never read, only whether as much text arrived.

    Args:
        link: Its application's connection.
        app: Its application.
        near: The element.
        text: The new value.
        key: Its key.
        hands: Keyboard and pointer, where there are.

    Raises:
        InvalidArgument: It takes no text, or not this one.
        ElementDisabled: It is read-only.
        Unsupported: It could only be typed into, and nobody lent a keyboard.
    """
    item = near.item
    role, faces = item.role, item.faces
    if role == COMBO_BOX:
        return await _choose(link, app, near, text, key=key, hands=hands)
    if role in NUMERIC and faces & VALUE:
        return await _set_number(link, app, near, key, text)
    takes = bool(faces & EDITABLE_TEXT) or role in TEXTUAL or role == PASSWORD or bool(item.mask & EDITABLE)
    if not takes:
        raise InvalidArgument(
            "This element takes no text.",
            hint="Use press on it, or name the field.",
            param="target",
            expected="a field, a slider, or a list to choose from",
            element=key,
        )
    if item.mask & READ_ONLY or not item.mask & EDITABLE:
        raise ElementDisabled("The field is read-only.", element=key, reason="read-only")
    method = "set-text"
    accepted = False
    if faces & EDITABLE_TEXT:
        call = Call(app.bus_name, item.path, EDITABLE_FACE, "SetTextContents", "s", (text,))
        try:
            accepted = bool(await link.value(call, DEADLINE))
        except Refusal:
            accepted = False
    if not accepted:
        await _by_keys(link, app, near, text, hands)
        method = "keys"
    return await _read_back(link, app, near, text, method)


async def _by_keys(link: Link, app: App, near: Near, text: str, hands: Hands | None) -> None:
    if hands is None:
        raise Unsupported(
            "This field can only be typed into.",
            hint="Use press on the field, then key with ctrl+a, then type.",
            operation="elements.set_text",
            alternatives=["keys.type_text"],
        )
    if near.window is not None:
        await hands.front(near.window)
    try:
        await link.ask(Call(app.bus_name, near.item.path, COMPONENT, "GrabFocus"), DEADLINE)
    except Refusal:
        point = near.point()
        if point is not None:
            await hands.click(point)
    await hands.replace(text)


async def _read_back(link: Link, app: App, near: Near, text: str, method: str) -> Acted:
    """Whether the field holds the text; of secure fields only how long theirs is."""
    name, path = app.bus_name, near.item.path
    if not near.item.faces & TEXT:
        return Acted(method)
    secure = near.item.role == PASSWORD
    if secure:

        async def count() -> int:
            answers = await link.many([get(name, path, TEXT_FACE, "CharacterCount")], DEADLINE)
            return int(first(answers, 0, -1))

        _, same = await until(count, lambda found: found == len(text), PATIENCE)
        return Acted(method, verified=None if same else False)

    async def read() -> str:
        answers = await link.many([Call(name, path, TEXT_FACE, "GetText", "ii", (0, len(text) + 1))], DEADLINE)
        return str(first(answers, 0, ""))

    wanted = _plain(text)
    found, same = await until(read, lambda now: _plain(now) == wanted, PATIENCE)
    return Acted(method, verified=same, data={} if same else {"actual": found[:TEXT_MOST]})


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")


async def _set_number(link: Link, app: App, near: Near, key: str, text: str) -> Acted:
    name, path = app.bus_name, near.item.path
    bounds = await link.many(
        [get(name, path, VALUE_FACE, "MinimumValue"), get(name, path, VALUE_FACE, "MaximumValue")], DEADLINE
    )
    least, most = float(first(bounds, 0, float("-inf"))), float(first(bounds, 1, float("inf")))
    try:
        wanted = float(text.strip().replace(",", ".").removesuffix("%"))
    except ValueError:
        wanted = float("nan")
    if not least <= wanted <= most:
        raise InvalidArgument(
            "The element takes a number within its bounds.",
            hint=f"Give a number from {least:g} to {most:g}.",
            param="text",
            expected=f"a number from {least:g} to {most:g}",
            element=key,
        )
    from dbus_fast import Variant

    try:
        call = Call(name, path, PROPERTIES, "Set", "ssv", (VALUE_FACE, "CurrentValue", Variant("d", wanted)))
        await link.ask(call, DEADLINE)
    except Refusal:
        raise ElementDisabled("The element does not let its value be set.", element=key, reason="read-only") from None

    async def read() -> float:
        answers = await link.many([get(name, path, VALUE_FACE, "CurrentValue")], DEADLINE)
        return float(first(answers, 0, float("nan")))

    found, same = await until(read, lambda now: abs(now - wanted) < 1e-6, PATIENCE)
    return Acted("set-value", verified=same, data={} if same else {"actual": f"{found:g}"})


async def _choose(link: Link, app: App, near: Near, text: str, *, key: str, hands: Hands | None) -> Acted:
    """Chooses an option of a combo box; types into one that can be typed into and has no such option."""
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
                answers = await link.many([Call(name, field, TEXT_FACE, "GetText", "ii", (0, len(text) + 1))], DEADLINE)
                return Acted("set-text", verified=first(answers, 0, "") == text)
        if not options:  # some toolkits make the options only when the list is opened
            raise Unsupported(
                "The options of this list are not known before it is opened.",
                hint="Press it, look (snapshot), then press the option.",
                operation="elements.set_text",
                alternatives=["elements.activate", "pointer.click"],
            )
        raise InvalidArgument(
            "The list has no such option.",
            hint="Take one of the options listed in details.",
            param="text",
            expected="one of its options",
            options=list(named)[:OPTIONS_MOST],
            element=key,
        )
    option, place = wanted
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


async def _by_popup(link: Link, app: App, near: Near, option: str, hands: Hands) -> None:
    """Opens a list and presses one of its options where it is then."""
    closed = await link.many([extents(app, option)], DEADLINE)
    if near.window is not None:
        await hands.front(near.window)
    number = await press_action(link, app, near.item.path)
    if number is not None:
        await do_action(link, app, near.item.path, number)
    last: list[list[list[Any] | None]] = [[None]]

    async def read() -> bool:
        now = await link.many([extents(app, option)], DEADLINE)
        rested = now == last[0] and now != closed and now[0] is not None
        last[0] = now
        return rested

    _, open_now = await until(read, bool, POPUP_PATIENCE)
    rect = near.top.shift.rect(last[0][0][0]) if open_now and last[0][0] else None
    if rect is not None and rect.width > 0 and rect.height > 0:
        await hands.click(rect.center)


async def _is_chosen(link: Link, app: App, near: Near, option: str, text: str) -> bool:
    """Whether a list has taken an option: it says so of the option, or of itself."""
    name, path = app.bus_name, near.item.path

    async def read() -> str:
        state = await link.many([Call(name, option, ACCESSIBLE, "GetState")], DEADLINE)
        chosen = bits(first(state, 0, [])) & SELECTED
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
