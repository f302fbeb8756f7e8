"""The lease machine against an oracle written from the rules, and the counterexamples that were found on the way."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from anydevice.leases import LeaseEvent, LeaseState, Request, Rules, Step, Ticket, Wish, advance, step
from anydevice.leases.events import (
    CLEANER,
    Accept,
    Cleaned,
    Event,
    GiveBack,
    Join,
    Leave,
    Release,
    Renew,
    SetHealth,
    TakeOver,
    Tick,
    Wait,
)
from anydevice.leases.state import plain, restored
from anydevice_schemas import Holder, Lease

from ..support.sizes import FULL, size

STORIES = size("stories of leases")
"""How many stories are told; those of `make soak` are told differently each time."""

START = 20_000 * 86400.0 + 3600.0
"""UTC seconds at which stories begin: one o'clock in the morning."""


def holder(name: str, tenant: str = "default") -> Holder:
    return Holder(principal="p", session=name, tenant=tenant)


ADA, BOB, CAT, DAN = holder("ada"), holder("bob", "other"), holder("cat"), holder("dan", "third")
HUMAN, BOSS = holder("human"), holder("boss", "other")


def picture(state: LeaseState) -> dict[str, Any]:
    """All there is in a state, indexes and all, as it is now."""
    return {
        "counter": state.counter,
        "tables": {table: dict(rows) for table, rows in state.tables.items()},
        "by_device": dict(state._by_device),
        "by_share": {share: dict(rows) for share, rows in state._by_share.items()},
        "by_account": {key: dict(rows) for key, rows in state._by_account.items()},
        "offers": dict(state._offers),
    }


def read_back(state: LeaseState, epoch: int) -> LeaseState:
    """The state as another process makes it of the rows that were kept."""
    other = LeaseState(epoch=epoch, counter=state.counter, rules=state.rules)
    for table, key, row in state.rows():
        other.put(table, key, restored(table, json.loads(json.dumps(plain(row)))))
    return other


class Owner:
    """A lease machine in use. With every event it is judged whether `step`, `advance` and `undo` agree."""

    def __init__(self, **rules: Any) -> None:
        self.state = LeaseState(epoch=1, rules=Rules(**rules))
        self.now = START
        self.made = 0
        self.crash = False

    @property
    def fresh(self) -> str:
        """The id of what the last event made."""
        return f"id{self.made}"

    def do(self, event: Event) -> Step:
        self.made += 1
        fresh = self.fresh
        before = picture(self.state)
        after, seen = step(self.state, event, self.now, fresh)
        assert picture(self.state) == before, "step changed what it was given"
        if self.crash:  # what could not be kept is taken back; then it is tried again
            failed = advance(self.state, event, self.now, "lost" + fresh)
            self.state.undo(failed.changes, failed.counter)
            assert picture(self.state) == before
            self.crash = False
        done = advance(self.state, event, self.now, fresh)
        now = picture(self.state)
        assert picture(after) == now, "step and advance differ"
        assert (seen.result, list(seen.changes), list(seen.told)) == (done.result, list(done.changes), list(done.told))
        assert getattr(seen.error, "code", None) == getattr(done.error, "code", None)
        assert now == picture(self.state.copy()), "an index does not fit the tables"
        after.undo(seen.changes, seen.counter)
        assert picture(after) == before, "undo did not restore what was"
        return done

    def refused(self, event: Event) -> str:
        error = self.do(event).error
        assert error is not None, f"{event} was accepted"
        assert error.hint, error
        return error.code

    def restart(self) -> None:
        again = read_back(self.state, self.state.epoch + 1)
        assert picture(again) == picture(self.state)
        self.state = again

    # --- short forms ---

    def ask(self, who: Holder, device: str = "d1", *group: str, ttl: float = 60.0, **more: Any) -> Any:
        done = self.do(Request(device, who, ttl, frozenset(group), **more))
        if done.error is not None:
            raise done.error
        return done.result[0]

    def take(self, who: Holder, device: str = "d1", *group: str, ttl: float = 60.0) -> Lease:
        taken: Lease = self.do(TakeOver(Request(device, who, ttl, frozenset(group)), "to look")).result
        return taken

    def join(self, who: Holder, *devices: str, asked: str = "any", priority: int = 0, ttl: float = 60.0) -> Any:
        return self.do(Join(who, asked, tuple(wish(device) for device in devices), ttl, priority)).result

    def ticket(self, ticket: Ticket) -> Ticket | None:
        return self.state.tickets.get(ticket.ticket_id)

    def stands(self, lease: Lease) -> bool:
        found = self.state.leases.get(lease.lease_id)
        return found is not None and self.now < found.expires_at


def wish(device: str, *group: str) -> Wish:
    return Wish(device, frozenset(group))


# --- takeovers that end ---


def test_after_a_takeover_ran_out_the_device_is_its_former_holders_again() -> None:
    owner = Owner()
    lease = owner.ask(ADA)
    owner.take(HUMAN)
    owner.now += 61
    assert owner.refused(Request("d1", BOB, 60.0)) == "lease_held"
    assert owner.stands(lease) and len(owner.state.leases) == 1


def test_a_device_whose_takeover_ran_out_is_not_offered_to_others() -> None:
    owner = Owner()
    lease = owner.ask(ADA)
    owner.take(HUMAN)
    waiting = owner.join(BOB, "d1")
    owner.now += 61
    assert owner.do(Wait(waiting.ticket_id)).result.offered is None
    assert owner.stands(lease)


def test_both_of_two_leases_that_share_something_are_given_back() -> None:
    owner = Owner()
    first, second = owner.ask(ADA, "d1", "s"), owner.ask(ADA, "d2", "s")
    human = owner.take(HUMAN, "d1", "s")
    assert len(owner.do(GiveBack(human.lease_id)).result) == 2
    assert owner.stands(first) and owner.stands(second)


def test_what_is_given_back_ends_at_its_hard_maximum() -> None:
    owner = Owner(longest=100.0)
    lease = owner.ask(ADA)
    human = owner.take(HUMAN)
    owner.now += 50
    assert owner.do(GiveBack(human.lease_id)).result[0].expires_at == lease.max_until


def test_what_passed_its_hard_maximum_during_a_takeover_does_not_come_back() -> None:
    owner = Owner(longest=100.0)
    lease = owner.ask(ADA)
    human = owner.take(HUMAN, ttl=600.0)
    owner.now += 101
    done = owner.do(GiveBack(human.lease_id))
    assert done.result == [] and [told.kind for told in done.told] == ["released"]
    assert owner.refused(Request("d1", ADA, 60.0, lease_id=lease.lease_id)) == "lease_lost"
    assert not owner.state.suspended


