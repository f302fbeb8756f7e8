"""What a dialog that has just come up asks: accessibility may need a moment to read what is on the screen."""

from __future__ import annotations

from typing import Any, Final

import anyio

from anydevice_schemas.errors import AnydeviceError

from .live import Live
from .x11 import Window

READING: Final = 1.5
"""Seconds a dialog that is on the screen may take until accessibility can read it."""
STEP: Final = 0.02


async def question(live: Live, asks: Window) -> dict[str, Any]:
    """What a window that came up asks: `dialog`, `text` and `buttons`, as accessibility reads it, else its title."""
    told: dict[str, Any] = {"dialog": "dialog", "text": asks.title, "buttons": []}
    try:
        if live.access is None or asks.pid is None or await live.access.app_of(asks.pid) is None:
            return told
        end = anyio.current_time() + READING
        while True:
            dialog = await live.access.alerts.get()
            if dialog is not None:
                return told | {"dialog": dialog.kind, "text": dialog.text, "buttons": list(dialog.buttons)}
            if anyio.current_time() > end:
                return told
            await anyio.sleep(STEP)
    except AnydeviceError:
        return told  # that it asks is known all the same
