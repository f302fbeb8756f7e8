"""Waiting for a file descriptor, however many are open (`select.select` knows those below 1,024 only)."""

from __future__ import annotations

import math
import select


def readable(fd: int, seconds: float | None) -> bool:
    """Whether something can be read from a descriptor, or its other end is gone, within so many seconds. Blocks.

    Args:
        fd: An open descriptor.
        seconds: None waits for as long as it takes.
    """
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(None if seconds is None else math.ceil(seconds * 1000)))
