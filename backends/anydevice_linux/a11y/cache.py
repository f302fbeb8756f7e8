"""What an application holds, asked in one question: its cache, where it keeps one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import anyio

from .apps import ACCESSIBLE, App
from .bus import Call, Link, Refusal
from .shape import ROOT, Item, decode

CACHE: Final = "/org/a11y/atspi/cache"


async def read_cache(link: Link, app: App, deadline: float) -> list[Any]:
    """Everything the application's cache holds, as it is told; empty where it keeps none.

    Raises:
        Silence, Died, Lost: It does not answer.
    """
    end = anyio.current_time() + deadline
    if app.toolkit == "Qt":
        return []  # it always answers with nothing
    if not app.awake:
        app.awake = True
        with suppress(Refusal):  # this question is what makes a cache work that nobody has listened to yet
            call = Call(app.bus_name, ROOT, "org.a11y.atspi.Application", "GetApplicationBusAddress")
            app.socket = str(await link.value(call, deadline) or "")
    left = max(0.01, end - anyio.current_time())
    try:
        answer = await link.ask(Call(app.bus_name, CACHE, "org.a11y.atspi.Cache", "GetItems"), left)
    except Refusal:
        return []
    rows = answer[0] if answer else []
    return rows if isinstance(rows, list) else []


def items_of(app: App, rows: Sequence[Any]) -> dict[str, Item]:
    """The objects in what `read_cache` read, by path."""
    try:
        return decode(rows, app.bus_name)
    except (TypeError, ValueError, IndexError, KeyError):
        return {}  # in no form we know: it is walked instead


async def windows_of(link: Link, app: App, deadline: float) -> list[str]:
    """Paths of the application's own children (its windows), in order. Raises as `Link.ask`."""
    found = await link.value(Call(app.bus_name, ROOT, ACCESSIBLE, "GetChildren"), deadline)
    return [path for name, path in found or () if name == app.bus_name]
