"""Moving, sizing, raising and closing windows under sway; what came of each is read back, never assumed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import anyio

from anydevice_schemas import Point
from anydevice_schemas.errors import ActionUnverified, Unsupported

from ..x11.arranging import CLOSING, SETTLE, STEP, Closing
from ..x11.windows import Window, gone
from .windows import Windows, may_ask

TILED: Final = "The compositor tiles this window: its place and size follow from the others."


class Arranging:
    """Window verbs, as `x11.arranging` has them. Each returns the window as it is afterwards, or says what failed."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows

    async def move(self, id: int, to: Point) -> Window:
        """Moves a floating window so that the upper left corner of its frame is at a point.

        Raises:
            AppNotFound: There is no such window.
            Unsupported: It is tiled.
            ActionUnverified: It is not there now.
            AnydeviceError: As `SwayIpc.run`.
        """
        await self._floating(id, "windows.move")
        x, y = math.floor(to.x), math.floor(to.y)
        await self._run(id, f"move absolute position {x} px {y} px")
        return await self._until(
            id,
            lambda now: (now.frame.x, now.frame.y) == (x, y),
            {"x": x, "y": y},
            lambda now: {"x": now.frame.x, "y": now.frame.y},
        )

    async def resize(self, id: int, width: int, height: int) -> Window:
        """Gives a floating window's frame a size, in points.

        Raises:
            AppNotFound: There is no such window.
            Unsupported: It is tiled.
            ActionUnverified: It has another size now; programs may have a smallest size, or grow in steps.
            AnydeviceError: As `SwayIpc.run`.
        """
        await self._floating(id, "windows.resize")
        await self._run(id, f"resize set width {width} px height {height} px")
        return await self._until(
            id,
            lambda now: (now.frame.width, now.frame.height) == (width, height),
            {"width": width, "height": height},
            lambda now: {"width": now.frame.width, "height": now.frame.height},
        )

    async def minimize(self, id: int) -> Window:
        """Refuses: sway has no minimized windows.

        Raises:
            Unsupported: Always.
        """
        raise _lacks("windows.minimize", "minimized", "window close, or another workspace")

    async def unminimize(self, id: int) -> Window:
        """Refuses: sway has no minimized windows.

        Raises:
            Unsupported: Always.
        """
        raise _lacks("windows.unminimize", "minimized", "window raise")

    async def maximize(self, id: int, on: bool = True) -> Window:
        """Refuses: sway has no maximized windows.

        Raises:
            Unsupported: Always.
        """
        raise _lacks("windows.maximize" if on else "windows.unmaximize", "maximized", "window resize")

    async def fullscreen(self, id: int, on: bool = True) -> Window:
        """Lets a window fill its screen, or takes that back.

        Raises:
            AppNotFound, ActionUnverified, AnydeviceError: As `move`.
        """
        await self._windows.get(id)
        await self._run(id, f"fullscreen {'enable' if on else 'disable'}")
        return await self._until(
            id,
            lambda now: ("fullscreen" in now.state) == on,
            {"state": ["fullscreen"] if on else []},
            lambda now: {"state": sorted(now.state)},
        )

    async def bring_up(self, id: int) -> Window:
        """Gives a window the keyboard and raises it, on its workspace; a dialog of its own may keep both.

        Raises:
            AppNotFound, ActionUnverified, AnydeviceError: As `move`.
        """
        await self._windows.get(id)
        await self._run(id, "focus")
        return await self._until(
            id,
            lambda now: now.shown and "focused" in now.state,
            {"active": True},
            lambda now: {"active": "focused" in now.state, "shown": now.shown},
        )

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
        before = await self._windows.list()
        window = next((one for one in before if one.id == id), None)
        if window is None:
            raise gone()
        known = {one.id for one in before}
        await self._run(id, "kill")
        end = anyio.current_time() + patience
        while True:
            windows = await self._windows.list()
            if all(one.id != id for one in windows):
                return Closing(True)
            own = [one for one in windows if one.pid == window.pid and one.id != id and may_ask(one)]
            asks = next((one for one in own if one.id not in known), None)
            if asks is not None:
                return Closing(False, asks)
            if anyio.current_time() > end:
                # A dialog that an earlier attempt brought up is still the answer.
                return Closing(False, next((one for one in own if "focused" in one.state), None))
            await anyio.sleep(STEP)

    async def _floating(self, id: int, operation: str) -> Window:
        window = await self._windows.get(id)
        if "floating" not in window.state:
            raise Unsupported(
                TILED,
                hint=f"Make it float first (swaymsg '[con_id={id}] floating enable'), then repeat the call.",
                operation=operation,
                alternatives=["windows.bring_up", "windows.close"],
            )
        return window

    async def _run(self, id: int, command: str) -> None:
        await self._windows.ipc.run(f"[con_id={id}] {command}")

    async def _until(
        self, id: int, right: Callable[[Window], bool], expected: Any, actual: Callable[[Window], Any]
    ) -> Window:
        """Waits for a window to be right and at rest: its program draws a new size some time after it was told."""
        end = anyio.current_time() + SETTLE
        last: Window | None = None
        while True:
            now = await self._windows.get(id)
            if right(now) and last is not None and now.client == last.client and now.extents == last.extents:
                return now
            if anyio.current_time() > end:
                raise ActionUnverified(
                    "The compositor did not do what it was asked.",
                    hint="Call window with action list to see how the window is now.",
                    expected=expected,
                    actual=actual(now),
                )
            last = now
            await anyio.sleep(STEP)


def _lacks(operation: str, word: str, instead: str) -> Unsupported:
    return Unsupported(
        f"Sway has no {word} windows.",
        hint=f"Use {instead} instead.",
        operation=operation,
        alternatives=["windows.bring_up"],
    )