def test_giving_back_withdraws_an_offer_of_what_it_needs() -> None:
    owner = Owner()
    lease = owner.ask(ADA, "d2", "s1", "s2")
    human = owner.take(HUMAN, "d1", "s1")
    waiting = owner.do(Join(BOB, "any", (wish("d3", "s2"),), 60.0)).result
    assert waiting.offered == "d3"
    owner.do(GiveBack(human.lease_id))
    now = owner.ticket(waiting)
    assert owner.stands(lease) and now is not None and now.offered is None


def test_who_is_heard_of_after_a_takeover_ran_out_has_his_lease_again() -> None:
    owner = Owner()
    lease = owner.ask(ADA)
    owner.take(HUMAN)
    owner.now += 61
    assert owner.do(Renew(lease.lease_id, until=owner.now + 90)).result.expires_at == owner.now + 90


def test_a_takeover_that_ran_out_gives_back_before_anybody_else_is_given_anything() -> None:
    owner = Owner()
    lease = owner.ask(ADA, "d2", "s", "t")
    owner.take(HUMAN, "d1", "s")
    owner.now += 61
    assert owner.refused(Request("d3", BOB, 60.0, frozenset({"t"}))) == "lease_held"
    assert owner.stands(lease)


def test_a_takeover_within_a_takeover_unwinds_in_order() -> None:
    owner = Owner()
    lease = owner.ask(ADA)
    outer = owner.take(HUMAN)
    inner = owner.take(BOSS)
    assert owner.refused(GiveBack(outer.lease_id)) == "lease_lost"
    assert [again.holder for again in owner.do(GiveBack(inner.lease_id)).result] == [HUMAN]
    assert [again.holder for again in owner.do(GiveBack(outer.lease_id)).result] == [ADA]
    assert owner.stands(lease) and not owner.state.suspended


def test_taking_over_again_keeps_what_is_to_be_given_back() -> None:
    owner = Owner()
    lease = owner.ask(ADA)
    owner.take(HUMAN)
    again = owner.take(HUMAN)
    owner.do(GiveBack(again.lease_id))
    assert owner.stands(lease)


def test_a_lease_that_was_taken_through_something_shared_is_lost_though_its_device_is_free() -> None:
    owner = Owner()
    lease = owner.ask(ADA, "d2", "s")
    owner.do(Release(owner.take(HUMAN, "d1", "s").lease_id))
    assert owner.refused(Request("d2", ADA, 60.0, frozenset({"s"}), lease.lease_id)) == "lease_lost"
    assert owner.ask(ADA, "d2", "s").fence.counter == 3


def test_ending_the_inner_takeover_for_good_leaves_nothing_behind() -> None:
    owner = Owner()
    owner.ask(ADA)
    owner.take(HUMAN)
    inner = owner.take(BOSS)
    owner.do(Release(inner.lease_id))
    assert not owner.state.suspended and not owner.state.leases


def test_a_holder_who_gave_up_during_a_takeover_is_not_given_the_device_back() -> None:
    owner = Owner()
    lease = owner.ask(ADA)
    human = owner.take(HUMAN)
    owner.do(Release(lease.lease_id, "session ended"))
    assert owner.do(GiveBack(human.lease_id)).result == []
    assert not owner.state.leases


def test_who_acquires_what_he_took_over_can_still_give_it_back() -> None:
    owner = Owner()
    lease = owner.ask(ADA)
    human = owner.take(HUMAN)
    owner.ask(HUMAN, kind="run", ttl=30.0)
    assert owner.do(GiveBack(human.lease_id)).error is None
    assert owner.stands(lease)


def test_a_takeover_leaves_alone_what_the_same_session_has_of_the_group() -> None:
    owner = Owner()
    own = owner.ask(HUMAN, "d2", "s")
    owner.take(HUMAN, "d1", "s")
    assert owner.stands(own)
    assert owner.ask(HUMAN, "d2", "s", lease_id=own.lease_id).fence == own.fence


def test_a_clean_up_that_was_owed_before_a_takeover_is_owed_after_it() -> None:
    owner = Owner()
    owner.do(Release(owner.ask(BOB).lease_id))
    owner.ask(ADA)
    assert owner.state.mark("d1").owed
    human = owner.take(HUMAN)
    assert not owner.state.mark("d1").owed
    owner.do(GiveBack(human.lease_id))
    assert owner.state.mark("d1").owed


def test_a_clean_up_during_a_takeover_settles_what_was_owed_before() -> None:
    owner = Owner()
    owner.do(Release(owner.ask(BOB).lease_id))
    owner.ask(ADA)
    human = owner.take(HUMAN)
    owner.do(Cleaned("d1"))
    owner.do(GiveBack(human.lease_id))
    assert not owner.state.mark("d1").owed


def test_who_is_given_a_device_back_leaves_something_to_clean_up() -> None:
    owner = Owner()
    owner.ask(ADA, "d1", "s")
    human = owner.take(HUMAN, "d2", "s")
    owner.do(Cleaned("d1"))
    again = owner.do(GiveBack(human.lease_id)).result[0]
    owner.do(Release(again.lease_id))
    owner.ask(BOB, "d1", "s")
    assert owner.state.mark("d1").owed


def test_time_under_a_takeover_is_not_counted_to_the_one_who_was_interrupted() -> None:
    owner = Owner()
    owner.ask(ADA, ttl=600.0)
    owner.now += 10
    human = owner.take(HUMAN, ttl=600.0)
    owner.now += 100
    again = owner.do(GiveBack(human.lease_id)).result[0]
    owner.now += 10
    owner.do(Release(again.lease_id))
    assert owner.state.account("p/default").seconds == 20


# --- shared things ---


def test_a_clean_up_does_not_cover_what_the_same_session_still_drives() -> None:
    owner = Owner()
    first, second = owner.ask(ADA, "d1", "s"), owner.ask(ADA, "d2", "s")
    owner.do(Release(first.lease_id, clean_until=owner.now + 10))
    assert owner.ask(ADA, "d2", "s", lease_id=second.lease_id, fence=(1, 2))
    assert owner.do(Join(ADA, "d2", (wish("d2", "s"),), 60.0)).error is None
    assert [lease.group for lease in owner.state.leases.values() if lease.kind == "cleanup"] == [[]]
    assert owner.refused(Request("d1", BOB, 60.0)) == "lease_held"


def test_a_clean_up_withdraws_an_offer_of_what_it_covers() -> None:
    owner = Owner()
    lease = owner.ask(ADA, "d1", "s")
    waiting = owner.do(Join(ADA, "d2", (wish("d2", "s"),), 60.0)).result
    assert waiting.offered == "d2"
    owner.do(Release(lease.lease_id, clean_until=owner.now + 10))
    now = owner.ticket(waiting)
    assert now is not None and now.offered is None


