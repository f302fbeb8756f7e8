"""A child process whose parent was replaced by another program in the same process: still ours, and still reaped."""

from __future__ import annotations

import os
import signal
import sys

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

_POLL = 0.02


class Adopted(Process):
    """A child this process has without having started it. It has no streams.

    Args:
        pid: Its process id.

    Raises:
        ChildProcessError: It is no child of this process.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._code: int | None = None
        self._reap()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._pid

    @property
    def returncode(self) -> int | None:
        """Exit status, negative = ended by that signal; None while it runs."""
        if self._code is None:
            try:
                self._reap()
            except ChildProcessError:
                self._code = -signal.SIGKILL  # somebody else has reaped it; how it ended is not known any more
        return self._code

    @property
    def stdin(self) -> ByteSendStream | None:
        """None."""
        return None

    @property
    def stdout(self) -> ByteReceiveStream | None:
        """None."""
        return None

    @property
    def stderr(self) -> ByteReceiveStream | None:
        """None."""
        return None

    async def wait(self) -> int:
        """Returns its exit status once it has ended."""
        while (code := self.returncode) is None:
            await self._change()
        return code

    def terminate(self) -> None:
        """Sends SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def send_signal(self, signal: signal.Signals) -> None:
        """Sends a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self._pid, signal)

    async def aclose(self) -> None:
        """Waits for its end."""
        await self.wait()

    def _reap(self) -> None:
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid:
            self._code = os.waitstatus_to_exitcode(status)

    async def _change(self) -> None:
        if sys.platform.startswith("linux"):
            try:
                handle = os.pidfd_open(self._pid)
            except OSError:
                await anyio.sleep(_POLL)
                return
            try:
                await anyio.wait_readable(handle)
            finally:
                os.close(handle)
        else:
            await anyio.sleep(_POLL)
