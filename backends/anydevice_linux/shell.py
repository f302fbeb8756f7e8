"""A shell on a desktop: in its environment, and ended with everything it started."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Final

import anyio

from anydevice.driver import Shell, ShellResult
from anydevice.kit import processes
from anydevice_schemas.errors import PathNotFound

from .record import end_with
from .seats import Seat

SHELL: Final = "/bin/sh"
CAP: Final = 1 << 20
"""Bytes of each output that are kept."""
MARK: Final = "ANYDEVICE_SHELL"
"""Variable that what a command line started is known by, wherever it went."""
GRACE: Final = 0.5
"""Seconds between TERM and KILL for what has left the group."""


class LinuxShell(Shell):
    """Runs command lines as a program on the desktop would: its display, its session bus, its home."""

    def __init__(self, reach: Callable[[], Seat]) -> None:
        """`reach` says how the desktop is reached now, or raises why it is not."""
        self._reach = reach

    async def run(self, command: str, *, cwd: str | None = None, deadline: float = 30.0) -> ShellResult:
        """See `Shell.run`. A relative `cwd` begins at the desktop's home."""
        seat = self._reach()
        home = seat.env.get("HOME", seat.cwd)
        folder = os.path.join(seat.cwd, home + cwd[1:] if cwd == "~" or cwd[:2] == "~/" else cwd) if cwd else seat.cwd
        if not await anyio.Path(folder).is_dir():
            raise PathNotFound("There is no such folder.", path=cwd or "~")
        mark = secrets.token_hex(16)
        env = {**seat.env, MARK: mark}
        try:
            done = await processes.run([SHELL, "-c", command], deadline=deadline, cwd=folder, env=env, cap=CAP)
        finally:
            with anyio.CancelScope(shield=True):  # its group has ended; what left that has not
                await end_with(f"{MARK}={mark}", grace=GRACE)
        status = done.code if done.code >= 0 else 128 - done.code
        return ShellResult(status, done.text, done.complaint, cut=done.cut > 0)