def test_asking_for_a_lease_does_not_widen_it_over_what_somebody_else_drives() -> None:
    owner = Owner()
    owner.ask(ADA, "d1")
    owner.ask(BOB, "d2", "s")
    assert owner.do(Join(ADA, "d1", (wish("d1", "s"),), 60.0)).result.group == []


def test_widening_a_lease_withdraws_an_offer_of_what_it_covers_now() -> None:
    owner = Owner()
    owner.ask(ADA, "d1")
    waiting = owner.do(Join(BOB, "any", (wish("d2", "s"),), 60.0)).result
    owner.ask(ADA, "d1", "s")
    now = owner.ticket(waiting)
    assert now is not None and now.offered is None


def test_ones_own_offer_does_not_hide_somebody_elses() -> None:
    owner = Owner()
    mine = owner.do(Join(ADA, "any", (wish("d1", "s1"),), 60.0)).result
    owner.do(Join(BOB, "any", (wish("d3", "s2"),), 60.0))
    assert owner.refused(Request("d2", ADA, 60.0, frozenset({"s1", "s2"}))) == "lease_held"
    assert owner.ticket(mine) == mine


def test_ones_own_offer_is_kept_when_one_takes_something_else_of_the_group() -> None:
    owner = Owner()
    place = owner.do(Join(ADA, "any", (wish("d1", "s"),), 60.0)).result
    owner.ask(ADA, "d2", "s")
    assert owner.ticket(place) == place


# --- pins and renewals ---


def test_asking_for_a_lease_does_not_shorten_one_that_a_command_has_pinned() -> None:
    owner = Owner()
    pinned = owner.ask(ADA, until=owner.now + 500)
    assert owner.join(ADA, "d1", ttl=10.0).expires_at == pinned.expires_at


def test_asking_again_with_another_ttl_sets_it_whether_the_lease_is_named_or_not() -> None:
    owner = Owner()
    lease = owner.ask(ADA, kind="run", ttl=60.0)
    assert owner.ask(ADA, kind="run", ttl=90.0, lease_id=lease.lease_id).ttl == 90.0
    assert owner.ask(ADA, kind="run", ttl=120.0).ttl == 120.0


# --- the queue ---


def test_whoever_comes_first_after_a_lease_ran_out_does_not_pass_those_who_wait() -> None:
    owner = Owner()
    owner.ask(ADA)
    waiting = owner.join(BOB, "d1")
    owner.now += 61
    assert owner.refused(Request("d1", CAT, 60.0)) == "lease_held"
    assert owner.do(Accept(waiting.ticket_id)).result.holder == BOB


def test_a_hard_maximum_hands_the_device_to_those_who_wait_however_busy_its_holder_is() -> None:
    owner = Owner(longest=100.0)
    lease = owner.ask(ADA)
    waiting = owner.join(BOB, "d1")
    for _ in range(10):
        owner.now += 9
        owner.ask(ADA, lease_id=lease.lease_id)
        owner.do(Wait(waiting.ticket_id))
    owner.now += 11
    assert owner.refused(Request("d1", ADA, 60.0, lease_id=lease.lease_id)) == "lease_held"


def test_an_offer_nobody_took_in_time_keeps_nobody_out() -> None:
    owner = Owner(accept=10.0)
    waiting = owner.join(BOB, "d1")
    owner.now += 10
    assert owner.ask(ADA).holder == ADA
    assert owner.ticket(waiting) is None


def test_a_refusal_for_want_of_quota_leaves_the_place_in_the_queue() -> None:
    owner = Owner(held=1)
    waiting = owner.join(ADA, "d1")
    owner.ask(CAT, "d2")
    assert owner.refused(Request("d1", ADA, 60.0)) == "quota_exceeded"
    assert owner.ticket(waiting) == waiting


def test_a_tenant_is_not_offered_more_than_it_may_hold() -> None:
    owner = Owner(held=1)
    first = owner.join(ADA, "d1", "d2", "d3", asked="one")
    second = owner.join(ADA, "d1", "d2", "d3", asked="two")
    assert (first.offered is None, second.offered is None) == (False, True)
    assert owner.join(BOB, "d2").offered == "d2"
    lease = owner.do(Accept(first.ticket_id)).result
    owner.do(Release(lease.lease_id))
    now = owner.ticket(second)
    assert now is not None and now.offered is not None


def test_the_next_in_line_is_served_when_the_first_has_all_it_may_have() -> None:
    owner = Owner(held=1)
    owner.ask(ADA, "d9")
    gate = owner.ask(BOB, "d1")
    owner.join(CAT, "d1")
    third = owner.join(holder("eve", "third"), "d1")
    owner.do(Release(gate.lease_id))
    now = owner.ticket(third)
    assert now is not None and now.offered == "d1"


def test_a_device_that_turns_bad_is_not_given_to_whom_it_was_offered() -> None:
    owner = Owner()
    waiting = owner.join(ADA, "d1")
    owner.do(SetHealth("d1", "suspect", "did not come back"))
    now = owner.ticket(waiting)
    assert now is not None and now.offered is None
    assert owner.do(Accept(waiting.ticket_id)).result is None
    owner.do(SetHealth("d1", "good"))
    assert owner.do(Accept(waiting.ticket_id)).result.device == "d1"


def test_what_does_not_do_any_more_is_not_kept_for_the_one_who_waits() -> None:
    owner = Owner()
    waiting = owner.join(ADA, "d1")
    owner.do(Wait(waiting.ticket_id, (wish("d2"),)))
    now = owner.ticket(waiting)
    assert now is not None and now.offered == "d2"
    assert owner.ask(BOB, "d1")
    assert owner.join(ADA, "d3").offered == "d3"


def test_an_offer_of_a_device_that_its_own_session_was_given_back_leads_to_one_lease() -> None:
    owner = Owner()
    owner.ask(ADA, "d1", "s")
    human = owner.take(HUMAN, "d2", "s")
    waiting = owner.join(ADA, "d1")  # by then the device is known to share nothing any more
    assert waiting.offered == "d1"
    owner.do(GiveBack(human.lease_id))
    owner.do(Accept(waiting.ticket_id))
    assert len(owner.state.leases) == 1


def test_what_ran_out_and_was_offered_does_not_stand_again_when_the_clock_is_set_back() -> None:
    owner = Owner()
    lease = owner.ask(ADA)
    owner.now += 60
    place = owner.join(BOB, "d1")
    assert place.offered == "d1"
    owner.now -= 30
    owner.do(Tick())
    assert not owner.stands(lease)
    assert owner.do(Accept(place.ticket_id)).result.holder == BOB


