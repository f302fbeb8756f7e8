"""Starting a sealed run and listening to it: its events, its output, its silence."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from types import TracebackType

from .job import Job, sealed_command

OUTPUT_KEPT = 16 * 1024
EVENT_MOST = 4 * 1024 * 1024
"""Bytes of one event; a longer one is no event."""
END_WITHIN = 12.0
"""Seconds the keeper has to end everything once it is told to."""


class SealedProcess:
    """A sealed run as its parent holds it. Leaving the context ends whatever is left of it.

    Attributes:
        output: The end of what it printed.
        run_pid: The process (and group) vendor code runs in, while it is not known to have ended; set by the listener.
    """

    def __init__(self, job: Job, environment: Mapping[str, str], cwd: str) -> None:
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                sealed_command(writing),
                cwd=cwd,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(writing,),
                start_new_session=True,
            )
        finally:
            os.close(writing)
        self._events = reading
        self._buffer = bytearray()
        self.output = bytearray()
        self.run_pid: int | None = None
        self._selector = selectors.DefaultSelector()
        assert self._process.stdout is not None and self._process.stdin is not None
        self._printed = self._process.stdout.fileno()
        for descriptor in (self._events, self._printed):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)
        with contextlib.suppress(BrokenPipeError):  # it died at once; its silence tells
            os.write(self._process.stdin.fileno(), job.to_line())

    def __enter__(self) -> SealedProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(lambda line: None)
        self._selector.close()
        os.close(self._events)
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def gone(self) -> bool:
        """Whether the keeper has ended."""
        return self._process.poll() is not None

    def listen(self, take: Callable[[bytes], None], until: float) -> bool:
        """Waits for something to happen and hands every whole event to `take`.

        Args:
            take: Called with each event.
            until: Monotonic seconds to return at when nothing happens.

        Returns:
            False once the run and its keeper will tell nothing more.
        """
        left = max(0.0, until - time.monotonic())
        for key, _ in self._selector.select(left):
            data = os.read(key.fd, 65536)
            if not data:
                self._selector.unregister(key.fd)
            elif key.fd == self._events:
                self._buffer += data
            else:
                self.output += data
                del self.output[:-OUTPUT_KEPT]
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            take(line)
        if len(self._buffer) > EVENT_MOST:
            self._buffer.clear()
            take(b"")
        return self._events in self._selector.get_map()

    def end(self, take: Callable[[bytes], None]) -> None:
        """Tells the keeper to end everything and waits until it has; what does not go is killed by its group."""
        assert self._process.stdin is not None
        if not self._process.stdin.closed:
            self._process.stdin.close()
        until = time.monotonic() + END_WITHIN
        while not self.gone and time.monotonic() < until:
            self.listen(take, min(until, time.monotonic() + 0.05))
        while self._selector.get_map() and self._selector.select(0):  # what was told just before it went
            self.listen(take, 0.0)
        if not self.gone:
            _kill_group(self._process.pid)
            self._process.wait(timeout=END_WITHIN)
        if self.run_pid is not None:  # the keeper went without saying that the run has ended
            _kill_group(self.run_pid)
            self.run_pid = None


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
