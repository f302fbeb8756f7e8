"""A lease store in the database of a home: it outlives its process, and several processes may share it.

Every step is one transaction, and what other processes did is taken in before anything is decided. One thing stays in
memory: a renewal that moves an expiry by less than a grain. The expiry on the disk is therefore never later than the
one in memory, nothing is lengthened in memory once the disk says that it ran out, and what a running command needs is
always on the disk: there everybody else looks.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anydevice_schemas import Fence, Holder, Lease
from anydevice_schemas.errors import UpstreamUnavailable

from ..database import Database, StoreBusy, checksum
from .events import Event, Renew, Request, Step
from .machine import advance, renewal
from .state import Change, LeaseState, Rules, Table, Ticket, plain, restored
from .store import StateStore

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS leases (place INTEGER PRIMARY KEY, lease_id TEXT NOT NULL UNIQUE,
    device TEXT NOT NULL, principal TEXT NOT NULL, tenant TEXT NOT NULL, session TEXT NOT NULL, run_id TEXT,
    epoch INTEGER NOT NULL, counter INTEGER NOT NULL, kind TEXT NOT NULL, granted_at REAL NOT NULL, ttl REAL NOT NULL,
    expires_at REAL NOT NULL, max_until REAL, seen REAL NOT NULL, sum INTEGER NOT NULL) STRICT""",
    """CREATE TABLE IF NOT EXISTS lease_shares (lease_id TEXT NOT NULL REFERENCES leases(lease_id) ON DELETE CASCADE,
    share TEXT NOT NULL, PRIMARY KEY (lease_id, share)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS lease_rows (place INTEGER PRIMARY KEY, part TEXT NOT NULL, key TEXT NOT NULL,
    data TEXT NOT NULL, sum INTEGER NOT NULL, UNIQUE (part, key)) STRICT""",
    """CREATE TABLE IF NOT EXISTS lease_changes (number INTEGER PRIMARY KEY, part TEXT NOT NULL,
    key TEXT NOT NULL) STRICT""",
    """CREATE TABLE IF NOT EXISTS lease_counter (one INTEGER PRIMARY KEY CHECK (one = 1), counter INTEGER NOT NULL,
    number INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT""",
)
"""`place` keeps the order in which rows came. `lease_changes` names the rows of the last steps, for other processes."""

_COLUMNS = (
    "lease_id, device, principal, tenant, session, run_id, epoch, counter, kind, granted_at, ttl, expires_at, max_until"
)
_LEASES = f"SELECT {_COLUMNS}, seen, sum FROM leases"
_PUT_LEASE = (
    f"INSERT INTO leases ({_COLUMNS}, seen, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (lease_id) DO UPDATE SET device = excluded.device, principal = excluded.principal, "
    "tenant = excluded.tenant, session = excluded.session, run_id = excluded.run_id, epoch = excluded.epoch, "
    "counter = excluded.counter, kind = excluded.kind, granted_at = excluded.granted_at, ttl = excluded.ttl, "
    "expires_at = excluded.expires_at, max_until = excluded.max_until, seen = excluded.seen, sum = excluded.sum"
)
_PUT_ROW = (
    "INSERT INTO lease_rows (part, key, data, sum) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (part, key) DO UPDATE SET data = excluded.data, sum = excluded.sum"
)
_CHANGES_KEPT = 4096
_GRAIN = 5.0
_SLACK = 1.0


