"""Sessions outlive the daemon: what is kept, who comes back to it, what is lost and who is told."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anydevice.database import Database
from anydevice.losses import Lost
from anydevice.resolution import Inventory
from anydevice.session import Session
from anydevice.session_ledger import SessionLedger, key_of
from anydevice.sessions import RESTART_SECONDS, RESUME_SECONDS, Sessions
from anydevice.testing import FakeClock, caller
from anydevice_schemas import Caller, Device, Node, Tree
from anydevice_schemas.errors import ConnectionLost, SelectorConflict, SessionNotFound, StaleRef

from ..support.sizes import size

IDLE = 1800.0


def device(name: str = "1", state: str = "ready") -> Device:
    row = {
        "id": name, "name": f"Phone {name}", "platform": "p", "backend": "fake", "device_target": "mobile",
        "device_class": "phone", "kind": "virtual", "state": state,
    }  # fmt: skip
    return Device.model_validate(row)


def listed(*rows: Device) -> Inventory:
    return Inventory(rows)


def tree(keys: range) -> Tree:
    nodes = [Node(role="button", name=str(key), key=f"k{key}") for key in keys]
    return Tree(nodes, location="https://example.org/secret-path")


class Daemons:
    """One daemon after the other over one home, each ended as by `kill -9`: nothing is said and nothing is closed."""

    def __init__(self, folder: Path) -> None:
        self.database = Database.open(folder / "state.db")
        self.clock = FakeClock()
        self.idle = IDLE
        self.ended: list[tuple[str, str]] = []

    def start(self) -> Sessions:
        sessions = Sessions(self.clock, idle=self.idle, ledger=SessionLedger(self.database, now=self.clock.now))
        sessions.ended.append(lambda session, reason: self.ended.append((session.name, reason)))
        return sessions

    def reboot(self) -> Sessions:
        """The machine starts anew: the monotonic clock begins somewhere else, UTC goes on."""
        later = FakeClock(self.clock.now())
        later._monotonic = -12_345.0
        self.clock = later
        return self.start()


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Daemons]:
    made = Daemons(tmp_path)
    yield made
    made.database.close()


AGENT = caller("c1", transport="stdio", cwd="/project")
SCRIPT = caller("c2", transport="python", cwd="/project")
PERSON = caller("c3", transport="cli", cwd="/project")
HOLDERS = {"stdio": AGENT, "python": SCRIPT, "cli": PERSON}

KEPT = (
    "name", "principal", "tenant", "run_id", "scope_key", "connection", "device_key", "device_name", "cwd",
    "transport", "app", "event_template", "lease_id", "notes", "created", "used",
)  # fmt: skip


def shown(session: Session) -> dict[str, Any]:
    """All that is kept of a session."""
    return {field: getattr(session, field) for field in KEPT}


def only(sessions: Sessions) -> Session:
    (session,) = sessions.all()
    return session


# --- what is kept ---


@pytest.mark.parametrize("by", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("name", ["work", None])
def test_everything_of_a_session_is_kept_and_it_is_the_callers_again(
    daemons: Daemons, by: Caller, name: str | None
) -> None:
    sessions = daemons.start()
    session = sessions.open(by, device(), name=name, tenant="t", run_id="r")
    daemons.clock.advance(100)
    session.app, session.event_template = "com.example", "app://{{name}}"
    session.lease_id, session.fence = "secret", (3, 17)
    session.notes["recording"] = {"file": "a.mp4", "since": 1.5}
    sessions.touch(session)
    sessions.save(session)
    before = shown(session)
    again = daemons.start()
    after = only(again)
    assert shown(after) == before
    assert not after.attached and after.tree is None
    assert again.open(by, device(), name=name, tenant="t", run_id="r") is after
    assert again.open(by, device("2"), name=name and "other", tenant="t") is not after
    if name is not None:
        with pytest.raises(SelectorConflict):
            again.open(by, device("2"), name=name, tenant="t")


def test_a_session_is_kept_from_the_moment_it_is_made_and_gone_from_the_moment_it_ends(daemons: Daemons) -> None:
    sessions = daemons.start()
    one = sessions.open(AGENT, device(), name="one")
    sessions.open(AGENT, device("2"), name=None)
    assert len(daemons.start().all()) == 2
    sessions.end(one, "done")
    assert [session.device_key for session in daemons.start().all()] == ["fake:2"]
    one.app = "changed by a call that ran when it ended"
    sessions.save(one)
    sessions.touch(one)
    assert [session.device_key for session in daemons.start().all()] == ["fake:2"]


def test_what_is_in_progress_is_kept_however_deep_it_changed(daemons: Daemons) -> None:
    sessions = daemons.start()
    session = sessions.open(AGENT, device(), name="one")
    session.notes["recording"] = {"parts": [1]}
    sessions.save(session)
    session.notes["recording"]["parts"].append(2)
    sessions.save(session)
    after = only(daemons.start())
    assert after.notes == {"recording": {"parts": [1, 2]}}
    assert after.news is not None and after.news["inProgress"] == {"recording": {"parts": [1, 2]}}


def test_a_use_is_written_at_most_every_five_seconds_and_a_change_at_once(daemons: Daemons) -> None:
    sessions = daemons.start()
    session = sessions.open(AGENT, device(), name="one")
    before = daemons.database.read("SELECT total_changes()")[0][0]
    for _ in range(100):
        daemons.clock.advance(0.1)
        sessions.touch(session)
        sessions.save(session)
    assert daemons.database.read("SELECT total_changes()")[0][0] - before <= 2
    assert daemons.clock.monotonic() - only(daemons.start()).used <= 5.0
    session.app = "x"
    sessions.save(session)
    assert only(daemons.start()).app == "x"


def test_what_cannot_be_written_now_is_written_when_it_can_be(daemons: Daemons) -> None:
    sessions = daemons.start()
    session = sessions.open(AGENT, device(), name="one")
    gone = sessions.open(AGENT, device("2"), name="two")
    daemons.database.patience = 0.02
    with closing(sqlite3.connect(daemons.database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        session.app = "x"
        with structlog.testing.capture_logs() as told:
            sessions.save(session)
            sessions.end(gone, "done")
            sessions.open(AGENT, device("3"), name="three")
        assert [line["event"] for line in told] == ["ledger_not_written"] * 3
        other.execute("ROLLBACK")
    assert sorted(s.name for s in daemons.start().all()) == ["one", "two"]
    sessions.sweep()
    after = {s.name: s for s in daemons.start().all()}
    assert sorted(after) == ["one", "three"] and after["one"].app == "x"


# --- refs ---


def test_a_ref_of_before_is_stale_and_never_given_out_again(daemons: Daemons) -> None:
    given_out: set[str] = set()
    sessions = daemons.start()
    sessions.open(AGENT, device(), name="one")
    for many in (3, 700, 1, 2500, 40):
        session = only(sessions)
        refs = {node.ref for node in session.refs.stamp(tree(range(many))).nodes}
        assert len(refs) == many and not refs & given_out
        given_out |= refs
        sessions.save(session)
        sessions = daemons.start()
        for ref in ("@e1", min(refs), max(refs)):
            with pytest.raises(StaleRef) as stale:
                only(sessions).refs.resolve(ref, tree(range(many)))
            assert stale.value.details["reason"] == "issued before the daemon was restarted"
            assert "snapshot" in stale.value.hint
    with pytest.raises(StaleRef) as never:
        only(sessions).refs.resolve("@e999999", tree(range(1)))
    assert never.value.details["reason"] == "never issued in this session"


def test_a_session_that_gave_no_refs_out_begins_with_the_first_and_says_nothing_of_refs(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name="one")
    after = only(daemons.start())
    assert after.news is not None and after.news["lost"] == []
    assert after.refs.ref_for("k") == "@e1"


def test_a_new_session_of_a_lost_ones_name_gives_none_of_its_refs_out(daemons: Daemons) -> None:
    sessions = daemons.start()
    old = sessions.open(PERSON, device(), name=None)
    old.refs.stamp(tree(range(5)))
    sessions.save(old)
    sessions = daemons.start()
    sessions.judge(listed(device(state="shutdown")))
    sessions.losses_for(PERSON)
    new = sessions.open(PERSON, device(), name=None)
    assert new.name == old.name
    assert new.refs.ref_for("k") not in {f"@e{number}" for number in range(1000)}


def test_refs_cost_a_write_a_thousand(daemons: Daemons) -> None:
    sessions = daemons.start()
    session = sessions.open(AGENT, device(), name="one")
    before = daemons.database.read("SELECT total_changes()")[0][0]
    for number in range(10_000):
        session.refs.ref_for(str(number))
        sessions.save(session)
    assert daemons.database.read("SELECT total_changes()")[0][0] - before <= 2 * 11


# --- time ---


def test_time_between_two_daemons_counts_as_idle(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name="one")
    daemons.clock.advance(IDLE - 1)
    sessions = daemons.start()
    assert sessions.sweep() == []
    daemons.clock.advance(2)
    assert [session.name for session in daemons.start().sweep()] == ["one"]
    assert daemons.ended == [("one", f"idle for {IDLE:g} s")]
    assert daemons.start().all() == []


def test_after_a_reboot_idle_time_goes_on_where_it_was(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name="one")
    daemons.clock.advance(IDLE / 2)
    sessions = daemons.reboot()
    assert daemons.clock.monotonic() - only(sessions).used == pytest.approx(IDLE / 2)
    assert sessions.sweep() == []
    daemons.clock.advance(IDLE / 2 + 1)
    assert len(sessions.sweep()) == 1


def test_a_clock_that_was_set_back_while_the_machine_was_off_makes_no_session_immortal(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name="one")
    daemons.clock.jump(-1_000_000)
    sessions = daemons.reboot()
    daemons.clock.advance(IDLE + 1)
    assert len(sessions.sweep()) == 1


# --- who comes back ---


def test_use_attaches_a_session(daemons: Daemons) -> None:
    daemons.start().open(PERSON, device(), name=None)
    sessions = daemons.start()
    session = only(sessions)
    assert not session.attached
    sessions.touch(session)
    assert session.attached


@pytest.mark.parametrize("idle", [IDLE, 50.0])
def test_a_connection_that_never_comes_back_has_two_minutes_or_the_idle_time(daemons: Daemons, idle: float) -> None:
    daemons.idle = idle
    first = daemons.start()
    first.open(AGENT, device("1"), name=None)
    first.open(AGENT, device("2"), name="explicit")
    first.open(PERSON, device("3"), name=None)
    sessions = daemons.start()
    daemons.clock.advance(min(idle, RESTART_SECONDS) - 0.1)
    assert sessions.sweep() == []
    daemons.clock.advance(0.2)
    gone = {session.device_key for session in sessions.sweep()}
    assert gone == ({"fake:1"} if idle == IDLE else {"fake:1", "fake:2", "fake:3"})


def test_a_connection_that_comes_back_has_its_sessions_and_no_other_has(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name=None)
    sessions = daemons.start()
    stranger = caller("c9", transport="stdio", cwd="/project")
    assert sessions.implicit(stranger) == [] and sessions.connection_here("c9") == []
    (mine,) = sessions.connection_here("c1")
    assert mine.attached and sessions.implicit(AGENT) == [mine]
    daemons.clock.advance(RESTART_SECONDS + 1)
    assert sessions.sweep() == []


def test_a_goodbye_ends_the_connections_own_sessions_at_once(daemons: Daemons) -> None:
    sessions = daemons.start()
    own = sessions.open(AGENT, device("1"), name=None)
    shared = sessions.open(AGENT, device("2"), name="shared")
    assert sessions.connection_gone("c1", clean=True) == [own]
    assert sessions.all() == [shared]


def test_a_connection_that_breaks_has_ten_seconds(daemons: Daemons) -> None:
    sessions = daemons.start()
    own = sessions.open(AGENT, device("1"), name=None)
    sessions.open(PERSON, device("2"), name=None)
    for _ in range(2):
        assert sessions.connection_gone("c1", clean=False) == []
        assert not own.attached
        daemons.clock.advance(RESUME_SECONDS - 0.1)
        assert sessions.sweep() == []
        sessions.connection_here("c1")
        assert own.attached
        daemons.clock.advance(2 * RESUME_SECONDS)
        assert sessions.sweep() == []
    sessions.connection_gone("c1", clean=False)
    daemons.clock.advance(RESUME_SECONDS + 0.1)
    assert sessions.sweep() == [own]
    assert sessions.connection_gone("c3", clean=True) == [], "a directory is no connection"
    assert sessions.losses_for(AGENT) == [], "nothing was lost: it went away itself"


def test_a_session_that_came_back_after_a_restart_ends_as_any_other(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name=None)
    sessions = daemons.start()
    (session,) = sessions.connection_here("c1")
    session.news = None  # told
    sessions.connection_gone("c1", clean=False)
    daemons.clock.advance(RESUME_SECONDS + 1)
    assert sessions.sweep() == [session] and sessions.losses_for(AGENT) == []


def test_other_tenants_and_other_principals_see_nothing(daemons: Daemons) -> None:
    first = daemons.start()
    first.open(PERSON, device("1"), name="work", tenant="a")
    first.open(PERSON, device("2"), name=None, tenant="a")
    made_up = next(s.name for s in first.all() if s.implicit)
    other = caller("x", transport="cli", cwd="/project", principal="uid:other")
    for sessions in (first, daemons.start()):
        assert len(sessions.visible(PERSON, "a")) == len(sessions.names(PERSON, "a")) == 2
        for who, tenant in ((PERSON, None), (PERSON, "b"), (other, "a")):
            assert sessions.visible(who, tenant) == [] and sessions.names(who, tenant) == []
            assert sessions.implicit(who, tenant) == []
            for name in ("work", made_up):
                assert sessions.find(who, name, tenant) is None
                with pytest.raises(SessionNotFound) as missing:
                    sessions.named(who, name, tenant)
                assert missing.value.details["nearest"] == []


# --- what is lost ---


def lost(entries: list[Lost]) -> list[tuple[str, str]]:
    return [(entry.device, entry.why) for entry in entries]


GONE = [("fake:1", "its device is gone")]


@pytest.mark.parametrize("name", ["work", None])
def test_a_device_that_is_down_at_the_first_look_takes_its_session_with_it(daemons: Daemons, name: str | None) -> None:
    first = daemons.start().open(PERSON, device(), name=name)
    sessions = daemons.start()
    sessions.judge(listed(device(state="shutdown"), device("2")))
    assert sessions.all() == [] and sessions.unjudged == []
    assert daemons.ended == [(first.name, "its device is gone")]
    assert sessions.implicit(PERSON) == []
    sessions.judge(listed(device()))
    for again in (sessions, daemons.start()):  # kept until it is told, over one more crash
        assert again.all() == []
    assert lost(again.losses_for(PERSON)) == GONE
    assert again.losses_for(PERSON) == [] and daemons.start().losses_for(PERSON) == []


def test_a_device_that_was_ready_at_the_first_look_is_not_looked_at_again(daemons: Daemons) -> None:
    daemons.start().open(PERSON, device(), name=None)
    sessions = daemons.start()
    sessions.judge(listed(device()))
    sessions.judge(listed(device(state="shutdown")))
    assert len(sessions.all()) == 1, "what happens to it from now on is told as always"


@pytest.mark.parametrize("state", ["offline", "unauthorized", "booting", "unknown"])
def test_a_device_that_cannot_be_reached_is_waited_for(daemons: Daemons, state: str) -> None:
    daemons.start().open(PERSON, device(), name=None)
    sessions = daemons.start()
    sessions.judge(listed(device(state=state)))
    assert len(sessions.all()) == len(sessions.unjudged) == 1
    sessions.judge(listed(device()))
    assert len(sessions.all()) == 1 and sessions.unjudged == []


def test_a_device_that_is_not_listed_is_gone_only_where_its_backend_was_asked_for_its_caller(daemons: Daemons) -> None:
    daemons.start().open(PERSON, device(), name=None)
    sessions = daemons.start()
    sessions.judge(listed(device("2")))
    assert len(sessions.all()) == 1
    sessions.judge(listed(device("2")), unlisted=sessions.all())
    assert sessions.all() == []


def test_a_lost_name_is_told_to_whoever_names_it_first_from_anywhere(daemons: Daemons) -> None:
    daemons.start().open(PERSON, device(), name="work")
    sessions = daemons.start()
    sessions.judge(listed(device(state="shutdown")))
    elsewhere = caller("c9", transport="python", cwd="/elsewhere")
    assert sessions.losses_for(elsewhere) == []
    with pytest.raises(ConnectionLost) as told:
        sessions.named(elsewhere, "work")
    assert told.value.details["restarted"] is True
    assert [row["session"] for row in told.value.details["lost"]] == ["work"]
    with pytest.raises(SessionNotFound):
        sessions.named(elsewhere, "work")
    assert sessions.losses_for(PERSON) == []


def test_a_connection_is_told_of_its_loss_even_if_a_neighbour_was(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name=None)
    sessions = daemons.start()
    sessions.judge(listed(device(state="shutdown")))
    neighbour, far = (caller("c9", transport="stdio", cwd=cwd) for cwd in ("/project", "/far"))
    assert sessions.losses_for(far) == []
    assert lost(sessions.losses_for(neighbour)) == GONE, "it may be the same agent, started anew"
    assert sessions.losses_for(neighbour) == []
    assert lost(sessions.losses_for(AGENT)) == GONE
    assert sessions.losses_for(AGENT) == [] and daemons.start().losses_for(AGENT) == []


def test_a_loss_of_a_tenant_is_told_within_the_tenant(daemons: Daemons) -> None:
    daemons.start().open(PERSON, device(), name=None, tenant="a")
    sessions = daemons.start()
    sessions.judge(listed(device(state="shutdown")))
    assert sessions.losses_for(PERSON) == [] and sessions.losses_for(PERSON, "b") == []
    assert lost(sessions.losses_for(PERSON, "a")) == GONE


def test_a_connection_that_did_not_come_back_after_a_restart_is_told_as_a_loss(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name=None)
    sessions = daemons.start()
    daemons.clock.advance(RESTART_SECONDS + 1)
    sessions.sweep()
    again = caller("c9", transport="stdio", cwd="/project")
    assert lost(sessions.losses_for(again)) == [("fake:1", "its connection did not come back")]


# --- what is damaged ---


def rewritten(daemons: Daemons, change: Callable[[dict[str, Any]], None]) -> tuple[list[str], list[dict[str, Any]]]:
    """The sessions a new daemon has after the row of `one` was changed, and what it logged."""
    ledger = SessionLedger(daemons.database)
    (row,) = (row for row in ledger.rows() if row["name"] == "one")
    ledger.drop(row.pop("key"))
    change(row)
    ledger.put(row)
    with structlog.testing.capture_logs() as told:
        sessions = daemons.start()
    return sorted(session.name for session in sessions.all()), told  # type: ignore[return-value]


@pytest.mark.parametrize(
    "change",
    [
        {"device_key": None}, {"refs": True}, {"refs": "x"}, {"notes": []},
        {"created": "today"}, {"app": 1}, {"connection": 1.5},
    ],
    ids=str,
)  # fmt: skip
def test_a_row_that_makes_no_session_is_told_and_left_out(daemons: Daemons, change: dict[str, Any]) -> None:
    first = daemons.start()
    first.open(AGENT, device("1"), name="one")
    first.open(AGENT, device("2"), name="two")
    names, told = rewritten(daemons, lambda row: row.update(change))
    assert names == ["two"]
    assert [line["event"] for line in told] == ["session_left_out"]
    assert next(iter(change)) in told[0]["reason"]
    with structlog.testing.capture_logs() as later:
        daemons.start()
    assert later == []


def test_a_field_that_is_missing_is_told(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name="one")
    names, told = rewritten(daemons, lambda row: row.pop("device_key"))
    assert names == [] and "device_key" in told[0]["reason"]


def test_a_field_nobody_knows_is_told_and_its_session_lives(daemons: Daemons) -> None:
    daemons.start().open(AGENT, device(), name="one")
    names, told = rewritten(daemons, lambda row: row.update(colour="red"))
    assert names == ["one"]
    assert [(line["event"], line["field"]) for line in told] == [("field_left_out", "colour")]


def test_two_rows_for_one_place_make_one_session(daemons: Daemons) -> None:
    first = daemons.start()
    first.open(AGENT, device(), name=None)
    ledger = SessionLedger(daemons.database)
    (row,) = ledger.rows()
    del row["key"]
    ledger.put(row | {"name": "auto-twin"})
    with structlog.testing.capture_logs() as told:
        sessions = daemons.start()
    assert len(sessions.all()) == 1 and len(told) == 1
    assert len(SessionLedger(daemons.database).rows()) == 1


# --- any story ---


CALLERS = [AGENT, SCRIPT, PERSON, caller("c4", transport="cli", cwd="/else"), caller("c5", principal="uid:2")]
STEPS = st.one_of(
    st.tuples(
        st.just("open"), st.sampled_from(CALLERS), st.sampled_from("123"), st.sampled_from(["a", "b", None]),
        st.sampled_from(["t", None]),
    ),
    st.tuples(st.just("use"), st.integers(0, 9), st.integers(0, 3000)),
    st.tuples(st.just("change"), st.integers(0, 9), st.text(max_size=3)),
    st.tuples(st.just("end"), st.integers(0, 9)),
    st.tuples(st.just("leave"), st.sampled_from(CALLERS), st.booleans()),
    st.tuples(st.just("come"), st.sampled_from(CALLERS)),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 4.0, 11.0, 130.0, IDLE + 1])),
    st.tuples(st.just("sweep")),
    st.tuples(st.just("crash")),
    st.tuples(st.just("judge"), st.sampled_from("123"), st.sampled_from(["ready", "shutdown", "offline"])),
    st.tuples(st.just("ask"), st.sampled_from(CALLERS)),
)  # fmt: skip
NUMBERS = itertools.count()


@settings(
    max_examples=size("stories of sessions"), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(story=st.lists(STEPS, max_size=40))
def test_whatever_happens_the_ledger_is_the_sessions(tmp_path: Path, story: list[Any]) -> None:
    daemons = Daemons(tmp_path / str(next(NUMBERS)))
    try:
        sessions = daemons.start()
        for step in story:
            sessions = play(daemons, sessions, *step)
            agree(daemons, sessions)
    finally:
        daemons.database.close()


def play(daemons: Daemons, sessions: Sessions, what: str, *how: Any) -> Sessions:
    """Does one thing that a call, a connection or the time does."""
    if what in ("use", "change", "end"):
        if not sessions.all():
            return sessions
        session = sessions.all()[how[0] % len(sessions.all())]
        if what == "end":
            sessions.end(session, "ended")
            return sessions
        if what == "change":
            session.app, session.notes, session.fence = how[1], {"n": [how[1]]}, (1, len(how[1]))
        else:
            session.refs.stamp(tree(range(session.refs.issued, session.refs.issued + how[1])))
        sessions.touch(session)
        sessions.save(session)
    elif what == "open":
        by, number, name, tenant = how
        try:
            sessions.save(sessions.open(by, device(number), name=name, tenant=tenant))
        except SelectorConflict:
            assert name is not None
    elif what == "leave":
        sessions.connection_gone(how[0].connection, how[1])
    elif what == "come":
        sessions.connection_here(how[0].connection)
    elif what == "wait":
        daemons.clock.advance(how[0])
    elif what == "sweep":
        sessions.sweep()
    elif what == "crash":
        return daemons.start()
    elif what == "judge":
        sessions.judge(listed(device(*how)))
    elif what == "ask":
        first = sessions.losses_for(how[0])
        assert not {id(entry) for entry in first} & {id(entry) for entry in sessions.losses_for(how[0])}
    return sessions


def agree(daemons: Daemons, sessions: Sessions) -> None:
    """The rows are the sessions: none more, none less, each as it is, its refs above all that were given out."""
    rows = {row.pop("key"): row for row in SessionLedger(daemons.database, now=daemons.clock.now).rows()}
    utc = daemons.clock.now() - daemons.clock.monotonic()
    assert rows.keys() == {key_of(session.to_row(utc)) for session in sessions.all()}
    for session in sessions.all():
        expected = session.to_row(utc)
        row = rows[key_of(expected)]
        assert -1e-3 < session.used + utc - row.pop("used") < 5.0 + 1e-3
        assert row == expected
        assert session.refs.issued <= row["refs"]
    waiting = {number for number, _ in SessionLedger(daemons.database, now=daemons.clock.now).lost()}
    assert waiting == {entry.number for entry in sessions._lost.entries}
