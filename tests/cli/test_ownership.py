"""Ownership for people: takeover, give-back, mark, status, and waiting in the queue, with real processes."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from ..support.daemons import PATIENCE, Home, eventually
from ..support.distributions import install_fake_backend
from .test_completion import complete

pytestmark = pytest.mark.daemon


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """Two directories: what is done in one belongs to another session than what is done in the other."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    return here, there


def overview(home: Home) -> dict[str, Any]:
    """What status knows."""
    data: dict[str, Any] = home.json("status")["data"]
    return data


def device(home: Home, key: str = "fake:fake-1") -> dict[str, Any]:
    """What status knows of one device."""
    return next(row for row in overview(home)["devices"] if row["device"] == key)


def waits(home: Home, number: int = 1) -> None:
    """Returns when so many are in the queue."""
    eventually(lambda: len(overview(home)["queue"]) == number, f"{number} wait")


# --- takeover ---


def test_a_takeover_ends_what_runs_and_giving_back_lets_it_go_on(home: Home, places: tuple[Path, Path]) -> None:
    here, there = places
    session = home.json("appstate", "--device", "fake-1", cwd=here)["session"]
    runs = home.spawn("wait", "text", "never there", "--timeout-ms", "25000", cwd=here)
    eventually(lambda: overview(home)["calls"] == 1, "it runs")
    began = time.monotonic()
    taken = home.cli("takeover", "fake-1", "--reason", "a demo", cwd=there)
    assert taken.returncode == 0, taken.stderr
    _, told = runs.communicate(timeout=PATIENCE)
    assert time.monotonic() - began < 20, "it would have waited for 25 s"
    assert runs.returncode == 3 and told.startswith(b"lease_lost: ") and b"a demo" in told
    assert "fake:fake-1 is yours for 10 min at least" in taken.stdout
    assert f"interrupted: session {session}\n" in taken.stdout
    assert "anydevice give-back fake:fake-1" in taken.stdout
    unsaid = home.json("press", "Increment", cwd=there, code=3)["error"]
    assert unsaid["code"] == "ambiguous_device", "nor does a person drive by accident"
    mine = unsaid["details"]["candidates"][0]["selectors"]["session"]
    assert f"--session {mine}" in taken.stdout
    assert home.json("press", "Increment", "--session", mine, cwd=there)["ok"]
    assert home.json("press", "Increment", cwd=here, code=3)["error"]["code"] == "lease_lost"
    back = home.cli("give-back", "fake:fake-1", cwd=here)
    assert (back.returncode, back.stdout) == (0, f"fake:fake-1 is given back\ngoes on: session {session}\n")
    again = home.json("press", "Increment", cwd=here)
    assert again["session"] == session and [n["kind"] for n in again["notices"]] == ["given_back"]


def test_a_takeover_starts_a_daemon_and_is_kept_as_long_as_it_says(home: Home, places: tuple[Path, Path]) -> None:
    assert not home.running()
    data = home.json("takeover", "fake:fake-2", "--reason", "x", "--minutes", "90", cwd=places[0])["data"]
    assert (data["device"], data["interrupted"]) == ("fake:fake-2", [])
    lease = device(home, "fake:fake-2")["lease"]
    assert lease["kind"] == "human" and 5390 < lease["leftSeconds"] <= 5400
    assert "a person (" in home.cli("status").stdout


@pytest.mark.parametrize(
    ("argv", "code", "error"),
    [
        (["takeover", "fake-1"], 2, "invalid_argument"),
        (["takeover", "fake-1", "--reason", " "], 2, "invalid_argument"),
        (["takeover", "fake-1", "--reason", "x", "--minutes", "0"], 2, "invalid_argument"),
        (["takeover", "fake-1", "--reason", "x", "--minutes", "721"], 2, "invalid_argument"),
        (["takeover", "nobody", "--reason", "x"], 3, "device_not_found"),
        (["give-back", "fake-1"], 3, "lease_expired"),
        (["mark", "fake-1", "splendid"], 2, "invalid_argument"),
    ],
)
def test_what_a_person_gets_wrong_has_an_exit_code(daemon: Home, argv: list[str], code: int, error: str) -> None:
    assert daemon.json(*argv, code=code)["error"]["code"] == error


