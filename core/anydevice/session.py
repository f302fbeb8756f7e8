"""One session, and the row that keeps it over a restart."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from anydevice_schemas import Holder, Tree

from .elements import Looks, RefRegistry
from .losses import news, origin

log = structlog.get_logger("anydevice.sessions")

REFS_BLOCK = 1000
"""Refs are kept by a mark no ref was given out above; it moves by blocks, so that it is seldom written."""


class Unreadable(ValueError):
    """A row that makes no session; the message says why."""


@dataclass(slots=True, eq=False)
class Session:
    """One caller's work with one device.

    Attributes:
        name: Public name; implicit sessions have a made-up one that works only in their own scope.
        scope_key: The scope an implicit session lives in; None for explicit ones.
        device_key: The device it is bound to, for life.
        created, used: Readings of the monotonic clock.
        refs: Refs given out in this session; never reused in it.
        tree: The last tree seen, with refs, for diffs.
        looks: Its latest snapshots, for `diff`; not kept over a restart.
        app: What was opened last.
        event_template: URL template for app events, given at `open`.
        lease_id, fence: The lease it sits in; kept by the lease desk. The fence is not kept over a restart: who comes
            back is given a new one.
        notes: What is in progress in it (a recording), JSON-like; told after a restart.
        attached: Whether its holder is here; not so after a restart or a broken connection, until it comes back.
        until: Monotonic time until which its connection must be back; None where nothing depends on a connection.
        ended: It is over; nothing is kept of it any more.
        new: It was never admitted: should the call it was made for be refused, nothing of it stays.
        restored: It is from an earlier daemon.
        news: The notice of the restart, until it was told.
        unseen: What was open before the restart was not looked for yet.
        seen: Origin of the address that was in front last.
        saved, saved_used: What the ledger has of it.
    """

    name: str
    principal: str
    device_key: str
    scope_key: str | None
    connection: str
    created: float
    used: float
    tenant: str = "default"
    run_id: str | None = None
    refs: RefRegistry = field(default_factory=RefRegistry)
    tree: Tree | None = None
    looks: Looks = field(default_factory=Looks)
    app: str | None = None
    event_template: str | None = None
    lease_id: str | None = None
    fence: tuple[int, int] | None = None
    device_name: str = ""
    cwd: str | None = None
    transport: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    attached: bool = True
    until: float | None = None
    ended: bool = False
    new: bool = True
    restored: bool = False
    news: dict[str, Any] | None = None
    unseen: bool = False
    seen: str | None = None
    saved: dict[str, Any] | None = None
    saved_used: float = 0.0
    _holder: Holder | None = None

    @property
    def holder(self) -> Holder:
        """Who its lease is made out to."""
        if self._holder is None:
            self._holder = Holder(principal=self.principal, session=self.name, tenant=self.tenant, run_id=self.run_id)
        return self._holder

    @property
    def implicit(self) -> bool:
        """Whether the caller never gave it a name."""
        return self.scope_key is not None

    def to_row(self, utc: float) -> dict[str, Any]:
        """As the ledger keeps it, without `used`.

        Args:
            utc: Seconds to add to monotonic time for UTC.
        """
        if self.tree is not None:
            self.seen = origin(self.tree.location) if self.tree.location else None
        mark = self.saved["refs"] if self.saved is not None else self.refs.above
        if self.refs.issued > max(self.refs.above, mark - REFS_BLOCK // 2):
            mark = (self.refs.issued // REFS_BLOCK + 2) * REFS_BLOCK
        return {
            "name": self.name,
            "principal": self.principal,
            "tenant": self.tenant,
            "scope_key": self.scope_key,
            "device_key": self.device_key,
            "device_name": self.device_name,
            "connection": self.connection,
            "transport": self.transport,
            "cwd": self.cwd,
            "run_id": self.run_id,
            "app": self.app,
            "seen": self.seen,
            "event_template": self.event_template,
            "lease_id": self.lease_id,
            "refs": mark,
            "notes": copy.deepcopy(self.notes) if self.notes else {},
            "created": self.saved["created"] if self.saved is not None else self.created + utc,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any], utc: float) -> Session:
        """The session a row keeps, as it is after a restart: bound to its device, and not attached.

        Raises:
            Unreadable: The row makes none.
        """
        for name in sorted(row.keys() - _KINDS.keys()):
            log.warning("field_left_out", session=str(row.get("name"))[:60], field=str(name)[:60])
        row = {name: row.get(name) for name in _KINDS}
        wrong = [name for name, kinds in _KINDS.items() if type(row[name]) not in kinds]
        if wrong:
            raise Unreadable(f"{', '.join(wrong)} cannot be read")
        used = float(row.pop("used"))
        fields = dict(row)
        fields["refs"] = RefRegistry(above=row["refs"])
        fields["notes"] = copy.deepcopy(row["notes"])
        fields["created"] = float(row["created"]) - utc
        return cls(
            **fields,
            used=used - utc,
            attached=False,
            new=False,
            restored=True,
            news=news(row["name"], row["device_key"], refs=row["refs"] > 0, notes=row["notes"]),
            unseen=row["app"] is not None,
            saved=row,
            saved_used=used,
        )


_TEXT = (str,)
_PERHAPS = (str, type(None))
_KINDS: dict[str, tuple[type, ...]] = {
    "name": _TEXT,
    "principal": _TEXT,
    "tenant": _TEXT,
    "scope_key": _PERHAPS,
    "device_key": _TEXT,
    "device_name": _TEXT,
    "connection": _TEXT,
    "transport": _TEXT,
    "cwd": _PERHAPS,
    "run_id": _PERHAPS,
    "app": _PERHAPS,
    "seen": _PERHAPS,
    "event_template": _PERHAPS,
    "lease_id": _PERHAPS,
    "refs": (int,),
    "notes": (dict,),
    "created": (float, int),
    "used": (float, int),
}
"""The fields of a row and what each may be."""
