"""Why somebody may not drive, in words that help: who holds, until when, what to do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from anydevice_schemas import TTL_MAX, TTL_MIN, Device, Holder, Lease
from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceUnhealthy,
    InvalidArgument,
    LeaseExpired,
    LeaseHeld,
    LeaseLost,
    LeaseStale,
    QuotaExceeded,
)

from .events import CLEANER, Request
from .state import Ended, Mark, Ticket

PERSON = "person-"
"""What names of sessions begin with in which a person drives who took a device over."""

CLEAN_UP = "clean-up"
"""Why a device is held that is being put in order."""

HEALTHY = frozenset({"good", "unknown"})

LATEST = 253402300799.0


def same_holder(one: Holder, other: Holder) -> bool:
    """Whether two holders are the same session of the same principal and tenant."""
    return (one.session, one.principal, one.tenant) == (other.session, other.principal, other.tenant)


def visible_holder(holder: Holder, viewer: Holder) -> dict[str, str | bool]:
    """What one holder may know of another: names only within its own principal and tenant."""
    if holder.session.startswith(PERSON):
        return {"held": True, "person": True}
    if (holder.principal, holder.tenant) == (viewer.principal, viewer.tenant):
        return {"session": holder.session, "yours": False, "samePrincipal": True}
    return {"held": True}


def bad_ttl(ttl: float) -> InvalidArgument | None:
    """The refusal of a TTL out of bounds."""
    if TTL_MIN <= ttl <= TTL_MAX:
        return None
    return InvalidArgument(
        f"A lease lives between {TTL_MIN:g} and {TTL_MAX:g} seconds.",
        param="ttl",
        expected=f"{TTL_MIN:g}..{TTL_MAX:g}",
    )


def held(lease: Lease, request: Request, ended: Ended | None) -> AnydeviceError:
    """Somebody else drives."""
    expires = iso(lease.expires_at)
    if lease.holder is CLEANER or lease.kind == "cleanup":
        return LeaseHeld(
            "The device is being put in order after its last user.",
            holder={"held": True, "purpose": CLEAN_UP},
            expires=expires,
            device=request.device,
            hint="Repeat the call in a moment.",
        )
    if request.lease_id is not None:
        return lost(request, ended, lease.holder, expires)
    return LeaseHeld(
        "A person has taken this device over." if lease.kind == "human" else "Another session drives this device.",
        holder=visible_holder(lease.holder, request.holder),
        expires=expires,
        device=request.device,
        shared=sorted(request.group.intersection(lease.group)),
    )


def lost(request: Request, ended: Ended | None, by: Holder | None, expires: str | None) -> LeaseLost:
    """The caller's lease is gone and somebody else had, or has, the device."""
    if ended is not None and ended.kind == "taken":
        message, reason, by = "A person took this device over.", ended.reason, ended.by or by
        hint = "Nothing you sent since has been done. Wait until it is given back, or work on another device."
    else:
        message = "This device was taken by another session after your lease ran out."
        reason, hint = "expired and taken", None
    details: dict[str, Any] = {"expires": expires} if expires is not None else {}
    if expires is None:
        hint = "The device is free again, and not as you left it: look at it with snapshot before you go on."
    return LeaseLost(
        message,
        by=visible_holder(by, request.holder) if by is not None else {"held": True},
        reason=reason,
        device=request.device,
        hint=hint,
        **details,
    )


def offered(ticket: Ticket, request: Request) -> LeaseHeld:
    """The device is kept for somebody who waited for it."""
    return LeaseHeld(
        "This device is kept for the next in the queue.",
        holder=visible_holder(ticket.holder, request.holder),
        expires=iso(ticket.offer_until),
        device=request.device,
        hint="Wait in the queue: lease acquire with timeoutMs.",
    )


def stale(request: Request, current: tuple[int, int]) -> LeaseStale:
    """The fence is an earlier one."""
    given = request.fence or (0, 0)
    return LeaseStale(
        "Your lease was replaced by a newer grant.",
        fence=f"{given[0]}.{given[1]}",
        current=f"{current[0]}.{current[1]}",
        device=request.device,
    )


def gone(ended: Ended | None, viewer: Holder | None, now: float) -> AnydeviceError:
    """A lease that does not stand any more is to be renewed."""
    if ended is not None and ended.kind == "taken":
        by = visible_holder(ended.by, viewer) if ended.by is not None and viewer is not None else {"held": True}
        return LeaseLost("A person took this device over.", by=by, reason=ended.reason, device=ended.device)
    if ended is None:
        return LeaseExpired("The lease ran out.", expired=iso(now))
    message = "The lease was given back." if ended.kind == "released" else "The lease ran out."
    return LeaseExpired(message, expired=iso(ended.at), device=ended.device)


def quota(what: str, limit: float, used: float, hint: str) -> QuotaExceeded:
    """The tenant has as much as it may have."""
    return QuotaExceeded(
        f"This tenant has its {limit:g} {what}.", quota=what, limit=limit, used=round(used, 2), hint=hint
    )


def marked(mark: Mark) -> DeviceUnhealthy | None:
    """The refusal for a device that was found not to be in order, or None."""
    if mark.health in HEALTHY:
        return None
    return DeviceUnhealthy(
        f"This device is marked {mark.health} and not given out.",
        health=mark.health,
        reason=mark.reason,
        device=mark.device,
        hint=f"A person may take it over to look at it, and then run: anydevice mark {mark.device} good",
    )


def unhealthy(device: Device) -> DeviceUnhealthy | None:
    """The refusal for a device whose health keeps it out of the pool, or None."""
    if device.health in HEALTHY:
        return None
    return DeviceUnhealthy(
        f"This device is {device.health} and not given out.",
        health=device.health,
        reason=device.reason,
        device=device.key,
    )


def iso(seconds: float) -> str:
    """UTC seconds as ISO 8601 with a Z; what never ends, or ends after the year 9999, as its last second."""
    return datetime.fromtimestamp(min(seconds, LATEST), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