def test_a_device_that_is_marked_is_not_given_out_until_it_is_good(home: Home, places: tuple[Path, Path]) -> None:
    said = home.cli("mark", "fake-2", "bad", "--reason", "the screen is broken")
    assert said.stdout.splitlines() == [
        "fake:fake-2 is marked bad: the screen is broken",
        "To put it back into the pool: anydevice mark fake:fake-2 good",
    ]
    assert home.json("lease", "acquire", "--device", "fake-2", code=3)["error"]["code"] == "device_unhealthy"
    assert "bad: the screen is broken" in home.cli("status").stdout
    assert home.json("mark", "fake-2", "good")["data"]["health"] == "good"
    assert home.json("lease", "acquire", "--device", "fake-2", cwd=places[0])["ok"]
    assert "HEALTH" not in home.cli("status").stdout


def test_devices_complete_from_what_a_running_daemon_knows_and_start_none(home: Home) -> None:
    assert complete(home, "bash", "anydevice takeover fa", 2) == []
    assert not home.running()
    home.json("devices")
    assert complete(home, "bash", "anydevice takeover ", 2) == ["fake-1", "fake-2"]
    assert complete(home, "bash", "anydevice give-back fake-", 2) == ["fake-1", "fake-2"]
    assert complete(home, "bash", "anydevice mark fake-1 m", 3) == ["maintenance"]


# --- status ---


def test_status_says_who_drives_until_when_and_who_waits(home: Home, places: tuple[Path, Path]) -> None:
    here, there = places
    home.json("lease", "acquire", "--device", "fake-1", "--session", "nightly", "--run-id", "r-7", cwd=here)
    home.json("lease", "acquire", "--device", "fake-2", "--tenant", "team-a", cwd=here)
    waiter = home.spawn(
        "lease", "acquire", "--device", "fake-1", "--tenant", "team-b", "--timeout-ms", "30000", cwd=there
    )
    waits(home)
    data = overview(home)
    one, two = data["devices"]
    assert (one["device"], one["state"], one["waiting"]) == ("fake:fake-1", "ready", 1)
    assert {"session": "nightly", "tenant": "default", "runId": "r-7", "kind": "run"}.items() <= one["lease"].items()
    assert 0 < one["lease"]["leftSeconds"] <= 60
    assert (two["lease"]["tenant"], two["waiting"]) == ("team-a", 0)
    assert [(p["position"], p["tenant"], p["asked"]["device"]) for p in data["queue"]] == [(1, "team-b", "fake-1")]
    assert {s["name"]: s["tenant"] for s in data["sessions"]}["nightly"] == "default"
    text = home.cli("status").stdout
    assert re.search(r"^fake:fake-1 .* nightly, run r-7 +in \d\d? s +1$", text, re.MULTILINE)
    assert re.search(r"^fake:fake-2 .* of team-a +in \d\d? s$", text, re.MULTILINE)
    assert re.search(r"^1 +team-b +\d+ s +device=fake-1$", text, re.MULTILINE)
    waiter.send_signal(signal.SIGINT)
    waiter.communicate(timeout=PATIENCE)


def test_status_keeps_the_keys_of_every_version(home: Home) -> None:
    home.json("devices")
    assert overview(home).keys() >= {
        "running", "pid", "version", "python", "started", "uptime", "catalogue", "commands", "facades", "idleExit",
        "connections", "sessions", "held", "plugins", "calls", "devices", "queue", "missing",
    }  # fmt: skip


