"""The live connections to one desktop: opened on first use, and made anew when they are lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import anyio

from anydevice.driver import Keys, Pointer
from anydevice_schemas import Node, Point, Rect
from anydevice_schemas.errors import AnydeviceError, UpstreamUnavailable

from .a11y import coords
from .a11y.hands import Hands
from .a11y.session import A11y
from .faces import Arranger, Closable, Display, Pictures, WindowsOf
from .seats import Seat
from .wayland.clipboard import WClipboard
from .wayland.opening import connect
from .x11 import Clipboard, Shots, Windows, XDisplay, XKeys, XPointer
from .x11.arranging import Arranging

AGAIN = 5.0
"""Seconds until accessibility that is missing is looked for once more."""


class Board(Protocol):
    """A clipboard, whichever display it is of."""

    @property
    def lost(self) -> bool: ...
    async def write_text(self, text: str) -> None: ...
    async def write_png(self, data: bytes) -> None: ...
    async def write_files(self, paths: Sequence[Path]) -> None: ...
    async def kinds(self) -> list[str]: ...
    async def read_text(self) -> str | None: ...
    async def read_png(self) -> bytes | None: ...
    async def read_files(self) -> list[str] | None: ...
    async def clear(self) -> None: ...
    async def aclose(self) -> None: ...


@dataclass(slots=True)
class Live:
    """Everything that speaks to a running desktop."""

    seat: Seat
    display: Display
    windows: WindowsOf
    arranging: Arranger
    shots: Pictures
    pointer: Pointer
    keys: Keys
    screen: Rect
    board: Callable[[], Awaitable[Board]] | None = None
    focusing: Callable[[Callable[[], Awaitable[Node | None]]], None] = lambda _: None
    besides: Closable | None = None
    access: A11y | None = None
    missing: UpstreamUnavailable | None = None

    @property
    def a11y(self) -> A11y:
        """Accessibility.

        Raises:
            UpstreamUnavailable: The desktop has none.
        """
        if self.access is None:
            assert self.missing is not None
            raise self.missing
        return self.access

    async def fit(self) -> None:
        """Learns of screens that came, went or changed, where that happens."""
        if self.seat.socket:
            with suppress(UpstreamUnavailable):  # all are off: what they showed last is as good as anything
                self.screen = (await self.shots.geometry()).viewport
            if self.access is not None:
                self.access.screen = self.screen

    async def aclose(self) -> None:
        """Lets go of the desktop; nothing on it changes."""
        for part in (self.access, self.shots, self.besides, self.display):
            if part is not None:
                with suppress(AnydeviceError, OSError):
                    await part.aclose()


class Lives:
    """The connections of one driver."""

    def __init__(self, seat: Callable[[], Seat]) -> None:
        """`seat` says how the desktop is reached now, or raises why it is not."""
        self._seat = seat
        self._live: Live | None = None
        self._opening = anyio.Lock()
        self._again = 0.0
        self._losses: list[Mapping[str, Any]] = []

    @property
    def existing(self) -> Live | None:
        """What is open, if anything is."""
        return self._live

    async def get(self) -> Live:
        """The connections, made if need be.

        Raises:
            DeviceNotReady: The desktop does not run.
            DeviceOffline: Its display cannot be reached.
        """
        seat = self._seat()
        live = self._live
        if live is not None and live.seat.mark == seat.mark and not live.display.lost and not self._due(live):
            await live.fit()
            return live
        async with self._opening:
            live = self._live
            if live is not None and (live.seat.mark != seat.mark or live.display.lost):
                if live.seat.mark == seat.mark:
                    self._losses.append({"kind": "display-connection", "restarted": True})
                await self.aclose()
                live = None
            if live is None:
                live = self._live = await _open(seat)
                self._again = anyio.current_time() + AGAIN
            elif self._due(live):
                self._again = anyio.current_time() + AGAIN
                await _add_accessibility(live)
            return live

    def _due(self, live: Live) -> bool:
        """Whether it is time to look once more for the accessibility that is missing."""
        return live.access is None and anyio.current_time() >= self._again

    @property
    def reason(self) -> str:
        """Why there is no accessibility; empty while there is, and before anything was opened."""
        missing = self._live.missing if self._live is not None else None
        return f"{missing.message} {missing.details['enable_hint']}" if missing is not None else ""

    def losses(self) -> Sequence[Mapping[str, Any]]:
        """What was lost since the last call; handed out once."""
        lost, self._losses = self._losses, []
        access = self._live.access if self._live is not None else None
        return [*lost, *(access.losses() if access is not None else ())]

    async def aclose(self) -> None:
        """Closes what is open."""
        live, self._live = self._live, None
        if live is not None:
            await live.aclose()


async def _open(seat: Seat) -> Live:
    return await (_open_wayland(seat) if seat.socket else _open_x11(seat))


async def _open_wayland(seat: Seat) -> Live:
    parts = await connect(seat.socket, seat.ipc)
    try:
        live = Live(
            seat, parts.compositor, parts.windows, parts.arranging, parts.shots, parts.pointer, parts.keys, parts.screen
        )
        live.board = lambda: WClipboard.open(seat.socket)
        live.focusing, live.besides = parts.keys.told_by, parts.windows.ipc
        await _add_accessibility(live)
        return live
    except BaseException:
        with anyio.CancelScope(shield=True):
            await parts.compositor.aclose()
        raise


async def _open_x11(seat: Seat) -> Live:
    display = await XDisplay.open(seat.display, seat.xauthority)
    try:
        windows = Windows(display)
        shots = Shots(display, windows)
        screen = (await shots.geometry()).viewport
        pointer, keys = XPointer(display), XKeys(display)
        live = Live(seat, display, windows, Arranging(windows), shots, pointer, keys, screen)
        live.focusing = keys.told_by
        live.board = lambda: Clipboard.open(seat.display, seat.xauthority)
        await _add_accessibility(live)
        return live
    except BaseException:
        with anyio.CancelScope(shield=True):
            await display.aclose()
        raise


async def _add_accessibility(live: Live) -> None:
    """Connects accessibility; pointer, keys and pictures work without, so its absence is no error yet."""
    try:
        wayland = bool(live.seat.socket)
        access = await A11y.open(live.seat.bus, live.windows, screen=live.screen, wayland=wayland)
    except UpstreamUnavailable as error:
        live.missing = error
        return
    live.access, live.missing = access, None
    live.focusing(access.focused)
    access.hands = _Hands(live.arranging, live.pointer, live.keys)


class _Hands(Hands):
    """Pointer and keyboard, lent to accessibility."""

    def __init__(self, arranging: Arranger, pointer: Pointer, keys: Keys) -> None:
        self._arranging, self._pointer, self._keys = arranging, pointer, keys

    async def click(self, point: Point) -> None:
        await self._pointer.click(point)

    async def wheel(self, point: Point, dx: float, dy: float) -> None:
        await self._pointer.wheel(point, dx=dx, dy=dy)

    async def replace(self, text: str) -> None:
        await self._keys.press("ctrl+a")
        if text:
            await self._keys.type_text(text)
        else:
            await self._keys.press("delete")

    async def front(self, window: coords.Window) -> None:
        await self._arranging.bring_up(window.id)
