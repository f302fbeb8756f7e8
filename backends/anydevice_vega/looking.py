"""A picture of a virtual device from outside: its console writes one into a folder of this host."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from anydevice_adb import console
from anydevice_schemas.errors import UpstreamUnavailable

WRITING: Final = 10.0
"""Seconds the console may take to write a picture."""
STEP: Final = 0.05


async def picture(host: str, port: int) -> bytes:
    """The screen as a PNG file.

    Raises:
        UpstreamUnavailable: The console gave none.
    """
    folder = Path(await anyio.to_thread.run_sync(tempfile.mkdtemp, "", "anydevice-vega-"))
    try:
        said = await console.ask(host, port, f"screenrecord screenshot {folder}", deadline=WRITING)
        if said is not None:
            with anyio.move_on_after(WRITING):
                while True:
                    found = await anyio.to_thread.run_sync(_newest, folder)
                    if found:
                        return found
                    await anyio.sleep(STEP)
        raise UpstreamUnavailable(
            "The console of the virtual device gave no picture.",
            upstream="console",
            enable_hint=f"Run anydevice as the user who started it: ~/{console.TOKEN} is its key.",
        )
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_away, folder)


def _newest(folder: Path) -> bytes:
    """What was written last, once it is whole (a PNG ends with its own mark)."""
    for file in sorted(folder.glob("*.png"), key=lambda one: one.stat().st_mtime, reverse=True):
        data = file.read_bytes()
        if b"IEND" in data[-16:]:
            return data
    return b""


def _away(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
