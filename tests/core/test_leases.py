"""Ownership in small: the store's verbs, the desk's admission, and what each refusal tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anydevice.leases import Desk, LeaseEvent, MemoryStore, Request
from anydevice.sessions import Session
from anydevice.testing import FakeClock
from anydevice_schemas import Device, Holder
from anydevice_schemas.errors import AnydeviceError, DeviceUnhealthy, LeaseHeld, LeaseLost, LeaseStale


def device(name: str = "d1", **fields: object) -> Device:
    row = {
        "id": name, "name": name, "platform": "p", "backend": "b", "device_target": "mobile", "device_class": "phone",
        "kind": "virtual", "state": "ready",
    }  # fmt: skip
    return Device.model_validate(row | fields)


def seat(name: str, principal: str = "me", **fields: object) -> Session:
    session = Session(
        name=name, principal=principal, device_key="b:d1", scope_key=None, connection=name, created=0.0, used=0.0
    )
    for key, value in fields.items():
        setattr(session, key, value)
    return session


def test_one_session_holds_and_the_next_is_told_until_when() -> None:
    clock = FakeClock()
    desk = Desk(MemoryStore(), clock)
    admission = desk.admit(device(), seat("a"), pin=5)
    with pytest.raises(LeaseHeld) as caught:
        desk.admit(device(), seat("b"), pin=5)
    assert caught.value.details["expires"].endswith("Z") and caught.value.retryable
    assert admission.lease.fence.counter == 1


def test_a_stranger_learns_only_that_it_is_held() -> None:
    desk = Desk(MemoryStore(), FakeClock())
    desk.admit(device(), seat("secret-session", principal="alice"), pin=5)
    with pytest.raises(LeaseHeld) as caught:
        desk.admit(device(), seat("b", principal="bob"), pin=5)
    assert "secret-session" not in str(caught.value.to_wire())
    assert caught.value.details["holder"] == {"held": True}
    shown = desk.held(Holder(principal="bob", session="b"))["b:d1"]
    assert shown.held and shown.session is None and not shown.yours


def test_use_keeps_a_lease_and_the_fence_stays() -> None:
    clock = FakeClock()
    desk = Desk(MemoryStore(), clock)
    mine = seat("a")
    fences = set()
    for _ in range(10):
        admission = desk.admit(device(), mine, pin=1)
        desk.settle(admission)
        fences.add(str(admission.lease.fence))
        clock.advance(50)
    assert len(fences) == 1


def test_a_running_command_pins_the_lease_beyond_its_ttl() -> None:
    clock = FakeClock()
    desk = Desk(MemoryStore(), clock)
    mine = seat("a")
    long = desk.admit(device(), mine, pin=600)
    short = desk.admit(device(), mine, pin=1)
    desk.settle(short)
    clock.advance(300)
    with pytest.raises(LeaseHeld):
        desk.admit(device(), seat("b"), pin=1)
    desk.settle(long)
    clock.advance(61)
    assert desk.admit(device(), seat("b"), pin=1).lease.holder.session == "b"


def test_a_lease_taken_after_expiry_is_lost_and_one_untaken_is_given_again() -> None:
    clock = FakeClock()
    desk = Desk(MemoryStore(), clock)
    mine = seat("a")
    desk.settle(desk.admit(device(), mine, pin=1))
    clock.advance(61)
    again = desk.admit(device(), mine, pin=1)
    assert again.notice is not None and again.lease.fence.counter == 2
    desk.settle(again)
    clock.advance(61)
    desk.settle(desk.admit(device(), seat("b"), pin=1))
    with pytest.raises(LeaseLost):
        desk.admit(device(), mine, pin=1)


def test_a_takeover_makes_the_old_fence_stale_at_once() -> None:
    clock = FakeClock()
    store = MemoryStore()
    desk = Desk(store, clock)
    mine = seat("a")
    desk.settle(desk.admit(device(), mine, pin=1))
    events: list[LeaseEvent] = []
    store.watch(events.append)
    human = Holder(principal="person", session="hands")
    lease = store.take_over(Request("b:d1", human, 60, kind="human"), clock.now(), reason="let me look")
    assert [event.kind for event in events] == ["taken", "granted"] and lease.fence.counter == 2
    assert (events[0].by, events[0].reason) == (human, "let me look")
    with pytest.raises(LeaseLost) as caught:
        desk.admit(device(), mine, pin=1)
    assert caught.value.details["reason"] == "let me look" and "hands" not in str(caught.value.to_wire())


def test_two_takeovers_that_run_out_at_once_are_each_told_once() -> None:
    store, told = MemoryStore(), []
    store.watch(lambda event: told.append((event.kind, event.lease and event.lease.holder.session)))

    def ask(who: str, where: str, *group: str) -> Request:
        return Request(where, Holder(principal="p", session=who), 60, frozenset(group))

    store.grant(ask("a", "b:d2", "left", "right"), 0.0)
    store.take_over(ask("h1", "b:d1", "left"), 10.0, reason="x")
    store.take_over(ask("h2", "b:d3", "right"), 10.0, reason="x")
    with pytest.raises(LeaseHeld):
        store.grant(ask("b", "b:d2", "left", "right"), 71.0)
    assert sorted(told[-3:]) == [("expired", "h1"), ("expired", "h2"), ("given_back", "a")]
    assert [lease.holder.session for lease in store.leases(71.0)] == ["a"]


def test_a_lease_id_that_is_not_this_sessions_is_stale() -> None:
    desk = Desk(MemoryStore(), FakeClock())
    with pytest.raises(LeaseStale):
        desk.admit(device(), seat("a"), pin=1, asked_lease="0" * 32)


def test_an_unhealthy_device_is_not_given_out() -> None:
    with pytest.raises(DeviceUnhealthy):
        Desk(MemoryStore(), FakeClock()).admit(device(health="suspect", reason="did not clean up"), seat("a"), pin=1)


def test_released_devices_are_free() -> None:
    desk = Desk(MemoryStore(), FakeClock())
    mine = seat("a")
    desk.admit(device(shares=["focus"]), mine, pin=1)
    with pytest.raises(LeaseHeld):
        desk.admit(device("d2", shares=["focus"]), seat("b"), pin=1)
    desk.release(mine)
    assert mine.lease_id is None and desk.held() == {}
    desk.admit(device("d2", shares=["focus"]), seat("b"), pin=1)


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["use", "release", "wait", "takeover"]),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["d1", "d2", "d3"]),
        st.floats(0, 90),
    ),
    max_size=40,
)
GROUPS = {"d1": frozenset({"focus"}), "d2": frozenset({"focus"}), "d3": frozenset[str]()}


@given(MOVES)
def test_whatever_happens_no_device_or_group_has_two_holders_and_fences_only_rise(
    moves: list[tuple[str, str, str, float]],
) -> None:
    clock, store = FakeClock(), MemoryStore(epoch=7)
    held: dict[tuple[str, str], str] = {}
    highest = (0, 0)
    for what, who, where, seconds in moves:
        holder = Holder(principal="p", session=who)
        if what == "wait":
            clock.advance(seconds)
            continue
        if what == "release":
            lease_id = held.pop((who, where), None)
            if lease_id is not None:
                store.release(lease_id, clock.now())
            continue
        before = {lease.lease_id for lease in store.leases(clock.now())}
        try:
            request = Request(f"b:{where}", holder, 60, GROUPS[where])
            if what == "takeover":
                lease = store.take_over(request, clock.now(), reason="test")
            else:
                lease, _ = store.grant(request, clock.now())
        except AnydeviceError:
            continue
        fence = (lease.fence.epoch, lease.fence.counter)
        if lease.lease_id not in before:
            assert fence > highest
        highest = max(highest, fence)
        held[(who, where)] = lease.lease_id
        standing = store.leases(clock.now())
        for one in standing:
            for other in standing:
                if one.lease_id != other.lease_id and one.holder.session != other.holder.session:
                    assert one.device != other.device and set(one.group).isdisjoint(other.group)
