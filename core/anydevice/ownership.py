"""Step 4 of a call, and what a person may do beside it: who drives a device, and who did until a moment ago."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import anyio

from anydevice_schemas import Caller, Device, DeviceSelector, Holder
from anydevice_schemas.errors import (
    InvalidArgument,
    LeaseExpired,
    LeaseHeld,
    LeaseStale,
    Refused,
    SelectorConflict,
    UpstreamUnavailable,
)

from .catalogue import Parsed
from .database import StoreBusy
from .leases import Request, StateStore
from .leases.desk import CLEAN_DEADLINE
from .leases.refusals import iso
from .reply import Trail
from .services import Services
from .session import Session

T = TypeVar("T")

STORE_PATIENCE = 5.0
"""Seconds a call waits for another process that writes to the store of leases."""

PAUSE = 0.02

TAKEOVER_DEFAULT = 600.0
TAKEOVER_LONGEST = 12 * 3600.0
"""Seconds a takeover lasts without being used, and at most."""


def by_lease(services: Services, caller: Caller, selector: DeviceSelector) -> Session | None:
    """The session that sits in the lease a call names; None when it names none.

    Raises:
        LeaseExpired, LeaseLost, LeaseStale: The lease does not stand.
        SelectorConflict: The lease is another session's, tenant's or run's than the call says.
    """
    if selector.lease_id is None:
        return None
    viewer = Holder(principal=caller.principal, session="", tenant=selector.tenant or "default")
    lease = services.desk.lease(selector.lease_id, viewer)
    holder = lease.holder
    said = {"session": selector.session, "tenant": selector.tenant, "runId": selector.run_id}
    has = {"session": holder.session, "tenant": holder.tenant, "runId": holder.run_id}
    conflicts = [
        {"selector": name, "value": value[:256], "lease": has[name]}
        for name, value in said.items()
        if value is not None and value != has[name] and (has[name] is not None or name != "runId")
    ]
    if conflicts:
        raise SelectorConflict(
            "The lease is not of what the other selectors say.",
            conflicts=conflicts,
            hint="Leave out session, tenant and runId: leaseId alone says whose it is.",
        )
    found = services.sessions.of_lease(lease)
    if found is None:
        raise LeaseStale(
            "The session of this lease has ended.", fence=selector.lease_id, current="none", device=lease.device
        )
    return found


async def admit(services: Services, trail: Trail, parsed: Parsed, device: Device, session: Session) -> None:
    """Lets the call in under a lease, or as one that only looks.

    Raises:
        LeaseError, DeviceUnhealthy: As `Desk.admit` refuses.
        UpstreamUnavailable: Another process does not let go of the store.
    """
    desk = services.desk
    until = anyio.current_time() + max(STORE_PATIENCE, CLEAN_DEADLINE)
    while True:
        try:
            trail.admission = desk.admit(device, session, pin=parsed.deadline, asked_lease=parsed.selector.lease_id)
            break
        except StoreBusy:
            if anyio.current_time() > until:
                raise busy(device.key) from None
        except LeaseHeld:
            if not desk.cleaning(device.key) or anyio.current_time() > until:
                if may_look(services, parsed, trail.caller):
                    trail.tell({"kind": "observed", "message": "Somebody else drives this device; you only looked."})
                    return
                raise
        await anyio.sleep(PAUSE)
    if trail.admission.notice is not None:
        trail.tell(dict(trail.admission.notice))


async def patiently(verb: Callable[[], T], *, device: str | None = None) -> T:
    """Does something with the store of leases, waiting for another process that writes to it.

    Raises:
        UpstreamUnavailable: It does not let go of it in time.
    """
    until = anyio.current_time() + STORE_PATIENCE
    while True:
        try:
            return verb()
        except StoreBusy:
            if anyio.current_time() > until:
                raise busy(device) from None
        await anyio.sleep(PAUSE)


def busy(device: str | None) -> UpstreamUnavailable:
    """The refusal where another process keeps the store."""
    return UpstreamUnavailable(
        "Another process does not let go of the store of leases.",
        upstream="state.db",
        enable_hint="anydevice status",
        device=device,
    )


def may_look(services: Services, parsed: Parsed, caller: Caller) -> bool:
    """Whether a call may run beside the holder of the device: it changes nothing, and its caller has that right."""
    return parsed.spec.command.observe and ("admin" in caller.scopes or services.settings.observers)


# --- what a person may do ---


def take_over(services: Services, caller: Caller, device: Device, *, reason: str, seconds: float) -> dict[str, Any]:
    """Takes a device over for a person: what runs on it ends at once, and its holder is told why.

    Args:
        reason: What the old holder is told.
        seconds: How long the device is kept even if it is not used.

    Returns:
        Who was interrupted, and until when the device is kept.

    Raises:
        Refused: The caller has no admin scope.
        InvalidArgument: No reason, or a time out of bounds.
    """
    _only_admin(caller, "takeover")
    room = _room(services)
    reason = " ".join(reason.split())[:200]
    if not reason:
        raise InvalidArgument("Say why you take the device over.", param="reason", expected="a few words")
    if not 0 < seconds <= TAKEOVER_LONGEST:
        raise InvalidArgument(
            "A takeover lasts at most twelve hours.", param="seconds", expected=f"1..{TAKEOVER_LONGEST:g}"
        )
    now = services.clock.now()
    before = [lease for lease in room.state.near(device.key, device.shares) if now < lease.expires_at]
    session = services.sessions.open(caller, device, name=None)
    request = Request(
        device.key,
        session.holder,
        TAKEOVER_DEFAULT,
        frozenset(device.shares),
        kind="human",
        until=now + seconds,
    )
    lease = room.take_over(request, now, reason=reason)
    services.desk.sit(session, lease)
    services.sessions.touch(session)
    services.sessions.save(session)
    return {
        "device": device.key,
        "session": session.name,
        "until": iso(lease.expires_at),
        "fence": str(lease.fence),
        "interrupted": [
            {"device": old.device, "session": old.holder.session, "tenant": old.holder.tenant, "kind": old.kind}
            for old in before
            if old.kind != "cleanup" and old.holder != session.holder
        ],
    }


def give_back(services: Services, caller: Caller, device_key: str) -> dict[str, Any]:
    """Ends a takeover; those who were interrupted go on under new fences. The device need not be listed any more.

    Raises:
        Refused: The caller has no admin scope.
        LeaseExpired: Nobody has taken this device over (any more).
    """
    _only_admin(caller, "give-back")
    room = _room(services)
    lease = room.state.of_device(device_key)
    if lease is None or lease.kind != "human":
        raise LeaseExpired(
            "This device is not taken over.",
            expired="never" if lease is None else iso(lease.granted_at),
            device=device_key,
            hint="Call lease status to see who holds what.",
        )
    restored = room.give_back(lease.lease_id, services.clock.now())
    session = services.sessions.of_lease(lease)
    if session is not None:
        session.lease_id, session.fence = None, None
        services.sessions.end(session, "given back")
    return {
        "device": device_key,
        "restored": [
            {"device": old.device, "session": old.holder.session, "fence": str(old.fence)} for old in restored
        ],
    }


def mark(services: Services, caller: Caller, device_key: str, *, health: str, reason: str) -> dict[str, Any]:
    """A person says how a device is: `good` puts it back into the pool, the others keep it out.

    Raises:
        Refused: The caller has no admin scope.
        InvalidArgument: There is no such health.
    """
    _only_admin(caller, "mark")
    known = ("good", "suspect", "bad", "maintenance")
    if health not in known:
        raise InvalidArgument(f"There is no health {health[:40]!r}.", param="health", expected=" | ".join(known))
    row = _room(services).set_health(device_key, health, reason[:200], services.clock.now())  # type: ignore[arg-type]
    return {"device": device_key, "health": row.health, "reason": row.reason}


def _only_admin(caller: Caller, verb: str) -> None:
    if "admin" not in caller.scopes:
        raise Refused(
            f"{verb} is for a person with admin scope.",
            reason=f"asked over {caller.transport}",
            alternative=f"Have a person run: anydevice {verb}",
        )


def _room(services: Services) -> StateStore:
    if services.desk.room is None:
        raise UpstreamUnavailable(
            "This store of leases knows no takeovers.", upstream="leases", enable_hint="Use the embedded store."
        )
    return services.desk.room
