"""The record beside the database: who has it open, and how far it must have come at least.

A file of one line, `<epoch> <mark> <boot>`, locked with `flock`: alone by whoever looks at the database from outside,
shared by everyone who works with it. It outlives a database that is set aside, so that no epoch is ever given twice.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from .refusals import StoreBusy

_STEP = 0.002
_SIZE = 200


@dataclass(frozen=True, slots=True)
class Marks:
    """What the database had reached when the record was written, and in which boot that was."""

    epoch: int = 0
    mark: int = 0
    boot: str = ""


class OpenRecord:
    """The record of one database, open and locked.

    Attributes:
        alone: Nobody else has the database open, and nobody can open it until `share`.

    Raises:
        StoreBusy: Somebody looks at the database from outside for longer than `patience` seconds.
        OSError: The file cannot be opened, or its file system knows no locks.
    """

    def __init__(self, path: Path, patience: float) -> None:
        self._closing = threading.Lock()
        self._closed = False
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self.alone = self._lock(fcntl.LOCK_EX, fcntl.LOCK_SH, patience) == fcntl.LOCK_EX
        except BaseException:
            os.close(self._file)
            raise

    def share(self, patience: float) -> None:
        """Lets others open the database as well; it stays marked as in use until `close`."""
        self._lock(fcntl.LOCK_SH, fcntl.LOCK_SH, patience)
        self.alone = False

    def read(self) -> Marks:
        """What the record says; all zero when it says nothing that can be understood."""
        try:
            epoch, mark, *boot = os.pread(self._file, _SIZE, 0).decode("ascii").split()
            return Marks(int(epoch), int(mark), "".join(boot[:1]))
        except ValueError:
            return Marks()

    def write(self, marks: Marks) -> None:
        """Replaces what the record says. The caller holds the database's write lock, so that it only rises."""
        line = f"{marks.epoch} {marks.mark} {marks.boot}".rstrip().encode("ascii", "replace")
        with self._closing:  # a checkpoint may still run in another thread
            if not self._closed:
                os.pwrite(self._file, line.ljust(_SIZE - 1) + b"\n", 0)

    def close(self) -> None:
        """Gives up the lock."""
        with self._closing:
            self._closed = True
            os.close(self._file)

    def _lock(self, first: int, second: int, patience: float) -> int:
        end = time.monotonic() + patience
        while True:
            for kind in (first, second):
                try:
                    fcntl.flock(self._file, kind | fcntl.LOCK_NB)
                    return kind
                except BlockingIOError:
                    continue
            if time.monotonic() >= end:
                raise StoreBusy(f"the state database is being opened by another process for more than {patience:g} s")
            time.sleep(_STEP)
