"""A shell on the device, for profile full."""

from __future__ import annotations

import secrets
from typing import Final

from anydevice.driver import Shell, ShellResult
from anydevice_schemas.errors import PathNotFound

from .hdc import quote
from .hdc.device import TEMPORARY
from .reach import Reach

MOST: Final = 1 << 20
"""Bytes kept of each output."""
NO_FOLDER: Final = 97
"""Status with which we say that there is no such folder, after the mark: a command may leave with any status."""
_MARK: Final = "anydevice: no such folder"


class HarmonyosShell(Shell):
    """See `Shell`: the device's own shell, begun in the one folder it may write."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def run(self, command: str, *, cwd: str | None = None, deadline: float = 30.0) -> ShellResult:
        """See `Shell.run`. hdc gives both outputs as one, so the second is kept in a file until the command has ended.

        Raises:
            PathNotFound: There is no such folder.
            AnydeviceError: As `HdcDevice.shell`.
        """
        # In front of a name that begins with a dash: `cd` has options, and `cd -` is another place.
        folder = f"./{cwd}" if cwd is not None and cwd.startswith("-") else cwd or TEMPORARY
        said = quote(self._reach.temporary(".err"))
        part = f"__stderr_{secrets.token_hex(6)}"  # of no fixed form: a command may print whatever it likes
        line = (
            f"(cd {quote(folder)} >/dev/null 2>&1 || {{ echo {quote(_MARK)}; exit {NO_FOLDER}; }}\n"
            f"({command}\n) 2>{said})\nr=$?; echo {part}; cat {said} 2>/dev/null; rm -f {said}; exit $r"
        )
        done = await self._reach.hdc.shell(line, deadline=deadline, most=2 * MOST)
        out, mark, complaint = done.text.rpartition(part + "\n")
        out = out if mark else done.text
        if done.status == NO_FOLDER and out.strip() == _MARK:
            raise PathNotFound("There is no such folder on the device.", path=cwd or TEMPORARY)
        cut = done.cut > 0 or len(out) > MOST or len(complaint) > MOST
        return ShellResult(done.status, out[-MOST:], complaint[-MOST:] if mark else "", cut=cut)
