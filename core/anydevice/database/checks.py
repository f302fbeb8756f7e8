"""Whether a database file may be trusted: looked at from outside, before anything is opened for work.

What SQLite does not say by itself: that a log (`-wal`) is missing, cut off or flipped in the middle. It then simply
ends earlier, and committed changes are gone without a word. Three witnesses stand against that: the header of the
shared index (`-shm`) that the last process left, which counts the committed frames; a mark that is raised after every
checkpoint, in the database and in the record beside it; and a sum over every row.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import struct
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

from .record import Marks
from .refusals import Fault

APPLICATION_ID = 0x414E5944
"""`ANYD`, in the file's header."""

VERSION = 1
"""`user_version`: raised when the tables change in a way that an older anydevice cannot read."""

PAGE = 4096
CHECKING = ".state-check-"
"""Prefix of the folders a check works in."""

_MAGIC = b"SQLite format 3\x00"
_FIXED = ((16, struct.pack(">HBBBBBB", PAGE, 2, 2, 0, 64, 32, 32)), (44, b"\0\0\0\4"), (52, b"\0\0\0\0\0\0\0\1"))
"""What stands in the header of every database we make: page size, WAL, no reserve; format; no vacuum, UTF-8."""

HOME = (
    "CREATE TABLE home (one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER NOT NULL, mark INTEGER NOT NULL, "
    "boot TEXT NOT NULL, offset REAL NOT NULL, sum INTEGER NOT NULL) STRICT"
)
PARTS = "CREATE TABLE parts (name TEXT PRIMARY KEY, sql TEXT NOT NULL) STRICT, WITHOUT ROWID"
"""The tables of the owners, each as it was made: a second witness of the schema."""


def checksum(*values: str | int | float | bytes | None) -> int:
    """A sum over the values of a row, to be kept in it: a flipped bit inside a value is seen by nothing else."""
    return zlib.crc32(json.dumps(values, ensure_ascii=False, separators=(",", ":"), default=repr).encode())


def check_header(data: bytes) -> None:
    """Judges the first bytes of a database file that is not empty.

    Raises:
        Fault: It is not ours, of another version, or damaged.
    """
    if len(data) < 100 or data[:16] != _MAGIC:
        raise Fault(
            "foreign", "it does not begin like a database; it is another program's file, or its start is damaged"
        )
    if int.from_bytes(data[68:72], "big") != APPLICATION_ID:
        raise Fault("foreign", "it is a database of another program, or its header is damaged")
    version = int.from_bytes(data[60:64], "big")
    if version > VERSION:
        raise Fault("newer", f"its version is {version}, and {VERSION} is the newest known here")
    if version != VERSION or any(data[at : at + len(due)] != due for at, due in _FIXED) or any(data[72:92]):
        raise Fault("damaged", "its header is not one that anydevice writes")


def frames_promised(shm: bytes, wal_salts: bytes) -> int | None:
    """How many frames of the log were committed, as the shared index says; None when it is no witness.

    Args:
        shm: The first 100 bytes of the `-shm` file.
        wal_salts: The salts of the log's own header, 8 bytes; empty when it has none.

    A missing log is answered as what it held beyond what had been carried into the database.
    """
    if len(shm) < 100:
        return None
    promised: int | None = None
    for at in (0, 48):
        header = shm[at : at + 48]
        if not header[12] or struct.unpack("=2I", header[40:48]) != _wal_sum(header[:40]):
            continue
        frames = int(struct.unpack("=I", header[16:20])[0])
        if wal_salts and header[32:40] != wal_salts:
            continue
        if not wal_salts and frames <= struct.unpack("=I", shm[96:100])[0]:
            frames = 0
        promised = frames if promised is None else min(promised, frames)
    return promised


