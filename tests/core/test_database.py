"""The database of a home: whole transactions, epochs that rise, and no file that is half believed."""

from __future__ import annotations

import contextlib
import ctypes
import filecmp
import os
import random
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anydevice.database import Database, StoreBusy, checksum
from anydevice_schemas.errors import UpstreamUnavailable

from ..support.texts import changed

NOTES = "CREATE TABLE IF NOT EXISTS notes (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) STRICT"
OTHERS = "CREATE TABLE IF NOT EXISTS others (number INTEGER PRIMARY KEY, value REAL NOT NULL, sum INTEGER) STRICT"
SIDES = ("", "-wal", "-shm")

CHILD = f"""
import sys, threading, time
from pathlib import Path
from anydevice.database import Database, checksum
database = Database.open(Path(sys.argv[1]))
database.schema([{NOTES!r}])
def note(key, value):
    with database.write() as cursor:
        cursor.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (key, value, checksum(key, value)))
def say(*words):
    print(*words, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "state.db"


@contextlib.contextmanager
def child(path: Path, code: str, **options: object) -> Iterator[subprocess.Popen[str]]:
    """A process with the database open, that runs `code`; killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD + code, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        **options,  # type: ignore[call-overload]
    )  # fmt: skip
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def killed(path: Path, code: str) -> None:
    """Runs `code` with the database open, and kills the process with -9 as soon as it says `done`."""
    with child(path, code + "\nsay('done')\ntime.sleep(60)") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line == "done\n", process.stderr and process.stderr.read()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def note(database: Database, key: str, value: str) -> None:
    with database.write() as cursor:
        cursor.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (key, value, checksum(key, value)))


def notes(database: Database) -> dict[str, str]:
    """What an owner reads, each row judged by its sum."""
    found = {}
    for key, value, total in database.read("SELECT key, value, sum FROM notes"):
        if checksum(key, value) != total:
            raise database.damaged("a note")
        found[key] = value
    return found


def opened(path: Path) -> dict[str, str] | UpstreamUnavailable:
    """What an owner finds, or why not."""
    try:
        database = Database.open(path)
    except UpstreamUnavailable as refused:
        return refused
    try:
        database.schema([NOTES])
        return notes(database)
    except UpstreamUnavailable as refused:
        refused.details["opened"] = True
        return refused
    finally:
        database.close()


def refused(path: Path) -> UpstreamUnavailable:
    found = opened(path)
    assert isinstance(found, UpstreamUnavailable), f"it was opened: {str(found)[:200]}"
    assert found.details["upstream"] == "state.db" and found.hint and found.details["enable_hint"] == found.hint
    return found


def do_as_told(refusal: UpstreamUnavailable) -> None:
    """Runs what the hint says, as a person would."""
    command = refusal.hint.rpartition("anew: ")[2]
    subprocess.run(["sh", "-ec", command], check=True, timeout=10)


# --- what it is ---


