"""A shell on the device, for profile full."""

from __future__ import annotations

from anydevice.driver import Shell, ShellResult
from anydevice_schemas.errors import PathNotFound

from .device import AdbDevice
from .quoting import quote

MOST = 1 << 20
"""Characters kept of each output."""
NO_FOLDER = 97
"""Status with which we say that there is no such folder, after the mark: a command may leave with any status."""
_MARK = "anydevice: no such folder"


class AdbShell(Shell):
    """See `Shell`: the device's own shell, as the user its daemon runs as."""

    def __init__(self, adb: AdbDevice) -> None:
        self._adb = adb

    async def run(self, command: str, *, cwd: str | None = None, deadline: float = 30.0) -> ShellResult:
        """See `Shell.run`."""
        # In front of a name that begins with a dash: `cd` has options, and `cd -` is another place.
        folder = f"./{cwd}" if cwd is not None and cwd.startswith("-") else cwd
        line = command
        if folder is not None:
            line = f"cd {quote(folder)} >/dev/null 2>&1 || {{ echo {quote(_MARK)} >&2; exit {NO_FOLDER}; }}\n{command}"
        done = await self._adb.shell(line, deadline=deadline, most=MOST)
        if cwd is not None and done.status == NO_FOLDER and done.both.strip() == _MARK:
            raise PathNotFound("There is no such folder on the device.", path=cwd)
        return ShellResult(done.status, done.text, done.complaint, cut=done.cut > 0)
