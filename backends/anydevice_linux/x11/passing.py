"""Seeing that the window manager has passed a press on.

A manager that watches for presses on windows (to raise them, to give them the focus) gets each of them first and then
passes it on. Keys it does not watch: sent right after a press, they would reach the program before it.
"""

from __future__ import annotations

import anyio
from Xlib import X
from Xlib.protocol import event

from .connection import Connection
from .display import XDisplay
from .properties import Ask

PATIENCE = 0.3
"""Seconds a window manager may take; one that is busy for longer is not waited for."""
PAUSE = 0.001
_REQUEST, _ANSWER = "_NET_REQUEST_FRAME_EXTENTS", "_NET_FRAME_EXTENTS"


class Passing:
    """Asks the manager something that it answers after whatever came before: the border it would give a window."""

    def __init__(self, display: XDisplay) -> None:
        self._display = display
        self._window: int | None = None

    async def passed(self) -> None:
        """Returns once the manager has taken what was sent, or at once where it does not answer such questions.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout: As `XDisplay.do`.
        """
        if not await self._display.do(self._ask):
            return
        end = anyio.current_time() + PATIENCE
        while not await self._display.do(self._answered) and anyio.current_time() < end:  # noqa: ASYNC110
            await anyio.sleep(PAUSE)

    # --- in the display's thread -------------------------------------------------------------------------

    def _ask(self, connection: Connection) -> bool:
        root = connection.screen().root
        request, answer = connection.display.get_atom(_REQUEST), connection.display.get_atom(_ANSWER)
        if request not in Ask(connection).property(root.id, "_NET_SUPPORTED").numbers():
            return False
        if self._window is None:
            window = root.create_window(-10, -10, 1, 1, 0, connection.screen().root_depth, override_redirect=1)
            self._window = window.id
        else:
            window = connection.create_resource_object("window", self._window)
            window.delete_property(answer)
        message = event.ClientMessage(window=window, client_type=request, data=(32, [0, 0, 0, 0, 0]))
        root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        connection.settle()
        return True

    def _answered(self, connection: Connection) -> bool:
        return self._window is None or bool(Ask(connection).property(self._window, _ANSWER).numbers())