def test_a_new_one_is_private_and_in_wal_mode(path: Path) -> None:
    database = Database.open(path)
    modes = {side: stat.S_IMODE(os.stat(f"{path}{side}").st_mode) for side in SIDES}
    assert modes == dict.fromkeys(SIDES, 0o600)
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    settings = {name: database.read(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous", "foreign_keys")}
    assert settings == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1}
    assert database.read("PRAGMA wal_autocheckpoint") == [(0,)]
    database.close()
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["state.db", "state.epoch"]


def test_a_file_that_others_may_read_is_closed_to_them(path: Path) -> None:
    Database.open(path).close()
    os.chmod(path, 0o644)
    Database.open(path).close()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_the_epoch_rises_at_every_opening_also_beside_others(path: Path) -> None:
    first, second = Database.open(path), Database.open(path)
    assert (first.epoch, second.epoch, first.highest_epoch()) == (1, 2, 2)
    assert (first.alone, second.alone) == (True, False)
    first.close()
    second.close()
    again = Database.open(path)
    assert (again.epoch, again.alone) == (3, True)
    again.close()


def test_the_clock_of_a_boot_is_set_once_and_a_jump_of_the_wall_changes_nothing(path: Path) -> None:
    first = Database.open(path, wall=lambda: 5000.0, monotonic=lambda: 100.0, boot="one")
    assert (first.offset, first.rebooted) == (4900.0, False)
    second = Database.open(path, wall=lambda: 1.0, monotonic=lambda: 160.0, boot="one")
    first.close()
    second.close()
    third = Database.open(path, wall=lambda: 9e9, monotonic=lambda: 170.0, boot="one")
    assert (second.offset, third.offset, third.rebooted) == (4900.0, 4900.0, False)
    third.close()
    later = Database.open(path, wall=lambda: 6000.0, monotonic=lambda: 5.0, boot="two")
    assert (later.offset, later.rebooted) == (5995.0, True)
    later.close()


def test_a_transaction_is_whole_or_nothing_and_one_inside_another_joins_it(path: Path) -> None:
    database = Database.open(path)
    database.schema([NOTES])
    with pytest.raises(ZeroDivisionError), database.write() as cursor:
        cursor.execute("INSERT INTO notes VALUES ('a', 'b', 0)")
        note(database, "inside", "x")
        _ = 1 / 0
    assert notes(database) == {}
    with database.write():
        note(database, "inside", "x")
        note(database, "beside", "y")
    with pytest.raises(sqlite3.IntegrityError), database.write() as cursor:
        cursor.execute("INSERT INTO notes VALUES ('inside', 'b', 0)")
    assert notes(database) == {"inside": "x", "beside": "y"}
    database.close()


def test_it_tells_that_others_have_written(path: Path) -> None:
    one, other = Database.open(path), Database.open(path)
    assert one.moved() and not one.moved()  # the other's epoch
    one.schema([NOTES])
    assert not one.moved() and other.moved()
    note(other, "a", "b")
    assert one.moved() and not one.moved() and notes(one) == {"a": "b"}
    with one.snapshot():
        before = notes(one)
        note(other, "c", "d")
        assert notes(one) == before
    assert one.moved() and len(notes(one)) == 2
    one.close()
    other.close()


def test_a_table_that_was_made_otherwise_is_refused(path: Path) -> None:
    database = Database.open(path)
    database.schema([NOTES])
    database.schema([NOTES, OTHERS])
    with pytest.raises(UpstreamUnavailable, match="another version"):
        database.schema([changed(NOTES, ("value TEXT", "value BLOB"))])
    with pytest.raises(ValueError, match="IF NOT EXISTS"):
        database.schema(["CREATE TABLE x (y)"])
    database.close()


def test_closing_twice_is_fine_and_a_closed_one_says_so(path: Path) -> None:
    database = Database.open(path)
    database.close()
    database.close()
    for use in (lambda: database.read("SELECT 1"), database.moved, lambda: note(database, "a", "b")):
        with pytest.raises(UpstreamUnavailable, match="ending") as caught:
            use()
        assert caught.value.retryable


# --- several at once ---


def test_threads_write_one_after_another(path: Path) -> None:
    database = Database.open(path)
    database.schema([OTHERS])
    with database.write() as cursor:
        cursor.execute("INSERT INTO others VALUES (1, 0, 0)")

    def work() -> None:
        for _ in range(50):
            with database.write() as cursor:
                value = cursor.execute("SELECT value FROM others").fetchone()[0]
                cursor.execute("UPDATE others SET value = ?", (value + 1,))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert database.read("SELECT value FROM others") == [(400.0,)]
    database.close()


def test_a_writer_waits_as_long_as_it_is_patient_and_nothing_is_done(path: Path) -> None:
    database = Database.open(path)
    database.schema([NOTES])
    code = "with database.write():\n    say('holding')\n    sys.stdin.readline()\nsay('free')"
    with child(path, code) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "holding\n"
        for patience in (0.0, 0.3):
            database.patience = patience
            began = time.monotonic()
            with pytest.raises(StoreBusy):
                note(database, "a", "b")
            assert patience <= time.monotonic() - began < patience + 4
        assert notes(database) == {}, "reading waits for nobody"
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "free\n"
        note(database, "a", "b")
    database.close()


def test_a_process_that_is_stopped_in_the_middle_holds_up_nobody_for_longer_than_their_patience(path: Path) -> None:
    database = Database.open(path)
    database.schema([NOTES])
    with child(path, "say('there')\nwhile True:\n    note('mine', str(time.monotonic()))") as process:
        assert process.stdout is not None
        process.stdout.readline()
        database.patience = 0.2
        for _ in range(5):
            time.sleep(0.02)
            os.kill(process.pid, signal.SIGSTOP)
            began = time.monotonic()
            with contextlib.suppress(StoreBusy):
                note(database, "other", "x")
            assert time.monotonic() - began < 10
            os.kill(process.pid, signal.SIGCONT)
        process.kill()
        process.wait()
        note(database, "other", "y")
    assert notes(database)["other"] == "y"
    database.close()


def test_eight_first_openers_make_one_database(path: Path) -> None:
    code = "note(str(database.epoch), 'x'); say(database.epoch); sys.stdin.readline()"
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(child(path, code)) for _ in range(8)]
        epochs = [int(process.stdout.readline()) for process in processes]  # type: ignore[union-attr]
    assert sorted(epochs) == list(range(1, 9))
    assert sorted(opened(path)) == [str(epoch) for epoch in range(1, 9)]


