"""Leases in the database of a home: what is written, what is not, and what other processes and the next start find."""

from __future__ import annotations

import contextlib
import json
import os
import random
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anydevice.database import Database, StoreBusy
from anydevice.leases import LeaseEvent, MemoryStore, Request, StateStore
from anydevice.leases.events import (
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
from anydevice.leases.sqlite import SqliteStore, open_store
from anydevice.leases.state import LeaseState, Rules, Wish, plain
from anydevice_schemas import Holder, Lease
from anydevice_schemas.errors import AnydeviceError, LeaseHeld, LeaseLost, LeaseStale, UpstreamUnavailable

NOW = 1_700_000_000.0
GRAIN = 5.0


def ask(who: str, device: str = "d1", **fields: Any) -> Request:
    fields.setdefault("ttl", 60.0)
    return Request(f"b:{device}", Holder(principal="p", session=who), **fields)


def fence(lease: Lease) -> tuple[int, int]:
    return (lease.fence.epoch, lease.fence.counter)


def on_disk(folder: Path, lease_id: str) -> float:
    """When a lease ends, as any other process reads it."""
    with contextlib.closing(sqlite3.connect(folder / "state.db")) as other:
        return float(other.execute("SELECT expires_at FROM leases WHERE lease_id = ?", (lease_id,)).fetchone()[0])


def rows(state: LeaseState) -> dict[str, dict[str, Any]]:
    """Everything that is known, as plain data."""
    return {table: {key: plain(row) for key, row in found.items()} for table, found in state.tables.items()}


# --- what is written ---


def test_everything_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    mine = store.grant(ask("a", group=frozenset({"focus", "slot"}), until=NOW + 100), NOW)[0]
    store.grant(replace(ask("b", "d2"), holder=Holder(principal="q", session="b", tenant="t", run_id="r")), NOW)
    store.take_over(ask("human", "d2", kind="human"), NOW, reason="look")
    store.release(store.grant(ask("c", "d3"), NOW)[0].lease_id, NOW + 1, reason="done")
    store.join(Holder(principal="p", session="w"), "any", (Wish("b:d1", frozenset({"focus"})), Wish("b:d9")), 30.0, NOW)
    store.join(Holder(principal="p", session="v"), "d1", (Wish("b:d1"),), 30.0, NOW, priority=3)
    store.set_health("b:d7", "suspect", "clean-up failed", NOW)
    before = rows(store.state)
    assert all(before.values()), "a table is not tried here"
    counter, standing = store.state.counter, store.leases(NOW + 2)
    store.close()
    again = open_store(str(tmp_path))
    assert rows(again.state) == before
    assert (again.state.counter, again.state.epoch) == (counter, 2)
    assert again.state.near("b:x", {"slot"}) == [mine]
    assert again.leases(NOW + 2) == standing
    again.close()


def test_a_renewal_by_less_than_a_grain_stays_in_memory_and_the_disk_is_never_later(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    other = Database.open(tmp_path / "state.db")
    lease = store.grant(ask("a"), NOW)[0]
    written = 0
    other.moved()
    for tenth in range(1, 600):
        now = NOW + tenth / 10
        use = store.grant(ask("a", lease_id=lease.lease_id, fence=fence(lease), until=now + 20), now)[0]
        written += other.moved()
        disk = on_disk(tmp_path, lease.lease_id)
        assert now + 60 - 0.25 <= use.expires_at <= now + 60
        assert use.expires_at - GRAIN < disk <= use.expires_at
    assert 5 < written < 20, "one write every five seconds or so"
    other.close()
    store.close()


def test_what_a_running_command_needs_is_on_the_disk_and_what_it_needs_no_more_is_not(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    lease = store.grant(ask("a", until=NOW + 58), NOW)[0]
    for until in (NOW + 61, NOW + 63, NOW + 300):
        store.grant(ask("a", until=until), NOW + 1)
        assert on_disk(tmp_path, lease.lease_id) >= until
    store.renew(lease.lease_id, NOW + 2)
    assert on_disk(tmp_path, lease.lease_id) == NOW + 62
    store.close()


def test_closing_writes_what_was_only_in_memory(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    lease = store.grant(ask("a"), NOW)[0]
    store.renew(lease.lease_id, NOW + 4)
    assert on_disk(tmp_path, lease.lease_id) == NOW + 60
    store.close()
    store.close()
    assert on_disk(tmp_path, lease.lease_id) == NOW + 64


def test_a_refusal_and_a_listing_write_nothing(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    store.grant(ask("a"), NOW)
    other = Database.open(tmp_path / "state.db")
    other.moved()
    with pytest.raises(LeaseHeld):
        store.grant(ask("b"), NOW)
    store.leases(NOW)
    store.queue(NOW)
    assert not other.moved()
    other.close()
    store.close()


# --- several processes ---


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    """Two openings of one store, as two processes have them."""
    one, two = open_store(str(tmp_path)), open_store(str(tmp_path))
    yield one, two
    one.close()
    two.close()


def test_nothing_is_lengthened_in_memory_once_the_disk_says_it_ran_out(pair: tuple[SqliteStore, SqliteStore]) -> None:
    here, there = pair
    lease = here.grant(ask("a"), NOW)[0]
    assert here.renew(lease.lease_id, NOW + 4).expires_at == NOW + 64
    taken = there.grant(ask("b"), NOW + 61)[0]
    with pytest.raises(LeaseLost):
        here.grant(ask("a", lease_id=lease.lease_id, fence=fence(lease)), NOW + 62)
    assert [one.lease_id for one in here.leases(NOW + 62)] == [taken.lease_id]


def test_a_lease_that_nobody_took_goes_on_and_is_written(pair: tuple[SqliteStore, SqliteStore], tmp_path: Path) -> None:
    here, there = pair
    lease = here.grant(ask("a"), NOW)[0]
    here.renew(lease.lease_id, NOW + 4)
    again = here.grant(ask("a", lease_id=lease.lease_id), NOW + 62)[0]
    assert (again.lease_id, on_disk(tmp_path, lease.lease_id)) == (lease.lease_id, NOW + 122)
    with pytest.raises(LeaseHeld):
        there.grant(ask("b"), NOW + 100)


def test_the_last_seconds_before_the_hard_end_are_written_as_well(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(contextlib.closing(Database.open(tmp_path / "state.db"))) for _ in range(2))
        here, there = SqliteStore(one, rules=Rules(longest=62)), SqliteStore(two)
        lease = here.grant(ask("a"), NOW)[0]
        here.renew(lease.lease_id, NOW + 2)
        assert (on_disk(tmp_path, lease.lease_id), here.state.leases[lease.lease_id].expires_at) == (NOW + 60, NOW + 62)
        assert here.grant(ask("a", lease_id=lease.lease_id), NOW + 61)[0].expires_at == NOW + 62
        with pytest.raises(LeaseHeld):
            there.grant(ask("b"), NOW + 61.5)
        there.grant(ask("b"), NOW + 62)


def test_each_sees_what_the_other_did_at_once(pair: tuple[SqliteStore, SqliteStore]) -> None:
    here, there = pair
    for round_ in range(20):
        lease = here.grant(ask("a", group=frozenset({"focus"})), NOW + round_)[0]
        with pytest.raises(LeaseHeld):
            there.grant(ask("b", "d2", group=frozenset({"focus"})), NOW + round_)
        human = there.take_over(ask("human", kind="human"), NOW + round_, reason="look")
        with pytest.raises(LeaseLost):
            here.grant(ask("a", lease_id=lease.lease_id), NOW + round_)
        here.release(human.lease_id, NOW + round_)
        assert there.leases(NOW + round_) == []
        assert rows(here.state) == rows(there.state)


def test_fences_rise_over_everybody_who_has_it_open(pair: tuple[SqliteStore, SqliteStore], tmp_path: Path) -> None:
    here, there = pair
    third = open_store(str(tmp_path))
    fences = [fence(store.grant(ask("a", f"d{n}"), NOW)[0]) for n, store in enumerate((here, there, third) * 4)]
    assert fences == sorted(set(fences)) and [counter for _, counter in fences] == list(range(1, 13))
    third.close()


def test_one_that_fell_far_behind_reads_everything_again(pair: tuple[SqliteStore, SqliteStore]) -> None:
    here, there = pair
    kept = here.grant(ask("kept", "kept"), NOW)[0]
    there.leases(NOW)
    for number in range(900):
        lease = here.grant(ask("a", f"d{number % 7}"), NOW + number)[0]
        here.release(lease.lease_id, NOW + number)
        here.renew(kept.lease_id, NOW + number)
    [(remembered,)] = here.database.read("SELECT count(*) FROM lease_changes")
    assert remembered < 5000
    assert [lease.lease_id for lease in there.leases(NOW + 900)] == [kept.lease_id]
    mine, theirs = rows(here.state), rows(there.state)
    del mine["leases"], theirs["leases"]  # a renewal may be in memory only
    assert len(mine["ended"]) == 900 and mine == theirs
    assert there.state.counter == here.state.counter


def test_a_caller_that_was_stalled_is_judged_by_what_time_it_is(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "state.db")
    clock = [NOW]
    store = SqliteStore(database, steady=lambda: clock[0])
    lease = store.grant(ask("a"), NOW)[0]
    clock[0] += 100  # between looking at the clock and asking
    with pytest.raises(AnydeviceError, match="ran out"):
        store.renew(lease.lease_id, NOW + 1)
    late = store.grant(ask("b"), NOW + 2)[0]
    assert late.expires_at == NOW + 160
    store.close()
    database.close()


# --- all or nothing ---


def test_while_another_process_writes_it_is_busy_and_nothing_has_happened(
    pair: tuple[SqliteStore, SqliteStore],
) -> None:
    here, there = pair
    heard: list[LeaseEvent] = []
    here.watch(heard.append)
    mine = here.grant(ask("mine", "mine"), NOW)[0]
    before, counter = rows(here.state), here.state.counter
    here.database.patience = 0.05
    with there.database.write():
        for what in (
            lambda: here.grant(ask("a"), NOW),
            lambda: here.release(mine.lease_id, NOW),
            lambda: here.take_over(ask("h", "mine", kind="human"), NOW, reason="x"),
            lambda: here.tick(NOW + 100),
        ):
            with pytest.raises(StoreBusy):
                what()
        assert here.renew(mine.lease_id, NOW + 3).expires_at == NOW + 63, "a short renewal waits for nobody"
        assert [lease.lease_id for lease in here.leases(NOW)] == [mine.lease_id]
    here.renew(mine.lease_id, NOW)
    assert (rows(here.state)["marks"], here.state.counter) == (before["marks"], counter)
    assert [event.kind for event in heard] == ["granted"]
    assert fence(here.grant(ask("a"), NOW)[0]) == (2, 2)


def test_a_full_disk_refuses_and_nothing_has_happened(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    pages = store.database.read("PRAGMA page_count")[0][0]
    store.database.read(f"PRAGMA max_page_count={pages + 2}")
    heard: list[LeaseEvent] = []
    store.watch(heard.append)
    granted = []
    with pytest.raises(UpstreamUnavailable) as caught:
        for number in range(1000):
            granted += [store.grant(ask("a", f"d{number}-" + "x" * 400), NOW)[0]]
    assert caught.value.details["reason"] == "full" and 0 < len(granted) < 100
    assert [lease.lease_id for lease in store.leases(NOW)] == [lease.lease_id for lease in granted]
    assert len(heard) == len(granted) and store.state.counter == len(granted)
    store.release(granted[0].lease_id, NOW)
    store.database.read("PRAGMA max_page_count=1000000")
    assert store.grant(ask("a", "d"), NOW)[0].fence.counter == len(granted) + 1
    store.close()


def test_events_are_told_in_the_order_of_the_fences_whatever_thread_asks(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    told: list[tuple[int, int]] = []
    store.watch(lambda event: told.append(fence(event.lease)) if event.kind == "granted" else None)  # type: ignore[arg-type]

    def work(name: str) -> None:
        for _ in range(30):
            store.release(store.grant(ask(name, name), NOW)[0].lease_id, NOW)

    threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert told == sorted(told) and len(told) == 180
    store.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE leases SET expires_at = expires_at + 1",
        "UPDATE leases SET session = 'thief'",
        "UPDATE leases SET counter = counter + 1",
        "UPDATE leases SET run_id = ''",
        "UPDATE leases SET seen = 0",
        "UPDATE lease_shares SET share = 'other'",
        "DELETE FROM lease_shares",
        "UPDATE lease_rows SET data = replace(data, 'b:d1', 'b:d2') WHERE part = 'marks'",
        "UPDATE lease_rows SET part = 'ended' WHERE part = 'marks'",
        "UPDATE lease_counter SET counter = 0",
        "DELETE FROM lease_counter",
    ],
)
def test_a_row_that_is_not_as_it_was_written_is_refused_and_a_copy_kept(tmp_path: Path, change: str) -> None:
    store = open_store(str(tmp_path))
    store.grant(ask("a", group=frozenset({"focus"})), NOW)
    store.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "state.db")) as other:
        other.execute(change)
        other.commit()
    with pytest.raises(UpstreamUnavailable, match="damaged") as caught:
        open_store(str(tmp_path))
    assert Path(caught.value.details["copy"]).exists()


# --- clocks and restarts ---


def test_a_clock_that_was_set_back_lengthens_no_lease_beyond_its_ttl(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    store.grant(ask("a"), NOW)
    store.grant(ask("b", "d2", ttl=30.0, until=NOW + 500), NOW)
    store.join(Holder(principal="p", session="w"), "free", (Wish("b:d3"),), 60.0, NOW)
    store.close()
    back = NOW - 3600
    again = open_store(str(tmp_path))
    assert {lease.device: lease.expires_at for lease in again.leases(back)} == {"b:d1": back + 60, "b:d2": back + 30}
    assert all(ticket.offer_until <= back + 10 for ticket in again.state.tickets.values())
    again.tick(back + 61)
    assert again.grant(ask("c"), back + 61)[0].holder.session == "c"
    assert all(account.seconds >= 0 for account in again.accounts())
    again.close()
    third = open_store(str(tmp_path))
    assert [lease.device for lease in third.leases(back + 62)] == ["b:d1"], "it was written"
    third.close()


def test_a_machine_that_was_started_again_keeps_leases_for_their_ttl_at_most(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    first = Database.open(path, boot="one")
    store = SqliteStore(first)
    store.grant(ask("short"), NOW)
    store.grant(ask("pinned", "d2", ttl=10.0, until=NOW + 500), NOW)
    first.close()
    second = Database.open(path, boot="two")
    again = SqliteStore(second)
    assert {x.device: x.expires_at for x in again.leases(NOW + 20)} == {"b:d1": NOW + 60, "b:d2": NOW + 30}
    second.close()
    third = Database.open(path, boot="two")
    assert {x.device for x in SqliteStore(third).leases(NOW + 31)} == {"b:d1"}
    third.close()


def test_what_others_renewed_meanwhile_is_not_bent_by_one_that_came_late(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    lease = store.grant(ask("a"), NOW)[0]
    store.close()
    late = open_store(str(tmp_path))  # and is stalled before it first looks at the clock
    other = open_store(str(tmp_path))
    other.grant(ask("a", lease_id=lease.lease_id, until=NOW + 400), NOW + 50)
    assert [one.expires_at for one in late.leases(NOW - 100)] == [NOW + 400]
    late.close()
    other.close()


def test_after_a_restart_the_holder_is_known_and_gets_a_new_fence(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    lease = store.grant(ask("a"), NOW)[0]
    store.close()
    again = open_store(str(tmp_path))
    with pytest.raises(LeaseHeld):
        again.grant(ask("thief"), NOW + 1)
    new = again.grant(ask("a", lease_id=lease.lease_id, fence=fence(lease)), NOW + 1)[0]
    assert new.lease_id == lease.lease_id and fence(new) > fence(lease)
    with pytest.raises(LeaseStale):
        again.grant(ask("a", lease_id=lease.lease_id, fence=fence(lease)), NOW + 2)
    again.close()


# --- stories: the store in memory is the oracle ---

PEOPLE = [Holder(principal=p, session=s, tenant=t) for p, s, t in ("pas", "pbs", "pct", "qas")]
GROUPS: dict[str, set[str]] = {"d1": {"focus"}, "d2": {"focus", "slot"}, "d3": {"slot"}, "d4": set(), "d5": set()}


class Chance:
    """Ids that are the same for both stores: `secrets` made to repeat itself."""

    def __init__(self) -> None:
        self.number = 0
        self.asked = 0

    def token_hex(self, size: int) -> str:
        self.asked += 1
        return f"{self.number:0{size * 2}x}"


def story(chance: random.Random, state: LeaseState, now: float) -> Event:
    """Something that happens next, by what is known."""
    who, device = chance.choice(PEOPLE), chance.choice(list(GROUPS))
    group = frozenset(GROUPS[device])
    leases, tickets = list(state.leases.values()), list(state.tickets.values())
    lease = chance.choice(leases) if leases else None
    ticket = chance.choice(tickets) if tickets else None
    ttl = chance.choice([5.0, 30.0, 60.0])
    if lease is not None and chance.random() < 0.45:
        use = Request(
            lease.device, lease.holder, 60.0, frozenset(lease.group), lease.lease_id,
            chance.choice([None, fence(lease), (1, 1)]), chance.choice(["implicit", "implicit", lease.kind]),
            chance.choice([0.0, now + 20, now + 120]),
        )  # fmt: skip
        return chance.choice(
            [use, use, Renew(lease.lease_id, chance.choice([None, now + 90])), Release(lease.lease_id)]
        )
    return chance.choice(
        [
            Request(f"b:{device}", who, ttl, group, until=chance.choice([0.0, now + 90])),
            Request(f"b:{device}", who, ttl, group, kind="run"),
            TakeOver(Request(f"b:{device}", who, ttl, group, kind="human"), "look"),
            GiveBack(lease.lease_id if lease is not None else "none"),
            Join(who, device, (Wish(f"b:{device}", group), Wish("b:d5")), ttl, chance.randrange(3)),
            Wait(ticket.ticket_id if ticket is not None else "none"),
            Accept(ticket.ticket_id if ticket is not None else "none"),
            Leave(ticket.ticket_id if ticket is not None else "none"),
            Release(lease.lease_id if lease is not None else "none", "done", now + 20),
            SetHealth(f"b:{device}", chance.choice(["good", "suspect"]), "x"),
            Cleaned(f"b:{device}"),
            Tick(),
        ]
    )


def outcome(store: StateStore, event: Event, now: float) -> tuple[str, Any]:
    """What a store answers."""
    try:
        return "ok", store._do(event, now)
    except AnydeviceError as error:
        return error.code, error.details


def agree(store: SqliteStore, oracle: MemoryStore, when: str) -> None:
    assert rows(store.state) == rows(oracle.state), when
    assert store.state.counter == oracle.state.counter, when


def shorten(oracle: MemoryStore, store: SqliteStore, when: str) -> None:
    """After a crash: renewals by less than a grain may be lost, and nothing else; the oracle forgets them too."""
    assert set(store.state.leases) == set(oracle.state.leases), when
    for key, lease in list(oracle.state.leases.items()):
        found = store.state.leases[key]
        assert lease.expires_at - min(GRAIN, lease.ttl / 5) < found.expires_at <= lease.expires_at, when
        oracle.state.put("leases", key, lease.model_copy(update={"expires_at": found.expires_at}))
    oracle.state.epoch = store.state.epoch


@pytest.mark.parametrize("seed", range(12))
def test_any_story_ends_as_in_memory_also_when_the_machine_stops_at_any_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance, ids = random.Random(seed), Chance()
    monkeypatch.setattr(secrets, "token_hex", ids.token_hex)
    folder, now = tmp_path / "0", NOW
    store, oracle = open_store(str(folder)), MemoryStore(epoch=1)
    told: list[LeaseEvent] = []
    due: list[LeaseEvent] = []
    store.watch(told.append)
    oracle.watch(due.append)
    refused = crashed = 0
    for step in range(150):
        now += chance.choice([0.0, 0.3, 1.0, 3.0, 10.0, 45.0])
        event = story(chance, oracle.state, now)
        ids.number = step
        expected = outcome(oracle, event, now)
        when = f"seed {seed}, step {step}: {event}"
        assert outcome(store, event, now) == expected, when
        assert told == due, when
        refused += expected[0] != "ok"
        agree(store, oracle, when)
        if chance.random() < 0.1:
            # What is on the disk now is what a machine finds that stops here; the old process never comes back.
            crashed += 1
            after = tmp_path / str(crashed)
            after.mkdir()
            for entry in folder.iterdir():
                shutil.copyfile(entry, after / entry.name)
            store.database.close()
            folder, store = after, open_store(str(after))
            store.watch(told.append)
            shorten(oracle, store, when)
            agree(store, oracle, f"{when}, after crash {crashed}")
    assert refused > 10 and crashed > 4 and len(told) > 20
    store.close()


CHILD = """
import json, random, secrets, sys
sys.path.insert(0, sys.argv[1])
from test_sqlite_store import *
chance, ids = random.Random(int(sys.argv[3])), Chance()
secrets.token_hex = ids.token_hex
store, now = open_store(sys.argv[2]), NOW
print("ready", flush=True)
for step in range(100000):
    now += chance.choice([0.0, 0.3, 1.0, 3.0, 10.0])
    event = story(chance, store.state, now)
    ids.number = step
    code, _ = outcome(store, event, now)
    print(json.dumps([step, code]), flush=True)
"""


@pytest.mark.parametrize("seed", range(5))
def test_what_a_process_answered_before_it_was_killed_is_what_the_next_one_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(Path(__file__).parent), str(tmp_path), str(seed)],
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        first = [process.stdout.readline() for _ in range(6)]
        time.sleep(random.Random(seed).uniform(0.01, 0.25))
        os.kill(process.pid, signal.SIGKILL)
        said = [*first, *process.stdout.read().split("\n")]
        lines = [json.loads(line) for line in said if line.rstrip("\n").endswith("]")]
    finally:
        process.kill()
        process.wait()
    store = open_store(str(tmp_path))

    # The same story told again, in memory: as far as it was answered, and the one step more that may have been kept.
    chance, ids = random.Random(seed), Chance()
    monkeypatch.setattr(secrets, "token_hex", ids.token_hex)
    oracle, now = MemoryStore(epoch=1), NOW
    for step in range(len(lines) + 1):
        if step == len(lines) and _same_but_for_a_grain(store, oracle):
            break
        now += chance.choice([0.0, 0.3, 1.0, 3.0, 10.0])
        event = story(chance, oracle.state, now)
        ids.number = step
        code, _ = outcome(oracle, event, now)
        assert step == len(lines) or lines[step] == [step, code]
    shorten(oracle, store, f"seed {seed}, {len(lines)} steps answered")
    agree(store, oracle, f"seed {seed}, {len(lines)} steps answered")
    assert len(lines) > 5
    store.close()


def _same_but_for_a_grain(store: SqliteStore, oracle: MemoryStore) -> bool:
    mine, due = rows(store.state), rows(oracle.state)
    del mine["leases"], due["leases"]
    leases, others = store.state.leases, oracle.state.leases
    return (
        mine == due
        and leases.keys() == others.keys()
        and store.state.counter == oracle.state.counter
        and all(0 <= others[key].expires_at - leases[key].expires_at < GRAIN for key in leases)
    )
