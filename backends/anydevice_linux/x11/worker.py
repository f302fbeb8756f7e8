"""A thread that runs blocking code for the loop: one piece at a time, each with a deadline.

What it runs may hang; then only this thread does, and whoever waits is told in time.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import anyio
import sniffio

T = TypeVar("T")
PATIENCE = 3.0
"""Seconds work that runs may still take after its call was cancelled."""
SLICE = 0.1
"""Seconds between two looks whether work is stuck."""


class TooLate(Exception):
    """A piece of work did not end in time. `began` says whether it was running, so that it may have had an effect."""

    def __init__(self, began: bool) -> None:
        super().__init__("did not end in time")
        self.began = began


class Stopped(Exception):
    """The worker runs nothing any more."""


class _Piece(Generic[T]):
    """One call on its way: waiting, running, done, or dropped before it ran."""

    def __init__(self, function: Callable[[], T], tell: Callable[[Callable[[], object]], object]) -> None:
        self.function = function
        self.done = anyio.Event()
        self.result: T | None = None
        self.error: BaseException | None = None
        self._tell = tell
        self._lock = threading.Lock()
        self._state = "waiting"

    def run(self) -> None:
        with self._lock:
            if self._state == "dropped":
                return
            self._state = "running"
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error
        with contextlib.suppress(RuntimeError):  # the loop has ended; nobody waits
            self._tell(self.done.set)

    def drop(self) -> bool:
        """Keeps it from running; False when it runs already."""
        with self._lock:
            if self._state == "waiting":
                self._state = "dropped"
            return self._state == "dropped"


class Worker:
    """One thread with a queue. It does not keep the process from ending.

    Args:
        name: What it is for, shown in stack dumps.
        interrupt: Makes what is running fail soon; called from the loop, must not block.
        rest: What the thread does, again and again, while nothing is asked of it; None to do nothing.
        nudge: Ends a `rest`; called from the loop, must not block.
        abandon: Told that nobody waits any more for what is running, so that it may end sooner; must not block.
    """

    def __init__(
        self,
        name: str,
        interrupt: Callable[[], None] = lambda: None,
        *,
        rest: Callable[[], None] | None = None,
        nudge: Callable[[], None] = lambda: None,
        abandon: Callable[[], None] = lambda: None,
    ) -> None:
        self._queue: queue.SimpleQueue[_Piece[Any] | None] = queue.SimpleQueue()
        self._interrupt = interrupt
        self._rest = rest
        self._nudge = nudge
        self._abandon = abandon
        self._stopped = False
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    async def run(self, function: Callable[[], T], deadline: float, stuck: Callable[[], bool] | None = None) -> T:
        """Runs `function()` in the thread, after all that was asked for before.

        Args:
            function: Blocking code.
            deadline: Seconds it may take, waiting for its turn included.
            stuck: Says earlier that it will not end, for work whose length nobody knows.

        Returns:
            What it returned.

        Raises:
            TooLate: It did not end in time. What was running is interrupted.
            Stopped: The worker was stopped.
            BaseException: Whatever it raised.
        """
        if self._stopped:
            raise Stopped
        piece = _Piece(function, _teller())
        self._queue.put(piece)
        self._nudge()
        try:
            with anyio.move_on_after(deadline):
                while stuck is not None and not piece.done.is_set():
                    with anyio.move_on_after(SLICE):
                        await piece.done.wait()
                    if stuck():
                        break
                else:
                    await piece.done.wait()
        except BaseException:
            if not piece.drop():
                self._abandon()
                # Half done is worse than late: what runs takes milliseconds, or is stuck and gets interrupted.
                with anyio.move_on_after(min(deadline, PATIENCE), shield=True):
                    await piece.done.wait()
                if not piece.done.is_set():
                    self._interrupt()
            raise
        if not piece.done.is_set():
            if piece.drop():
                raise TooLate(began=False)
            self._interrupt()
            raise TooLate(began=True)
        if piece.error is not None:
            raise piece.error
        return cast(T, piece.result)

    def stop(self) -> None:
        """Lets the thread end once it is done with what runs now. May be called more than once."""
        self._stopped = True
        self._queue.put(None)
        self._nudge()

    def _loop(self) -> None:
        while (piece := self._next()) is not None:
            piece.run()

    def _next(self) -> _Piece[Any] | None:
        if self._rest is None:
            return self._queue.get()
        while True:
            try:
                return self._queue.get_nowait()
            except queue.Empty:
                self._rest()


def _teller() -> Callable[[Callable[[], object]], object]:
    """How another thread gets something run in the running loop."""
    if sniffio.current_async_library() == "trio":
        import trio

        return trio.lowlevel.current_trio_token().run_sync_soon
    import asyncio

    return asyncio.get_running_loop().call_soon_threadsafe
