"""The console of a virtual device: what the emulator it comes from left on the port below its adb port."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
from anyio.abc import SocketStream

from ..android import console
from ..handset.picture import png
from .recorder import drawing

if TYPE_CHECKING:
    from .device import VegaDevice


async def serve_vega(device: VegaDevice, stream: SocketStream) -> None:
    """Answers lines until the other side quits."""

    async def answer(words: list[str]) -> str:
        if words[:2] == ["screenrecord", "screenshot"]:
            return await _screenshot(device, words[2] if len(words) > 2 else ".")
        if words == ["ping"]:
            return "I am alive!\r\nOK"
        if words == ["kill"]:
            return "OK: killing emulator, bye bye"
        if words[:1] == ["help"]:
            return "    help|h|?\r\n    event\r\n    kill\r\n    ping\r\n    screenrecord\r\n    quit|exit\r\nOK"
        if words[:2] == ["event", "send"]:
            return "OK"  # it reports success and never reaches an app
        return console.UNKNOWN

    await console.serve(device, stream, answer)


async def _screenshot(device: VegaDevice, folder: str) -> str:
    """Writes a picture into a folder of this host."""
    place = Path(folder)
    if not place.is_dir():  # noqa: ASYNC240 - one look, as everywhere in the lab
        return "KO: Failed to take screenshot"
    data = b""
    if device.faults.active("screenshot_empty") is None:
        data = await anyio.to_thread.run_sync(png, drawing(device.machine))
    (place / f"Screenshot_{time.time_ns() // 1_000_000}.png").write_bytes(data)
    return "OK"
