"""Windows and apps by name: the one that is meant, and whether it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio

from anydevice_schemas.errors import ActionUnverified, AmbiguousElement, AppNotFound

from ..context import Context
from ..driver import App, Apps, Window, Windows
from ..text import fold_text, nearest

SETTLE = 2.0
"""Seconds a window may take to be seen as it was asked to be."""
STEP = 0.05
SHOWN = 20
"""Candidates that an answer lists."""
TITLE_MOST = 500
"""Characters of a title that an answer holds; a longer one ends with an ellipsis."""


async def windows_of(ctx: Context) -> list[Window]:
    """Every window of the device, the topmost first."""
    return list(await ctx.use(Windows).list())


def described(window: Window) -> dict[str, Any]:
    """A window as answers carry it; empty fields are left out. Its texts are untrusted."""
    rect = window.rect
    told: dict[str, Any] = {
        "id": window.id,
        "title": _cut(window.title),
        "app": _cut(window.app),
        "rect": [round(v, 1) for v in (rect.x, rect.y, rect.width, rect.height)],
        "states": sorted(window.states),
    }
    if window.kind != "normal":
        told["kind"] = window.kind
    if window.pid is not None:
        told["pid"] = window.pid
    if window.owner is not None:
        told["owner"] = window.owner
    return told


def _cut(text: str) -> str:
    return text if len(text) <= TITLE_MOST else text[:TITLE_MOST] + "…"


def matching(windows: Sequence[Window], *, window: str | None = None, app: str | None = None) -> list[Window]:
    """The windows a caller may mean, in the order they were given.

    Args:
        windows: Where to look.
        window: An id, which names one; else a title: equal ones where there are any, else those that contain it.
        app: An app's id or name, in the same way.
    """
    found = list(windows)
    if app is not None:
        found = _named(found, app, lambda one: (one.app,))
    if window is None:
        return found
    own = [one for one in found if one.id == window]
    return own or _named(found, window, lambda one: (one.title,))


def apps_named(apps: Sequence[App], name: str) -> list[App]:
    """The apps a caller may mean by an id or a name: equal ones where there are any, else those that contain it."""
    return _named(list(apps), name, lambda app: (app.id, app.name))


async def owner_of(ctx: Context, windows: Sequence[Window], app: str) -> str:
    """What an app is called in the list of windows: where they know it by its id alone, its name leads there."""
    if matching(windows, app=app) or ctx.driver is None or not ctx.driver.has("apps.list"):
        return app
    running = [one for one in apps_named(await apps_of(ctx), app) if one.running]
    return running[0].id if len(running) == 1 else app


def _named(rows: list[Any], text: str, texts: Callable[[Any], Sequence[str]]) -> list[Any]:
    wanted = fold_text(text)
    exact = [row for row in rows if any(fold_text(own) == wanted for own in texts(row))]
    return exact or [row for row in rows if wanted and any(wanted in fold_text(own) for own in texts(row))]


def the_window(windows: Sequence[Window], *, window: str | None = None, app: str | None = None) -> Window:
    """The one window that is named; the active one where nothing is.

    Raises:
        AppNotFound: There is none.
        AmbiguousElement: There are several; candidates are numbered, each with the id that names it.
    """
    if window is None and app is None:
        active = next((one for one in windows if "active" in one.states), None)
        if active is None:
            raise AppNotFound(
                "No window is active.",
                hint="Call window for what there is, then name one: window takes an id or a title, app takes an app.",
                nearest_matches=[_cut(one.title) for one in windows[:SHOWN]],
            )
        return active
    found = matching(windows, window=window, app=app)
    if len(found) > 1:
        raise AmbiguousElement(
            f"{len(found)} windows match.",
            hint="Repeat the call with the id of one candidate as window.",
            candidates=[{"index": number, **described(one)} for number, one in enumerate(found[:SHOWN])],
            matches=len(found),
        )
    if not found:
        raise no_window(windows, window if window is not None else app or "")
    return found[0]


def no_window(windows: Sequence[Window], asked: str) -> AppNotFound:
    """The error for a window that is not there, with the nearest that are."""
    texts = {fold_text(text): _cut(text) for one in windows for text in (one.title, one.app) if text}
    near = [texts[text] for text in nearest(fold_text(asked), texts)]
    return AppNotFound(
        "There is no such window.",
        hint="Call window for the windows there are.",
        nearest_matches=near or [_cut(one.title) for one in windows[:SHOWN]],
        looked_for=asked,
    )


async def seen(
    ctx: Context, id: str, right: Callable[[Window, Sequence[Window]], bool], expected: dict[str, Any]
) -> Window:
    """The window once it is seen to be as it was asked to be.

    Args:
        ctx: The running command.
        id: Of the window.
        right: Whether it is, given the window and all of them.
        expected: What was asked, for the error.

    Raises:
        AppNotFound: It is gone.
        ActionUnverified: It is something else.
    """
    until = anyio.current_time() + SETTLE
    while True:
        windows = await windows_of(ctx)
        window = next((one for one in windows if one.id == id), None)
        if window is None:
            raise no_window(windows, id)
        if right(window, windows):
            return window
        if anyio.current_time() >= until:
            told = described(window)
            raise ActionUnverified(
                "The window did not become what was asked.",
                hint="Call window to see how it is now; some keep a size or place of their own.",
                expected=expected,
                actual={"rect": told["rect"], "states": told["states"]},
            )
        await ctx.pause(STEP)


async def apps_of(ctx: Context) -> list[App]:
    """Every app of the device, installed or running."""
    return list(await ctx.use(Apps).list())
