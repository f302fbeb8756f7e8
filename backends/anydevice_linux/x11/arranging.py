"""Moving, sizing, raising, minimizing and closing windows; what came of each is read back, never assumed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from Xlib import X
from Xlib.protocol import event

from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import ActionUnverified, UpstreamUnavailable

from .connection import Connection
from .display import DEADLINE
from .windows import Window, Windows, gone

SETTLE = 2.0
"""Seconds a window manager may take to do what it was asked."""
CLOSING = 3.0
"""Seconds a program may take to close a window, or to ask about it."""
STEP = 0.01
"""Seconds between two looks."""
BOTH = frozenset({"maximized_vert", "maximized_horz"})
NORTH_WEST = 1
"""Gravity: the numbers are those of the frame's upper left corner, whatever the window itself asked for."""
PAGER = 2
"""Source indication: a person, through a program like this one, wants it; managers then do not refuse."""


@dataclass(slots=True, frozen=True)
class Closing:
    """What came of asking a window to close.

    Attributes:
        gone: Whether it is gone.
        asks: The window that came up instead (to save changes, as a rule); None where there is none.
    """

    gone: bool
    asks: Window | None = None


class Arranging:
    """Window verbs. Each returns the window as it is afterwards, or says that it did not become what was asked."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._display = windows.display

    async def move(self, id: int, to: Point) -> Window:
        """Moves a window so that the upper left corner of its frame is at a point; a maximized one is freed first.

        Raises:
            AppNotFound: There is no such window.
            ActionUnverified: It is not there now.
            UpstreamUnavailable: No window manager runs.
            AnydeviceError: As `XDisplay.do`.
        """
        window = await self._loose(id)
        x, y = math.floor(to.x), math.floor(to.y)
        shadow = window.gtk_extents or (0, 0, 0, 0)
        await self._ask(id, "_NET_MOVERESIZE_WINDOW", _placed(x=x - shadow[0], y=y - shadow[2]), "window move")
        return await self._until(
            id, lambda now: (now.frame.x, now.frame.y) == (x, y), {"x": x, "y": y}, lambda now: _corner(now.frame)
        )

    async def resize(self, id: int, width: int, height: int) -> Window:
        """Gives a window's frame a size, in points; a maximized window is freed first.

        Raises:
            AppNotFound: There is no such window.
            ActionUnverified: It has another size now; programs may have a smallest size, or grow in steps.
            AnydeviceError: As `XDisplay.do`.
        """
        window = await self._loose(id)
        around = window.frame.width - window.client.width, window.frame.height - window.client.height
        inner = max(1, width - int(around[0])), max(1, height - int(around[1]))
        await self._ask(id, "_NET_MOVERESIZE_WINDOW", _placed(width=inner[0], height=inner[1]), "window resize")
        return await self._until(
            id,
            lambda now: (now.frame.width, now.frame.height) == (width, height),
            {"width": width, "height": height},
            lambda now: _size(now.frame),
        )

    async def minimize(self, id: int) -> Window:
        """Minimizes a window.

        Raises:
            AppNotFound, ActionUnverified, AnydeviceError: As `move`.
        """
        await self._windows.get(id)
        await self._ask(id, "WM_CHANGE_STATE", (3,), "window minimize")
        return await self._until(
            id, lambda now: "minimized" in now.state and not now.shown, {"state": ["minimized"]}, _state
        )

    async def unminimize(self, id: int) -> Window:
        """Brings a minimized window back.

        Raises:
            AppNotFound, ActionUnverified, AnydeviceError: As `move`.
        """
        await self._windows.get(id)
        await self._ask(id, "_NET_ACTIVE_WINDOW", (PAGER, 0, 0), "window unminimize")
        return await self._until(id, lambda now: "minimized" not in now.state and now.shown, {"state": []}, _state)

    async def maximize(self, id: int, on: bool = True) -> Window:
        """Maximizes a window both ways, or takes that back.

        Raises:
            AppNotFound, ActionUnverified, AnydeviceError: As `move`.
        """
        await self._windows.get(id)
        await self._ask(
            id,
            "_NET_WM_STATE",
            (int(on), "_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ", PAGER),
            "window maximize",
        )
        return await self._until(
            id,
            (lambda now: now.state >= BOTH) if on else (lambda now: not BOTH & now.state),
            {"state": sorted(BOTH) if on else []},
            _state,
        )

    async def bring_up(self, id: int) -> Window:
        """Raises a window above the others and gives it the keyboard; a dialog of its own may keep both.

        Raises:
            AppNotFound, ActionUnverified, AnydeviceError: As `move`.
        """
        await self._windows.get(id)
        await self._ask(id, "_NET_ACTIVE_WINDOW", (PAGER, 0, 0), "window raise")
        end = anyio.current_time() + SETTLE
        while True:
            found = await self._display.do(self._standing)
            windows, active = found
            window = next((one for one in windows if one.id == id), None)
            if window is None:
                raise gone()
            over = _over(window, windows)
            up = active == id or active in {one.id for one in windows if _belongs(one, id, windows)}
            if up and not over and window.shown:
                return window
            if anyio.current_time() > end:
                raise ActionUnverified(
                    "The window did not come up.",
                    hint="Call window with action list to see what lies over it.",
                    expected={"active": True, "over_it": 0},
                    actual={"active": active == id, "over_it": len(over)},
                )
            await anyio.sleep(STEP)

    async def close(self, id: int, patience: float = CLOSING) -> Closing:
        """Asks a window to close, as its close button would. Nothing is forced.

        Args:
            id: Of the window.
            patience: Seconds until it must be gone, or something must have come up instead.

        Returns:
            Whether it is gone, and the dialog that came up if it is not.

        Raises:
            AppNotFound, AnydeviceError: As `move`.
        """
        before = {window.id for window in await self._windows.list()}
        if id not in before:
            raise gone()
        await self._ask(id, "_NET_CLOSE_WINDOW", (0, PAGER), "window close")
        end = anyio.current_time() + patience
        asks: Window | None = None
        while anyio.current_time() < end:
            windows = await self._windows.list()
            if all(window.id != id for window in windows):
                return Closing(True)
            new = [window for window in windows if window.id not in before]
            asks = next((window for window in new if _belongs(window, id, windows)), None)
            asks = asks or next((window for window in new if window.kind == "dialog"), None)
            if asks is not None:
                return Closing(False, asks)
            await anyio.sleep(STEP)
        # A dialog that an earlier attempt brought up is still the answer.
        windows = await self._windows.list()
        asks = next((window for window in windows if window.id != id and _belongs(window, id, windows)), None)
        return Closing(all(window.id != id for window in windows), asks)

    async def _loose(self, id: int) -> Window:
        """The window, no longer maximized if it was: managers keep those where they are."""
        window = await self._windows.get(id)
        return await self.maximize(id, on=False) if window.state & BOTH else window

    async def _ask(self, id: int, kind: str, data: Sequence[int | str], sent: str) -> None:
        """Sends the window manager a message about a window."""

        def send(connection: Connection) -> None:
            if not self._windows.manager(connection):
                raise UpstreamUnavailable(
                    "No window manager runs on the display.",
                    upstream="window manager",
                    enable_hint="Start one on the display, such as openbox.",
                )
            words = [connection.display.get_atom(word) if isinstance(word, str) else word for word in data]
            root = connection.screen().root
            message = event.ClientMessage(
                window=connection.create_resource_object("window", id),
                client_type=connection.display.get_atom(kind),
                data=(32, [*words, *[0] * (5 - len(words))]),
            )
            root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
            connection.settle()

        await self._display.do(send, DEADLINE, sent=sent)

    def _standing(self, connection: Connection) -> tuple[list[Window], int | None]:
        return self._windows.read_all(connection), self._windows.active_id(connection)

    async def _until(
        self, id: int, right: Callable[[Window], bool], expected: Any, actual: Callable[[Window], Any]
    ) -> Window:
        """Waits for a window to be right and at rest: managers change its size, place and border one by one."""
        end = anyio.current_time() + SETTLE
        last: Window | None = None
        while True:
            now = await self._windows.get(id)
            if right(now) and last is not None and now.client == last.client and now.extents == last.extents:
                return now
            if anyio.current_time() > end:
                raise ActionUnverified(
                    "The window manager did not do what it was asked.",
                    hint="Call window with action list to see how the window is now.",
                    expected=expected,
                    actual=actual(now),
                )
            last = now
            await anyio.sleep(STEP / 2)


def _placed(
    x: int | None = None, y: int | None = None, width: int | None = None, height: int | None = None
) -> tuple[int, ...]:
    given = [x, y, width, height]
    bits = sum(1 << (8 + number) for number, value in enumerate(given) if value is not None)
    words = [(value or 0) & 0xFFFFFFFF for value in given]
    return (NORTH_WEST | bits | PAGER << 12, *words)


def _belongs(window: Window, id: int, windows: Sequence[Window]) -> bool:
    """Whether a window is, directly or over others, a dialog of window `id`."""
    by_id = {one.id: one for one in windows}
    seen: set[int] = set()
    leader = window.leader
    while leader is not None and leader not in seen:
        if leader == id:
            return True
        seen.add(leader)
        leader = by_id[leader].leader if leader in by_id else None
    return False


def _over(window: Window, windows: Sequence[Window]) -> list[Window]:
    """Ordinary windows that lie over a window and are none of its dialogs."""
    over = []
    for other in windows:
        if other.id == window.id:
            break
        if not other.shown:
            continue
        layered = other.state & {"above", "fullscreen", "minimized"} or other.kind in ("dock", "desktop", "splash")
        if not layered and not _belongs(other, window.id, windows) and window.frame.intersect(other.frame):
            over.append(other)
    return over


def _corner(rect: Rect) -> dict[str, float]:
    return {"x": rect.x, "y": rect.y}


def _size(rect: Rect) -> dict[str, float]:
    return {"width": rect.width, "height": rect.height}


def _state(window: Window) -> dict[str, list[str]]:
    return {"state": sorted(window.state)}
