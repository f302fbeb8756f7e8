"""The daemon's log: one JSON object a line on descriptor 2, which is a file that is rotated by size.

Everything a library prints lands there too, because descriptors 1 and 2 are the file.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import structlog

ROTATE_BYTES = 4 * 1024 * 1024
KEEP = 3


class _Writer:
    """Writes finished lines to descriptor 2, each in one piece."""

    def __init__(self, *_names: Any) -> None: ...

    def msg(self, line: str) -> None:
        """Writes one line; a full disk loses it rather than the call that logs."""
        try:
            os.write(2, line.encode("utf-8", "backslashreplace") + b"\n")
        except OSError:
            return

    debug = info = warning = error = critical = exception = fatal = log = msg


def configure(*, readable: bool) -> None:
    """Makes structlog write to descriptor 2, and sends what is printed there as well.

    Args:
        readable: Lines for a person at a terminal instead of JSON.
    """
    renderer: Any
    if readable:
        renderer = structlog.dev.ConsoleRenderer(colors=os.isatty(2) and not os.environ.get("NO_COLOR"))
    else:
        renderer = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(20),
        logger_factory=_Writer,
        cache_logger_on_first_use=False,
    )
    sys.stdout = sys.stderr


def loop_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What the event loop has to report goes to the log as well."""
    error = context.get("exception")
    if isinstance(error, asyncio.InvalidStateError) and "set_result" in str(context.get("message")):
        return  # a wait for a socket that was cancelled in the very moment it became ready
    structlog.get_logger("asyncio").warning("event_loop", message=context.get("message"), exc_info=error)


class LogFile:
    """The file behind descriptors 1 and 2.

    Args:
        path: Its place; older parts are kept beside it as `.1` to `.3`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def attach(self) -> None:
        """Opens the file and puts it under descriptors 1 and 2."""
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        os.close(handle)

    def rotate(self, limit: int = ROTATE_BYTES) -> bool:
        """Starts a new file when the current one has more than `limit` bytes; True when it did."""
        try:
            if os.fstat(2).st_size <= limit:
                return False
            for number in range(KEEP - 1, 0, -1):
                older = self.path.with_name(f"{self.path.name}.{number}")
                if older.exists():
                    older.replace(self.path.with_name(f"{self.path.name}.{number + 1}"))
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            self.attach()
        except OSError:
            return False  # tried again later; until then the old file grows
        return True
