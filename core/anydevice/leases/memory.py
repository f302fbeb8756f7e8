"""A lease store that lives as long as its process."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from anydevice_schemas import Fence, Lease
from anydevice_schemas.errors import LeaseExpired

from .machine import Granted, Request, clashes, decide, iso, live
from .store import LeaseEvent

GRAIN = 0.25
"""Renewals that move an expiry by less than this many seconds are not worth writing."""


class MemoryStore:
    """`LeaseStore` in memory. `epoch` must rise whenever a new store takes over from an earlier one."""

    def __init__(self, *, epoch: int = 1) -> None:
        self.epoch = epoch
        self._counter = 0
        self._by_id: dict[str, Lease] = {}
        self._by_device: dict[str, Lease] = {}
        self._by_share: dict[str, dict[str, Lease]] = {}
        self._listeners: list[Callable[[LeaseEvent], None]] = []

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        """See `LeaseStore`."""
        self._drop_expired(request, now)
        decision = decide(self._near(request), request, now)
        if not isinstance(decision, Granted):
            raise decision.error
        if decision.renew is not None:
            return self._extend(decision.renew, now, request.until), False
        return self._new(request, now), decision.regranted

    def renew(self, lease_id: str, now: float, *, until: float | None = None) -> Lease:
        """See `LeaseStore`."""
        lease = self._by_id.get(lease_id)
        if lease is None or not live(lease, now):
            expired = iso(lease.expires_at if lease is not None else now)
            raise LeaseExpired("The lease ran out.", expired=expired)
        return self._extend(lease, now, until)

    def release(self, lease_id: str, now: float, *, reason: str = "released") -> Lease | None:
        """See `LeaseStore`."""
        lease = self._by_id.get(lease_id)
        if lease is None:
            return None
        self._remove(lease)
        self._tell(LeaseEvent("released" if live(lease, now) else "expired", lease, reason))
        return lease

    def take_over(self, request: Request, now: float, *, reason: str) -> Lease:
        """See `LeaseStore`."""
        for lease in [lease for lease in self._near(request) if clashes(lease, request)]:
            self._remove(lease)
            self._tell(LeaseEvent("taken", lease, reason))
        return self._new(request, now)

    def watch(self, listener: Callable[[LeaseEvent], None]) -> Callable[[], None]:
        """See `LeaseStore`."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def leases(self, now: float) -> list[Lease]:
        """See `LeaseStore`."""
        return [lease for lease in self._by_id.values() if live(lease, now)]

    def of_device(self, device: str) -> Lease | None:
        """The lease on a device, standing or not."""
        return self._by_device.get(device)

    def _near(self, request: Request) -> list[Lease]:
        found = {}
        own = self._by_device.get(request.device)
        if own is not None:
            found[own.lease_id] = own
        for share in request.group:
            found.update(self._by_share.get(share, {}))
        return list(found.values())

    def _drop_expired(self, request: Request, now: float) -> None:
        for lease in self._near(request):
            if not live(lease, now):
                self._remove(lease)
                self._tell(LeaseEvent("expired", lease))

    def _new(self, request: Request, now: float) -> Lease:
        self._counter += 1
        lease = Lease.model_construct(
            lease_id=secrets.token_hex(16),
            device=request.device,
            group=sorted(request.group),
            holder=request.holder,
            fence=Fence.model_construct(epoch=self.epoch, counter=self._counter),
            kind=request.kind,
            granted_at=now,
            ttl=request.ttl,
            expires_at=max(now + request.ttl, request.until),
            max_until=None,
        )
        self._keep(lease)
        self._tell(LeaseEvent("granted", lease))
        return lease

    def _extend(self, lease: Lease, now: float, until: float | None) -> Lease:
        expires = max(now + lease.ttl, until or 0.0)
        if abs(expires - lease.expires_at) < GRAIN:
            return lease
        longer = _until(lease, expires)
        self._keep(longer)
        return longer

    def _keep(self, lease: Lease) -> None:
        self._by_id[lease.lease_id] = lease
        self._by_device[lease.device] = lease
        for share in lease.group:
            self._by_share.setdefault(share, {})[lease.lease_id] = lease

    def _remove(self, lease: Lease) -> None:
        self._by_id.pop(lease.lease_id, None)
        if (held := self._by_device.get(lease.device)) is not None and held.lease_id == lease.lease_id:
            del self._by_device[lease.device]
        for share in lease.group:
            kept = self._by_share.get(share)
            if kept is not None:
                kept.pop(lease.lease_id, None)
                if not kept:
                    del self._by_share[share]

    def _tell(self, event: LeaseEvent) -> None:
        for listener in list(self._listeners):
            listener(event)


def _until(lease: Lease, expires: float) -> Lease:
    """The lease with another expiry; built by hand because every command does it."""
    fields = dict(lease.__dict__)
    fields["expires_at"] = expires
    return Lease.model_construct(**fields)
