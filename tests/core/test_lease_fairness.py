"""Whose turn it is: tenants in a simulated day, each of which wants more than there is."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anydevice.leases import LeaseState, Rules, Step, Ticket, Wish, advance
from anydevice.leases.events import Accept, Event, Join, Leave, Release, Renew, Request, Tick
from anydevice.leases.fairness import positions
from anydevice_schemas import Holder

from ..support.sizes import size

START = 20_000 * 86400.0


@dataclass
class Tenant:
    """Somebody who always wants a device, `places` times over, and keeps each for `hold` seconds."""

    name: str
    hold: float
    places: int = 2
    devices: tuple[str, ...] = ("d1",)
    priority: int = 0
    again: bool = True
    had: float = 0.0
    turns: int = 0
    waits: list[float] = field(default_factory=list)


class Day:
    """Tenants that come and go, on the lease machine and nothing else."""

    def __init__(self, *tenants: Tenant, **rules: Any) -> None:
        self.state = LeaseState(rules=Rules(**({"grace": 1e9} | rules)))
        self.now = START
        self.made = 0
        self.tenants = {tenant.name: tenant for tenant in tenants}
        self.served: list[str] = []
        self.since: dict[str, tuple[Tenant, float]] = {}
        self.asleep: list[str] = []  # tenants that do not take what they are offered
        self._ends: list[tuple[float, int, str, Tenant]] = []
        self._leases: dict[str, str] = {}

    def do(self, event: Event) -> Step:
        self.made += 1
        done = advance(self.state, event, self.now, f"id{self.made}")
        for told in done.told:
            if told.kind == "offered" and told.ticket is not None:
                tenant = self._of(told.ticket.holder)
                heapq.heappush(self._ends, (self.now + 0.05, self.made, told.ticket.ticket_id, tenant))
            elif told.kind == "passed" and told.ticket is not None and self._of(told.ticket.holder).again:
                self.join(self._of(told.ticket.holder))
        return done

    def _of(self, who: Holder) -> Tenant:
        return self.tenants[who.tenant]

    def who(self, tenant: Tenant) -> Holder:
        self.made += 1
        return Holder(principal="p", tenant=tenant.name, session=f"s{self.made}")

    def join(self, tenant: Tenant) -> Ticket:
        self.tenants.setdefault(tenant.name, tenant)
        wishes = tuple(Wish(device) for device in tenant.devices)
        place: Ticket = self.do(Join(self.who(tenant), "any", wishes, 60.0, tenant.priority)).result
        self.since[place.ticket_id] = (tenant, self.now)
        return place

    def everybody_joins(self) -> None:
        for tenant in self.tenants.values():
            for _ in range(tenant.places):
                self.join(tenant)

    def _sit(self, tenant: Tenant, lease_id: str, ticket: str) -> None:
        self.served.append(tenant.name)
        tenant.turns += 1
        tenant.waits.append(self.now - self.since.pop(ticket)[1])
        self.do(Renew(lease_id, until=self.now + tenant.hold + 1.0))
        self._leases[lease_id] = tenant.name
        heapq.heappush(self._ends, (self.now + tenant.hold, self.made, lease_id, tenant))

    def run(self, seconds: float, *, again: bool = True, ticks: float = 20.0) -> None:
        """Lets time pass; whoever ends asks again, if `again`."""
        end = self.now + seconds
        tick = self.now + ticks
        while True:
            at = self._ends[0][0] if self._ends else end
            if min(at, tick) > end:
                break
            if tick <= at:
                self.now = tick
                tick += ticks
                self.do(Tick())
                continue
            if not self._ends:
                break
            self.now, _, key, tenant = heapq.heappop(self._ends)
            if key in self._leases:
                del self._leases[key]
                tenant.had += tenant.hold
                self.do(Release(key))
                if again and tenant.again:
                    self.join(tenant)
            elif tenant.name not in self.asleep:
                lease = self.do(Accept(key)).result
                if lease is not None:
                    self._sit(tenant, lease.lease_id, key)
        self.now = end

    def spread(self) -> float:
        """How much more device time the one who had most got than the one who had least."""
        times = [tenant.had for tenant in self.tenants.values()]
        return max(times) / max(min(times), 1e-9)


@pytest.mark.parametrize(
    "holds", [(5.0, 5.0), (2.0, 60.0), (1.0, 10.0, 100.0), (1.0, 200.0), (20.0,) * 10, (500.0, 30.0, 30.0, 30.0)]
)
def test_tenants_get_the_same_device_time_however_long_each_keeps_a_device(holds: tuple[float, ...]) -> None:
    day = Day(*(Tenant(f"t{i}", hold) for i, hold in enumerate(holds)))
    day.everybody_joins()
    day.run(max(holds) * len(holds) * 30)
    assert day.spread() < 2, {t.name: t.had for t in day.tenants.values()}


@pytest.mark.parametrize("places", [(2, 100), (2, 3, 50), (30, 2, 2, 2)])
def test_tenants_get_the_same_device_time_however_often_each_asks(places: tuple[int, ...]) -> None:
    day = Day(*(Tenant(f"t{i}", 10.0, places=n) for i, n in enumerate(places)))
    day.everybody_joins()
    day.run(3000)
    assert day.spread() < 2, {t.name: t.had for t in day.tenants.values()}


@given(
    tenants=st.lists(st.tuples(st.floats(2.0, 60.0), st.integers(2, 6)), min_size=2, max_size=4),
)
@settings(max_examples=size("mixtures of tenants"), deadline=None, derandomize=True)
def test_any_mixture_of_tenants_shares_a_device_within_a_factor_of_two(tenants: list[tuple[float, int]]) -> None:
    day = Day(*(Tenant(f"t{i}", hold, places=n) for i, (hold, n) in enumerate(tenants)))
    day.everybody_joins()
    day.run(max(10.0, *(hold for hold, _ in tenants)) * len(tenants) * 25)
    assert day.spread() < 2, {t.name: (t.hold, t.places, t.had) for t in day.tenants.values()}


def test_several_devices_are_shared_as_fairly_as_one() -> None:
    pool = ("d1", "d2", "d3")
    day = Day(*(Tenant(f"t{i}", hold, places=6, devices=pool) for i, hold in enumerate((5.0, 50.0, 200.0, 20.0))))
    day.everybody_joins()
    day.run(20_000)
    assert day.spread() < 2, {t.name: t.had for t in day.tenants.values()}


def test_one_request_is_served_soon_however_many_somebody_else_has_waiting() -> None:
    many = Tenant("many", 10.0, places=100)
    day = Day(many)
    day.everybody_joins()
    day.run(500)
    before = len(day.served)
    day.join(Tenant("one", 10.0))
    day.run(100)
    assert "one" in day.served[before : before + 2]


def test_whoever_had_nothing_goes_before_whoever_had_much() -> None:
    day = Day(Tenant("a", 100.0, places=5), Tenant("b", 1.0))
    day.everybody_joins()
    day.run(1000)
    new = Tenant("new", 10.0)
    day.join(new)
    day.run(400)
    assert new.waits and new.waits[0] < 100.0 + 30.0, "more than who is at it, and a few short turns"


def test_a_request_of_low_priority_is_served_in_the_end() -> None:
    low = Tenant("t", 20.0)
    served = 0
    day = Day(low, age=30.0)
    gate = day.do(Request("d1", day.who(low), 60.0)).result[0]
    place = day.join(low)
    rushing = [day.do(Join(day.who(low), "any", (Wish("d1"),), 60.0, 10)).result for _ in range(3)]
    day.do(Release(gate.lease_id))
    while day.state.tickets[place.ticket_id].offered is None:
        served += 1
        assert served < 40, "it waits for ever"
        ready = next(t for t in day.state.tickets.values() if t.offered)
        lease = day.do(Accept(ready.ticket_id)).result
        rushing.append(day.do(Join(day.who(low), "any", (Wish("d1"),), 60.0, 10)).result)
        day.now += 20
        day.do(Release(lease.lease_id))
    assert day.now - START > 100, "priority counts for nothing"


def test_within_a_tenant_a_higher_priority_goes_first() -> None:
    tenant = Tenant("t", 10.0)
    day = Day(tenant)
    gate = day.do(Request("d1", day.who(tenant), 60.0)).result[0]
    day.join(tenant)
    urgent = day.do(Join(day.who(tenant), "any", (Wish("d1"),), 60.0, 1)).result
    day.do(Release(gate.lease_id))
    assert day.state.tickets[urgent.ticket_id].offered == "d1"


def test_priority_buys_no_tenant_a_turn_before_another() -> None:
    day = Day(Tenant("loud", 10.0, places=10, priority=9), Tenant("quiet", 10.0))
    day.everybody_joins()
    day.run(2000)
    assert day.spread() < 2


def test_a_request_that_one_device_can_satisfy_finds_it_free() -> None:
    day = Day()
    picky, easy = Tenant("picky", 10.0, devices=("d1",)), Tenant("easy", 10.0, devices=("d1", "d2", "d3"))
    gates = [day.do(Request(device, day.who(easy), 60.0)).result[0] for device in ("d1", "d2", "d3")]
    easies = [day.join(easy), day.join(easy)]
    place = day.join(picky)
    for gate in gates[1:] + gates[:1]:
        day.do(Release(gate.lease_id))
    assert day.state.tickets[place.ticket_id].offered == "d1"
    assert {day.state.tickets[easy.ticket_id].offered for easy in easies} == {"d2", "d3"}


def all_run_out(*tenants: Tenant) -> list[Ticket]:
    """The places of tenants that wait in this order while every device is in use, after all have run out at once."""
    day = Day()
    for device in sorted({device for tenant in tenants for device in tenant.devices}):
        day.do(Request(device, Holder(principal="p", session=device, tenant="gate"), 60.0))
    places = [day.join(tenant).ticket_id for tenant in tenants]
    day.now += 61
    day.do(Tick())
    return [day.state.tickets[place] for place in places]


def test_of_several_free_devices_one_takes_what_others_can_do_without() -> None:
    easy, picky = all_run_out(Tenant("a", 10.0, devices=("d1", "d2")), Tenant("b", 10.0, devices=("d1",)))
    assert (easy.offered, picky.offered) == ("d2", "d1")


def test_who_has_many_to_choose_from_is_less_in_need_of_each() -> None:
    many = ("d2", "d3", "d4", "d5")
    tenants = [Tenant(name, 10.0, devices=many) for name in "bc"]
    easy, *_, picky = all_run_out(Tenant("a", 10.0, devices=("d1", "d2")), *tenants, Tenant("z", 10.0, devices=("d1",)))
    assert (easy.offered, picky.offered) == ("d2", "d1")


def test_those_who_can_use_one_device_only_share_with_those_who_can_use_all() -> None:
    easy = [Tenant(f"easy{i}", 10.0, places=5, devices=("d1", "d2", "d3")) for i in range(3)]
    picky = Tenant("picky", 10.0, places=5, devices=("d1",))
    day = Day(picky, *easy)
    day.everybody_joins()
    day.run(3000)
    assert day.spread() < 2, {t.name: t.had for t in day.tenants.values()}


def test_who_never_takes_what_is_offered_costs_others_only_the_time_of_the_offers() -> None:
    day = Day(Tenant("sleeper", 10.0, places=5), Tenant("a", 10.0), Tenant("b", 10.0), accept=10.0)
    day.asleep = ["sleeper"]
    day.everybody_joins()
    day.run(3000, ticks=1.0)
    assert day.tenants["a"].had > 800 and day.tenants["b"].had > 800


def test_an_offer_nobody_took_costs_the_time_it_stood() -> None:
    day = Day(Tenant("sleeper", 10.0, again=False), Tenant("other", 10.0, again=False), accept=7.0)
    day.do(Request("d1", Holder(principal="p", session="gate", tenant="gate"), 60.0))
    for tenant in day.tenants.values():
        day.join(tenant)
    day.now += 61
    day.do(Tick())
    offered = next(t for t in day.state.tickets.values() if t.offered)
    key = "p/" + offered.holder.tenant
    before = day.state.account(key)
    day.now += 7
    day.do(Tick())
    after = day.state.account(key)
    assert before.ahead == 10.0
    assert (after.deficit, after.ahead) == (pytest.approx(before.deficit + before.ahead - 7.0), 0.0)


def test_what_a_turn_really_took_is_charged_not_what_it_was_thought_to_take() -> None:
    long, short = Tenant("long", 200.0), Tenant("short", 1.0)
    day = Day(long, short)
    day.everybody_joins()
    while long.turns < 2:
        day.run(10)
    assert short.had > 100


def test_how_long_a_tenant_keeps_devices_is_learnt() -> None:
    day = Day(Tenant("a", 100.0), Tenant("b", 2.0))
    day.everybody_joins()
    day.run(5000)
    assert day.state.account("p/a").hold == pytest.approx(100, rel=0.1)
    assert day.state.account("p/b").hold == pytest.approx(2, rel=0.1)


def test_who_waited_and_went_away_comes_back_with_nothing_saved_up() -> None:
    day = Day(Tenant("a", 10.0), Tenant("b", 10.0))
    day.do(Request("d9", Holder(principal="p", session="gate", tenant="gate"), 600.0, until=START + 9e4))
    day.everybody_joins()
    patient = Tenant("patient", 10.0, devices=("d9",))
    place = day.join(patient)
    day.run(2000)
    assert day.state.account("p/patient").deficit > 300
    day.do(Leave(place.ticket_id))
    patient.devices = ("d1",)
    before = len(day.served)
    for _ in range(20):
        day.join(patient)
    day.run(300)
    assert day.served[before:].count("patient") <= len(day.served[before:]) / 2


def test_a_debt_locks_nobody_out_for_ever() -> None:
    day = Day(Tenant("greedy", 3600.0), Tenant("other", 5.0))
    day.everybody_joins()
    while day.tenants["greedy"].turns == 0:
        day.run(60)
    day.run(3600)
    day.tenants["greedy"].hold = 5.0
    before = day.tenants["greedy"].turns
    day.run(4000)
    assert day.tenants["greedy"].turns > before + 100


def test_newcomers_do_not_keep_an_old_hand_out() -> None:
    old = Tenant("old", 600.0)
    day = Day(old, Tenant("other", 10.0))
    day.everybody_joins()
    day.run(6000)
    before = old.turns
    for i in range(150):
        day.join(Tenant(f"new{i}", 10.0, again=False))
        day.run(20)
        if old.turns > before:
            break
    assert old.turns > before


def test_who_has_waited_for_nothing_yet_has_saved_nothing_up() -> None:
    day = Day(Tenant("a", 10.0), Tenant("b", 10.0))
    day.everybody_joins()
    day.run(2000)
    late = Tenant("late", 10.0, places=20)
    day.tenants["late"] = late
    before = len(day.served)
    for _ in range(late.places):
        day.join(late)
    day.run(300)
    assert day.served[before:].count("late") <= len(day.served[before:]) / 2


def test_who_takes_devices_without_queueing_pays_for_them_when_others_wait() -> None:
    day = Day(Tenant("grabber", 10.0), Tenant("waiter", 10.0))
    lease = day.do(Request("d1", day.who(day.tenants["grabber"]), 600.0)).result[0]
    place = day.join(day.tenants["waiter"])
    day.now += 300
    day.do(Release(lease.lease_id))
    assert day.state.tickets[place.ticket_id].offered == "d1"
    assert day.state.account("p/grabber").deficit <= -300


def test_the_queue_is_told_in_the_order_in_which_it_is_served() -> None:
    day = Day(*(Tenant(name, 10.0, places=3) for name in "abc"))
    gate = day.do(Request("d1", Holder(principal="p", session="gate", tenant="x"), 60.0)).result[0]
    day.tenants["x"] = Tenant("x", 1.0)
    day.everybody_joins()
    day.do(Leave(next(t.ticket_id for t in day.state.tickets.values() if t.holder.tenant == "x")))
    told = [place.holder.tenant for place in positions(day.state, day.now)]
    day.do(Release(gate.lease_id))
    day.run(200, again=False)
    assert day.served == told


def test_hundreds_who_wait_are_served_at_once_without_holding_up_the_owner() -> None:
    pool = tuple(f"d{i}" for i in range(20))
    crowd = [Tenant(f"t{i}", 10.0, devices=pool) for i in range(10)]
    day = Day()
    for device in pool:
        day.do(Request(device, day.who(crowd[0]), 600.0))
    for i in range(400):
        day.join(crowd[i % 10])
    day.now += 601
    started = time.perf_counter()
    day.do(Tick())
    assert time.perf_counter() - started < 5.0
    assert len(day.state.offers()) == len(pool)
