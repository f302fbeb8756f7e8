"""lease: to have a device for a while, by whatever selects it, in a fair queue if it has to be."""

from __future__ import annotations

import contextlib
import hashlib
import json
from functools import partial
from typing import Any, Literal

import anyio
import anyio.lowlevel
from pydantic import Field

from anydevice_schemas import TTL_MAX, TTL_MIN, Device, Example, Holder, Lease
from anydevice_schemas.errors import (
    AmbiguousDevice,
    LeaseHeld,
    QuotaExceeded,
)

from .. import ownership
from ..catalogue import Input, command
from ..context import Context, Outcome
from ..database import StoreBusy
from ..hearing import concerned, resolved
from ..inventory import defaults_from
from ..leases import StateStore, Ticket, Wish
from ..leases.desk import lease_wire
from ..leases.refusals import iso, visible_holder
from ..resolution import Request
from ..session import Session
from ._holdings import holding, queue_wire, room_of, status_wire

LOOK = 1.0
"""Seconds between two looks of somebody who waits: at the queue, and at which devices would do by now."""

LAST_MOMENT = 0.25
"""Seconds of the call's deadline that are kept for its answer."""


class LeaseInput(Input):
    """Inputs of `lease`."""

    action: Literal["acquire", "renew", "release", "status", "queue"] = Field(
        default="status", description="acquire a device, renew or release it; status: who holds what; queue: who waits."
    )
    ttl_ms: int = Field(
        default=60_000, ge=TTL_MIN * 1000, le=TTL_MAX * 1000,
        description="acquire, renew: milliseconds the lease lives without use.",
    )  # fmt: skip
    timeout_ms: int = Field(
        default=0, ge=0, le=3_600_000, description="acquire: milliseconds to wait in the queue; 0 = do not wait."
    )
    priority: int = Field(default=0, ge=-10, le=10, description="acquire: higher goes first within your tenant.")


@command(
    name="lease",
    toolset="leases",
    summary="Keeps a device for you over many calls. acquire: any device that fits the selectors, or the one named, "
    "waiting in a fair queue for up to timeoutMs; returns leaseId, to be given with later calls. release it when done. "
    "status: who holds what. queue: who waits. Plain work needs no lease: every command takes one by itself.",
    effect="mutate",
    reads_when={"action": ["status", "queue", "*absent*"]},
    idempotent=True,
    scope="host",
    observe=True,
    batchable=False,
    deadline=30.0,
    input=LeaseInput,
    output={
        "lease": {"type": "object", "description": "device, leaseId, until, session, fence."},
        "leases": {"type": "array"},
        "queue": {"type": "array"},
    },
    examples=[
        Example(why="Any phone, waiting a minute", arguments={"action": "acquire", "timeoutMs": 60000}),
        Example(why="Who holds what", arguments={"action": "status"}),
    ],
)
async def lease(ctx: Context, args: LeaseInput) -> Outcome:
    """Acquires, renews, releases, or shows."""
    for name in ("ttlMs", "timeoutMs", "priority"):
        if name in ctx.parsed.arguments and args.action not in _GOES_WITH[name]:
            raise ctx.bad_argument(name, f"goes with {' and '.join(_GOES_WITH[name])}", f"no {name}")
    if args.action == "acquire":
        return await _acquire(ctx, args)
    if args.action == "queue":
        return Outcome(data=queue_wire(ctx))
    if args.action == "status":
        return Outcome(data=await status_wire(ctx))
    session = await holding(ctx)
    assert session.lease_id is not None
    desk = ctx.services.desk
    if args.action == "renew":
        renewed = await ownership.patiently(ctx.services, partial(_renewed, ctx, args, session))
        ctx.services.sessions.touch(session)
        return Outcome(data={"lease": lease_wire(renewed, secret=True)}, verified=True)
    ended = desk.lease(session.lease_id, session.holder)
    ctx.services.sessions.end(session, "its lease was released")
    standing = {held.lease_id for held in desk.store.leases(ctx.services.clock.now())}
    data = {"released": True, "device": ended.device, "sessionEnded": session.name}
    return Outcome(data=data, verified=ended.lease_id not in standing)


_GOES_WITH = {"ttlMs": ("acquire", "renew"), "timeoutMs": ("acquire",), "priority": ("acquire",)}


def _renewed(ctx: Context, args: LeaseInput, session: Session) -> Lease:
    """The caller's lease, lengthened; under another TTL where one is given."""
    desk, now = ctx.services.desk, ctx.services.clock.now()
    assert session.lease_id is not None
    lease = desk.store.renew(session.lease_id, now)
    if "ttlMs" not in ctx.parsed.arguments:
        return lease
    return desk.keep(lease.device, frozenset(lease.group), session, ttl=args.ttl_ms / 1000)


