"""Who may drive, as a pure function of (leases, request, now). No clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anydevice_schemas import TTL_MAX, TTL_MIN, Device, Holder, Lease, LeaseKind
from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceUnhealthy,
    InvalidArgument,
    LeaseHeld,
    LeaseLost,
    LeaseStale,
)


@dataclass(slots=True, frozen=True)
class Request:
    """What somebody wants of a device.

    Attributes:
        device: Key of the device.
        group: Things it shares with others; the lease covers them as well.
        holder: Who asks.
        ttl: Seconds the lease should live without renewal.
        lease_id: The lease the caller believes to hold; None when it never had one.
        fence: The fence the caller last had; None when it never had one.
        kind: `implicit` for leases that come with a session.
        until: UTC seconds a running command needs the lease at least to.
    """

    device: str
    holder: Holder
    ttl: float
    group: frozenset[str] = frozenset()
    lease_id: str | None = None
    fence: tuple[int, int] | None = None
    kind: LeaseKind = "implicit"
    until: float = 0.0


@dataclass(slots=True, frozen=True)
class Granted:
    """The caller may drive. `renew` is the lease to renew, None when a new one must be made.

    `regranted` says that an earlier lease of this caller ran out untaken, which the answer must tell.
    """

    renew: Lease | None
    regranted: bool = False


@dataclass(slots=True, frozen=True)
class Refusal:
    """The caller may not drive, and the error that says why."""

    error: AnydeviceError


Decision = Granted | Refusal


def live(lease: Lease, now: float) -> bool:
    """Whether a lease still stands at `now` (UTC seconds)."""
    return now < lease.expires_at and (lease.max_until is None or now < lease.max_until)


def clashes(lease: Lease, request: Request) -> bool:
    """Whether a lease covers the device asked for, or something it shares."""
    return lease.device == request.device or not request.group.isdisjoint(lease.group)


def decide(leases: Iterable[Lease], request: Request, now: float) -> Decision:
    """Judges one request against the leases that exist.

    Args:
        leases: Every lease that may still stand (expired ones are seen as gone).
        request: What is asked.
        now: UTC seconds, on the owner's clock.

    Returns:
        `Granted` or `Refusal`. `InvalidArgument` for a TTL out of bounds, `LeaseHeld` when another session
        drives the device or its group, `LeaseLost` when the caller's lease is gone because another was granted
        since, `LeaseStale` when its fence is not the current one.
    """
    if not TTL_MIN <= request.ttl <= TTL_MAX:
        error = InvalidArgument(
            f"A lease lives between {TTL_MIN:g} and {TTL_MAX:g} seconds.",
            param="ttl",
            expected=f"{TTL_MIN:g}..{TTL_MAX:g}",
        )
        return Refusal(error)
    mine: Lease | None = None
    other: Lease | None = None
    for lease in leases:
        if not live(lease, now) or not clashes(lease, request):
            continue
        if same_holder(lease.holder, request.holder):
            if lease.device == request.device:
                mine = lease
        elif other is None or lease.expires_at > other.expires_at:
            other = lease
    if other is not None:
        return Refusal(_held(other, request))
    if mine is None:
        return Granted(None, regranted=request.lease_id is not None)
    fence = (mine.fence.epoch, mine.fence.counter)
    if request.lease_id is not None and request.lease_id != mine.lease_id and request.kind != "implicit":
        return Refusal(_stale(request, fence))
    if request.fence is not None and request.fence != fence:
        return Refusal(_stale(request, fence))
    return Granted(mine)


def same_holder(one: Holder, other: Holder) -> bool:
    """Whether two holders are the same session of the same principal and tenant."""
    return (one.principal, one.tenant, one.session) == (other.principal, other.tenant, other.session)


def _held(lease: Lease, request: Request) -> AnydeviceError:
    holder = visible_holder(lease, request.holder)
    expires = iso(lease.expires_at)
    if request.lease_id is not None:
        return LeaseLost(
            "This device was taken by another session after your lease ran out.",
            by=holder,
            reason="expired and taken",
            expires=expires,
            device=request.device,
        )
    return LeaseHeld(
        "Another session drives this device.",
        holder=holder,
        expires=expires,
        device=request.device,
        shared=sorted(request.group.intersection(lease.group)),
    )


def visible_holder(lease: Lease, viewer: Holder) -> dict[str, str | bool]:
    """What one holder may know of another: names only within its own principal and tenant."""
    if (lease.holder.principal, lease.holder.tenant) == (viewer.principal, viewer.tenant):
        return {"session": lease.holder.session, "yours": False, "samePrincipal": True}
    return {"held": True}


def _stale(request: Request, current: tuple[int, int]) -> LeaseStale:
    given = request.fence or (0, 0)
    return LeaseStale(
        "Your lease was replaced by a newer grant.",
        fence=f"{given[0]}.{given[1]}",
        current=f"{current[0]}.{current[1]}",
        device=request.device,
    )


def unhealthy(device: Device) -> DeviceUnhealthy | None:
    """The refusal for a device whose health keeps it out of the pool, or None."""
    if device.health in ("good", "unknown"):
        return None
    return DeviceUnhealthy(
        f"This device is {device.health} and not given out.",
        health=device.health,
        reason=device.reason,
        device=device.key,
    )


def iso(seconds: float) -> str:
    """UTC seconds as ISO 8601 with a Z."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