def test_opening_it_twice_in_one_process_leaves_the_locks_of_the_first(path: Path) -> None:
    """POSIX: closing any descriptor of a file drops its process's locks, and another closer takes the log away."""
    first = Database.open(path)
    first.schema([NOTES])
    Database.open(path).close()
    note(first, "a", "b")
    with child(path, "note('c', 'd'); database.close(); say('closed')") as process:
        assert process.stdout is not None and process.stdout.readline() == "closed\n"
    assert Path(f"{path}-wal").exists()
    note(first, "e", "f")
    first.close()
    assert opened(path) == {"a": "b", "c": "d", "e": "f"}


def test_a_checkpoint_beside_writers_loses_nothing_and_keeps_the_log_short(path: Path) -> None:
    database = Database.open(path)
    database.schema([NOTES])
    stop = threading.Event()
    failures: list[BaseException] = []

    def carry() -> None:
        while not stop.wait(0.01):
            try:
                database.checkpoint()
            except StoreBusy:
                continue
            except BaseException as error:
                failures.append(error)
                return

    worker = threading.Thread(target=carry)
    worker.start()
    for number in range(1500):
        note(database, str(number % 300), "x" * 500)
    stop.set()
    worker.join(30)
    assert failures == [] and len(notes(database)) == 300
    assert os.path.getsize(f"{path}-wal") < 8_000_000  # 23 MB when nobody carries it over
    database.close()
    found = opened(path)
    assert isinstance(found, dict) and len(found) == 300


def test_a_log_that_nobody_carries_over_does_not_grow_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anydevice.database.connection._LOG_LIMIT", 500_000)
    database = Database.open(path)
    database.schema([NOTES])
    for number in range(1200):
        began = time.monotonic()
        with database.write():
            note(database, str(number % 50), "x" * 900)
        assert time.monotonic() - began < database.patience, "it waited for itself"
    assert os.path.getsize(f"{path}-wal") < 5_000_000
    database.close()


OPENERS = f"""
import os, random, sys
from pathlib import Path
from anydevice.database import Database
chance, path = random.Random(int(sys.argv[2])), Path(sys.argv[1])
for _ in range(15):
    kind = chance.random()
    if (pid := os.fork()) == 0:
        try:
            database = Database.open(path)
            database.schema([{OTHERS!r}])
            with database.write() as cursor:
                cursor.execute("INSERT INTO others (value) VALUES (1)")
            if kind < 0.2:
                database.checkpoint()
            if kind < 0.6:
                database.close()
        except BaseException as error:
            print(error, getattr(error, "details", ""), flush=True)
            os._exit(1)
        os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
"""


def test_opening_closing_and_dying_all_at_once_refuses_nobody(path: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", OPENERS, str(path), str(seed)], stdout=subprocess.PIPE, text=True)
        for seed in range(4)
    ]
    try:
        assert [process.communicate(timeout=60)[0] for process in processes] == [""] * 4
    finally:
        for process in processes:
            process.kill()
            process.wait()
    database = Database.open(path)
    assert (database.epoch, database.read("SELECT count(*) FROM others")) == (61, [(60,)])
    database.close()


