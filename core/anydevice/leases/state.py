"""All that ownership knows, as plain tables with the indexes the machine needs. Data only: no clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from anydevice_schemas import Health, Holder, Lease, LeaseKind

Table = Literal["leases", "tickets", "ended", "marks", "suspended", "accounts"]
TABLES: tuple[Table, ...] = ("leases", "tickets", "ended", "marks", "suspended", "accounts")
EndKind = Literal["released", "expired", "taken"]


@dataclass(slots=True, frozen=True)
class Wish:
    """One device that would do: its key, and the things it shares with others."""

    device: str
    group: frozenset[str] = frozenset()


@dataclass(slots=True, frozen=True)
class Ticket:
    """A place in the queue.

    Attributes:
        ticket_id: Unguessable.
        holder: Who waits.
        asked: What was asked for, in words; with the holder it names the place, so that asking again keeps it.
        wishes: Devices that would do, any of them.
        ttl: Seconds the lease is to live without renewal.
        priority: Higher goes first within a tenant; waiting raises it.
        number: Order of arrival.
        joined_at, seen_at: UTC seconds: when the place was taken, and when its owner was last heard of.
        offered: Key of the device that is kept for it now, until `offer_until`.
    """

    ticket_id: str
    holder: Holder
    asked: str
    wishes: tuple[Wish, ...]
    ttl: float
    number: int
    joined_at: float
    seen_at: float
    priority: int = 0
    offered: str | None = None
    offer_until: float = 0.0


@dataclass(slots=True, frozen=True)
class Ended:
    """How a lease ended, kept for a while so that its holder can be told. `by` is who took it."""

    lease_id: str
    device: str
    kind: EndKind
    reason: str
    at: float
    by: Holder | None = None
    lease_kind: LeaseKind = "implicit"
    holder: Holder | None = None


@dataclass(slots=True, frozen=True)
class Mark:
    """What is remembered of a device, whoever has it.

    Attributes:
        device: Its key.
        last: The lease it was given out under last.
        last_holder: Who had that lease.
        used: It was driven since it was last cleaned up.
        owed: It was driven by somebody else than who has it now, and must be cleaned up before the next command.
        health: Our own finding, apart from what the backend says; `unknown` = nothing found.
        reason: Why it is not good.
        since: UTC seconds of the last change of health.
        said: A person said so; nothing but a person changes it.
    """

    device: str
    last: str | None = None
    last_holder: Holder | None = None
    used: bool = False
    owed: bool = False
    health: Health = "unknown"
    reason: str = ""
    since: float = 0.0
    said: bool = False


@dataclass(slots=True, frozen=True)
class Suspended:
    """A lease that a person's takeover ended and giving back restores.

    Attributes:
        lease: As it stood.
        by: Id of the lease of the takeover.
        owed: A clean-up of its device was owed to it.
    """

    lease: Lease
    by: str
    owed: bool = False


@dataclass(slots=True, frozen=True)
class Account:
    """What one tenant of one principal has had.

    Attributes:
        key: Principal and tenant.
        deficit: Seconds of device time it may be given before others have their turn; negative = it had more.
        hold: Mean seconds it keeps a device, as an estimate of what the next grant costs.
        ahead: Seconds charged in advance for what it was offered and has not given back.
        turn: When it was served last, as a count.
        day, seconds: Seconds of ended leases in that UTC day.
    """

    key: str
    deficit: float = 0.0
    hold: float = 10.0
    ahead: float = 0.0
    turn: int = 0
    day: int = 0
    seconds: float = 0.0


@dataclass(slots=True, frozen=True)
class Rules:
    """What the host's configuration says of leases. None = no limit.

    Attributes:
        held: Leases one tenant may hold at once.
        queued: Requests of one tenant that may wait at once.
        minutes: Lease-minutes one tenant may have in a UTC day.
        longest: Seconds after which a lease is not renewed any more.
        accept: Seconds an offer stands.
        grace: Seconds a place in the queue is kept for a caller who is not heard of.
        age: Seconds of waiting that raise a request's priority by one.
        heard: Seconds after which nothing is offered to a place whose owner is not heard of; it keeps the place.
    """

    held: int | None = None
    queued: int | None = None
    minutes: float | None = None
    longest: float | None = 86400.0
    accept: float = 10.0
    grace: float = 30.0
    age: float = 30.0
    heard: float | None = None


@dataclass(slots=True, frozen=True)
class Change:
    """One row that is put (or, with None, dropped), and what was there before."""

    table: Table
    key: str
    value: Any
    before: Any


def _fence(lease: Lease) -> int:
    return lease.fence.counter


def account_key(holder: Holder) -> str:
    """The account a holder's leases are charged to."""
    return f"{holder.principal}/{holder.tenant}"


