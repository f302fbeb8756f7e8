"""Step 4 of a call, and what a person may do beside it: who drives a device, and who did until a moment ago."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from secrets import token_hex
from typing import Any, TypeVar

import anyio

from anydevice_schemas import TTL_MIN, Caller, Device, DeviceSelector, Holder
from anydevice_schemas.errors import (
    InvalidArgument,
    LeaseExpired,
    LeaseHeld,
    LeaseLost,
    LeaseStale,
    Refused,
    SelectorConflict,
    UpstreamUnavailable,
)

from .catalogue import Parsed
from .database import StoreBusy
from .leases import Request, StateStore
from .leases.desk import CLEAN_DEADLINE, Admission
from .leases.refusals import PERSON, iso
from .reply import Trail
from .services import Services
from .session import Session

T = TypeVar("T")

STORE_PATIENCE = 5.0
"""Seconds a call waits for another process that writes to the store of leases."""

PAUSE = 0.05
"""Seconds between two tries."""

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
    try:
        lease = services.desk.lease(selector.lease_id, viewer)
    except (LeaseExpired, LeaseLost):
        for session in services.sessions.visible(caller, selector.tenant):
            if session.lease_id == selector.lease_id:
                session.lease_id, session.fence = None, None  # told now; its next call starts anew
        raise
    if lease.kind == "human" and "admin" not in caller.scopes:
        raise LeaseHeld(
            "A person has taken this device over.",
            holder={"held": True, "person": True},
            expires=iso(lease.expires_at),
            device=lease.device,
        )
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
    until = anyio.current_time() + CLEAN_DEADLINE + 1.0
    admission = partial(desk.admit, device, session, pin=parsed.deadline, asked_lease=parsed.selector.lease_id)

    def let_in() -> Admission:
        desk.settle_releases()
        return admission()

    while True:
        try:
            trail.admission = await patiently(services, let_in, device=device.key)
            break
        except LeaseHeld as refusal:
            if not desk.parting(device, refusal) or anyio.current_time() > until:
                if may_look(services, parsed, trail.caller):
                    trail.tell({"kind": "observed", "message": "Somebody else drives this device; you only looked."})
                    return
                raise
        await anyio.sleep(PAUSE)
    if trail.admission.notice is not None:
        trail.tell(dict(trail.admission.notice))


async def patiently(services: Services, verb: Callable[[], T], *, device: str | None = None) -> T:
    """Does something with the store of leases, waiting for another process that writes to it.

    However many wait, one at a time tries again, so that the loop is not held up by all of them in turn.

    Raises:
        UpstreamUnavailable: It does not let go of it in time.
    """
    gate = services.desk.gate
    if not gate.locked():
        try:
            return verb()
        except StoreBusy:
            pass
    with anyio.move_on_after(STORE_PATIENCE):
        async with gate:
            while True:
                try:
                    return verb()
                except StoreBusy:
                    await anyio.sleep(PAUSE)
    raise busy(device)


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
    reason = plain(reason)
    if not reason:
        raise InvalidArgument("Say why you take the device over.", param="reason", expected="a few words")
    if not 0 < seconds <= TAKEOVER_LONGEST:
        raise InvalidArgument(
            "A takeover lasts at most twelve hours.", param="seconds", expected=f"1..{TAKEOVER_LONGEST:g}"
        )
    session = _persons(services, caller, device)
    running = room.state.of_device(device.key)
    if running is None or running.lease_id != session.lease_id:
        # Before anything is written: the store may be busy, and the person sees a reason to stop it now.
        error = LeaseLost(
            "A person took this device over.", by={"held": True, "person": True}, reason=reason, device=device.key
        )
        services.lanes.interrupt(device.key, error)
    now = services.clock.now()
    before = [lease for lease in room.state.near(device.key, device.shares) if now < lease.expires_at]
    request = Request(
        device.key,
        session.holder,
        max(TTL_MIN, min(TAKEOVER_DEFAULT, seconds)),
        frozenset(device.shares),
        kind="human",
        until=now + seconds,
    )
    lease = room.take_over(request, now, reason=reason)
    services.desk.sit(session, lease)
    session.new = False
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


def _persons(services: Services, caller: Caller, device: Device) -> Session:
    """The session in which a person drives: the one that has taken the device over already, or a new one.

    Its name is made up and told to nobody else, so that a program in the same directory does not drive by it.
    """
    lease = _room(services).state.of_device(device.key)
    if lease is not None and lease.kind == "human" and lease.holder.principal == caller.principal:
        found = services.sessions.of_lease(lease)
        if found is not None:
            return found
    return services.sessions.open(caller, device, name=f"{PERSON}{token_hex(4)}", made_up=True)


def plain(text: str) -> str:
    """A person's words as they are kept and told: one line, nothing a terminal would act on."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:200]


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
    room, now = _room(services), services.clock.now()
    row = room.set_health(device_key, health, plain(reason), now, said=True)  # type: ignore[arg-type]
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
