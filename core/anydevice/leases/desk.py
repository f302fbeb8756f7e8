"""Admission: every command on a device passes here, and is let in only for the one who drives it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

import anyio

from anydevice_schemas import TTL_DEFAULT, Device, Held, Holder, Lease
from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceUnhealthy,
    LeaseExpired,
    LeaseHeld,
    LeaseLost,
    LeaseStale,
    UpstreamUnavailable,
)

from ..clock import Clock
from ..database import StoreBusy
from . import refusals
from .events import CLEANER, LeaseEvent, Request
from .machine import live
from .refusals import iso, same_holder, unhealthy, visible_holder
from .store import LeaseStore, StateStore

PIN_SLACK = 0.25
"""Seconds a command may have waited for its lane without being pinned anew."""

CLEAN_DEADLINE = 10.0
"""Seconds the clean-up after a holder may take."""


class LeaseSeat(Protocol):
    """Whoever sits in a lease: a session, which remembers the lease it was given."""

    device_key: str
    lease_id: str | None
    fence: tuple[int, int] | None

    @property
    def holder(self) -> Holder:
        """Who the lease is made out to."""
        ...


@dataclass(slots=True, frozen=True)
class Admission:
    """Leave to run one command: the lease it runs under, and what the caller must be told."""

    lease: Lease
    pinned_until: float
    notice: dict[str, str] | None = None


class Desk:
    """Admits commands under leases of a store.

    Args:
        store: Where leases are kept.
        clock: The owner's clock.
        ttl: Seconds an implicit lease lives without use.

    Attributes:
        over: Called with each lease that ends while a command runs under it, and with each that a person takes over:
            what runs must end now, with the error.
        again: Called with each lease that was given back after a takeover.
        gate: Whoever finds the store busy waits here, so that one at a time tries again.
        leaving: Set while a newer daemon takes over: whoever waits in the queue asks that one again.
        unreleased: Leases whose release could not be written yet, and why they end.
        cleans: Says whether a device can be cleaned up now; `released` is then called with its key.
    """

    def __init__(self, store: LeaseStore, clock: Clock, *, ttl: float = TTL_DEFAULT) -> None:
        self.store = store
        self.clock = clock
        self.ttl = ttl
        self.room = store if isinstance(store, StateStore) else None
        self.over: list[Callable[[Lease, AnydeviceError], None]] = []
        self.again: list[Callable[[Lease], None]] = []
        self.gate = anyio.Lock()
        self.cleans: Callable[[str], bool] = lambda device_key: False
        self.released: Callable[[str], None] = lambda device_key: None
        self.leaving = False
        self.unreleased: dict[str, str] = {}
        self._pins: dict[str, list[float]] = {}
        self._notices: dict[str, dict[str, str]] = {}
        self._turns: dict[str, anyio.Event] = {}
        store.watch(self._hear)

    # --- every command ---

    def admit(self, device: Device, seat: LeaseSeat, *, pin: float, asked_lease: str | None = None) -> Admission:
        """Lets one command in, under the seat's lease or a new implicit one.

        The lease is pinned: it stands for at least `pin` seconds, until `settle` is called with the admission.

        Raises:
            LeaseHeld, LeaseLost, LeaseStale, LeaseExpired: Somebody else drives the device, or took it, or the lease
                that was asked for ran out.
            QuotaExceeded: The tenant has all it may have.
            DeviceUnhealthy: It is not given out.
        """
        if (sick := self.sick(device)) is not None and not self._is_persons(device.key, seat):
            raise sick
        if asked_lease is not None and asked_lease != seat.lease_id:
            raise LeaseStale(
                "The lease named by leaseId is not the one of this session.",
                fence=asked_lease,
                current="another lease" if seat.lease_id else "none",
                device=device.key,
            )
        now = self.clock.now()
        pins = self._pins.get(seat.lease_id or "", ())
        notice = self._notices.get(seat.lease_id or "") if self._notices else None
        request = Request(
            device=device.key,
            holder=seat.holder,
            ttl=self.ttl,
            group=frozenset(device.shares),
            lease_id=seat.lease_id,
            fence=seat.fence if notice is None else None,
            until=max(now + pin, *pins) if pins else now + pin,
        )
        try:
            try:
                lease, regranted = self.store.grant(request, now)
            except LeaseStale:
                # This very call may have ended a takeover that ran out: the lease is given back, with a new fence.
                notice = self._notices.get(seat.lease_id or "")
                if notice is None:
                    raise
                lease, regranted = self.store.grant(replace(request, fence=None), now)
        except (LeaseLost, LeaseExpired):
            seat.lease_id, seat.fence = None, None  # told now; the next call starts anew
            raise
        seat.lease_id = lease.lease_id
        seat.fence = (lease.fence.epoch, lease.fence.counter)
        self._pins.setdefault(lease.lease_id, []).append(now + pin)
        if regranted:
            notice = {
                "kind": "lease_renewed",
                "message": "Your lease had run out; nobody took the device and you were given a new one.",
                "fence": str(lease.fence),
            }
        elif self._notices:
            notice = self._notices.pop(lease.lease_id, None)
        return Admission(lease, now + pin, notice)

    def begin(self, admission: Admission, *, pin: float) -> Admission:
        """The command has its lane now: what was admitted is looked at once more, and pinned for `pin` seconds.

        Raises:
            LeaseLost, LeaseExpired: The lease was taken, given back or ran out while the command waited.
        """
        lease, now = admission.lease, self.clock.now()
        if self.room is not None:
            self.room.refresh()
            found = self.room.state.leases.get(lease.lease_id)
            if found is None or not live(found, now):
                raise refusals.gone(self.room.state.ended.get(lease.lease_id), lease.holder, now)
            if found.fence != lease.fence:
                raise LeaseLost(
                    "A person took this device over and gave it back while the command waited.",
                    by={"held": True, "person": True},
                    reason="taken over meanwhile",
                    device=lease.device,
                    hint="Nothing of it was done. Look at the device with snapshot before you go on.",
                )
        pins = self._pins.get(lease.lease_id)
        if pins is None or admission.pinned_until not in pins or now + pin - admission.pinned_until < PIN_SLACK:
            return admission
        pins[pins.index(admission.pinned_until)] = now + pin
        with suppress(StoreBusy, UpstreamUnavailable):  # it stands for as long as it was pinned at first
            self.store.renew(lease.lease_id, now, until=max(pins))
        return replace(admission, pinned_until=now + pin)

    def settle(self, admission: Admission) -> None:
        """Ends the pin of one command: the lease lives for its TTL from now, or for other commands' pins."""
        lease_id = admission.lease.lease_id
        pins = self._pins.get(lease_id)
        if pins is None:
            return
        pins.remove(admission.pinned_until)
        if not pins:
            del self._pins[lease_id]
        try:
            self.store.renew(lease_id, self.clock.now(), until=max(pins, default=0.0))
        except (LeaseExpired, LeaseLost):
            # Released or taken while the command ran: nothing to renew, and the next call is told.
            return
        except (StoreBusy, UpstreamUnavailable):
            # It lives for as long as it was written to; the next command renews it.
            return

    def keep(self, device_key: str, group: frozenset[str], seat: LeaseSeat, *, ttl: float) -> Lease:
        """Makes the lease a session has one that was asked for, with a TTL of its own.

        Raises:
            LeaseHeld, LeaseLost, LeaseStale, InvalidArgument: As the store refuses.
        """
        request = Request(device_key, seat.holder, ttl, group, lease_id=seat.lease_id, fence=seat.fence, kind="run")
        lease, _ = self.store.grant(request, self.clock.now())
        self.sit(seat, lease)
        return lease

    def sit(self, seat: LeaseSeat, lease: Lease) -> None:
        """Seats a session in a lease that it was given otherwise than by a command."""
        seat.lease_id, seat.fence = lease.lease_id, (lease.fence.epoch, lease.fence.counter)

    def release(self, seat: LeaseSeat, *, reason: str = "session ended") -> None:
        """Gives back whatever the seat holds; the device is cleaned up before anybody else drives it."""
        lease_id = seat.lease_id
        seat.lease_id, seat.fence = None, None
        if lease_id is None:
            return
        self._notices.pop(lease_id, None)
        now = self.clock.now()
        try:
            if self.room is not None and self._kind(lease_id) == "human":
                with suppress(LeaseExpired, LeaseLost):
                    self.room.give_back(lease_id, now)  # whoever was interrupted goes on
                return
            if self.room is None or not self.cleans(seat.device_key):
                self.store.release(lease_id, now, reason=reason)
                return
            ended = self.room.release(lease_id, now, reason=reason, clean_until=now + CLEAN_DEADLINE)
        except (StoreBusy, UpstreamUnavailable):
            self.unreleased[lease_id] = reason  # the janitor tries again
            return
        if ended is not None and self.cleaning(seat.device_key):
            self.released(seat.device_key)

    def settle_releases(self) -> None:
        """Writes down the releases that could not be written when they were due.

        Raises:
            StoreBusy, UpstreamUnavailable: They still cannot; they are tried again.
        """
        if self.room is None or not self.unreleased:
            return
        now = self.clock.now()
        for lease_id, reason in list(self.unreleased.items()):
            if self._kind(lease_id) == "human":
                with suppress(LeaseExpired, LeaseLost):
                    self.room.give_back(lease_id, now)
            else:
                self.room.release(lease_id, now, reason=reason)
            self.unreleased.pop(lease_id, None)

    def parting(self, device: Device, refusal: LeaseHeld) -> bool:
        """Whether nobody drives a device that was refused, only that its last holder is not quite gone.

        It is being put in order, or the release of its lease could not be written yet. Asked right after the refusal:
        by now the clean-up may be over.
        """
        holder = refusal.details.get("holder")
        if isinstance(holder, dict) and holder.get("purpose") == refusals.CLEAN_UP:
            return True
        if not self.unreleased or self.room is None:
            return False
        return any(lease.lease_id in self.unreleased for lease in self.room.state.near(device.key, device.shares))

    def in_use(self, seat: LeaseSeat) -> bool:
        """Whether a session must not end for being idle: a command runs, or a person drives or interrupted it."""
        if seat.lease_id is not None and (seat.lease_id in self._pins or self._kind(seat.lease_id) == "human"):
            return True
        return self.room is not None and any(
            same_holder(row.lease.holder, seat.holder) for row in self.room.state.suspended.values()
        )

    def _kind(self, lease_id: str) -> str | None:
        lease = self.room.state.leases.get(lease_id) if self.room is not None else None
        return lease.kind if lease is not None else None

    def _is_persons(self, device_key: str, seat: LeaseSeat) -> bool:
        lease = self.room.state.of_device(device_key) if self.room is not None else None
        return lease is not None and lease.kind == "human" and lease.lease_id == seat.lease_id

    # --- who holds what ---

    def held(self, viewer: Holder | None = None) -> dict[str, Held]:
        """Every leased device by key, as far as `viewer` may know."""
        out: dict[str, Held] = {}
        for lease in self.store.leases(self.clock.now()):
            yours = viewer is not None and same_holder(lease.holder, viewer)
            seen = visible_holder(lease.holder, viewer) if viewer is not None else {}
            session = str(seen["session"]) if "session" in seen else None
            if yours:
                session = lease.holder.session
            out[lease.device] = Held(until=iso(lease.expires_at), yours=yours, session=session)
        return out

    def lease(self, lease_id: str, viewer: Holder) -> Lease:
        """The standing lease of this id; ids are secrets, so who has it may drive under it within its principal.

        Raises:
            LeaseExpired, LeaseLost: It does not stand any more.
            LeaseStale: There is none of this id, or it is another principal's.
        """
        now = self.clock.now()
        for lease in self.store.leases(now) if self.room is None else self._one(lease_id, now):
            if lease.lease_id == lease_id and lease.holder.principal == viewer.principal:
                return lease
        ended = self.room.state.ended.get(lease_id) if self.room is not None else None
        if ended is not None and ended.holder is not None and ended.holder.principal == viewer.principal:
            raise refusals.gone(ended, viewer, now)
        raise LeaseStale(
            "There is no lease of this id.",
            fence=lease_id,
            current="none",
            hint="Call lease status to see your leases, or lease acquire for a new one.",
        )

    def _one(self, lease_id: str, now: float) -> list[Lease]:
        assert self.room is not None
        self.room.refresh()
        lease = self.room.state.leases.get(lease_id)
        if lease is None:
            return []
        if not live(lease, now):  # it ran out since the last tick
            with suppress(LeaseExpired, LeaseLost, StoreBusy):
                self.room.renew(lease_id, now)
            return []
        return [lease]

    def owes(self, device_key: str) -> bool:
        """Whether the device must be cleaned up after an earlier holder before the next command."""
        return self.room is not None and self.room.state.mark(device_key).owed

    def cleaning(self, device_key: str) -> bool:
        """Whether the device is being cleaned up now."""
        if self.room is None:
            return False
        lease = self.room.state.of_device(device_key)
        return lease is not None and lease.kind == "cleanup" and live(lease, self.clock.now())

    def health(self, device: Device) -> tuple[str, str]:
        """How a device is, and why, by what its backend says and by what was found here; the worse counts."""
        error = self.sick(device)
        if error is not None:
            return str(error.details["health"]), str(error.details["reason"])
        return device.health, ""

    def sick(self, device: Device) -> DeviceUnhealthy | None:
        """The refusal of a device that is not in order, or None."""
        found = unhealthy(device)
        if found is None and self.room is not None:
            found = refusals.marked(self.room.state.mark(device.key))
        return found

    # --- what happens ---

    def turn(self, ticket_id: str) -> anyio.Event:
        """An event that is set when something happens to a place in the queue."""
        event = self._turns.get(ticket_id)
        if event is None or event.is_set():
            event = self._turns[ticket_id] = anyio.Event()
        return event

    def no_turn(self, ticket_id: str) -> None:
        """Nobody waits for this place any more."""
        self._turns.pop(ticket_id, None)

    def _hear(self, event: LeaseEvent) -> None:
        if event.ticket is not None:
            turn = self._turns.get(event.ticket.ticket_id)
            if turn is not None:
                turn.set()
            return
        lease = event.lease
        if lease is None or lease.holder == CLEANER:
            return
        if event.kind == "taken":
            self._tell_over(
                lease,
                LeaseLost(
                    "A person took this device over.",
                    by=visible_holder(event.by, lease.holder) if event.by is not None else {"held": True},
                    reason=event.reason,
                    device=lease.device,
                ),
            )
        elif event.kind in ("released", "expired") and lease.lease_id in self._pins:
            how = "was given back" if event.kind == "released" else "reached its end"
            self._tell_over(
                lease,
                LeaseExpired(
                    f"The lease {how} while the command ran.",
                    expired=iso(self.clock.now()),
                    device=lease.device,
                    hint="Look at the device with snapshot: the command may have been done in part.",
                ),
            )
        elif event.kind == "given_back":
            self._notices[lease.lease_id] = {
                "kind": "given_back",
                "message": "A person took this device over and has given it back; look at it before you go on.",
                "fence": str(lease.fence),
            }
            for again in self.again:
                again(lease)

    def _tell_over(self, lease: Lease, error: AnydeviceError) -> None:
        for listener in self.over:
            listener(lease, error)


def lease_wire(lease: Lease, *, secret: bool) -> dict[str, Any]:
    """A lease as answers show it to those it belongs to; its id only where the caller may use it."""
    wire: dict[str, Any] = {
        "device": lease.device,
        "until": iso(lease.expires_at),
        "kind": lease.kind,
        "session": lease.holder.session,
        "tenant": lease.holder.tenant,
        "fence": str(lease.fence),
        "ttlMs": round(lease.ttl * 1000),
    }
    if lease.holder.run_id is not None:
        wire["runId"] = lease.holder.run_id
    if lease.max_until is not None:
        wire["longestUntil"] = iso(lease.max_until)
    if secret:
        wire["leaseId"] = lease.lease_id
    return wire
