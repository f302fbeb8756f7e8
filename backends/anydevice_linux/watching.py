"""Before and after an action: a dialog that blocks the app refuses it, and what it made happen is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio

from anydevice.driver import Acted, Dialog, Happening
from anydevice.kit import pids
from anydevice_schemas.errors import AnydeviceError, AppCrashed

from .a11y.apps import ACCESSIBLE
from .a11y.bus import Call, Trouble
from .a11y.roles import DIALOGS
from .a11y.session import knock
from .a11y.shape import ROOT
from .live import Live
from .x11 import Window

ASKING = "alert"
"""Kind of a dialog that has to be answered first. Others (to choose a file) are screens like any other."""
MAYBE = frozenset({"dialog", "floating"})
"""Kinds of windows that may be dialogs. Accessibility knows which of them are."""
PINGS = 8
"""How often the app is asked whether it has come to the input. Between two answers a toolkit takes one event at least,
and a click is about five (motion, enter, press, release, leave)."""
COMING = 1.0
"""Seconds a dialog may take to show that the app says it has made."""
UNTOLD = 0.05
"""Seconds a dialog of an app that does not say what it makes is waited for."""
STEP = 0.01


async def guard(live: Live) -> list[Window]:
    """Refuses while a dialog has to be answered; returns the windows.

    Raises:
        DialogOpen: One has.
    """
    windows = await live.windows.list()
    dialog = await asked(live, windows)
    if dialog is not None:
        raise dialog.refusal()
    return windows


async def asked(live: Live, windows: list[Window]) -> Dialog | None:
    """The dialog that has to be answered, or None. Costs nothing where no window is a dialog."""
    if live.access is None or not any(is_dialog(window) for window in windows):
        return None
    dialog = await live.access.alerts.get()
    return dialog if dialog is not None and dialog.kind == ASKING else None


def is_dialog(window: Window) -> bool:
    """Whether a window is a dialog that shows, or may be one: not every display says which windows are."""
    return window.kind in MAYBE and "minimized" not in window.state


async def act(live: Live, work: Callable[[], Awaitable[Acted]]) -> Acted:
    """Acts, unless a dialog blocks the app, and tells what happened: a dialog that opened, an app that ended.

    Raises:
        DialogOpen: A dialog blocks the app; nothing was done.
        AnydeviceError: As `work`.
    """
    before = await guard(live)
    front = await live.windows.active()
    pid = front.pid if front is not None else None
    started = pids.started(pid) if pid is not None else None
    tops = await _tops(live, pid, pings=0)
    try:
        acted = await work()
    except AppCrashed:
        acted = Acted("accessibility")
    more, settled = await _happened(live, {window.id for window in before}, pid, tops)
    if pid is not None and started is not None and pids.started(pid) != started:
        more = [Happening("closed", {"pid": pid})]
    if not more:
        return replace(acted, settled=settled)
    kinds = {one.kind for one in acted.happenings}
    return replace(acted, happenings=(*acted.happenings, *(one for one in more if one.kind not in kinds)))


async def _happened(
    live: Live, before: set[int], pid: int | None, tops: set[str] | None
) -> tuple[list[Happening], bool]:
    """What an action made happen, and whether the app itself has answered that it is through with it."""
    now = await _tops(live, pid, pings=PINGS)
    if tops is not None and now is not None:
        # The app itself says what it has made; what it has not made needs no waiting for.
        if not await _asking(live, pid, now - tops):
            return [], True
        end = anyio.current_time() + COMING
    else:
        end = anyio.current_time() + UNTOLD
    while anyio.current_time() < end:
        windows = await live.windows.list()
        if any(window.id not in before and is_dialog(window) for window in windows):
            try:
                dialog = await live.access.alerts.get() if live.access is not None else None
            except AnydeviceError:
                return [], False  # it is told to the next command
            if dialog is not None and dialog.kind != ASKING:
                return [], False
            if dialog is not None:
                told = {"dialog": dialog.kind, "text": dialog.text, "buttons": list(dialog.buttons)}
                return [Happening("dialog", told)], False
        await anyio.sleep(STEP)
    return [], False


async def _tops(live: Live, pid: int | None, *, pings: int) -> set[str] | None:
    """The windows an app says it has, once it has come to what was in line before; None unless it answers."""
    if pid is None or live.access is None:
        return None
    try:
        app = await live.access.app_of(pid)
        if app is None or app.silent:
            return None
        link = await (await live.access.buses()).link(app.bus_name)
        for _ in range(pings):
            await knock(link, app)
        found = await link.value(Call(app.bus_name, ROOT, ACCESSIBLE, "GetChildren"), app.patience)
        return {path for _, path in found}
    except (AnydeviceError, Trouble, TypeError, ValueError):
        return None  # what the action did is known all the same


async def _asking(live: Live, pid: int | None, new: set[str]) -> bool:
    """Whether one of the windows an app has made asks something."""
    if not new or pid is None or live.access is None:
        return False
    try:
        app = await live.access.app_of(pid)
        if app is None:
            return False
        link = await (await live.access.buses()).link(app.bus_name)
        calls = [Call(app.bus_name, path, ACCESSIBLE, "GetRole") for path in new]
        return any(answer and answer[0] in DIALOGS for answer in await link.many(calls, app.patience))
    except (AnydeviceError, Trouble):
        return True  # to be seen
