"""Sway's own socket (the i3 protocol): which windows there are and where, and telling it what to do with them."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import anyio
import anyio.abc

from anydevice_schemas.errors import ActionUnverified, CallTimeout, ConnectionLost, OutcomeUnknown

MAGIC: Final = b"i3-ipc"
HEAD: Final = struct.Struct("=II")
RUN_COMMAND, GET_TREE, GET_VERSION = 0, 4, 7
DEADLINE: Final = 2.0
"""Seconds sway may take to answer."""
MOST: Final = 50_000_000
"""Bytes of an answer."""

Container = Mapping[str, Any]


class SwayIpc:
    """Questions and commands to sway, one after the other, over a connection that is made anew when it was lost."""

    def __init__(self, path: str) -> None:
        """`path` is the socket's, as `SWAYSOCK` says it."""
        self.path = path
        self._stream: anyio.abc.SocketStream | None = None
        self._asking = anyio.Lock()

    async def tree(self) -> Container:
        """All containers: outputs, workspaces, windows.

        Raises:
            ConnectionLost: Sway is gone.
            CallTimeout: It does not answer.
        """
        found = await self._ask(GET_TREE, "")
        return found if isinstance(found, dict) else {}

    async def version(self) -> str:
        """Sway's version, as it says it; empty where it says none. Raises as `tree`."""
        found = await self._ask(GET_VERSION, "")
        return str(found.get("human_readable", "")) if isinstance(found, dict) else ""

    async def run(self, command: str) -> None:
        """Has sway carry out a command.

        Raises:
            ActionUnverified: It says that it did not.
            OutcomeUnknown: It did not say.
        """
        try:
            answers = await self._ask(RUN_COMMAND, command)
        except (ConnectionLost, CallTimeout) as error:
            raise OutcomeUnknown(
                "The compositor did not say whether it did it.", sent="window command", reason=error.message
            ) from error
        told = answers if isinstance(answers, list) else []
        failed = [answer for answer in told if not answer.get("success")]
        if failed or not told:
            raise ActionUnverified(
                "The compositor did not do what it was asked.",
                hint="Call window with action list to see how the window is now.",
                expected="success",
                actual=str(failed[0].get("error", ""))[:200] if failed else "no answer",
            )

    async def aclose(self) -> None:
        """Closes the connection."""
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(OSError, anyio.BrokenResourceError), anyio.CancelScope(shield=True):
                await stream.aclose()

    # --- inside ------------------------------------------------------------------------------------------

    async def _ask(self, kind: int, payload: str) -> Any:
        async with self._asking:
            whole = False
            try:
                with anyio.fail_after(DEADLINE):
                    stream = await self._connected()
                    answer = await _exchange(stream, kind, payload)
                whole = True
                return answer
            except TimeoutError:
                raise CallTimeout(
                    "The compositor did not answer in time.", after=DEADLINE, waiting_for="compositor"
                ) from None
            except (OSError, ValueError, anyio.EndOfStream, anyio.BrokenResourceError, anyio.IncompleteRead) as error:
                raise ConnectionLost(
                    "The connection to the compositor was lost.",
                    hint="Call devices to see whether the session is still there.",
                    restarted=False,
                    reason=type(error).__name__,
                ) from error
            finally:
                if not whole:
                    await self.aclose()  # what is still on its way would be taken for the next answer

    async def _connected(self) -> anyio.abc.SocketStream:
        if self._stream is None:
            self._stream = await anyio.connect_unix(self.path)
        return self._stream


async def _exchange(stream: anyio.abc.SocketStream, kind: int, payload: str) -> Any:
    data = payload.encode()
    await stream.send(MAGIC + HEAD.pack(len(data), kind) + data)
    head = await _exactly(stream, len(MAGIC) + HEAD.size)
    length, answered = HEAD.unpack(head[len(MAGIC) :])
    if not head.startswith(MAGIC) or answered != kind or length > MOST:
        raise ValueError("no answer of the protocol")
    return json.loads(await _exactly(stream, length))


async def _exactly(stream: anyio.abc.SocketStream, count: int) -> bytes:
    got = bytearray()
    while len(got) < count:
        got += await stream.receive(min(65_536, count - len(got)))
    return bytes(got)


def inside(container: Container) -> Iterator[Container]:
    """What a container holds: tiled ones, then floating ones, the lowest first."""
    yield from container.get("nodes", ())
    yield from container.get("floating_nodes", ())
