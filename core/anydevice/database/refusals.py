"""Why a database cannot be used, said so that a person can do something about it."""

from __future__ import annotations

import errno
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Literal, NoReturn

from anydevice_schemas.errors import UpstreamUnavailable

from . import copying

Kind = Literal[
    "damaged", "foreign", "newer", "otherwise_made", "not_a_file", "not_writable", "full", "failing", "moved", "closed"
]

_SENTENCES: dict[Kind, str] = {
    "damaged": "The state database is damaged.",
    "foreign": "The file where the state database should be is not one of anydevice.",
    "newer": "The state database was written by a newer anydevice.",
    "otherwise_made": "The state database was made by another version of anydevice.",
    "not_a_file": "What is where the state database should be is not a file.",
    "not_writable": "The state database cannot be written.",
    "full": "The disk of the state database is full.",
    "failing": "The disk of the state database does not take what is written.",
    "moved": "The state database was moved or deleted while it was in use.",
    "closed": "The state database is closed: this process is ending.",
}
_COPIED: frozenset[Kind] = frozenset({"damaged", "foreign", "newer", "otherwise_made"})
_COPY_SECONDS = 60.0

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_KINDS: dict[int, Kind] = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_IOERR: "failing",
    sqlite3.SQLITE_READONLY: "not_writable",
    sqlite3.SQLITE_PERM: "not_writable",
    sqlite3.SQLITE_CANTOPEN: "not_writable",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
}
_ERRNO: dict[int, Kind] = {
    errno.ENOSPC: "full", errno.EDQUOT: "full", errno.EIO: "failing", errno.EFBIG: "failing",
}  # fmt: skip


class StoreBusy(Exception):
    """Another process (or thread) kept the database to itself for longer than one was ready to wait."""


class Fault(Exception):
    """What is wrong with a database file, before it is told.

    Attributes:
        kind: Which sentence it is.
        reason: The detail, for whoever looks into it.
    """

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind = kind
        self.reason = reason


def tell(path: Path, error: sqlite3.Error | Fault | OSError, *, apart: bool = True) -> NoReturn:
    """Raises what an error means here.

    Args:
        path: The database.
        error: Of SQLite, of the file system, or found by looking.
        apart: This process may have the file open, so that it must be copied by another one.

    Raises:
        StoreBusy, UpstreamUnavailable: What it means.
        sqlite3.Error: It is a mistake of ours (a wrong statement, a constraint).
    """
    meaning = _fault_of(error)
    if meaning is None:
        raise error
    if isinstance(meaning, StoreBusy):
        raise meaning from None
    raise refusal(path, meaning, apart=apart) from None


def _fault_of(error: sqlite3.Error | Fault | OSError) -> Fault | StoreBusy | None:
    if isinstance(error, Fault):
        return error
    if isinstance(error, OSError):
        return Fault(_ERRNO.get(error.errno or 0, "not_writable"), error.strerror or str(error))
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # The module itself raises these, with no code of SQLite: text that is not UTF-8 is one.
        return Fault("damaged", str(error)) if isinstance(error, sqlite3.OperationalError) else None
    if code & 0xFF in _BUSY:
        return StoreBusy(str(error))
    kind = _KINDS.get(code & 0xFF)
    return Fault(kind, f"{error} ({error.sqlite_errorname})") if kind is not None else None


def refusal(path: Path, fault: Fault, *, apart: bool = True) -> UpstreamUnavailable:
    """The error for a database that cannot be used; of a file that cannot be trusted a copy is kept first."""
    message, details = _SENTENCES[fault.kind], {"reason": fault.kind, "detail": fault.reason, "path": str(path)}
    if fault.kind in _COPIED and path.is_file():
        copy = _keep(path) if apart else _keep_here(path)
        if copy:
            details["copy"] = copy
            message += " It was left as it is, and a copy is kept beside it."
        else:
            message += " It was left as it is; no copy could be made."
    hint = _hint(path, fault.kind)
    return UpstreamUnavailable(
        message, hint=hint, retryable=fault.kind == "closed", upstream=path.name, enable_hint=hint, **details
    )


def _hint(path: Path, kind: Kind) -> str:
    folder = shlex.quote(str(path.parent))
    if kind == "full":
        return f"Free some space (see: df -h {folder}), then repeat the call."
    if kind == "failing":
        return f"Check the disk and its limits (see: df -h {folder}; ulimit -f), then repeat the call."
    if kind == "not_writable":
        return f"chmod -R u+rwX {folder}"
    if kind == "moved":
        return "Restart it: anydevice stop"
    if kind == "closed":
        return "Repeat the call."
    number = 1
    while (path.parent / f"set-aside-{number}").exists():
        number += 1
    aside = shlex.quote(str(path.parent / f"set-aside-{number}"))
    move = f"mkdir {aside} && mv {shlex.quote(str(path))}* {aside}"
    if kind == "newer":
        return f"Install the newer anydevice again, or set the file aside and begin anew: {move}"
    return f"Set the file aside and begin anew: {move}"


def _keep_here(path: Path) -> str:
    try:
        return copying.keep_copy(str(path))
    except OSError:
        return ""


def _keep(path: Path) -> str:
    """The path of a copy, empty when none could be made."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", copying.__file__, str(path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_COPY_SECONDS,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
