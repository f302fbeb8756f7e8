"""A shell on the device, for profile full."""

from __future__ import annotations

from anydevice.driver import Shell, ShellResult
from anydevice_adb import quote
from anydevice_schemas.errors import PathNotFound

from .reach import Reach

MOST = 1 << 20
"""Characters kept of each output."""
NO_FOLDER = 97
"""Status with which we say that there is no such folder."""


class AndroidShell(Shell):
    """See `Shell`: the device's own shell, as the user `shell`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def run(self, command: str, *, cwd: str | None = None, deadline: float = 30.0) -> ShellResult:
        """See `Shell.run`."""
        line = command if cwd is None else f"cd {quote(cwd)} 2>/dev/null || exit {NO_FOLDER}\n{command}"
        done = await self._reach.adb.shell(line, deadline=deadline, most=MOST)
        if cwd is not None and done.status == NO_FOLDER and not done.stdout and not done.stderr:
            raise PathNotFound("There is no such folder on the device.", path=cwd)
        return ShellResult(done.status, done.text, done.complaint, cut=done.cut > 0)