# --- quotas ---


def test_minutes_of_yesterday_are_not_counted_today() -> None:
    owner = Owner(minutes=60.0)
    owner.now = START - 3600.0 - 1800.0
    owner.ask(ADA, ttl=600.0)
    owner.now = START
    owner.do(Tick())
    assert owner.state.account("p/default").seconds == 0


def test_a_clock_set_back_over_midnight_does_not_wipe_out_what_was_used() -> None:
    owner = Owner(minutes=60.0)
    lease = owner.ask(ADA, until=owner.now + 3600)
    owner.now += 3600
    owner.do(Tick())
    owner.now -= 3 * 3600
    assert owner.refused(Request("d1", ADA, 60.0)) == "quota_exceeded"
    assert not owner.stands(lease)


# --- steps ---


def test_a_step_that_fails_midway_changes_nothing() -> None:
    owner = Owner()
    owner.ask(ADA)
    owner.now += 61
    before = picture(owner.state)
    with pytest.raises(AttributeError):
        advance(owner.state, Join(ADA, "any", (wish("d1"), None), 60.0), owner.now, "x")  # type: ignore[arg-type]
    assert picture(owner.state) == before


def test_a_lease_that_never_ends_can_be_spoken_of() -> None:
    owner = Owner()
    owner.take(HUMAN)
    owner.ask(HUMAN, until=float("inf"))
    assert owner.refused(Request("d1", BOB, 60.0)) == "lease_held"


# --- the oracle: who holds what until when, and who waits ---

GRAIN = 0.25
REMEMBERED = 86400.0
SHARES: dict[str, frozenset[str]] = {
    "d1": frozenset({"s"}), "d2": frozenset({"s", "t"}), "d3": frozenset({"t"}), "d4": frozenset(),
}  # fmt: skip
EVERYBODY = [ADA, BOB, CAT, DAN, HUMAN, BOSS]


def same(one: Holder, other: Holder) -> bool:
    return (one.principal, one.tenant, one.session) == (other.principal, other.tenant, other.session)


def tenant(who: Holder) -> str:
    return f"{who.principal}/{who.tenant}"


@dataclass
class Row:
    """A lease as the oracle knows it."""

    device: str
    group: frozenset[str]
    who: Holder
    kind: str
    ttl: float
    since: float
    until: float
    top: float
    fence: tuple[int, int]

    def covers(self, device: str, group: Iterable[str]) -> bool:
        return self.device == device or not self.group.isdisjoint(group)

    def bars(self, device: str, group: Iterable[str], who: Holder) -> bool:
        return self.covers(device, group) and (self.device == device or not same(self.who, who))


def row_of(lease: Lease) -> Row:
    return Row(
        lease.device, frozenset(lease.group), lease.holder, lease.kind, lease.ttl, lease.granted_at, lease.expires_at,
        lease.max_until if lease.max_until is not None else float("inf"), (lease.fence.epoch, lease.fence.counter),
    )  # fmt: skip


@dataclass
class Offer:
    device: str
    group: frozenset[str]
    who: Holder


