"""The witness and the ground it stands on do what the verdict relies on."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from soak import jumps
from soak.ground import HERE
from soak.journals import Journal, commands, lines


@contextmanager
def devices(folder: Path, count: int = 2) -> Iterator[str]:
    """Running stand-ins; their socket."""
    address = str(folder / "s")
    process = subprocess.Popen(
        [sys.executable, str(HERE / "device.py"), address, str(folder), str(count), "seed"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        yield address
    finally:
        process.stdin.close()
        assert process.wait(30) == 0, "the stand-in ends with its parent"
        process.stdout.close()


def ask(link: socket.socket, **request: Any) -> dict[str, Any] | None:
    """One request and its reply; None when the device went away instead."""
    link.settimeout(30)
    link.sendall(json.dumps(request).encode() + b"\n")
    said = link.recv(4096)
    return json.loads(said) if said else None


def linked(address: str) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    link.connect(address)
    return link


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder short enough for a socket's address."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ad-") as name:
        yield Path(name)


def test_a_device_obeys_two_drivers_at_once_and_its_journal_says_so(short: Path) -> None:
    with devices(short) as address, linked(address) as one, linked(address) as other:
        ask(one, device="soak-00", op="spoil", kind="hang", seconds=0.2)
        one.sendall(json.dumps({"device": "soak-00", "op": "type", "text": "a|1.1"}).encode() + b"\n")
        assert ask(other, device="soak-00", op="type", text="b|1.2") is not None
        assert one.recv(100)
        first, second = commands(short)
    assert (first.grant, first.fence, second.grant, second.fence) == ("a", (1, 1), "b", (1, 2))
    assert first.end is not None and first.end > second.begin
    assert first.end - first.begin > 150_000_000


def test_a_connection_that_ends_cuts_its_command_off_before_a_later_connections_begins(short: Path) -> None:
    with devices(short) as address:
        for number in range(8):
            with linked(address) as one:
                ask(one, device="soak-00", op="spoil", kind="slow", seconds=5.0)
                one.sendall(json.dumps({"device": "soak-00", "op": "type", "text": f"a{number}|"}).encode() + b"\n")
                time.sleep(0.002)
            with linked(address) as other:
                assert ask(other, device="soak-00", op="type", text=f"b{number}|") is not None
        seen = commands(short)
    assert len(seen) == 16
    for before, after in pairwise(seen):
        assert before.end is not None and before.end <= after.begin


def test_a_dropped_connection_is_an_end(short: Path) -> None:
    with devices(short) as address, linked(address) as link:
        ask(link, device="soak-01", op="spoil", kind="drop", seconds=0)
        assert ask(link, device="soak-01", op="type", text="a|") is None
        (seen,) = commands(short)
        assert seen.end is not None


def test_a_process_of_the_soak_sees_its_wall_clock_jump_and_no_other_clock(tmp_path: Path) -> None:
    shutil.copy(HERE / "jumps.py", tmp_path / "sitecustomize.py")
    clocks = tmp_path / "clocks"
    jumps.prepare(str(clocks), 2)
    jumps.jump(str(clocks), {1: 3600.0})
    source = "import time; print(time.time(), time.time_ns() / 1e9, time.monotonic())"
    seen = []
    for slot in ("0", "1"):
        env = os.environ | {"PYTHONPATH": str(tmp_path), jumps.FILE: str(clocks), jumps.SLOT: slot}
        said = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, check=True)
        seen.append([float(word) for word in said.stdout.split()])
    right, wrong = seen
    assert abs(right[0] - time.time()) < 60
    assert 3500 < wrong[0] - right[0] < 3700
    assert 3500 < wrong[1] - right[1] < 3700
    assert abs(wrong[2] - right[2]) < 60


def test_children_end_with_their_ground(tmp_path: Path) -> None:
    # In a process of its own: this one has threads, which a fork does not copy.
    source = f"""
import os, sys, time
sys.path.insert(0, {str(HERE.parent)!r})
from pathlib import Path
from soak.ground import Children
with Children(Path({str(tmp_path)!r}), 2) as children:
    pid = children.fork("sleeper", 0, lambda: time.sleep(60))
    broken = children.fork("broken", 1, lambda: 1 / 0)
    assert os.getpgid(0) != pid
    found = []
    while not found:
        found = children.broken()
    assert [v.rule for v in found] == ["a process broke"], found
try:
    os.kill(pid, 0)
except ProcessLookupError:
    print("gone")
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "gone\n"


def test_a_line_that_a_kill_cut_off_is_left_out(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.note("one", a=1)
    with (tmp_path / "j").open("a") as file:
        file.write('{"t": 1, "what": "tw')
    assert [line["what"] for line in lines(tmp_path / "j")] == ["one"]
