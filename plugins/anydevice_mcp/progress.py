"""Progress of a call on its way to the client, without the client being able to slow the device down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

Send = Callable[[float, float | None, str | None], Awaitable[None]]

BACKLOG = 32
"""Reports that may wait for a slow reader; what comes on top is dropped."""


class Relay:
    """Takes the router's reports at once and sends them on in a task of its own.

    The protocol wants numbers that only rise. A report without a number, or with one that is not higher than the
    last, moves a hundredth of what is left; a total is told once real numbers have come.

    Args:
        send: Sends one notification: progress, total, message.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._at = 0.0
        self._measured = False
        self._give, self._take = anyio.create_memory_object_stream[tuple[float, float | None, str]](BACKLOG)

    async def __call__(self, done: float | None, message: str) -> None:
        """One report, as `Router.call` makes them (`done` from 0 to 1, or None)."""
        if done is not None:
            self._measured = True
        at = done if done is not None and self._at < done <= 1 else self._at + (1 - self._at) / 100
        if at <= self._at:
            return  # all is done and said
        self._at = at
        try:
            self._give.send_nowait((self._at, 1.0 if self._measured else None, message))
        except anyio.WouldBlock:
            return

    async def run(self) -> None:
        """Sends until `close`; what is waiting then still goes out."""
        async with self._take:
            async for at, total, message in self._take:
                await self._send(at, total, message)

    def close(self) -> None:
        """No more reports come."""
        self._give.close()