# --- kill -9 ---


@pytest.mark.parametrize("seed", range(6))
def test_what_was_answered_is_there_after_kill_9(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    code = """
def carry():
    while True:
        try:
            database.checkpoint()
        except Exception:
            pass
        time.sleep(0.003)
if sys.stdin.readline() == "carry\\n":
    threading.Thread(target=carry, daemon=True).start()
number = len(database.read("SELECT key FROM notes"))
while True:
    number += 1
    note(str(number), "x" * (number * 37 % 3000))
    say(number)
"""
    answered = 0
    for _ in range(4):
        with child(path, code) as process:
            assert process.stdout is not None and process.stdin is not None
            process.stdin.write(chance.choice(["carry\n", "leave\n"]))
            process.stdin.flush()
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.06))
            os.kill(process.pid, signal.SIGKILL)
            for line in process.stdout.read().split("\n"):
                answered = int(line) if line.isdigit() else answered
        found = opened(path)
        assert isinstance(found, dict), found.details
        assert len(found) in (answered, answered + 1) and all(str(n) in found for n in range(1, answered + 1))
        answered = len(found)
    assert answered >= 4


# --- damage ---


FULL = """
for number in range(120):
    note(f"key-{number:04d}-" + "k" * 60, f"value-{number}-" + "v" * (number % 7 * 40))
for number in range(3):
    note(f"long-{number}", "o" * 9000)
for number in range(40, 60):
    with database.write() as cursor:
        cursor.execute("DELETE FROM notes WHERE key LIKE ?", (f"key-{number:04d}-%",))
with database.write() as cursor:
    cursor.execute("DELETE FROM notes WHERE key = 'long-1'")
"""
LATER = "\nfor number in range(12):\n    note(f'later-{number}', 'l' * 700)\n"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Databases to be damaged: `clean` (closed by everybody), `killed` (all in the log), `carried` (half in it)."""
    folder = tmp_path_factory.mktemp("shelf")
    killed(folder / "clean" / "state.db", FULL)
    Database.open(folder / "clean" / "state.db").close()
    killed(folder / "killed" / "state.db", FULL + LATER)
    killed(folder / "carried" / "state.db", FULL + "database.checkpoint()" + LATER)
    assert not (folder / "clean" / "state.db-wal").exists()
    return folder


def taken(shelf: Path, kind: str, tmp_path: Path) -> Path:
    """A copy of one of them, to be damaged."""
    folder = tmp_path / "data"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(shelf / kind, folder)
    return folder / "state.db"


def exact_or_refused(path: Path, expected: dict[str, str], damage: str) -> bool:
    """After damage it has exactly what was committed, or refuses and leaves everything as it is. True when refused."""
    before = {side: Path(f"{path}{side}").read_bytes() for side in SIDES[:2] if Path(f"{path}{side}").exists()}
    found = opened(path)
    if isinstance(found, dict):
        assert found == expected, f"{damage}: opened with {len(found)} of {len(expected)} notes, or others"
        return False
    if found.details["reason"] in ("damaged", "foreign", "newer", "otherwise_made"):
        for side, data in before.items():
            copy = Path(found.details["copy"] + side)
            assert copy.exists(), f"{damage}: no copy was kept of {side or 'the file'}"
            if "opened" not in found.details:  # else a row gave it away, after the epoch was written
                assert copy.read_bytes() == data, f"{damage}: the copy is another one"
                assert Path(f"{path}{side}").read_bytes() == data, f"{damage}: the file was touched"
    return True


def expected_of(shelf: Path, kind: str, tmp_path: Path) -> dict[str, str]:
    found = opened(taken(shelf, kind, tmp_path))
    assert isinstance(found, dict) and len(found) > 90
    return found


@pytest.mark.parametrize("kind", ["clean", "killed", "carried"])
def test_a_file_cut_off_anywhere_is_refused_or_whole(shelf: Path, kind: str, tmp_path: Path) -> None:
    expected = expected_of(shelf, kind, tmp_path)
    size = os.path.getsize(shelf / kind / "state.db")
    chance = random.Random(1)
    cuts = sorted({0, 1, 16, 99, 100, 4095, 4096, size - 1, *(chance.randrange(size) for _ in range(12))})
    for cut in cuts:
        path = taken(shelf, kind, tmp_path)
        os.truncate(path, cut)
        was_refused = exact_or_refused(path, expected, f"cut at {cut}")
        assert was_refused or cut >= 100, f"cut at {cut} was not even noticed"


@pytest.mark.parametrize("kind", ["clean", "carried"])
def test_a_flipped_byte_anywhere_is_refused_or_harmless(shelf: Path, kind: str, tmp_path: Path) -> None:
    expected = expected_of(shelf, kind, tmp_path)
    data = (shelf / kind / "state.db").read_bytes()
    kinds = {data[max(start, 100 if start == 0 else start)] for start in range(0, len(data), 4096)}
    assert {2, 5, 10, 13} & kinds >= {5, 10, 13}, f"pages of all kinds are there: {kinds}"
    chance = random.Random(2)
    spots = [*range(0, 100, 7)]
    for start in range(0, len(data), 4096):
        first = start or 100
        used = [at for at in range(first, start + 4096) if data[at]]
        spots += [first, first + 3, first + 4, first + 5, *chance.sample(used, min(5, len(used)))]
    count = 0
    for spot in spots:
        path = taken(shelf, kind, tmp_path)
        with open(path, "r+b") as file:
            file.seek(spot)
            file.write(bytes([data[spot] ^ (1 << chance.randrange(8))]))
        count += exact_or_refused(path, expected, f"bit flipped at {spot} (page {spot // 4096 + 1})")
    assert count > len(spots) // 3


@pytest.mark.parametrize("kind", ["killed", "carried"])
def test_a_log_that_is_cut_off_is_refused_or_whole(shelf: Path, kind: str, tmp_path: Path) -> None:
    expected = expected_of(shelf, kind, tmp_path)
    size = os.path.getsize(shelf / kind / "state.db-wal")
    chance = random.Random(3)
    count = 0
    cuts = [0, 10, 31, 32, 33, size - 1, size - 4120, *(chance.randrange(size) for _ in range(12))]
    for cut in cuts:
        path = taken(shelf, kind, tmp_path)
        os.truncate(f"{path}-wal", cut)
        count += exact_or_refused(path, expected, f"log cut at {cut} of {size}")
    assert count >= 5


@pytest.mark.parametrize("kind", ["killed", "carried"])
def test_a_flipped_byte_in_the_log_is_refused_or_harmless(shelf: Path, kind: str, tmp_path: Path) -> None:
    expected = expected_of(shelf, kind, tmp_path)
    data = (shelf / kind / "state.db-wal").read_bytes()
    chance = random.Random(4)
    for spot in [*range(0, 32, 3), *(chance.randrange(len(data)) for _ in range(25)), len(data) - 1]:
        path = taken(shelf, kind, tmp_path)
        with open(f"{path}-wal", "r+b") as file:
            file.seek(spot)
            file.write(bytes([data[spot] ^ (1 << chance.randrange(8))]))
        exact_or_refused(path, expected, f"bit flipped at {spot} of the log")


def test_a_log_without_a_whole_header_is_refused_also_when_nothing_else_knows_of_it(
    shelf: Path, tmp_path: Path
) -> None:
    for spot in (*range(12), *range(16, 32)):  # 12 to 15 count checkpoints
        path = taken(shelf, "killed", tmp_path)
        os.unlink(f"{path}-shm")
        path.with_suffix(".epoch").unlink()
        log = bytearray(Path(f"{path}-wal").read_bytes())
        log[spot] ^= 4
        Path(f"{path}-wal").write_bytes(log)
        assert refused(path), spot


def test_a_header_that_is_not_as_we_write_it_is_refused(shelf: Path, tmp_path: Path) -> None:
    for spot in (*range(24), *range(44, 48), *range(52, 92)):
        path = taken(shelf, "clean", tmp_path)
        with open(path, "r+b") as file:
            file.seek(spot)
            byte = file.read(1)[0]
            file.seek(spot)
            file.write(bytes([byte ^ 3]))
        assert refused(path), spot


@pytest.mark.parametrize("kind", ["killed", "carried"])
def test_a_log_that_is_gone_is_missed(shelf: Path, kind: str, tmp_path: Path) -> None:
    for lost in (("-wal",), ("-wal", "-shm")):
        path = taken(shelf, kind, tmp_path)
        for side in lost:
            os.unlink(f"{path}{side}")
        assert "damaged" in refused(path).message, lost


def test_a_log_without_its_database_is_not_thrown_away(shelf: Path, tmp_path: Path) -> None:
    path = taken(shelf, "killed", tmp_path)
    os.unlink(path)
    said = refused(path)
    assert said.details["detail"] == "there is its log, and no database" and Path(f"{path}-wal").stat().st_size


@pytest.mark.parametrize("kind", ["killed", "carried"])
def test_the_shared_index_may_be_lost_or_damaged(shelf: Path, kind: str, tmp_path: Path) -> None:
    expected = expected_of(shelf, kind, tmp_path)
    path = taken(shelf, kind, tmp_path)
    os.unlink(f"{path}-shm")
    assert opened(path) == expected
    chance = random.Random(5)
    for _ in range(10):
        path = taken(shelf, kind, tmp_path)
        with open(f"{path}-shm", "r+b") as file:
            file.seek(chance.randrange(136))
            file.write(bytes([chance.randrange(256)]))
        assert opened(path) == expected


def test_an_older_copy_put_in_its_place_is_noticed(shelf: Path, tmp_path: Path) -> None:
    path = taken(shelf, "clean", tmp_path)
    backup = path.read_bytes()
    Database.open(path).close()
    path.write_bytes(backup)
    assert "last changes are missing" in refused(path).details["detail"]


@pytest.mark.parametrize("record", [None, b"", b"\0" * 200, b"many 7\n"])
def test_without_its_record_it_opens_and_the_epoch_rises_all_the_same(path: Path, record: bytes | None) -> None:
    Database.open(path).close()
    Database.open(path).close()
    path.with_suffix(".epoch").unlink() if record is None else path.with_suffix(".epoch").write_bytes(record)
    database = Database.open(path)
    assert database.epoch == 3 and path.with_suffix(".epoch").read_text().startswith("3 ")
    database.close()


def test_after_another_boot_a_torn_end_of_the_log_is_no_damage(shelf: Path, tmp_path: Path) -> None:
    """A power cut may lose the last changes; only an epoch and what is in the record must be there."""
    path = taken(shelf, "carried", tmp_path)
    size = os.path.getsize(f"{path}-wal")
    os.truncate(f"{path}-wal", size - 5000)
    database = Database.open(path, boot="another")
    assert database.rebooted
    database.close()


# --- what is no database of ours ---


def test_a_text_file_and_a_foreign_database_are_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("Dear diary,\n" * 500)
    assert (refused(path).details["reason"], path.read_text()[:4]) == ("foreign", "Dear")
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("CREATE TABLE diary (entry TEXT)")
    said = refused(path)
    assert said.details["reason"] == "foreign" and filecmp.cmp(path, said.details["copy"], shallow=False)
    with contextlib.closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_schema").fetchall() == [("diary",)]


def test_a_newer_one_is_refused_and_says_so(path: Path) -> None:
    Database.open(path).close()
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version=2")
    said = refused(path)
    assert said.details["reason"] == "newer" and "newer anydevice" in said.hint


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("elsewhere", path)])
def test_what_is_no_file_is_refused(path: Path, make: Callable[[Path], None]) -> None:
    path.parent.mkdir()
    make(path)
    assert refused(path).details["reason"] == "not_a_file"


def test_an_empty_file_is_a_new_one_only_where_there_was_none_before(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    assert opened(path) == {}
    os.truncate(path, 0)
    assert "empty" in refused(path).details["detail"]


def test_the_hint_works_as_printed_and_the_epoch_goes_on(path: Path) -> None:
    Database.open(path).close()
    for round_ in range(2):
        path.write_bytes(b"no database")
        said = refused(path)
        copy = Path(said.details["copy"])
        assert copy.read_bytes() == b"no database"
        do_as_told(said)
        assert not path.exists()
        database = Database.open(path)
        assert database.epoch == 2 + round_
        database.close()
    assert len(list(path.parent.glob("set-aside-*/state.db.damaged-1"))) == 2


def test_one_damage_is_copied_once_and_the_next_one_again(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"one")
    copies = {refused(path).details["copy"] for _ in range(3)}
    path.write_bytes(b"two")
    copies.add(refused(path).details["copy"])
    assert sorted(Path(copy).read_bytes() for copy in copies) == [b"one", b"two"]


def test_one_that_is_taken_away_while_it_is_in_use_is_noticed(path: Path) -> None:
    database = Database.open(path)
    path.rename(path.with_name("elsewhere"))
    with pytest.raises(UpstreamUnavailable, match="moved or deleted"):
        database.checkpoint()
    database.close()


# --- disks ---


def bound_by_modes() -> None:
    """In a child: file modes hold also for the superuser, whose programs may override and search no longer."""
    if os.getuid() == 0:
        for capability in (1, 2):
            assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


REFUSAL = """
import sys
from pathlib import Path
from anydevice.database import Database
from anydevice_schemas.errors import UpstreamUnavailable
try:
    Database.open(Path(sys.argv[1]))
