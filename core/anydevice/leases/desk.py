"""Admission: every command on a device passes here, and is let in only for the one who drives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from anydevice_schemas import TTL_DEFAULT, Device, Held, Holder, Lease
from anydevice_schemas.errors import LeaseExpired, LeaseLost, LeaseStale

from ..clock import Clock
from .machine import Request, iso, same_holder, unhealthy, visible_holder
from .store import LeaseStore


class LeaseSeat(Protocol):
    """Whoever sits in a lease: a session, which remembers the lease it was given."""

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
    """

    def __init__(self, store: LeaseStore, clock: Clock, *, ttl: float = TTL_DEFAULT) -> None:
        self.store = store
        self.clock = clock
        self.ttl = ttl
        self._pins: dict[str, list[float]] = {}

    def admit(self, device: Device, seat: LeaseSeat, *, pin: float, asked_lease: str | None = None) -> Admission:
        """Lets one command in, under the seat's lease or a new implicit one.

        The lease is pinned: it stands for at least `pin` seconds, until `settle` is called with the admission.

        Raises:
            LeaseHeld, LeaseLost, LeaseStale: Somebody else drives the device, or took it.
            DeviceUnhealthy: It is not given out.
        """
        if (sick := unhealthy(device)) is not None:
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
        request = Request(
            device=device.key,
            holder=seat.holder,
            ttl=self.ttl,
            group=frozenset(device.shares),
            lease_id=seat.lease_id,
            fence=seat.fence,
            until=max(now + pin, *pins) if pins else now + pin,
        )
        lease, regranted = self.store.grant(request, now)
        seat.lease_id = lease.lease_id
        seat.fence = (lease.fence.epoch, lease.fence.counter)
        self._pins.setdefault(lease.lease_id, []).append(now + pin)
        if not regranted:
            return Admission(lease, now + pin)
        notice = {
            "kind": "lease_renewed",
            "message": "Your lease had run out; nobody took the device and you were given a new one.",
            "fence": str(lease.fence),
        }
        return Admission(lease, now + pin, notice)

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

    def release(self, seat: LeaseSeat, *, reason: str = "session ended") -> None:
        """Gives back whatever the seat holds."""
        if seat.lease_id is not None:
            self.store.release(seat.lease_id, self.clock.now(), reason=reason)
        seat.lease_id, seat.fence = None, None

    def held(self, viewer: Holder | None = None) -> dict[str, Held]:
        """Every leased device by key, as far as `viewer` may know."""
        out: dict[str, Held] = {}
        for lease in self.store.leases(self.clock.now()):
            yours = viewer is not None and same_holder(lease.holder, viewer)
            seen = visible_holder(lease, viewer) if viewer is not None else {}
            session = str(seen["session"]) if "session" in seen else None
            if yours:
                session = lease.holder.session
            out[lease.device] = Held(until=iso(lease.expires_at), yours=yours, session=session)
        return out
