"""Whose turn it is: deficit round robin over tenants, and within a tenant by priority, which waiting raises.

A device that becomes free is offered to the next in the queue; the offer stands for a few seconds. A device costs the
time it was kept, so a tenant that keeps devices long has its turn less often; who does not wait saves nothing up.
Of several free devices a request is given the one that the fewest others wait for, so that a request only one device
can satisfy finds it free.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from anydevice_schemas import Holder, Lease
from anydevice_schemas.errors import QuotaExceeded

from . import refusals
from .events import LeaseEvent
from .state import Account, LeaseState, Table, Ticket, Wish, account_key

QUANTUM = 5.0
"""Seconds of device time a tenant is given each time its turn comes round."""

FURTHEST = 600.0
"""Seconds of device time a tenant can be ahead or behind at most: no debt locks anybody out for ever."""

DAY = 86400.0


class Looking(Protocol):
    """A state at a time."""

    state: LeaseState
    now: float


@dataclass(slots=True)
class View:
    """A state at a time, to be looked at only."""

    state: LeaseState
    now: float


class Draft(Looking, Protocol):
    """The step that is being made (see `machine`)."""

    def put(self, table: Table, key: str, value: object) -> None:
        """Puts or drops a row."""
        ...

    def tell(self, event: LeaseEvent) -> None:
        """Has watchers told."""
        ...

    def standing(self, device: str, group: frozenset[str]) -> list[Lease]:
        """Leases near a device that stand; those that ran out are ended on the way."""
        ...


def plan(d: Draft) -> None:
    """Offers what is free to those whose turn it is, until nothing more can be offered."""
    lapse(d)
    waiting = {
        ticket.ticket_id: ticket
        for ticket in d.state.tickets.values()
        if ticket.offered is None and not _silent(d, ticket)
    }
    ready = _ready(d, waiting.values())
    wanted = _wanted(waiting.values()) if ready else {}
    while ready:
        key = _whose_turn(d, ready, waiting.values()).key
        ticket, free = min(ready[key], key=lambda entry: rank(d, entry[0]))
        wish = min(free, key=lambda wish: (round(sum(wanted[want] for want in _wants(wish)), 6), wish.device))
        d.standing(wish.device, wish.group)  # what ran out is ended for good, whatever the clock does
        offer = replace(ticket, offered=wish.device, offer_until=d.now + d.state.rules.accept)
        d.put("tickets", ticket.ticket_id, offer)
        d.tell(LeaseEvent("offered", None, ticket=offer))
        del waiting[ticket.ticket_id]
        for want in {want for other in ticket.wishes for want in _wants(other)}:
            wanted[want] -= 1.0 / len(ticket.wishes)
        ready = _still_ready(ready, offer, wish)
        if key in ready and over_quota(d, offer.holder, offered=True) is not None:
            del ready[key]


Ready = dict[str, list[tuple[Ticket, list[Wish]]]]
"""By account: places in the queue for which something is free, and what."""


def _ready(d: Draft, waiting: Iterable[Ticket]) -> Ready:
    """Who can be offered something now."""
    ready: Ready = {}
    full: dict[str, bool] = {}
    offers = d.state.offers()
    devices = {ticket.offered for ticket in offers}
    shared = {share for t in offers for wish in t.wishes if wish.device == t.offered for share in wish.group}
    for ticket in waiting:
        free = [
            wish
            for wish in ticket.wishes
            if wish.device not in devices and shared.isdisjoint(wish.group) and is_free(d, wish, ticket.holder)
        ]
        if free:
            key = account_key(ticket.holder)
            if key not in full:
                full[key] = over_quota(d, ticket.holder, offered=True) is not None
            if not full[key]:
                ready.setdefault(key, []).append((ticket, free))
    return ready


def _still_ready(ready: Ready, offer: Ticket, taken: Wish) -> Ready:
    """Who can still be offered something, after one was offered a device."""
    left: Ready = {}
    for key, entries in ready.items():
        for ticket, wishes in entries:
            free = [wish for wish in wishes if wish.device != taken.device and taken.group.isdisjoint(wish.group)]
            if free and ticket.ticket_id != offer.ticket_id:
                left.setdefault(key, []).append((ticket, free))
    return left


def _whose_turn(d: Draft, ready: Iterable[str], waiting: Iterable[Ticket]) -> Account:
    """The tenant that is served next; it pays in advance, and the rounds it took are credited to all that wait.

    Also to those that nothing is free for now: else who can use one device only would always find others ahead.
    """
    accounts = {key: d.state.account(key) for key in dict.fromkeys(account_key(ticket.holder) for ticket in waiting)}
    turn = 1 + max((account.turn for account in d.state.accounts.values()), default=0)

    def rounds(account: Account) -> int:
        return max(0, math.ceil((account.hold - account.deficit) / QUANTUM))

    first = min((accounts[key] for key in ready), key=lambda account: (rounds(account), account.turn, account.key))
    contended = len(accounts) > 1  # else there is nobody to be fair to
    credit = rounds(first) * QUANTUM if contended else 0.0
    paid = first.hold if contended else 0.0
    for account in accounts.values():
        after = replace(account, deficit=min(FURTHEST, account.deficit + credit))
        if account is first:
            after = replace(after, deficit=after.deficit - paid, ahead=account.ahead + paid, turn=turn)
        if after != account or account.key not in d.state.accounts:
            d.put("accounts", account.key, after)
    return first


def rank(d: Looking, ticket: Ticket) -> tuple[int, int]:
    """Order within a tenant: priority and age first, then arrival."""
    return (-(ticket.priority + int((d.now - ticket.joined_at) // d.state.rules.age)), ticket.number)


def _wants(wish: Wish) -> list[tuple[str, str]]:
    """What a wish keeps others from: the device, and what it shares."""
    return [("device", wish.device), *(("share", share) for share in wish.group)]


def _wanted(waiting: Iterable[Ticket]) -> dict[tuple[str, str], float]:
    """How much each thing is wanted: those with few to choose from count for more."""
    wanted: dict[tuple[str, str], float] = {}
    for ticket in waiting:
        for want in {want for wish in ticket.wishes for want in _wants(wish)}:
            wanted[want] = wanted.get(want, 0.0) + 1.0 / len(ticket.wishes)
    return wanted


def is_free(d: Looking, wish: Wish, holder: Holder) -> bool:
    """Whether a device can be offered now, other offers aside."""
    own = d.state.of_device(wish.device)
    if own is not None and d.now < own.expires_at:  # most are: this is the short way
        return False
    for lease in d.state.near(wish.device, wish.group):
        stands = d.now < lease.expires_at and (lease.max_until is None or d.now < lease.max_until)
        if stands and (lease.device == wish.device or not refusals.same_holder(lease.holder, holder)):
            return False
    return d.state.mark(wish.device).health in refusals.HEALTHY


def shares(ticket: Ticket, group: frozenset[str]) -> bool:
    """Whether what is offered to a ticket shares something with a group."""
    offered = next((wish for wish in ticket.wishes if wish.device == ticket.offered), None)
    return offered is not None and not offered.group.isdisjoint(group)


def _silent(d: Looking, ticket: Ticket) -> bool:
    """Whether nobody has been heard to wait at a place lately: its daemon or its owner is gone, or slow."""
    heard = d.state.rules.heard
    return heard is not None and d.now - ticket.seen_at > heard


def lapse(d: Draft) -> None:
    """Places are given up whose offer nobody took."""
    for ticket in list(d.state.offers()):
        if d.now < ticket.offer_until and _silent(d, ticket):
            d.put("tickets", ticket.ticket_id, replace(ticket, offered=None, offer_until=0.0))
        elif d.now >= ticket.offer_until:
            d.put("tickets", ticket.ticket_id, None)
            key = account_key(ticket.holder)
            d.put("accounts", key, _charged(d, key, d.state.rules.accept, ahead=True))
            d.tell(LeaseEvent("passed", None, ticket=ticket))


def pass_on(d: Draft) -> None:
    """Places are given up whose offer nobody took, or whose owner is not heard of any more."""
    lapse(d)
    for ticket in sorted(d.state.tickets.values(), key=lambda ticket: ticket.number):
        if d.now - ticket.seen_at > d.state.rules.grace:
            d.put("tickets", ticket.ticket_id, None)
            d.tell(LeaseEvent("passed", None, ticket=ticket))


def positions(state: LeaseState, now: float) -> list[Ticket]:
    """The queue as it would be served now, if every tenant's requests cost the same: first is next."""

    view = View(state, now)
    by_account: dict[str, list[Ticket]] = {}
    for ticket in sorted(state.tickets.values(), key=lambda t: rank(view, t)):
        by_account.setdefault(account_key(ticket.holder), []).append(ticket)
    order: list[Ticket] = [t for t in state.tickets.values() if t.offered is not None]
    deficits = {key: state.account(key).deficit for key in by_account}
    turns = {key: state.account(key).turn for key in by_account}
    count = max(turns.values(), default=0)
    while by_account:
        key = min(by_account, key=lambda k: (-deficits[k], turns[k], k))
        ticket = by_account[key].pop(0)
        deficits[key] -= state.account(key).hold
        count += 1
        turns[key] = count
        if ticket.offered is None:
            order.append(ticket)
        if not by_account[key]:
            del by_account[key]
    return order