def _wal_sum(data: bytes) -> tuple[int, int]:
    one = two = 0
    for first, second in struct.iter_unpack("=2I", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two


def inspect(path: Path, marks: Marks, *, same_boot: bool) -> None:
    """Judges a database that nobody has open, without touching it: all of SQLite's work is done on a copy.

    Args:
        path: The database; it exists.
        marks: What the record beside it says it must have reached.
        same_boot: Nothing but processes died since it was last open, so that nothing written can be missing.

    Raises:
        Fault: It must not be used.
        OSError: It cannot be read, or there is no room for a copy.
        sqlite3.Error: SQLite cannot make anything of it.
    """
    wal, shm = _beside(path, "-wal"), _beside(path, "-shm")
    with open(path, "rb") as file:
        head = file.read(100)
    log = _start(wal, 32)
    if not head:
        if log or marks.epoch:
            raise Fault("damaged", "it is empty, and it was in use before")
        return
    check_header(head)
    if len(log) == 32 and not _log_header_holds(log) and (same_boot or any(log)):
        raise Fault("damaged", "the header of its log is broken")
    promised = frames_promised(_start(shm, 100), log[16:24] if len(log) == 32 else b"") if same_boot else None
    with tempfile.TemporaryDirectory(prefix=CHECKING, dir=path.parent) as folder:
        copy = Path(folder, "state.db")
        shutil.copyfile(path, copy)
        if log:
            shutil.copyfile(wal, _beside(copy, "-wal"))
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            check_content(connection, marks, whole=True)
            found = frames_promised(_start(_beside(copy, "-shm"), 100), log[16:24] if len(log) == 32 else b"") or 0
            if promised is not None and found < promised:
                raise Fault("damaged", f"its log ends after {found} of {promised} frames")


def check_content(connection: sqlite3.Connection, marks: Marks, *, whole: bool) -> None:
    """Judges what is in a database.

    Args:
        connection: Open on it.
        marks: What it must have reached.
        whole: Every page and every index, not only the pages.

    Raises:
        Fault: It must not be used.
        sqlite3.Error: SQLite cannot make anything of it.
    """
    said = connection.execute("PRAGMA integrity_check(1)" if whole else "PRAGMA quick_check(1)").fetchall()
    if said != [("ok",)]:
        raise Fault("damaged", str(said[0][0])[:300])
    made = dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"))
    due = {"home": HOME, "parts": PARTS}
    if any(made.get(name) != sql for name, sql in due.items()):
        raise Fault("damaged", "its own tables are not as they were made")
    if {**dict(connection.execute("SELECT name, sql FROM parts")), **due} != made:
        raise Fault("damaged", "a table is not as it was made")
    epoch, mark, _, _ = read_home(connection)
    if epoch < marks.epoch or mark < marks.mark:
        raise Fault(
            "damaged", f"its last changes are missing: it is at {epoch}.{mark}, and was at {marks.epoch}.{marks.mark}"
        )


def read_home(connection: sqlite3.Connection) -> tuple[int, int, str, float]:
    """Epoch, mark, boot and offset.

    Raises:
        Fault: The row is missing or was flipped.
    """
    rows = connection.execute("SELECT epoch, mark, boot, offset, sum FROM home").fetchall()
    if len(rows) != 1 or checksum(*rows[0][:4]) != rows[0][4]:
        raise Fault("damaged", "the row that says how often it was opened is not as it was written")
    epoch, mark, boot, offset, _ = rows[0]
    return epoch, mark, boot, offset


def write_home(connection: sqlite3.Connection, epoch: int, mark: int, boot: str, offset: float) -> None:
    """Writes the one row of `home`; the transaction is the caller's."""
    connection.execute(
        "INSERT OR REPLACE INTO home VALUES (1, ?, ?, ?, ?, ?)",
        (epoch, mark, boot, offset, checksum(epoch, mark, boot, offset)),
    )


def _log_header_holds(log: bytes) -> bool:
    """Whether the 32 bytes a log begins with are whole."""
    magic, version, page = struct.unpack(">3I", log[:12])
    if magic & ~1 != 0x377F0682 or version != 3007000 or page != PAGE:
        return False
    order = ">" if magic & 1 else "<"
    one = two = 0
    for first, second in struct.iter_unpack(order + "2I", log[:24]):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return struct.unpack(">2I", log[24:32]) == (one, two)


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _start(path: Path, size: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except FileNotFoundError:
        return b""
