"""What a home keeps of sessions: what was put is there after a crash, row by row, and what is damaged is left out."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from anydevice.database import Database
from anydevice.session_ledger import AWAY_SECONDS, LOST_MOST, LOST_SECONDS, SessionLedger, key_of


def row(name: str, **fields: Any) -> dict[str, Any]:
    """A session's row, as far as the ledger looks into it."""
    return {"principal": "me", "tenant": "default", "scope_key": None, "name": name, "used": 1.0} | fields


class Clock:
    """UTC that moves when told."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "state.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database.open(path)
    yield opened
    opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(database: Database, clock: Clock) -> SessionLedger:
    return SessionLedger(database, now=clock)


def direct(path: Path, sql: str, *values: Any) -> None:
    """Does something to the file that no ledger does."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(sql, values)


def names(ledger: SessionLedger) -> list[str]:
    return [found["name"] for found in ledger.rows()]


def test_what_was_put_is_there_as_it_was_put_last(ledger: SessionLedger) -> None:
    ledger.put(row("a", app="one", notes={"recording": [1, "\ud800", None]}))
    ledger.put(row("b", used=0.5))
    ledger.put(row("a", app="two", notes={"recording": [1, "\ud800", None]}, used=2.5))
    second, first = ledger.rows()
    assert first == row("a", app="two", notes={"recording": [1, "\ud800", None]}, used=2.5, key=first["key"])
    assert second["name"] == "b", "the one that was used longest ago comes first"


def test_a_name_is_one_session_a_principal_tenant_and_scope(ledger: SessionLedger) -> None:
    rows = [row("a"), row("a", principal="you"), row("a", tenant="t"), row("a", scope_key="s"), row('a","b')]
    for one in rows:
        ledger.put(one)
    assert len({key_of(one) for one in rows}) == len(ledger.rows()) == 5
    ledger.drop(key_of(rows[2]))
    assert len(ledger.rows()) == 4 and all(found["tenant"] == "default" for found in ledger.rows())


def test_a_use_is_written_without_the_rest(ledger: SessionLedger) -> None:
    ledger.put(row("a", app="one"))
    ledger.touch(key_of(row("a")), 77.0)
    ledger.touch(key_of(row("nobody")), 78.0)
    (found,) = ledger.rows()
    assert (found["used"], found["app"]) == (77.0, "one")


@pytest.mark.parametrize("body", ["", "{", "[]", '"x"', "null", "\0"])
def test_a_row_that_cannot_be_read_is_left_out_and_the_others_are_there(
    ledger: SessionLedger, path: Path, body: str
) -> None:
    ledger.put(row("a"))
    ledger.put(row("b"))
    from anydevice.database import checksum

    key = key_of(row("a"))
    direct(path, "UPDATE sessions SET body = ?, sum = ? WHERE key = ?", body, checksum(key, body), key)
    assert names(ledger) == ["b"]
    assert names(ledger) == ["b"]


def test_a_row_that_was_altered_behind_our_back_is_left_out(ledger: SessionLedger, path: Path) -> None:
    """It still reads well, but would bind a session to another device."""
    ledger.put(row("a", device_key="fake:1"))
    ledger.put(row("b", device_key="fake:1"))
    direct(path, "UPDATE sessions SET body = replace(body, 'fake:1', 'fake:2') WHERE key = ?", key_of(row("a")))
    assert names(ledger) == ["b"]


def test_a_loss_takes_the_place_of_its_session_and_waits_until_it_is_told(ledger: SessionLedger) -> None:
    ledger.put(row("a"))
    ledger.put(row("b"))
    number = ledger.lose(key_of(row("a")), {"name": "a", "why": "gone"})
    other = ledger.lose(key_of(row("c")), {"name": "c", "why": "gone"})
    assert names(ledger) == ["b"]
    assert ledger.lost() == [(number, {"name": "a", "why": "gone"}), (other, {"name": "c", "why": "gone"})]
    ledger.forget_lost([number])
    assert [found["name"] for _, found in ledger.lost()] == ["c"]


def test_losses_nobody_comes_for_are_forgotten(ledger: SessionLedger, clock: Clock) -> None:
    for number in range(LOST_MOST + 5):
        ledger.lose("", {"name": str(number)})
    assert [found["name"] for _, found in ledger.lost()] == [str(n) for n in range(5, LOST_MOST + 5)]
    clock.now += LOST_SECONDS / 2
    ledger.lose("", {"name": "late"})
    clock.now += LOST_SECONDS / 2 + 1
    assert [found["name"] for _, found in ledger.lost()] == ["late"]


def test_a_damaged_loss_is_left_out(ledger: SessionLedger, path: Path) -> None:
    ledger.lose("", {"name": "a"})
    ledger.lose("", {"name": "b"})
    direct(path, "UPDATE lost_sessions SET body = '{' WHERE id = 1")
    assert [found["name"] for _, found in ledger.lost()] == ["b"]
    assert [found["name"] for _, found in ledger.lost()] == ["b"]