# --- accounts and quotas ---


def settle(d: Draft, lease: Lease, at: float) -> None:
    """A lease ended: what it really took is charged, where others were waiting for their turn."""
    if lease.kind == "human":
        return
    key = account_key(lease.holder)
    took = max(0.0, at - lease.granted_at)
    account = _charged(d, key, took, ahead=lease.kind == "run")
    day = max(account.day, int(d.now // DAY))
    seconds = account.seconds if account.day == day else 0.0
    seconds += max(0.0, at - max(lease.granted_at, day * DAY))
    hold = account.hold
    if lease.kind == "run":
        hold = min(600.0, max(0.1, 0.7 * hold + 0.3 * took))
    d.put("accounts", key, replace(account, hold=hold, day=day, seconds=seconds))


def _charged(d: Draft, key: str, took: float, *, ahead: bool) -> Account:
    """An account that had a device, where others waited; with `ahead` what it had paid in advance is set off."""
    account = d.state.account(key)
    back = 0.0
    if ahead:
        others = sum(lease.kind == "run" for lease in d.state.of_account(key))
        others += sum(account_key(ticket.holder) == key for ticket in d.state.offers())
        back = account.ahead / (1 + others)
    waited = any(account_key(ticket.holder) != key for ticket in d.state.tickets.values())
    deficit = account.deficit + back - (took if waited or back else 0.0)
    return replace(account, ahead=account.ahead - back, deficit=max(-FURTHEST, min(FURTHEST, deficit)))


def arrive(d: Draft, holder: Holder) -> None:
    """A tenant joins the queue: it starts with what it owes, but with nothing saved up."""
    account = d.state.account(account_key(holder))
    waits = any(account_key(ticket.holder) == account.key for ticket in d.state.tickets.values())
    if account.deficit > 0 and not waits:
        d.put("accounts", account.key, replace(account, deficit=0.0))


def over_quota(d: Looking, holder: Holder, *, offered: bool = False) -> QuotaExceeded | None:
    """The refusal of one more lease to a tenant, or None; with `offered` what is offered to it counts as held."""
    rules, key = d.state.rules, account_key(holder)
    if rules.held is None and rules.minutes is None:
        return None
    standing = [lease for lease in d.state.of_account(key) if d.now < lease.expires_at]
    if rules.held is not None:
        kept = sum(account_key(ticket.holder) == key for ticket in d.state.offers()) if offered else 0
        if len(standing) + kept >= rules.held:
            hint = "Release a device first: lease release, or close its session."
            return refusals.quota("leases", rules.held, len(standing), hint)
    if rules.minutes is not None:
        account = d.state.account(key)
        day = max(account.day, int(d.now // DAY))
        ended = account.seconds if account.day == day else 0.0
        own = [lease for lease in standing if lease.kind != "human"]
        running = sum(max(0.0, d.now - max(lease.granted_at, day * DAY)) for lease in own)
        if (ended + running) / 60 >= rules.minutes:
            hint = f"It is counted anew from {refusals.iso((day + 1) * DAY)}."
            return refusals.quota("lease-minutes of today", rules.minutes, (ended + running) / 60, hint)
    return None


def over_queue(d: Looking, holder: Holder) -> QuotaExceeded | None:
    """The refusal of one more waiting request of a tenant, or None."""
    limit, key = d.state.rules.queued, account_key(holder)
    waiting = sum(account_key(ticket.holder) == key for ticket in d.state.tickets.values())
    if limit is None or waiting < limit:
        return None
    return refusals.quota("waiting requests", limit, waiting, "Wait for one of them, or leave the queue.")
