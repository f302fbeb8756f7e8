"""After a crash: what was answered and what is there. Every kind of disagreement is planted and must be found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from soak import store
from soak.claims import Claim, Standing, claims, compare, risen
from soak.judge import SECOND
from soak.store import Stood

CLAIM = Claim("c0.1", "d0", "lease", (1, 7), 5.0, "held", 10 * SECOND, 10 * SECOND)
ROW = Standing("d0", "lease", (1, 7), "c0.1")
NAMES = frozenset({"c0.1"})


def found(claim: Claim, rows: list[Standing], at: float, names: frozenset[str] = NAMES) -> list[str]:
    return [violation.rule for violation in compare([claim], rows, names, int(at * SECOND), int(at * SECOND))]


def test_a_lease_that_is_there_while_its_time_runs_is_as_it_should_be() -> None:
    assert found(CLAIM, [ROW], 12.0) == []
    assert found(CLAIM, [replace(ROW, fence=(2, 9))], 12.0) == []


@pytest.mark.parametrize(("at", "rules"), [(10.1, ["grant lost"]), (13.4, ["grant lost"]), (13.6, []), (30.0, [])])
def test_a_grant_is_lost_only_where_it_is_gone_before_its_time(at: float, rules: list[str]) -> None:
    assert found(CLAIM, [], at) == rules


def test_how_long_the_daemon_took_to_answer_is_held_against_nobody() -> None:
    late = CLAIM.renewed + int(13.6 * SECOND)
    assert compare([CLAIM], [], NAMES, CLAIM.renewed, late) == []
    assert compare([CLAIM], [ROW], NAMES, CLAIM.renewed, late) == []


def test_a_grant_that_became_another_device_or_an_earlier_fence_is_found() -> None:
    assert found(CLAIM, [replace(ROW, device="d1")], 12.0) == ["grant changed"]
    assert found(CLAIM, [replace(ROW, fence=(1, 6))], 12.0) == ["grant changed"]


def test_a_lease_without_its_session_is_found() -> None:
    assert found(CLAIM, [ROW], 12.0, frozenset()) == ["session lost"]


def test_what_was_given_back_or_lost_never_stands_again() -> None:
    assert found(replace(CLAIM, state="over"), [ROW], 12.0) == ["resurrected"]
    assert found(replace(CLAIM, state="over"), [], 12.0) == []


@pytest.mark.parametrize(("at", "rules"), [(15.4, []), (15.6, ["resurrected"])])
def test_what_has_run_out_never_stands_again(at: float, rules: list[str]) -> None:
    assert found(CLAIM, [ROW], at) == rules


def test_nothing_is_claimed_of_a_release_that_was_not_answered() -> None:
    unknown = replace(CLAIM, state="unknown")
    assert found(unknown, [], 10.1) == found(unknown, [ROW], 12.0) == []


def test_a_fence_below_an_earlier_one_of_its_device_is_found() -> None:
    assert risen({"d0": (1, 7)}, [ROW, Standing("d1", "x", (0, 1), "")]) == []
    assert [v.rule for v in risen({"d0": (1, 8)}, [ROW])] == ["fence fell"]


def test_claims_are_read_from_what_a_client_wrote(tmp_path: Path) -> None:
    said = [
        {"t": 1, "what": "want", "grant": "a"},
        {"t": 5, "what": "granted", "grant": "a", "device": "d0", "lease": "L", "fence": "1.7", "ttl": 5.0},
        {"t": 6, "what": "act", "grant": "a"},
        {"t": 8, "what": "did", "grant": "a"},
        {"t": 9, "what": "act", "grant": "a"},
        {"t": 9, "what": "failed", "grant": "a", "code": "connection_lost"},
        {"t": 10, "what": "want", "grant": "b"},
        {"t": 11, "what": "granted", "grant": "b", "device": "d1", "lease": "M", "fence": "1.8", "ttl": 5.0},
        {"t": 12, "what": "releasing", "grant": "b"},
        {"t": 13, "what": "released", "grant": "b"},
        {"t": 14, "what": "want", "grant": "c"},
        {"t": 15, "what": "granted", "grant": "c", "device": "d1", "lease": "N", "fence": "1.9", "ttl": 5.0},
        {"t": 16, "what": "act", "grant": "c"},
        {"t": 17, "what": "failed", "grant": "c", "code": "lease_lost"},
    ]
    (tmp_path / "c00.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said) + '{"t": 18, "wha')
    a, b, c = claims(tmp_path)
    assert a == Claim("a", "d0", "L", (1, 7), 5.0, "held", 6, 9 + 40 * SECOND)
    assert (b.state, c.state) == ("over", "over")


# --- the store alone ---


def stood(lease: str, counter: int, start: float, end: float, device: str = "d0") -> Stood:
    return Stood(device, lease, (1, counter), int(start * SECOND), int(end * SECOND))


def test_leases_one_after_the_other_under_rising_fences_are_as_they_should_be() -> None:
    rows = [stood("a", 1, 0, 5), stood("b", 2, 5, 6), stood("c", 4, 7, 8), stood("x", 3, 0, 9, "d1")]
    assert store.judge(rows) == []


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        ([stood("a", 1, 0, 5), stood("b", 2, 4.999, 6)], "two leases"),
        ([stood("a", 1, 0, 9), stood("b", 2, 9, 9.1), stood("c", 3, 9.05, 10)], "two leases"),
        ([stood("a", 1, 0, 9), stood("b", 2, 3, 4), stood("c", 3, 5, 6)], "two leases"),
        ([stood("a", 2, 0, 5), stood("b", 1, 5, 6)], "fence fell"),
        ([stood("a", 1, 0, 5), stood("b", 1, 0, 6, "d1")], "fence twice"),
        ([replace(stood("a", 1, 0, 5), later=(1, 2)), stood("b", 2, 5, 6)], "fence fell"),
    ],
)
def test_leases_that_meet_and_fences_that_do_not_rise_are_found(rows: list[Stood], rule: str) -> None:
    assert rule in [violation.rule for violation in store.judge(rows)]


def test_a_lease_certainly_stands_to_its_first_expiry_its_release_or_its_last_use(tmp_path: Path) -> None:
    granted = {"what": "granted", "device": "d0", "expires": 100}
    said = [
        {"t": 1, **granted, "lease": "a", "fence": "1.1"},
        {"t": 5, "what": "releasing", "lease": "a"},
        {"t": 6, **granted, "lease": "b", "fence": "1.2"},
        {"t": 8, **granted, "lease": "c", "fence": "1.3"},
        {"t": 151, "what": "used", "lease": "c", "asked": 150, "fence": "2.9"},
        {"t": 160, "what": "regranted", "device": "d0", "lease": "e", "fence": "1.4"},
    ]
    (tmp_path / "p00.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said))
    assert [(row.lease, row.start, row.end) for row in store.stood(tmp_path)] == [
        ("a", 1, 5), ("b", 6, 100), ("c", 8, 150), ("e", 160, 160),
    ]  # fmt: skip


def test_a_damaged_database_is_found(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 300,)] * 200)
    connection.close()
    assert store.sound(path) == []
    data = bytearray(path.read_bytes())
    data[4096 + 100 : 4096 + 200] = b"\xff" * 100
    data[8192 : 8192 + 50] = b"\xff" * 50
    path.write_bytes(data)
    assert [violation.rule for violation in store.sound(path)] == ["corrupt"]