# --- acquire ---


async def _acquire(ctx: Context, args: LeaseInput) -> Outcome:
    room = room_of(ctx)
    if ctx.parsed.selector.lease_id is not None:
        raise ctx.bad_argument("leaseId", "is what acquire returns", "renew, or other selectors")
    devices = await _fitting(ctx)
    kept = await _already(ctx, devices, args)
    if kept is not None:
        return kept
    until = anyio.current_time() + args.timeout_ms / 1000
    until = min(until, ctx.deadline_at - LAST_MOMENT)
    place: Ticket | None = None
    try:
        while True:
            place = await _look(ctx, args, wishes(devices), place)
            if place is not None and place.offered is not None:
                taken = await _take(ctx, room, place, devices)
                if taken is not None:
                    place = None
                    return taken
                await anyio.lowlevel.checkpoint()  # it was too late: look again, and let others have the loop
                continue
            left = until - anyio.current_time()
            if place is None and left <= 0:
                raise ownership.busy(None)
            if left <= 0 or ctx.services.desk.leaving:
                error = _not_now(ctx, room, place, devices, waited=args.timeout_ms > 0)
                if args.timeout_ms > 0:
                    place = None  # kept for a while, for whoever asks again
                raise error
            await ctx.progress(None, _position(ctx, room, place))
            if place is not None:
                turn = ctx.services.desk.turn(place.ticket_id)
                with anyio.move_on_after(min(LOOK, left)):
                    await turn.wait()
            devices = await _fitting(ctx)
    finally:
        if place is not None:
            ctx.services.desk.no_turn(place.ticket_id)
            with contextlib.suppress(StoreBusy):  # else the place is given up when nobody is heard of
                room.leave(place.ticket_id, ctx.services.clock.now())


async def _fitting(ctx: Context) -> list[Device]:
    """The devices that would do. A named one is one; otherwise all that can be driven, whoever has them."""
    services, selector = ctx.services, ctx.parsed.selector
    bound = None
    if selector.session is not None:
        found = services.sessions.find(ctx.caller, selector.session, selector.tenant)
        bound = (found.name, found.device_key) if found is not None else None
    only = concerned(selector, services.backends, bound[1] if bound is not None else None)
    inventory = await services.backends.listed(ctx.environment, sick=False, only=only)
    request = Request(
        selector=selector,
        bound=bound,
        explicit_device=False,
        boots=False,
        defaults=defaults_from(ctx.environment, services.backends.platforms) if bound is None else [],
        held={},
        lock=services.settings.session_lock,
    )
    try:
        chosen, inventory = await resolved(request, inventory, only, services.backends, ctx.environment)
        rows = [chosen.device]
    except AmbiguousDevice:
        if selector.names_a_device():
            raise
        rows = [row for row in inventory.matching(selector) if row.state == "ready"]
    well = [row for row in rows if services.desk.sick(row) is None]
    if not well and (sick := services.desk.sick(rows[0])) is not None:
        raise sick
    return well


async def _already(ctx: Context, devices: list[Device], args: LeaseInput) -> Outcome | None:
    """The lease of a session that the caller works in anyway: it is lengthened, not asked for again."""
    services, selector = ctx.services, ctx.parsed.selector
    keys = {device.key: device for device in devices}
    if selector.session is not None:
        found = services.sessions.find(ctx.caller, selector.session, selector.tenant)
        sessions = [found] if found is not None else []
    else:
        sessions = services.sessions.implicit(ctx.caller, selector.tenant)
    for session in sessions:
        device = keys.get(session.device_key)
        if device is None or session.lease_id is None:
            continue
        standing = {held.lease_id for held in services.desk.store.leases(services.clock.now())}
        if session.lease_id in standing:
            keep = partial(services.desk.keep, device.key, frozenset(device.shares), session, ttl=args.ttl_ms / 1000)
            kept = await ownership.patiently(services, keep, device=device.key)
            services.sessions.touch(session)
            services.sessions.save(session)
            return _outcome(kept, device, already=True)
    return None


def wishes(devices: list[Device]) -> tuple[Wish, ...]:
    """Devices as the queue knows them, in an order that does not depend on when they were found."""
    return tuple(Wish(device.key, frozenset(device.shares)) for device in sorted(devices, key=lambda d: d.key))


async def _look(ctx: Context, args: LeaseInput, would_do: tuple[Wish, ...], place: Ticket | None) -> Ticket | None:
    """The caller's place in the queue as it is now; None while the store is busy."""
    room, now = room_of(ctx), ctx.services.clock.now()
    try:
        if place is not None:
            place = room.wait(place.ticket_id, now, wishes=would_do)
        if place is None:
            joined = room.join(
                _waiting_holder(ctx), _asked(ctx), would_do, args.ttl_ms / 1000, now, priority=args.priority
            )
            assert isinstance(joined, Ticket), "nobody holds a device under a name made for waiting"
            place = joined
    except StoreBusy:
        await anyio.sleep(ownership.PAUSE)
    return place


