"""Doing something with an element through its own interfaces, and seeing what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import anyio

from .apps import ACCESSIBLE, App
from .bus import Call, Link, Lost, Refusal, first, get
from .peer import ask_peer
from .states import bits

T = TypeVar("T")

ACTION_FACE: Final = "org.a11y.atspi.Action"
DEADLINE: Final = 2.0
"""Seconds an application may take to answer."""
ACTION_DEADLINE: Final = 1.0
"""Seconds it may take to accept an action; some answer only once the dialog is closed that the action opened."""
PRESSES: Final = (
    "click", "press", "activate", "toggle", "jump", "open", "do default", "check", "uncheck", "select", "invoke",
    "expand or collapse", "click ancestor", "clickancestor", "dodefault", "popup", "show menu",
)  # fmt: skip
"""Names of actions that do what a press does, the likeliest first. Position says nothing: action 0 may be anything."""
SETTLE: Final = {"GTK": 0.27, "Qt": 0.11, "Chromium": 0.02}
"""Seconds a toolkit takes from an accepted action to its effect."""
TOGGLE_PATIENCE: Final = 1.5
"""Seconds a toggle may take to change its state."""
PAUSE: Final = 0.008
"""Seconds between two looks at something that is about to change."""


async def press_action(link: Link, app: App, path: str) -> int | None:
    """Number of the action of an element that does what a press does, or None.

    Raises:
        Silence, Died, Lost: There was no answer.
    """
    name = app.bus_name
    try:
        listed = await link.value(Call(name, path, ACTION_FACE, "GetActions"), DEADLINE)
        names = [str(entry[0]) for entry in listed or ()]
    except Refusal:
        names = []
    if not any(names):
        # Some list their actions without names and tell each when asked for it.
        answers = await link.many([get(name, path, ACTION_FACE, "NActions")], DEADLINE)
        count = min(int(first(answers, 0, 0) or 0), 32)
        told = await link.many([Call(name, path, ACTION_FACE, "GetName", "i", (n,)) for n in range(count)], DEADLINE)
        names = [str(first(told, n, "")) for n in range(count)]
    words = [word.strip().casefold().replace("_", " ").replace("-", " ") for word in names]
    for wanted in PRESSES:
        if wanted in words:
            return words.index(wanted)
    return None


async def do_action(link: Link, app: App, path: str, number: int) -> bool:
    """Does an action; whether the application accepted it.

    Raises:
        Silence, Died, Lost: There was no answer.
    """
    call = Call(app.bus_name, path, ACTION_FACE, "DoAction", "i", (number,))
    try:
        if app.socket:
            with suppress(Lost):
                return await ask_peer(app.socket, call, ACTION_DEADLINE)
        return bool(await link.value(call, ACTION_DEADLINE))
    except Refusal:
        return False


async def mask_of(link: Link, app: App, path: str) -> int | None:
    """The states of an element now; None where it is gone. Raises Silence, Died, Lost."""
    try:
        return bits(await link.value(Call(app.bus_name, path, ACCESSIBLE, "GetState"), DEADLINE))
    except Refusal:
        return None


async def until(read: Callable[[], Awaitable[T]], good: Callable[[T], Any], patience: float) -> tuple[T, bool]:
    """Reads until what is read is good, or `patience` seconds are over; the last reading, and whether it was good."""
    end = anyio.current_time() + patience
    pause = PAUSE
    while True:
        found = await read()
        if good(found):
            return found, True
        if anyio.current_time() >= end:
            return found, False
        await anyio.sleep(pause)
        pause = min(pause * 1.5, 0.1)
