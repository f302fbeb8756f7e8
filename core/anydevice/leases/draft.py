"""One step of the lease machine in the making: what becomes of leases, and the changes and events it leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from anydevice_schemas import Fence, Holder, Lease, LeaseKind
from anydevice_schemas.errors import AnydeviceError

from . import fairness, refusals
from .events import LeaseEvent, Step
from .refusals import same_holder
from .state import Change, Ended, EndKind, LeaseState, Table, Wish

GRAIN = 0.25
"""Renewals that move an expiry by less than this many seconds are not worth a change."""


def live(lease: Lease, now: float) -> bool:
    """Whether a lease still stands at `now` (UTC seconds)."""
    return now < lease.expires_at and (lease.max_until is None or now < lease.max_until)


def clashes(lease: Lease, device: str, group: frozenset[str]) -> bool:
    """Whether a lease covers a device, or something it shares."""
    return lease.device == device or not group.isdisjoint(lease.group)


def in_the_way(lease: Lease, device: str, holder: Holder) -> bool:
    """Whether a lease near a device keeps a holder from it: a session may have several that share something."""
    return lease.device == device or not same_holder(lease.holder, holder)


def longer(lease: Lease, now: float, until: float) -> Lease:
    """The lease, living for its TTL from `now` or to `until` if that is later, to its hard maximum at most."""
    expires = max(now + lease.ttl, until)
    if lease.kind == "human":
        expires = max(expires, lease.expires_at)  # a person was told until when the device is kept
    if lease.max_until is not None:
        expires = min(expires, lease.max_until)
    if abs(expires - lease.expires_at) < GRAIN:
        return lease
    return having(lease, expires_at=expires)


def having(lease: Lease, **values: Any) -> Lease:
    """The lease with other values; built by hand because every command does it."""
    return Lease.model_construct(**(lease.__dict__ | values))


class Draft:
    """One step being made."""

    __slots__ = ("changes", "fresh", "now", "state", "step", "told")

    def __init__(self, state: LeaseState, now: float, fresh: str) -> None:
        self.state = state
        self.now = now
        self.fresh = fresh
        self.changes: list[Change] = []
        self.told: list[LeaseEvent] = []
        self.step = Step(state.counter, changes=self.changes, told=self.told)

    def put(self, table: Table, key: str, value: Any) -> None:
        """Puts or drops a row."""
        self.changes.append(self.state.put(table, key, value))

    def tell(self, event: LeaseEvent) -> None:
        """Has watchers told."""
        self.told.append(event)

    def refuse(self, error: AnydeviceError) -> None:
        """The event is refused."""
        self.step.error = error

    def fence(self) -> Fence:
        """A new fence, above all before it."""
        self.state.counter += 1
        return Fence.model_construct(epoch=self.state.epoch, counter=self.state.counter)

    # --- what happens to leases ---

    def standing(self, device: str, group: frozenset[str]) -> list[Lease]:
        """Leases that stand and cover a device or what it shares; those that ran out are ended on the way."""
        while True:
            near = self.state.near(device, group)
            over = next((lease for lease in near if not live(lease, self.now)), None)
            if over is None:
                return near
            self.end(over, "expired")  # a takeover that ran out gives back: look again

    def grant(self, wish: Wish, holder: Holder, kind: LeaseKind, *, ttl: float, until: float = 0.0) -> Lease:
        """A new lease, under a new fence; nothing stands in its way any more."""
        longest = self.state.rules.longest
        top = self.now + longest if longest is not None and kind in ("implicit", "run") else None
        expires = max(self.now + ttl, until)
        lease = Lease.model_construct(
            lease_id=self.fresh,
            device=wish.device,
            group=sorted(wish.group),
            holder=holder,
            fence=self.fence(),
            kind=kind,
            granted_at=self.now,
            ttl=ttl,
            expires_at=expires if top is None else min(expires, top),
            max_until=top,
        )
        self.withdraw(wish.device, wish.group, holder)
        self.put("leases", lease.lease_id, lease)
        if kind != "cleanup":
            self._mark_driven(lease)
            self.tell(LeaseEvent("granted", lease))
        return lease

    def _mark_driven(self, lease: Lease) -> None:
        mark = self.state.mark(lease.device)
        other = mark.last_holder is not None and not same_holder(mark.last_holder, lease.holder)
        # A person who takes over wants to see the device as it is.
        owed = (mark.owed or (mark.used and other)) and lease.kind != "human"
        self.put(
            "marks",
            lease.device,
            replace(mark, last=lease.lease_id, last_holder=lease.holder, used=True, owed=owed),
        )

    def end(self, lease: Lease, kind: EndKind, reason: str = "", by: Holder | None = None) -> None:
        """A lease stands no longer."""
        self.put("leases", lease.lease_id, None)
        if lease.kind == "cleanup":
            return
        at = self.now if kind != "expired" else min(lease.expires_at, lease.max_until or lease.expires_at)
        self.put(
            "ended", lease.lease_id, Ended(lease.lease_id, lease.device, kind, reason, at, by, lease.kind, lease.holder)
        )
        fairness.settle(self, lease, at)
        self.tell(LeaseEvent(kind, lease, reason, by))
        if lease.kind == "human" and kind == "expired":
            self.restore(lease)

    def restore(self, human: Lease) -> list[Lease]:
        """Gives those who were interrupted by a takeover their leases again, where nothing stands in the way."""
        restored = []
        for suspended in self.state.interrupted(human.lease_id):
            old, group = suspended.lease, frozenset(suspended.lease.group)
            self.put("suspended", old.lease_id, None)
            again = longer(having(old, granted_at=self.now), self.now, 0.0)
            near = self.standing(old.device, group)
            sick = refusals.marked(self.state.mark(old.device)) is not None and old.kind != "human"
            if sick or not live(again, self.now) or any(in_the_way(lease, old.device, old.holder) for lease in near):
                self.forget_suspended(old)
                continue
            again = having(again, fence=self.fence())
            self.withdraw(old.device, group, old.holder)
            self.put("leases", again.lease_id, again)
            self.put("ended", again.lease_id, None)
            mark = replace(self.state.mark(again.device), last=again.lease_id, last_holder=again.holder)
            self.put("marks", again.device, replace(mark, used=True, owed=suspended.owed))
            self.tell(LeaseEvent("given_back", again))
            restored.append(again)
        return restored

    def due(self) -> None:
        """Takeovers that ran out give back, before anything else is decided."""
        if not self.state.suspended:
            return
        for key in sorted({s.by for s in self.state.suspended.values()}):
            human = self.state.leases.get(key)
            if human is not None and not live(human, self.now):
                self.end(human, "expired")

    def forget_suspended(self, human: Lease) -> None:
        """A takeover was ended without giving back; nor does one that it had interrupted give back any more."""
        for suspended in self.state.interrupted(human.lease_id):
            self.put("suspended", suspended.lease.lease_id, None)
            self.forget_suspended(suspended.lease)

    def withdraw(self, device: str, group: frozenset[str], holder: Holder) -> None:
        """Takes back what was offered of a device, or to others of what it shares; they wait on in their places."""
        for ticket in self.state.offers():
            others = not same_holder(ticket.holder, holder) and fairness.shares(ticket, group)
            if ticket.offered == device or others:
                self.put("tickets", ticket.ticket_id, replace(ticket, offered=None, offer_until=0.0))
