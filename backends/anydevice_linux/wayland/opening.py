"""Everything that speaks to one Wayland session, opened together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import anyio

from anydevice_schemas import Rect

from ..x11.windows import Window, gone
from .arranging import Arranging
from .compositor import Compositor
from .ipc import SwayIpc
from .keys import WKeys
from .pointer import WPointer
from .protocol import TOPLEVEL_MANAGER
from .shots import WShots
from .toplevels import Toplevels
from .windows import Windows

SETTLE: Final = 0.4
"""Seconds programs are left to notice the first mouse or keyboard of a session; what comes before is lost on them."""


class Unplaced(Windows):
    """The windows of a compositor that does not say where they are: none is known."""

    def __init__(self) -> None:
        super().__init__(SwayIpc(""), None)

    async def list(self) -> list[Window]:
        """None."""
        return []

    async def get(self, id: int) -> Window:
        """See `Windows.get`.

        Raises:
            AppNotFound: Always.
        """
        raise gone()

    async def active(self) -> Window | None:
        """Not known."""
        return None

    async def typing(self) -> bool | None:
        """Not known."""
        return None


@dataclass(slots=True)
class Parts:
    """The connections to one Wayland session.

    Attributes:
        compositor: The connection all others but the clipboard go through.
        screen: The rectangle around all screens, in points.
    """

    compositor: Compositor
    windows: Windows
    arranging: Arranging
    shots: WShots
    pointer: WPointer
    keys: WKeys
    screen: Rect = field(default_factory=lambda: Rect(0, 0, 0, 0))


async def connect(socket: str, ipc: str) -> Parts:
    """Connects to a session.

    Args:
        socket: Path of the compositor's socket.
        ipc: Path of sway's own; empty under other compositors.

    Raises:
        DeviceOffline: It cannot be reached.
        AnydeviceError: As `WShots.geometry`.
    """
    compositor = await Compositor.open(socket)
    try:
        toplevels = Toplevels(compositor) if compositor.offers(TOPLEVEL_MANAGER) else None
        windows = Windows(SwayIpc(ipc), toplevels) if ipc else Unplaced()
        shots = WShots(compositor)
        pointer, keys = WPointer(compositor), WKeys(compositor, windows.typing)
        parts = Parts(compositor, windows, Arranging(windows), shots, pointer, keys)
        parts.screen = (await shots.geometry()).viewport
        fresh = [await one.prepare() for one in (pointer, keys)]
        if any(fresh):
            compositor.unnoticed = anyio.current_time() + SETTLE
        return parts
    except BaseException:
        with anyio.CancelScope(shield=True):
            await compositor.aclose()
        raise
