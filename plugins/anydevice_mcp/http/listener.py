"""What listens: uvicorn, with an end to connections that only keep a place.

uvicorn waits for the head of a first request, and for a client to read its answer, as long as it takes. A few hundred
such connections, which need no token, would keep everybody else out.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Iterator
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take, from the first byte on; of a connection's first one, from the start."""
CROWD = 0.75
"""From which part of all connections on a new one takes the place of the one that has waited for its head longest."""
READ_SECONDS = 60.0
"""How long a client may leave unread what it was sent."""


class Listener(uvicorn.Server):
    """A server that leaves signals to the daemon."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Connection(H11Protocol):
    """A connection that is ended where its client does not go on; at once where others need its place."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._head = _Timer(HEAD_SECONDS)
        self._unread = _Timer(READ_SECONDS)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency * CROWD:
            waiting = [other for other in self.connections if isinstance(other, Connection) and other._head.runs]
            if waiting:
                min(waiting, key=lambda other: other._head.ends).transport.abort()
        self._head.start(self.loop, transport)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._head.start(self.loop, self.transport)  # the head of a later request may have begun
        else:
            self._head.stop()

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        super().pause_writing()
        self._unread.start(self.loop, self.transport)

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._unread.stop()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._head.stop()
        self._unread.stop()
        super().connection_lost(exc)


class _Timer:
    """Ends a connection after a while, unless it is stopped before."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._handle: asyncio.TimerHandle | None = None

    @property
    def runs(self) -> bool:
        return self._handle is not None

    @property
    def ends(self) -> float:
        return self._handle.when() if self._handle is not None else math.inf

    def start(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        """Starts it; one that runs goes on."""
        if self._handle is None:
            self._handle = loop.call_later(self._seconds, transport.abort)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
