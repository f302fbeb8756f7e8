"""How bytes reach a browser we launched: its debugging pipe.

The browser started with ``--remote-debugging-pipe`` reads commands on descriptor 3 and writes answers and events
on descriptor 4; every message is JSON ended by a NUL byte (Chromium, content/browser/devtools/devtools_pipe_handler).
No port is open, nobody else can connect, and the browser ends by itself when the pipe closes.
"""

from __future__ import annotations

import base64
import contextlib
import os
import sys
from collections.abc import Mapping
from typing import Any, Protocol

import anyio

READ_SIZE = 1 << 18
PIPE_SIZE = 1 << 20
_F_SETPIPE_SZ = 1031


class Transport(Protocol):
    """A two-way stream of whole messages."""

    async def send(self, message: bytes) -> None:
        """Sends one message.

        Raises:
            anyio.BrokenResourceError: The other side is gone.
        """

    async def receive(self) -> bytes:
        """The next message.

        Raises:
            anyio.EndOfStream: The other side is gone.
        """

    async def aclose(self) -> None:
        """Closes the stream; may be called more than once."""


class PipeTransport:
    """Our two ends of a debugging pipe. Owns both descriptors and closes them.

    Args:
        write_fd: Where commands go.
        read_fd: Where answers come from.
    """

    def __init__(self, write_fd: int, read_fd: int) -> None:
        self._write_fd = write_fd
        self._read_fd = read_fd
        self._unsent = bytearray()
        self._unread = bytearray()
        self._messages: list[bytes] = []
        self._writing = anyio.Lock()
        self._closed = False
        for fd in (write_fd, read_fd):
            os.set_blocking(fd, False)
            if sys.platform.startswith("linux"):
                import fcntl

                # Fewer wake-ups for pictures and large trees; over the user's pipe quota the usual size works too.
                with contextlib.suppress(OSError):
                    fcntl.fcntl(fd, _F_SETPIPE_SZ, PIPE_SIZE)

    async def send(self, message: bytes) -> None:
        """See `Transport`. A cancelled send still goes out whole, with the next one."""
        if self._closed:
            raise anyio.BrokenResourceError
        self._unsent += message
        self._unsent.append(0)
        async with self._writing:
            while self._unsent:
                try:
                    written = os.write(self._write_fd, self._unsent)
                except BlockingIOError:
                    await anyio.wait_writable(self._write_fd)
                    continue
                except OSError as error:
                    raise anyio.BrokenResourceError from error
                del self._unsent[:written]

    async def receive(self) -> bytes:
        """See `Transport`."""
        while not self._messages:
            if self._closed:
                raise anyio.EndOfStream
            try:
                chunk = os.read(self._read_fd, READ_SIZE)
            except BlockingIOError:
                await anyio.wait_readable(self._read_fd)
                continue
            except OSError as error:
                raise anyio.EndOfStream from error
            if not chunk:
                raise anyio.EndOfStream
            self._take(chunk)
        return self._messages.pop(0)

    def _take(self, chunk: bytes) -> None:
        if b"\0" not in chunk:
            self._unread += chunk
            return
        first, *others = chunk.split(b"\0")
        self._unread += first
        self._messages.append(bytes(self._unread))
        self._messages += others[:-1]
        self._unread = bytearray(others[-1])

    def hand_over(self) -> dict[str, Any]:
        """Both descriptors, inheritable, and what was read of them and not handed out yet. Nobody may be reading."""
        for fd in (self._write_fd, self._read_fd):
            os.set_inheritable(fd, True)
        unread = b"\0".join([*self._messages, bytes(self._unread)])
        return {"write": self._write_fd, "read": self._read_fd, "unread": _text(unread), "unsent": _text(self._unsent)}

    @classmethod
    def taken_up(cls, state: Mapping[str, Any]) -> PipeTransport:
        """The transport that `hand_over` was called on, in the program that replaced that one."""
        for fd in (state["write"], state["read"]):
            os.set_inheritable(fd, False)
        transport = cls(state["write"], state["read"])
        transport._take(base64.b64decode(state["unread"]))
        transport._unsent += base64.b64decode(state["unsent"])
        return transport

    async def aclose(self) -> None:
        """See `Transport`."""
        if self._closed:
            return
        self._closed = True
        for fd in (self._write_fd, self._read_fd):
            anyio.notify_closing(fd)
            os.close(fd)


def _text(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode()