async def _take(ctx: Context, room: StateStore, place: Ticket, devices: list[Device]) -> Outcome | None:
    """Accepts what is offered, for the session that will drive; None where that came too late."""
    services, selector = ctx.services, ctx.parsed.selector
    device = next((device for device in devices if device.key == place.offered), None)
    if device is None:
        return None
    known = set(services.sessions.all())
    session = services.sessions.open(
        ctx.caller, device, name=selector.session, tenant=selector.tenant, run_id=selector.run_id
    )
    granted = None
    try:
        granted = await ownership.patiently(
            services, lambda: room.accept(place.ticket_id, services.clock.now(), holder=session.holder)
        )
    finally:
        if granted is None and session not in known:
            services.sessions.end(session, "never admitted")
    if granted is None:
        return None
    services.desk.no_turn(place.ticket_id)
    services.desk.sit(session, granted)
    session.new = False
    services.sessions.touch(session)
    services.sessions.save(session)
    return _outcome(granted, device)


def _outcome(granted: Lease, device: Device, *, already: bool = False) -> Outcome:
    data: dict[str, Any] = {"lease": lease_wire(granted, secret=True), "device": device.ref().model_dump(by_alias=True)}
    if already:
        data["already"] = True
    return Outcome(data=data, verified=True)


def _waiting_holder(ctx: Context) -> Holder:
    """Who waits: the caller's scope and what it asks for, until it is known which device its session is of."""
    selector = ctx.parsed.selector
    name = selector.session
    if name is None:
        words = f"{ctx.caller.scope_key}|{_asked(ctx)}"
        name = "waiting-" + hashlib.blake2b(words.encode(), digest_size=8).hexdigest()
    return Holder(
        principal=ctx.caller.principal, session=name, tenant=selector.tenant or "default", run_id=selector.run_id
    )


def _asked(ctx: Context) -> str:
    """What was asked for, in words that are the same whenever the same is asked for."""
    return json.dumps(ctx.parsed.selector.model_dump(by_alias=True, exclude_none=True), sort_keys=True)


def _position(ctx: Context, room: StateStore, place: Ticket | None) -> str:
    queue = room.queue(ctx.services.clock.now())
    number = next((n for n, t in enumerate(queue, 1) if place is not None and t.ticket_id == place.ticket_id), None)
    return f"waiting: position {number} of {len(queue)}" if number is not None else "waiting for a place in the queue"


def _not_now(
    ctx: Context, room: StateStore, place: Ticket | None, devices: list[Device], *, waited: bool
) -> LeaseHeld | QuotaExceeded:
    """None is free: who holds what would have done, until when, and the place in the queue."""
    now = ctx.services.clock.now()
    viewer = _waiting_holder(ctx)
    if (over := room.over_quota(viewer, now)) is not None:
        return over
    keys = {device.key for device in devices}
    shares = {share for device in devices for share in device.shares}
    blocking = [held for held in room.leases(now) if held.device in keys or not shares.isdisjoint(held.group)]
    blocking.sort(key=lambda held: held.expires_at)
    queue = room.queue(now)
    position = next((n for n, t in enumerate(queue, 1) if place is not None and t.ticket_id == place.ticket_id), None)
    grace = room.state.rules.grace
    hint = (
        f"Ask again within {grace:g} s with the same selectors to keep your place in the queue."
        if waited
        else "Call lease acquire with timeoutMs to wait in the queue, or choose another device from devices."
    )
    first = blocking[0] if blocking else None
    place_told: dict[str, Any] = (
        {"position": position, "waiting": len(queue)} if waited else {"waiting": len(queue) - 1}
    )
    return LeaseHeld(
        _in_use(ctx, first, len(devices)),
        holder=visible_holder(first.holder, viewer) if first is not None else {"held": True},
        expires=iso(first.expires_at if first is not None else now + 1.0),
        devices=[{"device": held.device, "until": iso(held.expires_at)} for held in blocking[:10]],
        hint=hint,
        **place_told,
    )


def _in_use(ctx: Context, first: Lease | None, many: int) -> str:
    """Why there is nothing to be had, in a sentence."""
    if ctx.services.desk.leaving:
        return "A newer version takes the daemon over just now."
    if many != 1:
        return "Every device that would do is in use."
    if first is not None and first.kind == "human":
        return "A person has taken this device over."
    return "Another session drives this device."
