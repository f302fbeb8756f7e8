"""Work that belongs to no single call: the reader of a connection, the watcher of a child process.

A backend gets calls, not a task group, and a connection outlives the call that made it. `start` runs a
coroutine function beside the calls, on asyncio and on trio alike, and never lets its failure reach the loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import sniffio
import structlog

log = structlog.get_logger("anydevice.kit.background")


class Background:
    """A running piece of background work.

    Attributes:
        name: What it is, for logs.
        error: The exception that ended it, if one did.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.error: Exception | None = None
        self._scope = anyio.CancelScope()
        self._done = anyio.Event()
        self._task: object = None

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._done.is_set()

    def cancel(self) -> None:
        """Asks it to end; `wait` says when it has. May be called more than once."""
        self._scope.cancel()

    async def wait(self) -> None:
        """Returns once it has ended, however it ended. Must not be called by the work itself."""
        await self._done.wait()

    async def _run(self, work: Callable[..., Awaitable[None]], args: tuple[Any, ...]) -> None:
        try:
            with self._scope:
                await work(*args)
        except Exception as error:
            self.error = error
            log.warning("background_work_failed", work=self.name, error=type(error).__name__)
        finally:
            self._done.set()


def start(work: Callable[..., Awaitable[None]], *args: Any, name: str) -> Background:
    """Starts `work(*args)` beside the running call and returns at once.

    It ends when it returns, raises (kept in `Background.error`, logged, never propagated), is cancelled, or
    when the event loop ends.

    Args:
        work: A coroutine function.
        args: Its arguments.
        name: What it is, for logs.
    """
    background = Background(name)
    if sniffio.current_async_library() == "trio":
        import trio

        background._task = trio.lowlevel.spawn_system_task(background._run, work, args, name=name)
    else:
        import asyncio

        background._task = asyncio.get_running_loop().create_task(background._run(work, args), name=name)
    return background