class SqliteStore(StateStore):
    """`LeaseStore` in a `Database`.

    Args:
        database: The database of the home.
        rules: The host's limits.
        owns: Whether `close` closes the database as well.
        steady: The owner's clock, to be looked at again once the store is ours: a caller that was stalled, or had to
            wait for another process, then decides by what time it is and not by what time it was.

    Raises:
        UpstreamUnavailable: What is in the database is not as it was written.
        StoreBusy: Another process kept the database to itself for too long. Every verb may raise both, and then
            nothing of it was done.
    """

    def __init__(
        self,
        database: Database,
        *,
        rules: Rules | None = None,
        owns: bool = False,
        steady: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(LeaseState(epoch=database.epoch, rules=rules or Rules()))
        self.database = database
        self._owns = owns
        self._steady = steady
        self._on_disk: dict[str, float] = {}
        self._version = -1
        self._number = -1
        self._now = 0.0
        self._inherited: dict[str, tuple[Lease | Ticket, float]] = {}
        with database.write() as cursor:
            if "lease_counter" in database.schema(SCHEMA):
                cursor.execute("INSERT INTO lease_counter VALUES (1, 0, 0, ?)", (checksum(0, 0),))
            self.refresh()
            if database.alone:
                self._inherited = self._written_before(cursor)

    # --- deciding ---

    def _run(self, event: Event, now: float) -> Step:
        """See `StateStore`."""
        if self._inherited:
            self._meet(now)
        if isinstance(event, (Request, Renew)) and (made := self._in_memory(event, now)) is not None:
            return made
        done: Step | None = None
        try:
            with self.database.write():
                self.refresh()
                self._now = now = self._fresh(now)
                done = advance(self.state, event, now, secrets.token_hex(16))
                done.changes = [*done.changes, *self._late(done)]
                self._keep(done)
        except BaseException:
            if done is not None:
                self.state.undo(done.changes, done.counter)
            raise
        self._settle(done.changes)
        return done

    def _in_memory(self, event: Request | Renew, now: float) -> Step | None:
        """The step of a renewal that need not be written; None where anything else is to be done."""
        self.refresh()
        now = self._fresh(now)
        longer = renewal(self.state, event, now)
        if longer is None:
            return None
        disk, expires = self._on_disk[longer.lease_id], longer.expires_at
        if not now < disk <= expires or expires - disk >= min(_GRAIN, longer.ttl / 5) or (event.until or 0.0) > disk:
            return None
        self._now = now
        made = Step(self.state.counter, longer if isinstance(event, Renew) else (longer, False))
        if longer is not self.state.leases[longer.lease_id]:
            made.changes = (self.state.put("leases", longer.lease_id, longer),)
        return made

    def _late(self, done: Step) -> list[Change]:
        """A lease that is used and did not change now, though the disk has not yet what it got before."""
        lease = done.result[0] if isinstance(done.result, tuple) else done.result
        if not isinstance(lease, Lease) or any(change.key == lease.lease_id for change in done.changes):
            return []
        late = self._on_disk.get(lease.lease_id, lease.expires_at) < lease.expires_at
        return [Change("leases", lease.lease_id, lease, lease)] if late else []

    def _fresh(self, now: float) -> float:
        return float(now) if self._steady is None else max(float(now), self._steady())

    def _keep(self, step: Step) -> None:
        """See `StateStore`."""
        with self.database.write() as cursor:
            self._put(cursor, step.changes)

    def leases(self, now: float) -> list[Lease]:
        """See `LeaseStore`."""
        with self._lock:
            if self._inherited:
                self._meet(now)
            return super().leases(now)

    def close(self) -> None:
        """Writes what was only in memory, and lets go of the database where it is the store's own."""
        with self._lock:
            try:
                self.flush()
            except (StoreBusy, UpstreamUnavailable):
                pass  # a few seconds of a lease at most, and whoever holds it asks again
            finally:
                if self._owns:
                    self.database.close()

    def flush(self) -> None:
        """Writes the renewals that are only in memory."""
        with self._lock:
            if not any(self._behind()):
                return
            with self.database.write() as cursor:
                self.refresh()
                late = [Change("leases", lease.lease_id, lease, lease) for lease in self._behind()]
                self._put(cursor, late)
            self._settle(late)

    def _behind(self) -> list[Lease]:
        disk = self._on_disk
        return [lease for lease in self.state.leases.values() if self._now < disk[lease.lease_id] < lease.expires_at]

    # --- clocks that were set back, and machines that were started again ---

    def _written_before(self, cursor: sqlite3.Cursor) -> dict[str, tuple[Lease | Ticket, float]]:
        """Leases and places in the queue of those who had the store before, with when they were written."""
        seen = dict(cursor.execute("SELECT lease_id, seen FROM leases"))
        before: dict[str, tuple[Lease | Ticket, float]] = {
            key: (ticket, ticket.seen_at) for key, ticket in self.state.tickets.items()
        }
        return before | {key: (lease, seen[key]) for key, lease in self.state.leases.items()}

    def _meet(self, now: float) -> None:
        """The first time that time is told: nothing that was written by a later clock lives for longer than its TTL.

        Only rows that nobody has touched since are bent, so that a process that was stalled on its way here bends
        nothing that others have renewed meanwhile.
        """
        late = {
            key: row for key, (row, seen) in self._inherited.items() if self.database.rebooted or seen > now + _SLACK
        }
        bent: list[Change] = []
        try:
            if late:
                with self.database.write() as cursor:
                    self.refresh()
                    self._now = float(now)
                    for key, row in late.items():
                        table: Table = "leases" if isinstance(row, Lease) else "tickets"
                        if self.state.tables[table].get(key) is row and (new := self._bent(row, now)) != row:
                            bent.append(self.state.put(table, key, new))
                    self._put(cursor, bent)
        except BaseException:
            self.state.undo(bent, self.state.counter)
            raise
        self._settle(bent)
        self._inherited = {}

    def _bent(self, row: Lease | Ticket, now: float) -> Lease | Ticket:
        if isinstance(row, Lease):
            ends, began = min(row.expires_at, now + row.ttl), min(row.granted_at, now)
            return Lease.model_construct(**(row.__dict__ | {"expires_at": ends, "granted_at": began}))
        return replace(
            row,
            joined_at=min(row.joined_at, now),
            seen_at=min(row.seen_at, now),
            offer_until=min(row.offer_until, now + self.state.rules.accept),
        )

    # --- the disk ---

    def _put(self, cursor: sqlite3.Cursor, changes: Sequence[Change]) -> None:
        """Writes rows and what others need to find them; the transaction is the caller's."""
        if not changes:
            return
        number = self._number
        for change in changes:
            number += 1
            if change.table == "leases":
                self._put_lease(cursor, change)
            elif change.value is None:
                cursor.execute("DELETE FROM lease_rows WHERE part = ? AND key = ?", (change.table, change.key))
            else:
                data = json.dumps(plain(change.value), ensure_ascii=False, separators=(",", ":"))
                cursor.execute(_PUT_ROW, (change.table, change.key, data, checksum(change.table, change.key, data)))
            cursor.execute("INSERT INTO lease_changes VALUES (?, ?, ?)", (number, change.table, change.key))
        if number // 256 != self._number // 256:
            cursor.execute("DELETE FROM lease_changes WHERE number <= ?", (number - _CHANGES_KEPT,))
        counter = self.state.counter
        cursor.execute(
            "UPDATE lease_counter SET counter = ?, number = ?, sum = ?", (counter, number, checksum(counter, number))
        )

    def _put_lease(self, cursor: sqlite3.Cursor, change: Change) -> None:
        lease: Lease | None = change.value
        if lease is None:
            cursor.execute("DELETE FROM leases WHERE lease_id = ?", (change.key,))
            return
        row = _row(lease)
        cursor.execute(_PUT_LEASE, (*row, self._now, checksum(*row, self._now, *lease.group)))
        if lease.group != (change.before.group if change.before is not None else []):
            cursor.execute("DELETE FROM lease_shares WHERE lease_id = ?", (change.key,))
            cursor.executemany("INSERT INTO lease_shares VALUES (?, ?)", [(change.key, share) for share in lease.group])

    def _settle(self, changes: Sequence[Change]) -> None:
        """What was written is on the disk now."""
        self._number += len(changes)
        for change in changes:
            if change.table == "leases":
                if change.value is None:
                    self._on_disk.pop(change.key, None)
                else:
                    self._on_disk[change.key] = change.value.expires_at

    def refresh(self) -> None:
        """See `StateStore`. Inside a transaction nothing can change any more after it."""
        if self.database.version() == self._version:
            return
        with self.database.snapshot():
            version = self.database.version()
            known, self._number, self._version = self._number, -1, -1  # should this fail, all is read the next time
            counter, number = self._counter()
            changed = self._changed(known, number) if known >= 0 else None
            if changed is None:
                self._load()
            else:
                for table, key in changed:
                    self._take_in(table, key)
            self.state.counter = counter
            self.state.epoch = max(self.state.epoch, self.database.highest_epoch())
        self._number, self._version = number, version

    def _counter(self) -> tuple[int, int]:
        """The last fence counter that was given, and the number of the last change."""
        rows = self.database.read("SELECT counter, number, sum FROM lease_counter")
        if len(rows) != 1 or checksum(*rows[0][:2]) != rows[0][2]:
            raise self.database.damaged("the counter of fences is not as it was written")
        return rows[0][0], rows[0][1]

    def _changed(self, known: int, number: int) -> list[tuple[Table, str]] | None:
        """The rows of every change after `known`; None when they are not all remembered any more."""
        rows: list[Any] = self.database.read(
            "SELECT part, key FROM lease_changes WHERE number > ? ORDER BY number", (known,)
        )
        return list(dict.fromkeys(rows)) if len(rows) == number - known else None

    def _load(self) -> None:
        """Reads everything."""
        for table, key in [(table, key) for table, key, _ in self.state.rows()]:
            self.state.put(table, key, None)
        self._on_disk.clear()
        shares: dict[str, list[str]] = {}
        for lease_id, share in self.database.read("SELECT lease_id, share FROM lease_shares ORDER BY lease_id, share"):
            shares.setdefault(lease_id, []).append(share)
        for row in self.database.read(f"{_LEASES} ORDER BY place"):
            self._take_lease(row, shares.pop(row[0], []))
        if shares:
            raise self.database.damaged("a lease is missing that shares something")
        for part, key, data, total in self.database.read("SELECT part, key, data, sum FROM lease_rows ORDER BY place"):
            self._take_row(part, key, data, total)

    def _take_in(self, table: Table, key: str) -> None:
        """Reads one row again."""
        read = self.database.read
        if table == "leases":
            rows = read(f"{_LEASES} WHERE lease_id = ?", (key,))
            if rows:
                shares = read("SELECT share FROM lease_shares WHERE lease_id = ? ORDER BY share", (key,))
                self._take_lease(rows[0], [share for (share,) in shares])
                return
            self._on_disk.pop(key, None)
        else:
            rows = read("SELECT data, sum FROM lease_rows WHERE part = ? AND key = ?", (table, key))
            if rows:
                self._take_row(table, key, *rows[0])
                return
        self.state.put(table, key, None)

    def _take_lease(self, row: tuple[Any, ...], group: list[str]) -> None:
        if checksum(*row[:-1], *group) != row[-1]:
            raise self.database.damaged("a lease is not as it was written")
        lease_id, device, principal, tenant, session, run_id, epoch, counter, kind, granted, ttl, ends, top = row[:-2]
        lease = Lease.model_construct(
            lease_id=lease_id,
            device=device,
            group=group,
            holder=Holder.model_construct(principal=principal, session=session, tenant=tenant, run_id=run_id),
            fence=Fence.model_construct(epoch=epoch, counter=counter),
            kind=kind,
            granted_at=granted,
            ttl=ttl,
            expires_at=ends,
            max_until=top,
        )
        self.state.put("leases", lease_id, lease)
        self._on_disk[lease_id] = ends

    def _take_row(self, part: Any, key: str, data: str, total: int) -> None:
        if checksum(part, key, data) != total:
            raise self.database.damaged("a row of the leases is not as it was written")
        self.state.put(part, key, restored(part, json.loads(data)))


def _row(lease: Lease) -> tuple[Any, ...]:
    """A lease as its columns. Numbers are floats: SQLite gives a whole REAL back as a float, and the sum must agree."""
    holder, fence = lease.holder, lease.fence
    return (
        lease.lease_id, lease.device, holder.principal, holder.tenant, holder.session, holder.run_id,
        fence.epoch, fence.counter, lease.kind, float(lease.granted_at), float(lease.ttl), float(lease.expires_at),
        None if lease.max_until is None else float(lease.max_until),
    )  # fmt: skip


def open_store(folder: str) -> SqliteStore:
    """The store in a folder of its own; opened again, it is the same one.

    Raises:
        UpstreamUnavailable, StoreBusy: As `Database.open`.
    """
    return SqliteStore(Database.open(Path(folder) / "state.db"), owns=True)


open_store.offers = ("durable", "threads", "processes")  # type: ignore[attr-defined]