@dataclass(slots=True)
class LeaseState:
    """The state of the lease machine.

    Attributes:
        epoch: Of this opening of the store; a lease of another epoch gets a new fence when its holder comes back.
        counter: The last fence counter given.
        rules: The host's limits.
        tables: Rows by table and key; change them with `put` only.
    """

    epoch: int = 1
    counter: int = 0
    rules: Rules = field(default_factory=Rules)
    tables: dict[Table, dict[str, Any]] = field(default_factory=lambda: {table: {} for table in TABLES})
    _by_device: dict[str, Lease] = field(default_factory=dict)
    _by_share: dict[str, dict[str, Lease]] = field(default_factory=dict)
    _by_account: dict[str, dict[str, Lease]] = field(default_factory=dict)
    _offers: dict[str, Ticket] = field(default_factory=dict)

    # --- reading ---

    @property
    def leases(self) -> Mapping[str, Lease]:
        """Every lease by id, standing or not."""
        return self.tables["leases"]

    @property
    def tickets(self) -> Mapping[str, Ticket]:
        """Every place in the queue, by id."""
        return self.tables["tickets"]

    @property
    def ended(self) -> Mapping[str, Ended]:
        """How leases ended, by lease id."""
        return self.tables["ended"]

    @property
    def marks(self) -> Mapping[str, Mark]:
        """What is remembered of devices, by key."""
        return self.tables["marks"]

    @property
    def suspended(self) -> Mapping[str, Suspended]:
        """Leases that takeovers ended, by lease id."""
        return self.tables["suspended"]

    @property
    def accounts(self) -> Mapping[str, Account]:
        """Accounts by key."""
        return self.tables["accounts"]

    def of_device(self, device: str) -> Lease | None:
        """The lease on a device, standing or not."""
        return self._by_device.get(device)

    def near(self, device: str, group: Iterable[str]) -> list[Lease]:
        """Leases on a device or on something it shares, standing or not, in the order of their fences."""
        own = self._by_device.get(device)
        found = {own.lease_id: own} if own is not None else {}
        for share in group:
            found.update(self._by_share.get(share, {}))
        return sorted(found.values(), key=_fence) if len(found) > 1 else list(found.values())

    def of_account(self, key: str) -> Iterable[Lease]:
        """Leases charged to an account, standing or not."""
        return self._by_account.get(key, {}).values()

    def offers(self) -> list[Ticket]:
        """Places in the queue that have a device kept for them, in the order of arrival."""
        offers = list(self._offers.values())
        return sorted(offers, key=lambda ticket: ticket.number) if len(offers) > 1 else offers

    def interrupted(self, by: str) -> list[Suspended]:
        """What the takeover under this lease interrupted, in the order of the fences."""
        return sorted((s for s in self.suspended.values() if s.by == by), key=lambda s: _fence(s.lease))

    def mark(self, device: str) -> Mark:
        """What is remembered of a device."""
        found: Mark | None = self.tables["marks"].get(device)
        return found if found is not None else Mark(device)

    def account(self, key: str) -> Account:
        """An account."""
        found: Account | None = self.tables["accounts"].get(key)
        return found if found is not None else Account(key)

    # --- changing ---

    def put(self, table: Table, key: str, value: Any) -> Change:
        """Puts a row, or drops it where `value` is None; returns what `undo` needs."""
        rows = self.tables[table]
        before = rows.get(key)
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = value
        if table == "leases":
            self._index(before, value)
        elif table == "tickets":
            if value is not None and value.offered is not None:
                self._offers[key] = value
            else:
                self._offers.pop(key, None)
        return Change(table, key, value, before)

    def undo(self, changes: Iterable[Change], counter: int) -> None:
        """Takes changes back, the last one first, and sets the counter as it was."""
        for change in reversed(list(changes)):
            self.put(change.table, change.key, change.before)
        self.counter = counter

    def copy(self) -> LeaseState:
        """A state of its own with the same rows (rows never change)."""
        other = LeaseState(epoch=self.epoch, counter=self.counter, rules=self.rules)
        for table, rows in self.tables.items():
            for key, value in rows.items():
                other.put(table, key, value)
        return other

    def rows(self) -> Iterator[tuple[Table, str, Any]]:
        """Every row there is."""
        for table, rows in self.tables.items():
            for key, value in rows.items():
                yield table, key, value

    def _index(self, before: Lease | None, after: Lease | None) -> None:
        if before is not None and (after is None or before.device != after.device or before.group != after.group):
            if (held := self._by_device.get(before.device)) is not None and held.lease_id == before.lease_id:
                del self._by_device[before.device]
            _drop(self._by_account, account_key(before.holder), before.lease_id)
            for share in before.group:
                _drop(self._by_share, share, before.lease_id)
        if after is not None:
            self._by_device[after.device] = after
            self._by_account.setdefault(account_key(after.holder), {})[after.lease_id] = after
            for share in after.group:
                self._by_share.setdefault(share, {})[after.lease_id] = after


def _drop(index: dict[str, dict[str, Lease]], key: str, lease_id: str) -> None:
    kept = index.get(key)
    if kept is not None:
        kept.pop(lease_id, None)
        if not kept:
            del index[key]


def plain(row: Any) -> dict[str, Any]:
    """A row as JSON-able data; `restored` makes the row again."""
    if isinstance(row, Lease):
        return row.model_dump()
    return {f.name: _plain(getattr(row, f.name)) for f in fields(row)}


def _plain(value: Any) -> Any:
    if isinstance(value, (Holder, Lease)):
        return value.model_dump()
    if isinstance(value, tuple):
        return [{"device": wish.device, "group": sorted(wish.group)} for wish in value]
    return value


def restored(table: Table, data: Mapping[str, Any]) -> Any:
    """A row from what `plain` made of it.

    Raises:
        TypeError, ValueError: It is no row of that table.
    """
    values = dict(data)
    for name in ("holder", "by", "last_holder"):
        if isinstance(values.get(name), Mapping) and table != "leases":
            values[name] = Holder.model_validate(values[name])
    if table == "leases":
        return Lease.model_validate(values)
    if table == "tickets":
        values["wishes"] = tuple(Wish(w["device"], frozenset(w["group"])) for w in values["wishes"])
        return Ticket(**values)
    if table == "suspended":
        return Suspended(**(values | {"lease": Lease.model_validate(values["lease"])}))
    return {"ended": Ended, "marks": Mark, "accounts": Account}[table](**values)