class Oracle:
    """Judges every step by the rules of ownership, from what watchers are told and callers are answered."""

    def __init__(self, rules: Rules) -> None:
        self.owner = Owner()
        self.owner.state.rules = self.rules = rules
        self.held: dict[str, Row] = {}
        self.ended: dict[str, tuple[str, str, float]] = {}  # how it ended, its kind, when
        self.parked: dict[str, tuple[Row, str, bool]] = {}  # as it was, by which takeover, clean-up owed to it
        self.given: dict[str, tuple[str, Holder]] = {}  # the last lease on a device
        self.user: dict[str, Holder] = {}  # who drove a device since it was cleaned up
        self.owed: dict[str, bool] = {}
        self.spent: list[tuple[str, float, float]] = []
        self.offers: dict[str, Offer] = {}
        self.over: list[str] = []  # takeovers that give back in this step
        self.counter = 0
        self.set_back = False
        self.sound = True

    @property
    def now(self) -> float:
        return self.owner.now

    @property
    def state(self) -> LeaseState:
        return self.owner.state

    # --- what the rules say ---

    def standing(self) -> dict[str, Row]:
        return {key: row for key, row in self.held.items() if self.now < row.until}

    def barred(self, device: str, group: Iterable[str], who: Holder) -> bool:
        return any(row.bars(device, group, who) for row in self.standing().values())

    def bad(self, device: str) -> bool:
        return self.state.mark(device).health not in ("good", "unknown")

    def full(self, who: Holder, *, and_offered: bool = False) -> bool | None:
        """Whether a tenant has all it may have; None = the clock was set back, who knows."""
        own = [row for row in self.standing().values() if tenant(row.who) == tenant(who)]
        kept = sum(tenant(offer.who) == tenant(who) for offer in self.offers.values()) if and_offered else 0
        if self.rules.held is not None and len(own) + kept >= self.rules.held:
            return True
        if self.rules.minutes is None:
            return False
        if self.set_back:
            return None
        today = self.now // 86400 * 86400
        times = [(start, end) for key, start, end in self.spent if key == tenant(who)]
        times += [(row.since, self.now) for row in own if row.kind != "human"]
        used = sum(max(0.0, end - max(start, today)) for start, end in times)
        return None if abs(used - self.rules.minutes * 60) < 1e-3 else used >= self.rules.minutes * 60

    def verdict(self, event: Event, tickets: dict[str, Ticket]) -> str | None:
        """How an event must be answered: an error's code or a word; None = cannot be said."""
        ttl = {Request: "ttl", Join: "ttl"}.get(type(event))
        ttl_asked = event.request.ttl if isinstance(event, TakeOver) else getattr(event, ttl) if ttl else 60.0
        if not 5.0 <= ttl_asked <= 600.0:
            return "invalid_argument"
        if isinstance(event, Request):
            return self._verdict_on_request(event)
        if isinstance(event, (Renew, GiveBack)):
            row = self.standing().get(event.lease_id)
            if row is None:
                return "lease_lost" if self.ended.get(event.lease_id, ("",))[0] == "taken" else "lease_expired"
            return "done" if isinstance(event, Renew) or row.kind == "human" else "invalid_argument"
        if isinstance(event, Join):
            own = [r for r in self.standing().values() if same(r.who, event.holder)]
            if any(row.device == wish.device for row in own for wish in event.wishes):
                return "lease"
            known = [t for t in self.state.tickets.values() if t.asked == event.asked and same(t.holder, event.holder)]
            if known and known[0].ticket_id != self.owner.fresh:
                return "ticket"
            waiting = [t for t in tickets.values() if tenant(t.holder) == tenant(event.holder)]
            waiting = [t for t in waiting if t.offered is None or self.now < t.offer_until]
            return "quota_exceeded" if len(waiting) >= (self.rules.queued or 99) else "new ticket"
        if isinstance(event, Accept):
            place = tickets.get(event.ticket_id)
            if place is None or place.offered is None or self.now >= place.offer_until:
                return "too late"
            who, wish = event.holder or place.holder, next(w for w in place.wishes if w.device == place.offered)
            if self.barred(wish.device, wish.group, who):
                return "too late"
            full = self.full(who)
            return None if full is None else "quota_exceeded" if full else "new"
        return "done"

    def _verdict_on_request(self, e: Request) -> str | None:
        near = [row for row in self.standing().values() if row.covers(e.device, e.group)]
        others = [row for row in near if not same(row.who, e.holder)]
        if others:
            clean_up = max(others, key=lambda row: row.until).kind == "cleanup"
            return "lease_held" if clean_up or e.lease_id is None else "lease_lost"
        for key, row in self.standing().items():
            if row.device == e.device:
                other_lease = e.kind != "implicit" and e.lease_id not in (None, key)
                return "lease_stale" if other_lease or e.fence not in (None, row.fence) else "use"
        if e.lease_id is not None:
            how, kind, _ = self.ended.get(e.lease_id, ("", "", 0))
            last = self.given.get(e.device)
            if how == "taken" or (last is not None and last[0] != e.lease_id and not same(last[1], e.holder)):
                return "lease_lost"
            if (how, kind) == ("expired", "run"):
                return "lease_expired"
        for offer in self.offers.values():
            if not same(offer.who, e.holder) and (offer.device == e.device or offer.group & e.group):
                return "lease_held"
        if self.bad(e.device):
            return "device_unhealthy"
        full = self.full(e.holder)
        return None if full is None else "quota_exceeded" if full else "new"

    # --- one event ---

    def do(self, event: Event) -> Step:
        tickets = dict(self.state.tickets)
        self.offers = {
            t.ticket_id: Offer(t.offered, next(w.group for w in t.wishes if w.device == t.offered), t.holder)
            for t in tickets.values()
            if t.offered is not None
        }
        unmade = dict(self.held)
        self.sound = False
        done = self.owner.do(event)
        self._give_up_offers(event, done)
        verdict, decided = None, False
        if isinstance(event, Cleaned):
            self._drop_clean_ups(lambda row: row.device == event.device)
        if isinstance(event, SetHealth) and event.health == "suspect":  # the clean-up failed
            self._drop_clean_ups(lambda row: row.device == event.device)
        for told in done.told:
            if told.kind not in ("expired", "given_back"):
                self._settle()
            if told.kind in ("granted", "taken", "released") and not decided:
                verdict, decided = self.verdict(event, tickets), True
            if told.ticket is not None:
                self._hear_of_place(event, told, told.ticket, tickets)
            else:
                self._hear(event, done, told)
        self._settle()
        if not decided:
            verdict = self.verdict(event, tickets)
        self._judge(event, done, verdict, unmade)
        self._silent(event, done)
        self._places(event, done, tickets)
        self.compare()
        self.invariants()
        if planned(event, done):
            self.nothing_left_to_offer()
        self.sound = True
        return done

    def _give_up_offers(self, event: Event, done: Step) -> None:
        """Offers that end by what was asked, whatever else came of it."""
        used = done.result[0] if isinstance(event, Request) and done.error is None else done.result
        widened = isinstance(used, Lease) and isinstance(event, (Request, Join)) and used.lease_id in self.held
        for key, offer in list(self.offers.items()):
            place = self.state.tickets.get(key)
            if isinstance(event, (Accept, Leave)):
                ends = event.ticket_id == key
            elif isinstance(event, SetHealth):
                ends = event.device == offer.device and event.health == "suspect"
            else:
                ends = place is not None and Wish(offer.device, offer.group) not in place.wishes
                ends = ends or (widened and not same(offer.who, used.holder) and bool(offer.group & {*used.group}))
            if ends:
                del self.offers[key]

    def _hear(self, event: Event, done: Step, told: LeaseEvent) -> None:
        lease = told.lease
        assert lease is not None
        key, device = lease.lease_id, lease.device
        if told.kind == "granted":
            if isinstance(event, TakeOver):
                self._drop_clean_ups(lambda row: row.bars(device, lease.group, lease.holder))
            assert key == self.owner.fresh and isinstance(event, (Request, TakeOver, Accept))
            assert not self.barred(device, lease.group, lease.holder), "two holders"
            user = self.user.get(device)
            owed = self.owed.get(device, False) or (user is not None and not same(user, lease.holder))
            self._sit(lease, owed and lease.kind != "human")
        elif told.kind == "given_back":
            row, by, owed = self.parked.pop(key)
            assert by in self.over and self.ended.pop(key, ("taken",))[0] == "taken"
            assert self.now < row.top and not self.barred(row.device, row.group, row.who), "given back over somebody"
            expires = min(self.now + row.ttl, row.top)
            if row.kind == "human":
                expires = max(expires, row.until)
            assert abs(lease.expires_at - expires) < GRAIN
            assert row_of(lease) == replace(
                row, since=self.now, until=lease.expires_at, fence=(lease.fence.epoch, lease.fence.counter)
            )
            self._sit(lease, owed)
        else:
            self._end(event, done, told, self.held.pop(key))

    def _sit(self, lease: Lease, owed: bool) -> None:
        fence = lease.fence
        assert fence.epoch == self.state.epoch and fence.counter > self.counter, "a fence that is not new"
        self.counter = fence.counter
        self.held[lease.lease_id] = row_of(lease)
        self.given[lease.device] = (lease.lease_id, lease.holder)
        self.user[lease.device] = lease.holder
        self.owed[lease.device] = owed
        for key, offer in list(self.offers.items()):
            if self.barred(offer.device, offer.group, offer.who):
                del self.offers[key]

    def _end(self, event: Event, done: Step, told: LeaseEvent, row: Row) -> None:
        assert told.lease is not None
        key, at = told.lease.lease_id, self.now
        if told.kind == "expired":
            assert row.until <= self.now, "it still stood"
            at = row.until
        elif told.kind == "released":
            assert isinstance(event, (Release, GiveBack)) and event.lease_id == key and self.now < row.until
        else:
            assert isinstance(event, TakeOver) and told.kind == "taken" and self.now < row.until
            asked = event.request
            assert row.bars(asked.device, asked.group, asked.holder)
            assert (told.by, told.reason) == (asked.holder, event.reason)
            if same(row.who, asked.holder):
                for parked, (was, by, owed) in list(self.parked.items()):
                    self.parked[parked] = (was, self.owner.fresh if by == key else by, owed)
            else:
                self.parked[key] = (row, self.owner.fresh, self.owed.get(row.device, False))
        self.ended[key] = (told.kind, row.kind, at)
        if row.kind != "human":
            self.spent.append((tenant(row.who), row.since, at))
        elif told.kind == "expired" or isinstance(event, GiveBack):
            self.over.append(key)
        elif told.kind == "released":
            self._forget(key)
        if told.kind == "released" and isinstance(event, Release) and event.clean_until is not None:
            self._clean_up(row, event.clean_until, done)

    def _clean_up(self, row: Row, until: float, done: Step) -> None:
        """The device of a lease that was released is kept for its clean-up, if it was driven since the last one."""
        if row.device in self.user:
            others = [r.group for r in self.standing().values() if same(r.who, row.who)]
            made = next(c.value for c in done.changes if c.key == self.owner.fresh and c.value is not None)
            assert (made.kind, made.holder, made.device) == ("cleanup", CLEANER, row.device)
            assert frozenset(made.group) == row.group.difference(*others)
            assert abs(made.expires_at - max(self.now, until)) < 1e-6
            assert made.fence.counter > self.counter
            self.counter = made.fence.counter
            row = self.held[self.owner.fresh] = row_of(made)
            self.offers = {k: o for k, o in self.offers.items() if not row.bars(o.device, o.group, o.who)}

    def _settle(self) -> None:
        """Whoever a takeover that is over did not give back to could not be given back to, and is forgotten."""
        for human in self.over:
            for key, (row, by, _) in list(self.parked.items()):
                if by == human:
                    sick = self.bad(row.device) and row.kind != "human"
                    barred = self.barred(row.device, row.group, row.who)
                    assert sick or row.top <= self.now or barred, "not given back"
                    del self.parked[key]
                    self._forget(key)
        self.over = []

    def _forget(self, human: str) -> None:
        for key, (_, by, _) in list(self.parked.items()):
            if by == human:
                del self.parked[key]
                self._forget(key)

    def _drop_clean_ups(self, which: Any) -> None:
        for key, row in list(self.held.items()):
            if row.kind == "cleanup" and which(row):
                del self.held[key]

    def _hear_of_place(self, event: Event, told: LeaseEvent, place: Ticket, before: dict[str, Ticket]) -> None:
        key = place.ticket_id
        if told.kind == "passed":
            lapsed = place.offered is not None and self.now >= place.offer_until
            assert lapsed or (isinstance(event, Tick) and self.now - place.seen_at > self.rules.grace)
            assert (place.holder, place.joined_at) == (before[key].holder, before[key].joined_at)
            self.offers.pop(key, None)
            return
        assert told.kind == "offered" and place.offered is not None
        wish = next(w for w in place.wishes if w.device == place.offered)
        assert place.offer_until == self.now + self.rules.accept
        assert key not in self.offers
        assert self.may_be_offered(wish, place.holder), "an offer of what is not to be had"
        assert self.full(place.holder, and_offered=True) is not True, "an offer to a tenant that has all it may have"
        self.offers[key] = Offer(wish.device, wish.group, place.holder)

    def may_be_offered(self, wish: Wish, who: Holder) -> bool:
        kept = any(offer.device == wish.device or offer.group & wish.group for offer in self.offers.values())
        return not kept and not self.bad(wish.device) and not self.barred(wish.device, wish.group, who)

    def _judge(self, event: Event, done: Step, verdict: str | None, before: dict[str, Row]) -> None:
        if done.error is not None:
            assert verdict in (None, done.error.code), f"{verdict} expected, {done.error.code} answered"
            assert verdict is not None or done.error.code == "quota_exceeded"
            due = {"expired", "given_back", "offered", "passed"}
            assert {told.kind for told in done.told} <= due, "a refusal that did something"
            return
        if verdict is None:
            verdict = "new"
        if isinstance(event, Request):
            lease, again = done.result
            assert verdict in ("new", "use"), f"{verdict} expected"
            assert again == (verdict == "new" and event.lease_id is not None)
            if verdict == "new":
                self._judge_new(lease, event, event.kind)
            else:
                acquire = event.ttl if event.kind == "run" else None
                self._judge_use(lease, until=event.until, group=event.group, acquire=acquire)
        elif isinstance(event, TakeOver):
            self._judge_new(done.result, event.request, "human")
        elif isinstance(event, Renew):
            assert verdict == "done"
            self._judge_use(done.result, until=event.until or 0.0)
        elif isinstance(event, Release):
            row = before.get(event.lease_id)
            assert done.result is not None or row is None or row.until <= self.now
            given_back = any(told.kind == "released" for told in done.told)  # by a takeover that had just run out
            assert done.result is None or row is not None or given_back
            if row is None and event.lease_id in self.parked:
                del self.parked[event.lease_id]
                self._forget(event.lease_id)
        elif isinstance(event, GiveBack):
            assert verdict == "done"
            assert done.result == [told.lease for told in done.told if told.kind == "given_back"][-len(done.result) :]
        elif isinstance(event, Join):
            if verdict == "lease":
                wish = next(w for w in event.wishes if w.device == done.result.device)
                row = self.held[done.result.lease_id]
                free = not self.barred("", wish.group, event.holder)
                group = wish.group if free else ()
                self._judge_use(done.result, until=row.until, group=group, acquire=event.ttl)
            else:
                assert verdict in ("ticket", "new ticket"), verdict
                place = done.result
                assert (place.ticket_id == self.owner.fresh) == (verdict == "new ticket")
                assert (place.holder, place.wishes, place.ttl) == (event.holder, event.wishes, event.ttl)
        elif isinstance(event, Accept):
            assert (done.result is None) == (verdict == "too late"), verdict
            if done.result is not None:
                assert done.result.kind == "run"

    def _judge_new(self, lease: Lease, e: Request, kind: str) -> None:
        top = self.now + self.rules.longest if self.rules.longest and kind != "human" else float("inf")
        expires = min(max(self.now + e.ttl, e.until), top)
        fence = (self.state.epoch, self.counter)
        assert row_of(lease) == Row(e.device, e.group, e.holder, kind, e.ttl, self.now, expires, top, fence)

    def _judge_use(
        self, lease: Lease, *, until: float, group: Iterable[str] = (), acquire: float | None = None
    ) -> None:
        """A lease that was used; `acquire` is the TTL asked for by name."""
        row = self.held[lease.lease_id]
        kind = "run" if acquire and row.kind != "human" else row.kind
        ttl = acquire or row.ttl
        expires = min(max(self.now + ttl, until), row.top)
        if row.kind == "human":  # a person was told until when the device is kept
            expires = max(expires, row.until)
        assert abs(lease.expires_at - expires) < GRAIN
        fence = (lease.fence.epoch, lease.fence.counter)
        if fence != row.fence:
            assert row.fence[0] < fence[0] == self.state.epoch and fence[1] > self.counter
            self.counter = fence[1]
        row = replace(row, group=row.group.union(group), kind=kind, ttl=ttl, until=lease.expires_at, fence=fence)
        assert row_of(lease) == row
        self.held[lease.lease_id] = row

    def _silent(self, event: Event, done: Step) -> None:
        """What happens without watchers being told."""
        if isinstance(event, Cleaned):
            driver = next((row.who for row in self.standing().values() if row.device == event.device), None)
            self.user.pop(event.device, None)
            if driver is not None:
                self.user[event.device] = driver
            self.owed[event.device] = False
            for key, (row, by, owed) in list(self.parked.items()):
                self.parked[key] = (row, by, owed and row.device != event.device)
        if isinstance(event, Tick):
            self.ended = {key: end for key, end in self.ended.items() if self.now - end[2] <= REMEMBERED}
            self._drop_clean_ups(lambda row: row.until <= self.now)
        for key, row in list(self.held.items()):
            if row.kind == "cleanup" and key not in self.state.leases:
                assert row.until <= self.now, "a clean-up was ended"
                del self.held[key]

    def _places(self, event: Event, done: Step, before: dict[str, Ticket]) -> None:
        """Changes of places in the queue that nobody is told of."""
        after = self.state.tickets
        passed = {told.ticket.ticket_id for told in done.told if told.kind == "passed" and told.ticket is not None}
        granted = done.result[0] if isinstance(event, Request) and done.error is None else None
        for key, place in before.items():
            if key not in after:
                left = isinstance(event, (Leave, Accept)) and event.ticket_id == key
                served = (
                    granted is not None and granted.lease_id == self.owner.fresh and same(place.holder, granted.holder)
                )
                assert key in passed or left or served, "a place was lost"
        for key, place in after.items():
            if key not in before:
                assert isinstance(event, Join) and key == self.owner.fresh
            offer = self.offers.get(key)
            if offer is not None and place.offered is None:
                assert self.barred(offer.device, offer.group, offer.who), "an offer was withdrawn for nothing"
            elif offer is not None or place.offered is not None:
                assert offer is not None and place.offered == offer.device, "an offer nobody was told of"
        self.offers = {key: offer for key, offer in self.offers.items() if key in after and after[key].offered}
        if isinstance(event, Tick):
            assert all(self.now - place.seen_at <= self.rules.grace for place in after.values())
            assert all(self.now < place.offer_until for place in after.values() if place.offered)
        if isinstance(event, Wait) and event.ticket_id in after:
            assert self.now - after[event.ticket_id].seen_at < 1.0

    # --- what always holds ---

    def compare(self) -> None:
        assert {key: row_of(lease) for key, lease in self.state.leases.items()} == self.held
        parked = {key: (row_of(s.lease), s.by, s.owed) for key, s in self.state.suspended.items()}
        assert parked == self.parked
        assert {k: (e.kind, e.lease_kind, e.at) for k, e in self.state.ended.items()} == self.ended
        for device in SHARES:
            assert self.state.mark(device).owed == self.owed.get(device, False), device

    def invariants(self) -> None:
        rows = list(self.standing().items())
        for i, (_, one) in enumerate(rows):
            for _, other in rows[:i]:
                assert not one.bars(other.device, other.group, other.who), "two holders"
        devices = [lease.device for lease in self.state.leases.values()]
        assert len(devices) == len(set(devices))
        assert self.state.counter == self.counter
        for by in {by for _, by, _ in self.parked.values()}:
            assert by in self.held or by in self.parked, "nobody is left to give it back"
        offers = list(self.offers.values())
        for i, offer in enumerate(offers):
            assert not self.barred(offer.device, offer.group, offer.who) and not self.bad(offer.device)
            assert not any(offer.device == other.device or offer.group & other.group for other in offers[:i])

    def nothing_left_to_offer(self) -> None:
        for place in self.state.tickets.values():
            if place.offered is None and self.full(place.holder, and_offered=True) is False:
                assert not any(self.may_be_offered(wish, place.holder) for wish in place.wishes), (
                    "who waits is passed over"
                )

    def nobody_is_locked_out(self) -> None:
        """After a time in which nobody did anything all is free, and whoever comes is served."""
        for _ in range(2 + len(self.parked)):
            self.owner.now += max([86400.0 * 2, *(row.until - self.now for row in self.held.values())])
            self.do(Tick())
        assert not self.state.leases and not self.state.suspended and not self.state.tickets and not self.state.ended
        for device, group in SHARES.items():
            self.do(SetHealth(device, "good"))
            place = self.do(Join(holder("late", device), device, (Wish(device, group),), 60.0)).result
            assert place.offered == device
            self.do(Accept(place.ticket_id))
            self.do(Release(self.owner.fresh))


