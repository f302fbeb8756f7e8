"""Who may drive, as a function of (state, event, now). No clock, no I/O, no chance: the same in, the same out.

    step(state, event, now, fresh)     -> (the state after it, Step)      leaves what it is given alone
    advance(state, event, now, fresh)  -> Step                            changes the state in place; what stores use

A step tells what changed (`Step.changes`, for a store to keep), what watchers are told, and what was asked for or
why it is refused. `fresh` is an unguessable id for the one lease or ticket that a step may make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from anydevice_schemas import Lease
from anydevice_schemas.errors import InvalidArgument

from . import fairness, refusals
from .draft import Draft, clashes, having, in_the_way, live, longer
from .events import (
    CLEANER,
    Accept,
    Cleaned,
    Event,
    GiveBack,
    Join,
    Leave,
    Release,
    Renew,
    Request,
    SetHealth,
    Step,
    TakeOver,
    Tick,
    Wait,
)
from .refusals import same_holder
from .state import Ended, LeaseState, Suspended, Ticket, Wish

__all__ = ["advance", "clashes", "live", "renewal", "step"]

REMEMBERED = 86400.0
"""Seconds for which it is remembered how a lease ended."""

REMEMBERED_MOST = 2000


def step(state: LeaseState, event: Event, now: float, fresh: str) -> tuple[LeaseState, Step]:
    """What an event leads to: the state after it, and what it led to. `state` stays as it is.

    Args:
        state: Everything that is known.
        event: What happens.
        now: UTC seconds on the owner's clock.
        fresh: The id of the lease or ticket that may come of it.
    """
    after = state.copy()
    return after, advance(after, event, now, fresh)


def advance(state: LeaseState, event: Event, now: float, fresh: str) -> Step:
    """As `step`, with the state changed in place. `state.undo(step.changes, step.counter)` takes it back."""
    if isinstance(event, (Request, Renew)):
        used = renewal(state, event, now)
        if used is not None:
            made = Step(state.counter, used if isinstance(event, Renew) else (used, False))
            if used is not state.leases[used.lease_id]:
                made.changes = (state.put("leases", used.lease_id, used),)
            return made
    draft = Draft(state, now, fresh)
    try:
        draft.due()
        _HANDLERS[type(event)](draft, event)
    except BaseException:
        state.undo(draft.changes, draft.step.counter)
        raise
    return draft.step


def renewal(state: LeaseState, event: Request | Renew, now: float) -> Lease | None:
    """The lease as it stands after an event that only renews it; None where the event is about anything else."""
    if isinstance(event, Renew):
        lease = state.leases.get(event.lease_id)
        return longer(lease, now, event.until or 0.0) if lease is not None and live(lease, now) else None
    lease = state.of_device(event.device)
    if (
        lease is None
        or not live(lease, now)
        or not same_holder(lease.holder, event.holder)
        or (event.kind != "implicit" and (lease.kind, lease.ttl) != (event.kind, event.ttl))
        or (event.kind != "implicit" and lease.lease_id != event.lease_id)
        or lease.fence.epoch != state.epoch
        or (event.fence is not None and event.fence != (lease.fence.epoch, lease.fence.counter))
        or not event.group.issubset(lease.group)
        or refusals.bad_ttl(event.ttl) is not None
    ):
        return None
    return longer(lease, now, event.until)


# --- the events ---


def _request(d: Draft, e: Request) -> None:
    if (bad := refusals.bad_ttl(e.ttl)) is not None:
        return d.refuse(bad)
    mine: Lease | None = None
    other: Lease | None = None
    for lease in d.standing(e.device, e.group):
        if same_holder(lease.holder, e.holder):
            mine = lease if lease.device == e.device else mine
        elif other is None or lease.expires_at > other.expires_at:
            other = lease
    ended = d.state.ended.get(e.lease_id or "")
    if other is not None:
        d.refuse(refusals.held(other, e, ended))
    elif mine is not None:
        _use(d, e, mine)
    else:
        fairness.plan(d)  # who waits comes before who asks now
        _grant(d, e, ended)
    fairness.plan(d)


def _use(d: Draft, e: Request, mine: Lease) -> None:
    """The holder of a lease uses it."""
    fence = (mine.fence.epoch, mine.fence.counter)
    wrong_lease = e.lease_id is not None and e.lease_id != mine.lease_id and e.kind != "implicit"
    if wrong_lease or (e.fence is not None and e.fence != fence):
        return d.refuse(refusals.stale(e, fence))
    values: dict[str, Any] = {}
    if mine.fence.epoch != d.state.epoch:
        values["fence"] = d.fence()  # its holder comes back after the owner was started again
    kind = mine.kind if mine.kind == "human" else e.kind  # a takeover stays one, so that it can be given back
    if e.kind == "run" and (mine.kind, mine.ttl) != (kind, e.ttl):
        values |= {"kind": kind, "ttl": e.ttl}
    if not e.group.issubset(mine.group):
        values["group"] = sorted(e.group.union(mine.group))
        d.withdraw(e.device, e.group, e.holder)
    used = longer(having(mine, **values) if values else mine, d.now, e.until)
    if used is not mine:
        d.put("leases", used.lease_id, used)
    d.step.result = (used, False)


def _grant(d: Draft, e: Request, ended: Ended | None) -> None:
    """Nobody drives; is there anything else against it?"""
    if e.lease_id is not None:
        mark = d.state.mark(e.device)
        taken = ended is not None and ended.kind == "taken"
        if taken or (
            mark.last not in (None, e.lease_id)
            and mark.last_holder is not None
            and not same_holder(mark.last_holder, e.holder)
        ):
            return d.refuse(refusals.lost(e, ended, mark.last_holder, None))
        if ended is not None and (ended.kind, ended.lease_kind) == ("expired", "run"):
            return d.refuse(refusals.gone(ended, e.holder, d.now))  # who asked for a lease is told that it ran out
    own = None
    for ticket in d.state.offers():
        if ticket.offered == e.device or fairness.shares(ticket, e.group):
            if not same_holder(ticket.holder, e.holder):
                return d.refuse(refusals.offered(ticket, e))
            own = ticket if ticket.offered == e.device else own
    if (sick := refusals.marked(d.state.mark(e.device))) is not None:
        return d.refuse(sick)
    if (over := fairness.over_quota(d, e.holder)) is not None:
        return d.refuse(over)
    if own is not None:
        d.put("tickets", own.ticket_id, None)
    lease = d.grant(Wish(e.device, e.group), e.holder, e.kind, ttl=e.ttl, until=e.until)
    d.step.result = (lease, e.lease_id is not None)


def _renew(d: Draft, e: Renew) -> None:
    lease = d.state.leases.get(e.lease_id)
    if lease is not None and live(lease, d.now):  # given back just now, else it would have been renewed already
        d.step.result = longer(lease, d.now, e.until or 0.0)
        d.put("leases", lease.lease_id, d.step.result)
        return fairness.plan(d)
    if lease is not None:
        d.end(lease, "expired")
        fairness.plan(d)
    ended = d.state.ended.get(e.lease_id)
    d.refuse(refusals.gone(ended, lease.holder if lease is not None else None, d.now))


def _release(d: Draft, e: Release) -> None:
    lease = d.state.leases.get(e.lease_id)
    if lease is None:
        suspended = d.state.suspended.get(e.lease_id)
        if suspended is not None:  # its holder does not want it back
            d.put("suspended", e.lease_id, None)
            d.forget_suspended(suspended.lease)
        return
    d.step.result = lease
    if not live(lease, d.now):
        d.end(lease, "expired")
    else:
        group = frozenset(lease.group)
        kept = [other.group for other in d.standing(lease.device, group) if other is not lease]
        d.end(lease, "released", e.reason)
        d.forget_suspended(lease)
        if e.clean_until is not None and d.state.mark(lease.device).used:
            ttl = max(0.0, e.clean_until - d.now)
            d.grant(Wish(lease.device, group.difference(*kept)), CLEANER, "cleanup", ttl=ttl)
    fairness.plan(d)


def _take_over(d: Draft, e: TakeOver) -> None:
    request = e.request
    if (bad := refusals.bad_ttl(request.ttl)) is not None:
        return d.refuse(bad)
    near = d.standing(request.device, request.group)
    for lease in [lease for lease in near if in_the_way(lease, request.device, request.holder)]:
        d.end(lease, "taken", e.reason, request.holder)
        if same_holder(lease.holder, request.holder):
            for suspended in d.state.interrupted(lease.lease_id):
                d.put("suspended", suspended.lease.lease_id, replace(suspended, by=d.fresh))
        elif lease.kind != "cleanup":
            owed = d.state.mark(lease.device).owed
            d.put("suspended", lease.lease_id, Suspended(lease, d.fresh, owed))
    d.step.result = d.grant(
        Wish(request.device, request.group), request.holder, "human", ttl=request.ttl, until=request.until
    )
    fairness.plan(d)


def _give_back(d: Draft, e: GiveBack) -> None:
    lease = d.state.leases.get(e.lease_id)
    if lease is None or not live(lease, d.now):
        if lease is not None:
            d.end(lease, "expired")
        d.refuse(refusals.gone(d.state.ended.get(e.lease_id), None, d.now))
    elif lease.kind != "human":
        d.refuse(InvalidArgument("This lease is no takeover.", param="leaseId", expected="the lease of a takeover"))
    else:
        d.end(lease, "released", "given back")
        d.step.result = d.restore(lease)
    fairness.plan(d)


def _join(d: Draft, e: Join) -> None:
    if (bad := refusals.bad_ttl(e.ttl)) is not None:
        return d.refuse(bad)
    for wish in e.wishes:
        near = d.standing(wish.device, wish.group)
        mine = [lease for lease in near if same_holder(lease.holder, e.holder)]
        for lease in mine:
            if lease.device == wish.device:
                group = wish.group if len(mine) == len(near) else frozenset()
                # A command may have pinned it beyond its TTL.
                _use(d, Request(wish.device, e.holder, e.ttl, group, kind="run", until=lease.expires_at), lease)
                d.step.result = d.step.result[0]
                return fairness.plan(d)
    fairness.lapse(d)
    found = next((t for t in d.state.tickets.values() if t.asked == e.asked and same_holder(t.holder, e.holder)), None)
    if found is None:
        if (over := fairness.over_queue(d, e.holder)) is not None:
            d.refuse(over)
            return fairness.plan(d)
        fairness.arrive(d, e.holder)
        number = max((t.number for t in d.state.tickets.values()), default=0) + 1
        found = Ticket(d.fresh, e.holder, e.asked, e.wishes, e.ttl, number, d.now, d.now, e.priority)
    else:
        found = replace(_wishing(found, e.wishes), seen_at=d.now, ttl=e.ttl, priority=e.priority)
    d.put("tickets", found.ticket_id, found)
    fairness.plan(d)
    d.step.result = d.state.tickets.get(found.ticket_id)


def _wait(d: Draft, e: Wait) -> None:
    ticket = d.state.tickets.get(e.ticket_id)
    if ticket is None:
        return
    wishes = e.wishes if e.wishes is not None else ticket.wishes
    if wishes != ticket.wishes or d.now - ticket.seen_at >= 1.0:
        d.put("tickets", e.ticket_id, replace(_wishing(ticket, wishes), seen_at=d.now))
    fairness.plan(d)
    d.step.result = d.state.tickets.get(e.ticket_id)


def _wishing(ticket: Ticket, wishes: tuple[Wish, ...]) -> Ticket:
    """The place with other wishes; what is offered stays so only where it still would do."""
    kept = any(wish.device == ticket.offered and wish in wishes for wish in ticket.wishes)
    if ticket.offered is None or kept:
        return replace(ticket, wishes=wishes)
    return replace(ticket, wishes=wishes, offered=None, offer_until=0.0)


def _accept(d: Draft, e: Accept) -> None:
    ticket = d.state.tickets.get(e.ticket_id)
    if ticket is None or ticket.offered is None:
        return
    if d.now >= ticket.offer_until:
        return fairness.plan(d)  # too late: it is passed on
    who = e.holder or ticket.holder
    wish = next(wish for wish in ticket.wishes if wish.device == ticket.offered)
    if any(in_the_way(lease, wish.device, who) for lease in d.standing(wish.device, wish.group)):
        d.put("tickets", e.ticket_id, replace(ticket, offered=None, offer_until=0.0))
    elif (over := fairness.over_quota(d, who)) is not None:
        d.put("tickets", e.ticket_id, None)
        d.refuse(over)
    else:
        d.put("tickets", e.ticket_id, None)
        d.step.result = d.grant(wish, who, "run", ttl=ticket.ttl)
    fairness.plan(d)


def _leave(d: Draft, e: Leave) -> None:
    d.step.result = d.state.tickets.get(e.ticket_id)
    if d.step.result is not None:
        d.put("tickets", e.ticket_id, None)
        fairness.plan(d)


def _tick(d: Draft, e: Tick) -> None:
    over = [lease for lease in d.state.leases.values() if not live(lease, d.now)]
    for lease in sorted(over, key=lambda lease: (lease.expires_at, lease.fence.counter)):
        if lease.lease_id in d.state.leases:
            d.end(lease, "expired")
    fairness.pass_on(d)
    ended = sorted(d.state.ended.values(), key=lambda row: (row.at, row.lease_id))
    for i, row in enumerate(ended):
        if d.now - row.at > REMEMBERED or i < len(ended) - REMEMBERED_MOST:
            d.put("ended", row.lease_id, None)
    fairness.plan(d)


def _health(d: Draft, e: SetHealth) -> None:
    before = d.state.mark(e.device)
    d.step.result = before
    if before.said and not e.said:
        return
    # A person's `good` puts a device back into the pool; from then on findings count again.
    said = e.said and e.health not in refusals.HEALTHY
    mark = replace(before, health=e.health, reason=e.reason, since=d.now, said=said)
    lease = d.state.of_device(e.device)
    if lease is not None and lease.kind == "cleanup" and e.health not in refusals.HEALTHY:
        d.end(lease, "released")
    d.put("marks", e.device, mark)
    if e.health not in refusals.HEALTHY:
        d.withdraw(e.device, frozenset(), CLEANER)
    d.step.result = mark
    fairness.plan(d)


def _cleaned(d: Draft, e: Cleaned) -> None:
    lease = d.state.of_device(e.device)
    if lease is not None and lease.kind == "cleanup":
        d.end(lease, "released")
        lease = None
    driven = lease is not None and live(lease, d.now)
    mark = replace(d.state.mark(e.device), owed=False, used=driven)
    d.put("marks", e.device, mark)
    for suspended in [s for s in d.state.suspended.values() if s.lease.device == e.device and s.owed]:
        d.put("suspended", suspended.lease.lease_id, replace(suspended, owed=False))
    d.step.result = mark
    fairness.plan(d)


_HANDLERS: dict[type, Callable[[Draft, Any], None]] = {
    Request: _request,
    Renew: _renew,
    Release: _release,
    TakeOver: _take_over,
    GiveBack: _give_back,
    Join: _join,
    Wait: _wait,
    Accept: _accept,
    Leave: _leave,
    Tick: _tick,
    SetHealth: _health,
    Cleaned: _cleaned,
}