except UpstreamUnavailable as error:
    print(error.details["reason"], error.hint, sep="|", end="")
"""


@pytest.mark.skipif(sys.platform != "linux" and os.getuid() == 0, reason="modes do not hold for the superuser")
@pytest.mark.parametrize("closed", ["state.db", "state.epoch", "."])
def test_what_cannot_be_written_is_refused_and_the_hint_opens_it(path: Path, closed: str) -> None:
    Database.open(path).close()
    os.chmod(path.parent / closed, 0o500)

    def run(*command: str) -> str:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=True, preexec_fn=bound_by_modes
        )
        return done.stdout

    reason, _, hint = run(sys.executable, "-c", REFUSAL, str(path)).partition("|")
    assert reason == "not_writable"
    run("sh", "-ec", hint)
    assert run(sys.executable, "-c", REFUSAL, str(path)) == ""


def test_a_disk_that_fills_up_loses_nothing_that_was_answered(path: Path) -> None:
    """A file may grow to 200 kB and no further, as on a full disk."""
    code = """
number = 0
try:
    while number < 1000:
        note(str(number), "x" * 900)
        number += 1
except Exception as error:
    say(number, getattr(error, "code", type(error).__name__), error.details["reason"])
    try:
        note("0", "y")
    except Exception as error:
        say(error.code)
    say(len(database.read("SELECT key FROM notes")))
