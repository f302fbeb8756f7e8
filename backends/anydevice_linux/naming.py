"""By which id a window is told."""

from __future__ import annotations

import hashlib

from anydevice.kit import pids

from .x11 import Window


def told_id(window: Window) -> str:
    """The id a window is told by. Displays give a number again; with the process it is the window's own."""
    born = f"{window.pid}:{pids.started(window.pid)}" if window.pid is not None else ""
    mark = hashlib.blake2b(born.encode(), digest_size=3).hexdigest() if born else "0"
    return f"{window.id:x}-{mark}"
