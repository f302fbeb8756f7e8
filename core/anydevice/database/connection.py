"""`Database`: one connection, one lock, transactions that are whole or not at all."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from anydevice_schemas.errors import UpstreamUnavailable

from ..places import make_private
from . import checks
from .boot import boot_id
from .record import Marks, OpenRecord
from .refusals import Fault, StoreBusy, refusal, tell

PATIENCE = 5.0
"""Seconds a writer waits for another process, unless told otherwise."""

_LOG_LOOK = 256
_LOG_LIMIT = 16 * 1024 * 1024
"""When nobody calls `checkpoint`, a writer looks at the log every so many commits and carries it over at this size."""

_opening = threading.Lock()
"""Only one thread of a process opens at a time: what looks at a file from outside must not share a process with
one who has just opened it (closing a descriptor drops the process's locks on that file)."""


class Database:
    """The database of one home, open. Safe for threads: one lock around the one connection.

    Attributes:
        path: The file.
        epoch: How often it was opened, this time included; no two openings ever have the same.
        offset: Seconds from `time.monotonic()` to this host's steady UTC, the same for every process of a boot.
        alone: Nobody else had it open when it was opened.
        rebooted: Nobody had it open in this boot before, and somebody had in an earlier one.
        patience: Seconds `write` waits for another writer before it raises `StoreBusy`.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, record: OpenRecord) -> None:
        self.path = path
        self.epoch = 0
        self.offset = 0.0
        self.alone = record.alone
        self.rebooted = False
        self.patience = PATIENCE
        self._connection = connection
        self._record = record
        self._lock = threading.RLock()
        self._told_patience = PATIENCE
        self._inode = os.stat(path).st_ino
        self._commits = 0
        self._closed = False
        self._version = self.version()

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        boot: str | None = None,
    ) -> Database:
        """Opens the database, or makes it where there is none.

        Args:
            path: The file; its folder is made private.
            wall: The clock a boot's offset is set from, UTC seconds.
            monotonic: The clock it is an offset to.
            boot: Which boot this is; the kernel is asked when omitted.

        Raises:
            UpstreamUnavailable: It cannot be used; a copy of what cannot be trusted is kept beside it.
            StoreBusy: Others kept it to themselves for too long.
        """
        path = Path(os.path.abspath(path))
        boot = boot_id() if boot is None else boot
        if not _opening.acquire(timeout=PATIENCE):
            raise StoreBusy("another thread is opening the state database")
        try:
            return cls._open(path, wall, monotonic, boot)
        except OSError as error:
            tell(path, error)
        finally:
            _opening.release()

    @classmethod
    def _open(cls, path: Path, wall: Callable[[], float], monotonic: Callable[[], float], boot: str) -> Database:
        make_private(path.parent)
        record = OpenRecord(path.with_suffix(".epoch"), PATIENCE)
        try:
            marks = record.read()
            if record.alone:
                _prepare(path, marks, same_boot=bool(boot) and marks.boot == boot)
            connection = _connect(path)
            try:
                if not record.alone:
                    checks.check_content(connection, Marks(), whole=False)
                database = cls(path, connection, record)
                database._begin_epoch(wall, monotonic, boot)
            except BaseException:
                connection.close()
                raise
            record.share(PATIENCE)
            return database
        except (sqlite3.Error, Fault, OSError) as error:
            alone = record.alone
            record.close()
            tell(path, error, apart=not alone)
        except BaseException:
            record.close()
            raise

    def _begin_epoch(self, wall: Callable[[], float], monotonic: Callable[[], float], boot: str) -> None:
        """The one thing that must be on the disk before any work: an epoch nobody had before."""
        self._connection.execute("PRAGMA synchronous=FULL")
        with self.write():
            epoch, mark, last_boot, offset = checks.read_home(self._connection)
            if not boot or boot != last_boot:
                offset = wall() - monotonic()
            self.rebooted = bool(last_boot) and boot != last_boot
            self.epoch, self.offset = epoch + 1, offset
            checks.write_home(self._connection, epoch + 1, mark + 1, boot, offset)
        self._connection.execute("PRAGMA synchronous=NORMAL")
        _record_marks(self._connection, self._record)

    def schema(self, statements: Sequence[str]) -> list[str]:
        """Makes the tables of one owner where they are not there yet; returns the names of those it made.

        Args:
            statements: Each a `CREATE TABLE IF NOT EXISTS name (...) STRICT`, word for word the same every time.

        Raises:
            UpstreamUnavailable: One is there and was made by another statement.
            StoreBusy: As `write`.
        """
        with self.write() as cursor:
            made = dict(cursor.execute("SELECT name, sql FROM parts"))
            new: list[str] = []
            for statement in statements:
                head, found, rest = statement.strip().rstrip(";").partition("IF NOT EXISTS ")
                if head != "CREATE TABLE " or not found:
                    raise ValueError("a statement of a schema must begin with CREATE TABLE IF NOT EXISTS")
                name, sql = rest.replace("(", " ").split()[0], head + rest
                if name not in made:
                    cursor.execute(sql)
                    cursor.execute("INSERT INTO parts VALUES (?, ?)", (name, sql))
                    new.append(name)
                elif made[name] != sql:
                    raise refusal(self.path, Fault("otherwise_made", f"the table {name}"))
            return new

    @contextmanager
    def write(self) -> Iterator[sqlite3.Cursor]:
        """One transaction: everything in it is kept, or, when an error leaves it, nothing. One inside another joins it.

        Raises:
            StoreBusy: Another writer kept the database for longer than `patience`; nothing was done.
            UpstreamUnavailable: The disk is full, or the file is damaged; nothing of it was kept.
        """
        with self._transaction("BEGIN IMMEDIATE") as cursor:
            yield cursor
        if self._connection.in_transaction:
            return
        self._commits += 1
        if self._commits % _LOG_LOOK == 0:
            self._carry_over_a_long_log()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Cursor]:
        """Everything that is read inside is of one moment, whatever others write meanwhile.

        Raises:
            StoreBusy, UpstreamUnavailable: As `write`.
        """
        with self._transaction("BEGIN") as cursor:
            yield cursor

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Cursor]:
        if not self._lock.acquire(timeout=self.patience):
            raise StoreBusy(f"another thread writes for more than {self.patience:g} s")
        try:
            connection = self._open_connection()
            cursor = connection.cursor()
            if connection.in_transaction:
                yield cursor
                return
            if self.patience != self._told_patience:
                connection.execute(f"PRAGMA busy_timeout={max(0, round(self.patience * 1000))}")
                self._told_patience = self.patience
            try:
                cursor.execute(begin)
                yield cursor
                cursor.execute("COMMIT")
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    tell(self.path, error)
                raise
        finally:
            self._lock.release()

    def read(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row a query answers with.

        Raises:
            StoreBusy, UpstreamUnavailable: As `write`.
        """
        if not self._lock.acquire(timeout=self.patience):
            raise StoreBusy(f"another thread writes for more than {self.patience:g} s")
        try:
            return self._open_connection().execute(sql, params).fetchall()
        except sqlite3.Error as error:
            tell(self.path, error)
        finally:
            self._lock.release()

    def version(self) -> int:
        """A number that is another one whenever another connection (of this or any process) has committed."""
        with self._lock:
            try:
                return int(self._open_connection().execute("PRAGMA data_version").fetchone()[0])
            except sqlite3.Error as error:
                tell(self.path, error)

    def moved(self) -> bool:
        """Whether another connection has committed since this was asked last (or since it was opened)."""
        before, self._version = self._version, self.version()
        return self._version != before

    def highest_epoch(self) -> int:
        """The epoch of whoever opened it last; no fence that was ever given has a higher one."""
        return int(self.read("SELECT epoch FROM home")[0][0])

    def damaged(self, reason: str) -> UpstreamUnavailable:
        """The refusal for rows that are not as they were written; a copy is kept first."""
        return refusal(self.path, Fault("damaged", reason))

    def checkpoint(self) -> None:
        """Carries the log over into the file. For a worker thread: it has connections of its own, and waits for disks.

        The write lock is held meanwhile, so that no writer begins the log anew under it; then the mark is raised, so
        that the log that follows can be missed when it is gone.

        Raises:
            StoreBusy: As `write`; nothing is lost, ask again later.
            UpstreamUnavailable: The file is not where it was, or cannot be written.
        """
        try:
            try:
                there = os.stat(self.path).st_ino == self._inode
            except FileNotFoundError:
                there = False
            if not there:
                raise refusal(self.path, Fault("moved", "there is another file, or none, at its place"))
            with closing(_connect(self.path)) as holding, closing(_connect(self.path)) as carrying:
                holding.execute("BEGIN IMMEDIATE")
                carrying.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                holding.execute("ROLLBACK")
                holding.execute("PRAGMA synchronous=FULL")
                holding.execute("BEGIN IMMEDIATE")
                epoch, mark, boot, offset = checks.read_home(holding)
                checks.write_home(holding, epoch, mark + 1, boot, offset)
                holding.execute("COMMIT")
                _record_marks(holding, self._record)
        except (sqlite3.Error, Fault) as error:
            tell(self.path, error)

    def _carry_over_a_long_log(self) -> None:
        try:
            if os.stat(f"{self.path}-wal").st_size > _LOG_LIMIT:
                self.checkpoint()
        except (FileNotFoundError, StoreBusy):
            return

    def close(self) -> None:
        """Closes it; the last one to do so leaves the file without a log. Does nothing the second time."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                self._connection.close()
            finally:
                self._record.close()

    def _open_connection(self) -> sqlite3.Connection:
        if self._closed:
            raise refusal(self.path, Fault("closed", "it was closed"))
        return self._connection


def _prepare(path: Path, marks: Marks, *, same_boot: bool) -> None:
    """Judges what is there, or makes a new database; nobody else has it open."""
    for left in path.parent.glob(checks.CHECKING + "*"):
        shutil.rmtree(left, ignore_errors=True)
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        status = None
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise Fault("not_a_file", stat.filemode(status.st_mode))
    log = path.with_name(path.name + "-wal")
    if status is None:
        if log.exists() and log.stat().st_size:
            raise Fault("damaged", "there is its log, and no database")
        _make(path, marks)
        return
    if status.st_mode & 0o077:
        os.chmod(path, status.st_mode & 0o700)
    checks.inspect(path, marks, same_boot=same_boot)
    if not status.st_size:
        _make(path, marks)


def _make(path: Path, marks: Marks) -> None:
    """Makes a new database, whole before it is seen at its place."""
    with tempfile.TemporaryDirectory(prefix=checks.CHECKING, dir=path.parent) as folder:
        new = Path(folder, "state.db")
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute(f"PRAGMA page_size={checks.PAGE}")
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id={checks.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={checks.VERSION}")
            connection.execute(checks.HOME)
            connection.execute(checks.PARTS)
            checks.write_home(connection, marks.epoch, marks.mark, "", 0.0)
            connection.execute("COMMIT")
        os.replace(new, path)
        directory = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _connect(path: Path) -> sqlite3.Connection:
    """A connection for work to a database that is there."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        for setting in (
            "synchronous=NORMAL",
            "fullfsync=ON",
            "wal_autocheckpoint=0",
            "journal_size_limit=1048576",
            "foreign_keys=ON",
            "trusted_schema=OFF",
            "cell_size_check=ON",
        ):
            connection.execute(f"PRAGMA {setting}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _record_marks(connection: sqlite3.Connection, record: OpenRecord) -> None:
    """Writes into the record what the database has reached; under its write lock, so that the record only rises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        epoch, mark, boot, _ = checks.read_home(connection)
        record.write(Marks(epoch, mark, boot))
    finally:
        connection.execute("ROLLBACK")