def test_a_backend_that_hangs_holds_up_neither_status_nor_a_takeover(home: Home, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    install_fake_backend(
        home.plugins,
        name="slow",
        setup=f"""
        self.fault.hang_listing = 60
        listed = self.devices
        async def devices(env):
            open({str(asked)!r}, "a").write("x")
            return await listed(env)
        self.devices = devices
        """,
    )
    home.serve()
    began = time.monotonic()
    data = overview(home)
    assert time.monotonic() - began < 30
    assert [row["device"] for row in data["devices"]] == ["fake:fake-1", "fake:fake-2"]
    assert [gone["backend"] for gone in data["missing"]] == ["slow"]
    before = asked.read_text()
    assert home.json("takeover", "fake:fake-1", "--reason", "x")["ok"]
    assert asked.read_text() == before != "", "a takeover does not ask the backend that hangs"
    assert "missing: slow: " in home.cli("status").stdout


def test_a_device_that_is_held_and_not_listed_is_told_all_the_same(home: Home, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    install_fake_backend(
        home.plugins,
        name="shy",
        setup=f"""
        import os
        listed = self.devices
        async def devices(env):
            return [] if os.path.exists({str(gone)!r}) else await listed(env)
        self.devices = devices
        """,
    )
    home.json("lease", "acquire", "--device", "shy:fake-1")
    gone.touch()
    eventually(lambda: device(home, "shy:fake-1")["state"] == "not listed", "it is gone")
    assert device(home, "shy:fake-1")["lease"]["kind"] == "run"
    assert home.json("mark", "fake-1", "bad", code=0)["data"]["device"] == "fake:fake-1"


def test_after_a_crash_sessions_that_nobody_has_come_back_to_are_marked(home: Home, tmp_path: Path) -> None:
    home.json("open", "--device", "fake-1", "--session", "mine", cwd=tmp_path)
    os.kill(home.pid, signal.SIGKILL)
    eventually(lambda: not home.running(), "it is gone")
    assert home.json("status")["data"] == {"running": False}
    home.serve()
    assert [(s["name"], s["attached"]) for s in overview(home)["sessions"]] == [("mine", False)]
    assert re.search(r"^mine +fake:fake-1 +.* s, nobody attached ", home.cli("status").stdout, re.MULTILINE)
    assert device(home)["lease"]["session"] == "mine"
    home.json("press", "Increment", "--session", "mine", cwd=tmp_path)
    assert overview(home)["sessions"][0]["attached"] is True
    assert "nobody attached" not in home.cli("status").stdout


def test_long_texts_are_cut_to_the_terminal(home: Home) -> None:
    home.json("mark", "fake:fake-1", "suspect", "--reason", "x" * 150)
    home.extra = {"COLUMNS": "80"}
    lines = home.cli("status").stdout.splitlines()
    row = next(line for line in lines if line.startswith("fake:fake-1 "))
    assert len(row) <= 80 and row.endswith("…")
    home.extra = {}
    assert "x" * 150 in home.cli("status").stdout


# --- waiting in the queue ---


def test_who_waits_is_told_its_position_once_a_change_and_gets_the_device(
    home: Home, places: tuple[Path, Path]
) -> None:
    here, there = places
    first = home.json("lease", "acquire", "--device", "fake-1", cwd=here)["data"]["lease"]
    waiter = home.spawn("lease", "acquire", "--device", "fake-1", "--timeout-ms", "30000", cwd=there)
    waits(home)
    assert waiter.stderr is not None and waiter.stderr.readline() == b"waiting: position 1 of 1\n"
    time.sleep(2.2)  # it is told every second, and says it once
    assert home.json("lease", "release", "--lease-id", first["leaseId"], cwd=there)["ok"]
    out, err = waiter.communicate(timeout=PATIENCE)
    assert waiter.returncode == 0
    assert err == b""
    lease_id = re.search(r"^leaseId: (\w{32})$", out.decode(), re.MULTILINE)
    assert lease_id is not None
    assert "for 60 s after each use" in out.decode() and f"--lease-id {lease_id[1]}" in out.decode()
    assert home.json("press", "Increment", "--lease-id", lease_id[1], cwd=here)["ok"]


def test_a_place_further_on_is_told_on_a_line_of_its_own(home: Home, places: tuple[Path, Path]) -> None:
    here, there = places
    home.json("lease", "acquire", "--device", "fake-1", cwd=here)
    asked = ["lease", "acquire", "--device", "fake-1", "--timeout-ms", "60000", "--tenant"]
    first = home.spawn(*asked, "a", cwd=there)
    waits(home)
    second = home.spawn(*asked, "b", cwd=there)
    assert second.stderr is not None and second.stderr.readline() == b"waiting: position 2 of 2\n"
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=PATIENCE)
    waits(home)
    assert second.stderr.readline() == b"waiting: position 1 of 1\n"
    second.send_signal(signal.SIGINT)
    assert second.communicate(timeout=PATIENCE)[1].strip() == b""


def test_a_script_that_waits_gets_one_object_and_nothing_else(home: Home, places: tuple[Path, Path]) -> None:
    here, there = places
    home.json("lease", "acquire", "--device", "fake-1", cwd=here)
    done = home.cli("lease", "acquire", "--device", "fake-1", "--timeout-ms", "1500", "--json", cwd=there)
    assert (done.returncode, done.stderr) == (3, "")
    assert json.loads(done.stdout)["error"]["code"] == "lease_held"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_who_goes_away_leaves_the_queue(home: Home, places: tuple[Path, Path], number: signal.Signals) -> None:
    here, there = places
    home.json("lease", "acquire", "--device", "fake-1", cwd=here)
    waiter = home.spawn("lease", "acquire", "--device", "fake-1", "--timeout-ms", "60000", cwd=there)
    waits(home)
    waiter.send_signal(number)
    waiter.communicate(timeout=PATIENCE)
    assert waiter.returncode == (130 if number == signal.SIGINT else -9)
    eventually(lambda: overview(home)["queue"] == [], "nobody waits", 8.0)
    home.json("lease", "release", cwd=here)
    eventually(lambda: "lease" not in device(home), "nobody has it")


@pytest.mark.parametrize("words", [["acquire"], ["--action", "acquire"]])
def test_the_action_is_a_word_or_an_option(home: Home, tmp_path: Path, words: list[str]) -> None:
    lease = home.json("lease", *words, "--device", "fake-1", "--ttl-ms", "30000", cwd=tmp_path)["data"]["lease"]
    assert (lease["device"], lease["ttlMs"]) == ("fake:fake-1", 30000)
    assert home.json("lease", "acquire", "--action", "acquire", code=2)["error"]["code"] == "invalid_argument"
    table = home.cli("lease", cwd=tmp_path).stdout
    assert table.split("\n")[0].split() == ["DEVICE", "UNTIL", "SESSION", "TENANT", "RUN", "LEASE", "ID"]
    assert lease["leaseId"] in table
    assert "has ended" in home.cli("lease", "release", cwd=tmp_path).stdout
    assert home.cli("lease", "status", cwd=tmp_path).stdout == "no leases\n"


def test_a_terminal_is_left_clean_after_waiting(home: Home, places: tuple[Path, Path]) -> None:
    here, there = places
    home.json("lease", "acquire", "--device", "fake-1", cwd=here)
    master, slave = pty.openpty()
    try:
        waiter = home.spawn(
            "lease", "acquire", "--device", "fake-1", "--timeout-ms", "2500", cwd=there, stderr=slave,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(slave)
        said = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            said += data
        waiter.communicate(timeout=PATIENCE)
    finally:
        os.close(master)
    assert b"waiting: position 1 of 1" in said
    assert said.index(b"\r\x1b[K", said.index(b"waiting")) < said.index(b"lease_held")
