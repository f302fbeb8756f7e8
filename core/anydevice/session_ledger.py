"""What a home's database keeps of sessions, of those that were lost, and of connections that may come back.

One row a session. A row is written when something of it changed and never together with others, so what a call costs
does not grow with how many sessions there are.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import structlog

from .database import Database, checksum

log = structlog.get_logger("anydevice.sessions")

LOST_SECONDS = 86_400.0
"""Seconds a loss waits for whoever it concerns."""

LOST_MOST = 200
"""How many losses wait at most; the oldest go first."""

AWAY_SECONDS = 3_600.0
"""Seconds a connection may be away and still be known by its token."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS sessions (key TEXT PRIMARY KEY, used REAL NOT NULL, body TEXT NOT NULL,"
    " sum INTEGER NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS lost_sessions (id INTEGER PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL,"
    " sum INTEGER NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS connections (token TEXT PRIMARY KEY, principal TEXT NOT NULL, transport TEXT NOT NULL,"
    " connection TEXT NOT NULL, scope_key TEXT NOT NULL, seen REAL NOT NULL, away REAL,"
    " sum INTEGER NOT NULL) STRICT",
)


def key_of(row: Mapping[str, Any]) -> str:
    """The key of a session's row: who has it, and its name there."""
    return json.dumps([row["principal"], row["tenant"], row["scope_key"], row["name"]])


class SessionLedger:
    """Sessions, losses and connections in a database. Rows are plain; what they mean is known to `Sessions`.

    Every method may raise `StoreBusy` or `UpstreamUnavailable` where the database cannot be written or read.

    Args:
        database: Of this home.
        now: UTC seconds on the steady clock; that of the database unless given.
    """

    def __init__(self, database: Database, *, now: Callable[[], float] | None = None) -> None:
        self.database = database
        self.now = now or (lambda: time.monotonic() + database.offset)
        self._known: set[str] = set()
        database.schema(_TABLES)

    # --- sessions ---

    def rows(self) -> list[dict[str, Any]]:
        """Every session as put, the oldest use first, with `used` and `key`; what is damaged is told and dropped."""
        found = []
        for key, used, body, total in self.database.read("SELECT key, used, body, sum FROM sessions ORDER BY used"):
            row = _loaded(key, body, total)
            if row is None:
                self.drop(key)
            else:
                found.append(row | {"used": used, "key": key})
        return found

    def put(self, row: Mapping[str, Any]) -> None:
        """Writes one session, new or changed. `used` (UTC seconds) stands beside what the row says otherwise."""
        key, body = key_of(row), json.dumps({name: value for name, value in row.items() if name != "used"})
        with self.database.write() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", (key, row["used"], body, checksum(key, body))
            )

    def touch(self, key: str, used: float) -> None:
        """Writes when a session was used last (UTC seconds)."""
        with self.database.write() as cursor:
            cursor.execute("UPDATE sessions SET used = ? WHERE key = ?", (used, key))

    def drop(self, key: str) -> None:
        """Forgets a session that ended."""
        with self.database.write() as cursor:
            cursor.execute("DELETE FROM sessions WHERE key = ?", (key,))

    # --- losses ---

    def lost(self) -> list[tuple[int, dict[str, Any]]]:
        """The losses nobody was told of yet, the oldest first; those nobody will ask for are forgotten here."""
        found = []
        newest = self.database.read("SELECT id, at, body, sum FROM lost_sessions ORDER BY id DESC")
        gone: list[int] = []
        for place, (number, at, body, total) in enumerate(newest):
            row = _loaded("", body, total)
            if row is None or place >= LOST_MOST or at < self.now() - LOST_SECONDS:
                gone.append(number)
            else:
                found.append((number, row))
        if gone:
            self.forget_lost(gone)
        return found[::-1]

    def lose(self, key: str, row: Mapping[str, Any]) -> int:
        """A session becomes a loss, in one step; the number of the loss."""
        with self.database.write() as cursor:
            cursor.execute("DELETE FROM sessions WHERE key = ?", (key,))
            body = json.dumps(row)
            cursor.execute(
                "INSERT INTO lost_sessions (at, body, sum) VALUES (?, ?, ?)", (self.now(), body, checksum("", body))
            )
            return int(cursor.lastrowid or 0)

    def forget_lost(self, numbers: Iterable[int]) -> None:
        """Forgets losses that were told."""
        with self.database.write() as cursor:
            cursor.executemany("DELETE FROM lost_sessions WHERE id = ?", [(number,) for number in numbers])

    # --- connections ---

    def remember(self, token_hash: str, principal: str, transport: str, connection: str, scope_key: str) -> None:
        """Writes a connection that may come back with its token; a known token is written anew."""
        self._known.add(connection)
        said = (token_hash, principal, transport, connection, scope_key)
        with self.database.write() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO connections VALUES (?, ?, ?, ?, ?, ?, NULL, ?)",
                (*said, self.now(), checksum(*said)),
            )

    def find(self, token_hash: str) -> dict[str, Any] | None:
        """The connection of a token: principal, transport, connection, scope_key, seen, away (None while it lasts)."""
        names = ("principal", "transport", "connection", "scope_key", "seen", "away")
        found = self.database.read(f"SELECT {', '.join(names)}, sum FROM connections WHERE token = ?", (token_hash,))
        if not found or checksum(token_hash, *found[0][:4]) != found[0][-1]:
            return None
        row = dict(zip(names, found[0], strict=False))
        if row["away"] is not None and row["away"] < self.now() - AWAY_SECONDS:
            return None
        self._known.add(row["connection"])
        return row

    def left(self, connection: str, clean: bool) -> None:
        """A connection ended: by a goodbye, and its token is void, or without one, and it may still come back."""
        if connection not in self._known:
            return
        self._known.discard(connection)
        with self.database.write() as cursor:
            if clean:
                cursor.execute("DELETE FROM connections WHERE connection = ?", (connection,))
            else:
                cursor.execute("UPDATE connections SET away = ? WHERE connection = ?", (self.now(), connection))

    def forget_connections(self) -> None:
        """Forgets connections that have been away for too long."""
        with self.database.write() as cursor:
            cursor.execute("DELETE FROM connections WHERE away < ?", (self.now() - AWAY_SECONDS,))

    def all_away(self) -> None:
        """A new daemon has begun: whoever was connected to the one before is away since now."""
        with self.database.write() as cursor:
            cursor.execute("UPDATE connections SET away = ? WHERE away IS NULL", (self.now(),))
        self.forget_connections()


def _loaded(key: str, body: str, total: int) -> dict[str, Any] | None:
    """The row of a body, if it is as it was written."""
    try:
        row = json.loads(body) if checksum(key, body) == total else None
    except ValueError:
        row = None
    if isinstance(row, dict):
        return row
    log.warning("row_left_out", row=key[:200], reason="it is damaged")
    return None
