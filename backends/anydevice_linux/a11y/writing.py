"""Putting a text into an element: by its own interfaces, read back until it is there."""

from __future__ import annotations

from typing import Final

from anydevice.driver import Acted
from anydevice_schemas.errors import ElementDisabled, InvalidArgument, Unsupported

from .apps import App
from .bus import PROPERTIES, Call, Link, Refusal, first, get
from .choosing import choose
from .coords import COMPONENT
from .doing import DEADLINE, until
from .hands import Hands
from .near import TEXT_MOST, Near
from .popups import Asked
from .roles import COMBO_BOX, PASSWORD
from .shape import EDITABLE_TEXT, TEXT, VALUE
from .states import EDITABLE, READ_ONLY
from .view import NUMERIC, TEXT_FACE, TEXTUAL, VALUE_FACE, text_call

EDITABLE_FACE: Final = "org.a11y.atspi.EditableText"
PATIENCE: Final = 1.5
"""Seconds an element may take to hold what it was given."""


async def write(link: Link, app: App, near: Near, text: str, *, key: str, hands: Hands | None, popups: Asked) -> Acted:
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
        popups: Gives the windows that no manager manages.

    Raises:
        InvalidArgument: It takes no text, or not this one.
        ElementDisabled: It is read-only.
        Unsupported: It could only be typed into, and nobody lent a keyboard.
    """
    item = near.item
    role, faces = item.role, item.faces
    if role == COMBO_BOX:
        return await choose(link, app, near, text, key=key, hands=hands, popups=popups)
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
        answers = await link.many([text_call(app, path, len(text) + 1)], DEADLINE)
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