# --- connections ---


def test_a_connection_is_known_by_its_token_and_by_nothing_else(ledger: SessionLedger, clock: Clock) -> None:
    ledger.remember("hash", "uid:1", "stdio", "c1", "uid:1|stdio|c1")
    assert ledger.find("hash") == {
        "principal": "uid:1", "transport": "stdio", "connection": "c1", "scope_key": "uid:1|stdio|c1",
        "seen": clock.now, "away": None,
    }  # fmt: skip
    assert ledger.find("other") is None and ledger.find("c1") is None


def test_a_goodbye_voids_the_token_and_a_break_does_not(ledger: SessionLedger) -> None:
    for name in ("one", "two"):
        ledger.remember(f"hash-{name}", "uid:1", "stdio", name, "s")
    ledger.left("one", True)
    ledger.left("two", False)
    ledger.left("never heard of", True)
    assert ledger.find("hash-one") is None
    found = ledger.find("hash-two")
    assert found is not None and found["away"] is not None
    ledger.remember("hash-two", "uid:1", "stdio", "two", "s")
    found = ledger.find("hash-two")
    assert found is not None and found["away"] is None


def test_an_hour_away_is_too_long_and_an_hour_connected_is_not(ledger: SessionLedger, clock: Clock) -> None:
    ledger.remember("away", "uid:1", "stdio", "c1", "s")
    ledger.remember("here", "uid:1", "stdio", "c2", "s")
    ledger.left("c1", False)
    clock.now += AWAY_SECONDS - 1
    ledger.forget_connections()
    assert ledger.find("away") is not None
    clock.now += 2
    assert ledger.find("away") is None
    ledger.forget_connections()
    assert ledger.find("here") is not None
    assert ledger.database.read("SELECT count(*) FROM connections") == [(1,)]


def test_a_new_daemon_gives_those_of_the_one_before_an_hour_from_now(ledger: SessionLedger, clock: Clock) -> None:
    ledger.remember("hash", "uid:1", "stdio", "c1", "s")
    clock.now += 5 * AWAY_SECONDS
    ledger.all_away()
    clock.now += AWAY_SECONDS - 1
    assert ledger.find("hash") is not None
    clock.now += 2
    ledger.all_away()
    assert ledger.database.read("SELECT count(*) FROM connections") == [(0,)]


def test_a_connection_that_was_altered_is_not_known(ledger: SessionLedger, path: Path) -> None:
    ledger.remember("hash", "uid:1", "stdio", "c1", "s")
    direct(path, "UPDATE connections SET principal = 'uid:2'")
    assert ledger.find("hash") is None


# --- crashes ---


WRITER = """
import sys
from pathlib import Path
from anydevice.database import Database
from anydevice.session_ledger import SessionLedger, key_of

ledger = SessionLedger(Database.open(Path(sys.argv[1])))
here = {found["name"] for found in ledger.rows()}
number = int(sys.argv[2])
while True:
    number += 1
    row = {"principal": "me", "tenant": "default", "scope_key": None, "name": str(number), "used": float(number)}
    ledger.put(row)
    print("put", number, flush=True)
    if number % 3 == 0:
        ledger.drop(key_of(row))
        print("drop", number, flush=True)
"""


def test_whatever_was_answered_before_kill_9_is_there_and_what_was_dropped_is_not(path: Path) -> None:
    there: set[str] = set()
    number = 0
    for round in range(6):
        program = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(number)], stdout=subprocess.PIPE, text=True
        )
        assert program.stdout is not None
        first = program.stdout.readline()
        time.sleep(0.01 + 0.013 * round)
        os.kill(program.pid, signal.SIGKILL)
        said = [line.split() for line in [first, *program.stdout.readlines()] if line.endswith("\n")]
        program.stdout.close()
        program.wait()
        assert said and said[0], "it began to write"
        for verb, name in said:
            (there.add if verb == "put" else there.discard)(name)
        number = max(int(name) for _, name in said) + 1
        database = Database.open(path)
        kept = set(names(SessionLedger(database)))
        database.close()
        # One step may have been done and not said any more.
        maybe = {str(number), str(number - 1)}
        assert kept - maybe == there - maybe
        there = kept


def test_a_put_costs_the_same_whether_there_are_ten_sessions_or_ten_thousand(ledger: SessionLedger) -> None:
    def pages() -> int:
        """Pages the log grew by for 20 changes."""
        log = Path(f"{ledger.database.path}-wal")
        before = log.stat().st_size
        for number in range(20):
            ledger.put(row(str(number), notes={"n": before}))
        return (log.stat().st_size - before) // 4096

    for number in range(20):
        ledger.put(row(str(number)))
    few = pages()
    with ledger.database.write():
        for number in range(20, 5_000):
            ledger.put(row(str(number), notes={"text": "x" * 200}))
    assert pages() <= few + 20 * 3
    assert len(json.dumps(ledger.rows())) > 1_000_000