def planned(event: Event, done: Step) -> bool:
    """Whether an event must leave nothing on offer that somebody waits for."""
    if isinstance(event, (Release, Leave, Wait)):
        return done.result is not None
    if isinstance(event, (Request, Renew, Accept)):
        return bool(done.told)
    return getattr(done.error, "code", None) != "invalid_argument" or isinstance(event, GiveBack)


# --- stories ---

picks = st.integers(0, 11)
"""Which of those there are: people, devices, leases, places."""

ttls = st.sampled_from([5.0, 10.0, 60.0, 60.0, 600.0, 600.0, 1.0])
limits = st.sampled_from([None, None, None, 1, 2])
minutes = st.sampled_from([None, None, 2.0, 30.0])
longest = st.sampled_from([86400.0, None, 100.0])


class Ownership(RuleBasedStateMachine):
    """Anything that may happen to ownership, in any order; a story has few people and devices, so that they meet."""

    def __init__(self) -> None:
        super().__init__()
        self.oracle = Oracle(Rules())
        self.people = EVERYBODY
        self.devices = list(SHARES)
        self.seats: dict[tuple[str, str], list[tuple[str, tuple[int, int]]]] = {}

    @initialize(
        held=limits, queued=limits, minutes=minutes, longest=longest,
        people=st.permutations(EVERYBODY), devices=st.permutations(list(SHARES)), few=st.integers(1, 4),
    )  # fmt: skip
    def open(self, few: int, people: list[Holder], devices: list[str], **limits: Any) -> None:
        self.oracle = Oracle(Rules(**limits))
        self.people = people[: few + 1]
        self.devices = devices[:few]

    @property
    def now(self) -> float:
        return self.oracle.now

    def person(self, pick: int) -> Holder:
        return self.people[pick % len(self.people)]

    def device(self, pick: int) -> str:
        return self.devices[pick % len(self.devices)]

    def lease(self, pick: int) -> str:
        oracle = self.oracle
        standing = [key for key, row in oracle.held.items() if row.kind != "cleanup"]
        ids = [*standing, *oracle.parked, *list(oracle.ended)[-2:]] if pick % 4 else standing
        return ids[pick % len(ids)] if ids else "nonsense"

    def place(self, pick: int) -> str:
        offered = [key for key, place in self.oracle.state.tickets.items() if place.offered]
        ids = offered if pick % 2 and offered else list(self.oracle.state.tickets)
        return ids[pick % len(ids)] if ids else "nonsense"

    def wishes(self, wanted: set[int]) -> tuple[Wish, ...]:
        return tuple(Wish(name, SHARES[name]) for name in sorted({self.device(pick) for pick in wanted}))

    def sit(self, lease: Lease) -> None:
        fence = (lease.fence.epoch, lease.fence.counter)
        self.seats.setdefault((lease.holder.session, lease.device), []).append((lease.lease_id, fence))

    @rule(
        who=picks, device=picks, ttl=ttls, seat=st.sampled_from([None, -1, -1, -2]), fenced=st.booleans(),
        run=st.booleans(), pin=st.sampled_from([0.0, 5.0, 500.0]), wide=st.sampled_from([None, None, None, "s", "t"]),
    )  # fmt: skip
    def ask(
        self, *, who: int, device: int, ttl: float, seat: int | None, fenced: bool, run: bool, pin: float,
        wide: str | None,
    ) -> None:  # fmt: skip
        holder, name = self.person(who), self.device(device)
        seats = self.seats.get((holder.session, name), [])
        lease_id, fence = seats[seat] if seat is not None and len(seats) >= -seat else (None, None)
        group = SHARES[name] | ({wide} if wide else frozenset())
        kind: Any = "run" if run else "implicit"
        done = self.oracle.do(
            Request(name, holder, ttl, group, lease_id, fence if fenced else None, kind, self.now + pin)
        )
        if done.error is None:
            self.sit(done.result[0])

    @rule(lease=picks, pin=st.sampled_from([None, 3.0, 700.0]))
    def renew(self, lease: int, pin: float | None) -> None:
        self.oracle.do(Renew(self.lease(lease), None if pin is None else self.now + pin))

    @rule(lease=picks, clean=st.sampled_from([None, 0.0, 10.0]))
    def release(self, lease: int, clean: float | None) -> None:
        self.oracle.do(Release(self.lease(lease), clean_until=None if clean is None else self.now + clean))

    @rule(who=picks, device=picks, ttl=ttls)
    def take_over(self, who: int, device: int, ttl: float) -> None:
        name = self.device(device)
        done = self.oracle.do(TakeOver(Request(name, self.person(who), ttl, SHARES[name]), "to look"))
        if done.error is None:
            self.sit(done.result)

    @rule(lease=picks)
    def give_back(self, lease: int) -> None:
        takeovers = [key for key, row in self.oracle.held.items() if row.kind == "human"]
        self.oracle.do(GiveBack(takeovers[lease % len(takeovers)] if takeovers and lease else self.lease(lease)))

    @rule(
        who=picks, wanted=st.sets(picks, min_size=1, max_size=3), asked=st.sampled_from("xy"), ttl=ttls,
        priority=st.integers(0, 2),
    )  # fmt: skip
    def join(self, who: int, wanted: set[int], asked: str, ttl: float, priority: int) -> None:
        self.oracle.do(Join(self.person(who), asked, self.wishes(wanted), ttl, priority))

    @rule(place=picks, wanted=st.none() | st.sets(picks, max_size=3))
    def wait(self, place: int, wanted: set[int] | None) -> None:
        self.oracle.do(Wait(self.place(place), None if wanted is None else self.wishes(wanted)))

    @rule(place=picks, by_another=st.sampled_from([False, False, True]))
    def accept(self, place: int, by_another: bool) -> None:
        found = self.oracle.state.tickets.get(self.place(place))
        who = CAT if by_another and found is not None and found.holder.tenant == CAT.tenant else None
        done = self.oracle.do(Accept(self.place(place), who))
        if done.result is not None:
            self.sit(done.result)

    @rule(place=picks)
    def leave(self, place: int) -> None:
        self.oracle.do(Leave(self.place(place)))

    @rule()
    def tick(self) -> None:
        self.oracle.do(Tick())

    @rule(seconds=st.sampled_from([0.1, 1.0, 5.0, 29.0, 31.0, 60.0, 600.0, 5 * 3600.0, 90000.0]))
    def time_passes(self, seconds: float) -> None:
        self.oracle.owner.now += seconds

    @rule(which=picks, off=st.sampled_from([-0.1, 0.0, 0.0, 0.1]))
    def something_runs_out(self, which: int, off: float) -> None:
        ends = [row.until for row in self.oracle.held.values()]
        ends += [place.offer_until for place in self.oracle.state.tickets.values() if place.offered]
        ends = sorted(end for end in ends if end > self.now)
        if ends:
            self.oracle.owner.now = max(self.now, ends[which % len(ends)] + off)

    @rule(seconds=st.sampled_from([0.2, 7.0, 100.0, 7200.0]))
    def clock_is_set_back(self, seconds: float) -> None:
        self.oracle.owner.now -= seconds
        self.oracle.set_back = True

    @rule(device=picks, health=st.sampled_from(["good", "good", "suspect"]))
    def health(self, device: int, health: Any) -> None:
        self.oracle.do(SetHealth(self.device(device), health))

    @rule(device=picks)
    def cleaned(self, device: int) -> None:
        self.oracle.do(Cleaned(self.device(device)))

    @rule()
    def owner_is_started_again(self) -> None:
        self.oracle.owner.restart()

    @rule()
    def next_step_fails_first(self) -> None:
        self.oracle.owner.crash = True

    def teardown(self) -> None:
        if self.oracle.sound:
            self.oracle.nobody_is_locked_out()


Ownership.TestCase.settings = settings(
    max_examples=STORIES, stateful_step_count=40, deadline=None, derandomize=not FULL,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
TestOwnership = Ownership.TestCase