"""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))  # noqa: E731
    with child(path, code, preexec_fn=limit) as process:
        out, err = process.communicate(timeout=60)
    assert err == ""
    number, refusal, reason = out.split("\n")[0].split()
    assert int(number) > 5 and refusal == "upstream_unavailable" and reason in ("full", "failing")
    found = opened(path)
    assert isinstance(found, dict) and len(found) == int(number) and "y" not in found.values()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.getuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only the superuser can mount a small disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False, timeout=10).returncode != 0:
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True, timeout=10)


def test_on_a_full_disk_it_says_so_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    path = small_disk / "data" / "state.db"
    database = Database.open(path)
    database.schema([NOTES])
    number = 0
    with pytest.raises(UpstreamUnavailable) as caught:
        for number in range(1000):
            note(database, str(number), "x" * 900)
    assert caught.value.details["reason"] == "full" and "df -h" in caught.value.hint
    assert len(notes(database)) == number
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True, timeout=10)
    note(database, "again", "z")
    assert len(notes(database)) == number + 1
    database.close()


def test_a_database_cannot_be_opened_on_a_full_disk_and_is_whole_afterwards(small_disk: Path) -> None:
    path = small_disk / "data" / "state.db"
    database = Database.open(path)
    database.schema([NOTES])
    note(database, "a", "b")
    database.close()
    ballast = small_disk / "ballast"
    with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    assert refused(path).details["reason"] == "full"
    ballast.unlink()
    assert opened(path) == {"a": "b"}
