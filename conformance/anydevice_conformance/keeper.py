"""The keeper: a small process around the sealed run that outlives it and sees what it leaves behind.

    parent  ──starts──▶  keeper  ──forks──▶  the run (vendor code)  ──starts──▶  browsers, servers, …

It adopts whatever the run's processes orphan (Linux), so that nothing gets away by losing its parent; elsewhere it
watches the run's descendants while they still hang together. It ends everything when its own standard input ends, as it
does when the parent goes away, however that happens. Little is imported here, and the run is forked off before
anything of a vendor's is.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from anydevice.kit import pids

GRACE = 2.0
"""Seconds what the run started may take to end by itself after the run."""
ENDING = 3.0
"""Seconds an ended process may take to be gone."""
LOOK_EVERY = 0.5
PR_SET_CHILD_SUBREAPER = 36  # prctl(2), Linux 3.4

Tell = Callable[[dict[str, Any]], None]


def teller(descriptor: int) -> Tell:
    """A function that writes events, one JSON object a line, to a file descriptor."""

    def tell(event: dict[str, Any]) -> None:
        data = json.dumps(event).encode() + b"\n"
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except BrokenPipeError:
            return  # nobody listens any more; what has to be ended is ended all the same

    return tell


def adopt_orphans() -> bool:
    """Makes this process the parent of its orphaned descendants; False where the system cannot do that."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


class Keeper:
    """Keeps one run.

    Args:
        work: What the run does, in a process of its own; returns its exit status.
        tell: Where events go.
        lifeline: Descriptor whose end means that everything has to end.
        adopts: Whether this process adopts orphans.
    """

    def __init__(self, work: Callable[[], int], tell: Tell, lifeline: int, *, adopts: bool) -> None:
        self.work = work
        self.tell = tell
        self.lifeline = lifeline
        self.adopts = adopts
        self.run = 0
        self.status: int | None = None
        self._asked_to_end = False
        self._seen: dict[int, str | None] = {}
        self._wake, waking = os.pipe()
        os.set_blocking(waking, False)
        os.set_blocking(self._wake, False)
        self._waking = waking

    def keep(self) -> None:
        """Starts the run, waits for its end (or the lifeline's), tells what survived it, and ends that too."""
        signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._end_asked)
        self.run = os.fork()
        if self.run == 0:
            self._become_the_run()
        self._own_group(self.run)
        self.tell({"event": "started", "pid": self.run})
        cut = self._wait()
        if cut:
            self._signal(signal.SIGTERM)
            self._until(lambda: self.status is not None, 1.0)
            self._signal(signal.SIGKILL)
            self._until(lambda: self.status is not None, ENDING)
        self.tell({"event": "ended", "status": self.status, "cut": cut})
        if not cut:
            self._until(lambda: not self._left(), GRACE)
        survivors = [{"pid": pid, "program": pids.program(pid)[:80]} for pid in self._left()]
        self._end_all()
        self.tell({"event": "survivors", "processes": survivors, "complete": self.adopts})

    def _end_asked(self, *_: object) -> None:
        self._asked_to_end = True

    def _become_the_run(self) -> None:
        """In the child: nothing of the keeper's is left but the descriptor for events."""
        self._own_group(0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.close(self._wake)
        os.close(self._waking)
        os.dup2(os.open(os.devnull, os.O_RDONLY), self.lifeline)
        sys.exit(self.work())

    @staticmethod
    def _own_group(pid: int) -> None:
        try:
            os.setpgid(pid, pid)
        except OSError:
            return  # done by the other side, or it is gone already

    def _wait(self) -> bool:
        """Until the run has ended (False) or the lifeline has (True)."""
        while self.status is None:
            ready, _, _ = select.select([self.lifeline, self._wake], [], [], LOOK_EVERY)
            if self._wake in ready:
                os.read(self._wake, 4096)
            self._reap()
            if not self.adopts:
                for pid in pids.descendants(self.run):
                    self._seen.setdefault(pid, pids.started(pid))
            if self._asked_to_end or (self.lifeline in ready and not os.read(self.lifeline, 4096)):
                return self.status is None
        return False

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.run:
                self.status = os.waitstatus_to_exitcode(status)

    def _left(self) -> list[int]:
        """What of the run is alive besides the run itself."""
        if self.adopts:
            return [pid for pid in pids.descendants(os.getpid()) if pid != self.run or self.status is None]
        return [pid for pid, stamp in sorted(self._seen.items()) if stamp is not None and pids.started(pid) == stamp]

    def _signal(self, number: signal.Signals) -> None:
        if self.status is None:
            try:
                os.kill(self.run, number)
            except ProcessLookupError:
                return

    def _end_all(self) -> None:
        """Ends what is left; what starts more while it is ended is ended in the next round."""
        until = time.monotonic() + ENDING
        while (left := self._left()) and time.monotonic() < until:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    continue
            time.sleep(0.02)
            self._reap()

    def _until(self, holds: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            self._reap()
            if holds() or time.monotonic() >= until:
                return
            time.sleep(0.02)
