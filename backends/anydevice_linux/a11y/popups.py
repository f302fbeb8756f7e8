"""What GTK 4 opens over its windows: menus and lists that are drawn in X windows of their own.

GTK 4 counts what is in a popover as if the popover lay in what it was opened from, and says nowhere which window it is
drawn in. The window is found by its process and size; from there everything inside counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from anydevice_schemas import Rect

from .apps import App
from .bus import Link
from .coords import NOWHERE, Shift, Window, extents, local
from .shape import Item, Shape

CONTENT: Final = "GtkPopoverContent"
"""What is inside of every popover, and nowhere else."""
NAMES: Final = frozenset({"GtkPopover", "GtkPopoverMenu"})
"""What popovers are called that have no name of their own."""
MARGIN_MOST: Final = 60
"""Points a popover's window may be larger than itself."""
Asked = Callable[[], Awaitable[Sequence[Window] | None]]
"""Gives the windows that no manager manages; None where they cannot be known."""


@dataclass(slots=True, frozen=True)
class Popup:
    """A popover that is open.

    Attributes:
        path: Its object.
        window: The window it is drawn in; None where it was not found.
        shift: How extents inside of it map to the screen.
        rect: Its place.
        hidden: The display knows all its windows, and none is this one's.
    """

    path: str
    window: Window | None
    shift: Shift
    rect: Rect | None
    hidden: bool = False


def may_open(app: App) -> bool:
    """Whether the application may have such popovers."""
    return local(app)


def opened(shape: Shape) -> list[str]:
    """Paths of the popovers of an application, the outer before the inner; what is closed is not among its objects."""
    found = [item.parent for item in shape.items.values() if item.name == CONTENT and item.parent in shape.items]
    return sorted(found, key=lambda path: len(shape.line(path)))


def opened_around(line: Sequence[Item]) -> int | None:
    """Place of the inmost popover in a line of objects, inmost first; None where the first is in none."""
    inner = ""
    for at, item in enumerate(line[:-1]):
        if inner == CONTENT or item.name in NAMES:
            return at
        inner = item.name
    return None


async def popups_of(link: Link, app: App, shape: Shape, asked: Asked, deadline: float) -> dict[str, Popup]:
    """The open popovers of an application, by path.

    Args:
        link: Its connection.
        app: The application.
        shape: What it holds.
        asked: Gives the windows that no manager manages.
        deadline: Seconds it may take.

    Raises:
        Silence, Died, Lost: There was no answer.
    """
    paths = opened(shape) if may_open(app) else []
    if not paths:
        return {}
    calls = [extents(app, path) for path in paths] + [extents(app, shape.items[path].parent) for path in paths]
    told = [answer[0] if answer else None for answer in await link.many(calls, deadline)]
    windows = await asked()
    out: dict[str, Popup] = {}
    for at, path in enumerate(paths):
        out[path] = popup_of(app, path, told[at], told[at + len(paths)], windows, taken=list(out.values()))
    return out


def popup_of(
    app: App,
    path: str,
    own: Sequence[int] | None,
    around: Sequence[int] | None,
    windows: Sequence[Window] | None,
    *,
    taken: Sequence[Popup] = (),
) -> Popup:
    """Finds the window of one popover.

    Args:
        app: The application.
        path: The popover.
        own: Its extents, as they are told.
        around: Those of what it was opened from.
        windows: The windows that no manager manages; None where they are not known.
        taken: Popovers whose windows are known already.
    """
    if own is None or windows is None:
        return Popup(path, None, NOWHERE, None)
    used = {popup.window.id for popup in taken if popup.window is not None}
    fits = [
        (spare, window)
        for window in windows
        if window.pid == app.pid and window.id not in used and (spare := _spare(window, own)) is not None
    ]
    if not fits:
        return Popup(path, None, NOWHERE, None, hidden=True)
    _, window = min(fits, key=lambda fit: sum(fit[0]))
    # Its margins are in the window as well: as far as it lies away from what it was opened from.
    aside, down = (min(max(0, own[at] - around[at]), _spare(window, own)[at]) if around else 0 for at in (0, 1))  # type: ignore[index]
    place = window.client
    shift = Shift(place.x + aside - own[0], place.y + down - own[1])
    return Popup(path, window, shift, shift.rect(own))


def _spare(window: Window, own: Sequence[int]) -> tuple[int, int] | None:
    """How much larger a window is than a popover; None where that cannot be its window."""
    wide, high = int(window.client.width) - own[2], int(window.client.height) - own[3]
    return (wide, high) if 0 <= wide <= MARGIN_MOST and 0 <= high <= MARGIN_MOST else None
