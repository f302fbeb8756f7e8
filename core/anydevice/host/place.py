"""Where a daemon is found, and that there is only one: its lock, its record, its socket."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import time
from contextlib import suppress
from typing import Any

import anyio
from anyio.abc import SocketListener

import anydevice
from anydevice_schemas.errors import UpstreamUnavailable

from . import record

LOCK_WAIT = 20.0
"""Seconds a new daemon waits for an earlier one that is still closing its devices."""


class AlreadyRunning(Exception):
    """A daemon of this home folder runs and answers.

    Attributes:
        pid: Its process.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(f"a daemon runs already (process {pid})")
        self.pid = pid


async def take_lock(home: str) -> int:
    """Takes the lock that makes this the only daemon; waits for one that is on its way out."""
    handle = os.open(os.path.join(record.run_path(home), record.LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + LOCK_WAIT
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                pass
            found = record.read_record(home)
            if found is not None and record.lives(found):
                with suppress(OSError):
                    record.connect(found["socket"], timeout=1.0).close()
                    raise AlreadyRunning(found["pid"])
            if time.monotonic() > until:
                pid = found["pid"] if found is not None else 0
                raise UpstreamUnavailable(
                    f"Another daemon (process {pid}) neither answers nor ends.",
                    upstream="daemon",
                    enable_hint="anydevice stop --force",
                    hint="Run: anydevice stop --force ; then repeat.",
                )
            await anyio.sleep(0.05)
    except BaseException:
        os.close(handle)
        raise


class Place:
    """Where a daemon is found: its lock, its record, its socket.

    Attributes:
        home: The home folder.
        lock: The lock file, open and held.
        socket: Path of the socket.
    """

    def __init__(self, home: str, lock: int, socket: str) -> None:
        self.home = home
        self.lock = lock
        self.socket = socket

    def held(self) -> bool:
        """Whether the lock that is held is still the one others would ask for."""
        try:
            there = os.stat(os.path.join(record.run_path(self.home), record.LOCK))
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self.lock))

    def say(self, state: str) -> None:
        """Writes the record."""
        own: dict[str, Any] = {
            "pid": os.getpid(),
            "started": record.process_start(os.getpid()),
            "version": anydevice.__version__,
            "socket": self.socket,
            "state": state,
            "python": sys.executable,
        }
        record.write_record(self.home, own)

    def say_again(self, state: str) -> bool:
        """Writes the record if it is not ours any more; returns whether it was not."""
        found = record.read_record(self.home)
        if found is not None and found["pid"] == os.getpid():
            return False
        self.say(state)
        return True

    def open(self) -> bool:
        """Whether the socket is where it was."""
        return os.path.exists(self.socket)

    async def listen(self) -> SocketListener:
        """Listens at the socket."""
        record.socket_path(self.home)  # its folder may be a temporary one
        listener = await anyio.create_unix_listener(self.socket, mode=0o600)
        assert isinstance(listener, SocketListener)
        return listener


async def listen_on(handle: int) -> SocketListener:
    """The listener of a socket that listens already."""
    listener: SocketListener = await SocketListener.from_socket(socket.socket(fileno=handle))
    return listener
