"""What is held and who waits, as far as a caller may know; and which of the leases is the caller's."""

from __future__ import annotations

import json
from typing import Any

from anydevice_schemas import Holder, Lease
from anydevice_schemas.errors import LeaseExpired, SelectorConflict, UpstreamUnavailable

from .. import ownership
from ..context import Context
from ..hearing import concerned
from ..leases import StateStore
from ..leases.desk import lease_wire
from ..leases.refusals import iso
from ..session import Session


async def holding(ctx: Context) -> Session:
    """The caller's session with a lease that the selectors mean.

    Raises:
        LeaseExpired: There is none.
        SelectorConflict: There are several.
    """
    services, selector = ctx.services, ctx.parsed.selector
    found = ownership.by_lease(services, ctx.caller, selector)
    if found is not None:
        return found
    if selector.session is not None:
        sessions = [services.sessions.named(ctx.caller, selector.session, selector.tenant)]
    else:
        sessions = services.sessions.implicit(ctx.caller, selector.tenant)
    held = {held.lease_id: held for held in services.desk.store.leases(services.clock.now())}
    mine = [session for session in sessions if session.lease_id in held]
    if selector.names_a_device() or selector.platform or selector.device_target:
        only = concerned(selector, services.backends)
        inventory = await services.backends.listed(ctx.environment, sick=False, only=only)
        keys = {device.key for device in inventory.matching(selector)}
        mine = [session for session in mine if session.device_key in keys]
    if not mine:
        raise LeaseExpired(
            "You hold no lease that fits.", expired="never", hint="Call lease status to see your leases."
        )
    if len(mine) > 1:
        raise SelectorConflict(
            f"You hold {len(mine)} leases; say which one.",
            conflicts=[{"session": session.name, "device": session.device_key} for session in mine],
            hint="Repeat with leaseId, session or device.",
        )
    return mine[0]


async def status_wire(ctx: Context) -> dict[str, Any]:
    """Every lease that stands: the caller's own whole, of others only that a device is held and until when."""
    services, viewer = ctx.services, _viewer(ctx)
    keys = None
    selector = ctx.parsed.selector
    if selector.names_a_device() or selector.platform or selector.device_target:
        only = concerned(selector, services.backends)
        inventory = await services.backends.listed(ctx.environment, sick=False, only=only)
        keys = {device.key for device in inventory.matching(selector)}
    rows = []
    for held in sorted(services.desk.store.leases(services.clock.now()), key=lambda held: held.device):
        if keys is not None and held.device not in keys:
            continue
        own = (held.holder.principal, held.holder.tenant) == (viewer.principal, viewer.tenant)
        if own and held.kind != "cleanup" and (held.kind != "human" or _may_use(ctx, held)):
            rows.append(lease_wire(held, secret=_may_use(ctx, held)))
        else:
            rows.append({"device": held.device, "held": True, "until": iso(held.expires_at)})
    room = services.desk.room
    return {"leases": rows, "waiting": len(room.state.tickets) if room is not None else 0}


def _may_use(ctx: Context, held: Lease) -> bool:
    """Whether the caller may sit in a lease, and so may know its id."""
    if held.kind == "human" and "admin" not in ctx.caller.scopes:
        return False
    session = ctx.services.sessions.of_lease(held)
    return session is not None and ctx.services.sessions.find(ctx.caller, session.name, session.tenant) is session


def queue_wire(ctx: Context) -> dict[str, Any]:
    """Everybody who waits, the next one first; what others wait for is not told."""
    room, viewer, now = room_of(ctx), _viewer(ctx), ctx.services.clock.now()
    rows = []
    for position, ticket in enumerate(room.queue(now), 1):
        row: dict[str, Any] = {"position": position, "waitedMs": round((now - ticket.joined_at) * 1000)}
        if (ticket.holder.principal, ticket.holder.tenant) == (viewer.principal, viewer.tenant):
            row |= {
                "yours": True,
                "asked": json.loads(ticket.asked),
                "devices": [wish.device for wish in ticket.wishes][:10],
                "priority": ticket.priority,
            }
            if ticket.offered is not None:
                row |= {"offered": ticket.offered, "until": iso(ticket.offer_until)}
        rows.append(row)
    return {"queue": rows}


def _viewer(ctx: Context) -> Holder:
    return Holder(principal=ctx.caller.principal, session="", tenant=ctx.parsed.selector.tenant or "default")


def room_of(ctx: Context) -> StateStore:
    """The store with its queue.

    Raises:
        UpstreamUnavailable: This store has none.
    """
    room = ctx.services.desk.room
    if room is None:
        raise UpstreamUnavailable(
            "This store of leases has no queue.", upstream="leases", enable_hint="Use the embedded store."
        )
    return room
