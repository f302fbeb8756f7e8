"""Ports for agents, none given twice on this host."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import tempfile
from pathlib import Path
from typing import IO, Final

from anydevice_schemas.errors import UpstreamUnavailable

PORTS: Final = (8101, 8199)
"""First and last port of agents that are started here; 8100 is what everybody else's has."""


class Ports:
    """Ports for agents; none is given twice, on this host: each is locked by a file for as long as it is used."""

    def __init__(self, first: int, last: int) -> None:
        self._first, self._last = first, last
        self._taken: dict[int, IO[bytes]] = {}

    def take(self) -> int:
        """A port nobody listens on.

        Raises:
            UpstreamUnavailable: There is none.
        """
        for port in range(self._first, self._last + 1):
            if port in self._taken or (lock := _locked(port)) is None:
                continue
            if free(port):
                self._taken[port] = lock
                return port
            lock.close()
        raise UpstreamUnavailable(
            "No port is free for another WebDriverAgent.",
            upstream="WebDriverAgent",
            enable_hint=f"Free one from {self._first} to {self._last}, or set [apple] ports.",
        )

    def keep(self, port: int) -> None:
        """Takes one on that is used already; whoever used it may not have let go of it yet."""
        lock = _locked(port)
        if lock is not None:
            self._taken[port] = lock

    def give(self, port: int) -> None:
        """Gives one back."""
        lock = self._taken.pop(port, None)
        if lock is not None:
            lock.close()


def _locked(port: int) -> IO[bytes] | None:
    """The lock of a port; None where another program of this user has it."""
    path = Path(tempfile.gettempdir(), f"anydevice-agent-{os.getuid()}-{port}.lock")
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def free(port: int) -> bool:
    """Whether nobody listens on a port."""
    # A runner listens on all addresses: on a Mac one of them can be bound beside that all the same, so it is called.
    with socket.socket() as probe:
        probe.settimeout(0.2)
        if probe.connect_ex(("127.0.0.1", port)) != errno.ECONNREFUSED:
            return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
