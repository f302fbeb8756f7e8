"""The daemon is killed with -9 again and again under load; after each restart everything answered is still true."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anydevice.client import Client
from anydevice_schemas.errors import AnydeviceError

from .claims import Standing, claims, compare, risen
from .door import Door, standing
from .ground import Ground, attempts
from .journals import Journal, commands
from .judge import Verdict, Violation, fences, overlaps, returns
from .sizes import Size
from .store import sound

TTLS = (5.0, 5.0, 20.0)
QUEUE = 4.0


@dataclass(frozen=True)
class Orders:
    """What a client is told."""

    home: str
    journals: Path
    seed: str
    number: int
    until: Path
    parent: int

    def over(self) -> bool:
        """Whether it is told to end, or nobody is there any more to tell it."""
        return self.until.exists() or os.getppid() != self.parent


def run_client(orders: Orders) -> None:
    """A client that writes down everything it is answered. It starts no daemon: that is the judge's to do."""
    dice = random.Random(f"{orders.seed}/{orders.number}")
    journal = Journal(orders.journals / f"c{orders.number:02}.jsonl")
    turn = 0
    while not orders.over():
        try:
            door = Door(orders.home, start=False)
            break
        except AnydeviceError:
            time.sleep(0.02)
    again = False
    while not orders.over():
        turn += not again  # who asks again under the same name keeps its place in the queue
        again = False
        name, ttl = f"c{orders.number:02}.{turn}", dice.choice(TTLS)
        try:
            journal.note("want", grant=name)
            grant = door.acquire(name, None, wait=QUEUE, ttl=ttl)
        except AnydeviceError as error:
            journal.note("refused", grant=name, code=error.code, message=str(error)[:200])
            again = True
            time.sleep(0.02)
            continue
        journal.note("granted", grant=name, device=grant.device, lease=grant.lease, fence=grant.fence, ttl=ttl)
        for _ in range(dice.choice((0, 1, 2, 4, 8))):
            time.sleep(dice.choice((0.0, 0.0, 0.02)))
            journal.note("act", grant=name)
            try:
                door.act(grant)
                journal.note("did", grant=name)
            except AnydeviceError as error:
                journal.note("failed", grant=name, code=error.code, message=str(error)[:200])
                time.sleep(0.02)
                if error.code.startswith("lease_"):
                    break
        if dice.random() < 0.15:
            continue  # left to run out
        journal.note("releasing", grant=name)
        try:
            door.release(grant)
            journal.note("released", grant=name)
        except AnydeviceError as error:
            journal.note("unreleased", grant=name, code=error.code, message=str(error)[:200])


def run(size: Size, seed: str, keep: Path | None = None) -> Verdict:
    """All the kills, and the verdict."""
    with Ground.made(size.kill_devices, size.kill_clients, seed) as ground:
        verdict = Verdict()
        _run(ground, size, seed, verdict)
        if keep is not None:
            ground.copy(keep)
        return verdict


def _run(ground: Ground, size: Size, seed: str, verdict: Verdict) -> None:
    dice = random.Random(f"{seed}/kills")
    done = ground.folder / "done"
    ground.serve()
    for number in range(size.kill_clients):
        orders = Orders(str(ground.home), ground.journals, seed, number, done, os.getpid())
        ground.children.fork(f"client {number}", number, partial(run_client, orders))
    highest: dict[str, tuple[int, int]] = {}
    took: list[float] = []
    stood = 0
    for count in range(size.kills):
        time.sleep(dice.uniform(*size.kill_load))
        ground.signal_daemon(signal.SIGKILL)
        ground.children.signal(signal.SIGSTOP)
        began = time.monotonic()
        while ground.daemon() is not None:
            time.sleep(0.001)
        damage = sound_as_left(ground.database)
        ground.serve()
        took.append(time.monotonic() - began)
        rows, names, asked, answered = attempts(10.0, partial(look, ground))
        known = claims(ground.journals)
        found = [*damage, *compare(known, rows, names, asked, answered), *risen(highest, rows), *agree(ground, rows)]
        verdict.violations += [Violation(v.rule, v.device, f"kill {count + 1}: {v.detail}") for v in found]
        for row in (*known, *rows):
            highest[row.device] = max(row.fence, highest.get(row.device, (0, 0)))
        stood += len(rows)
        if dice.random() < 0.3:
            ground.children.jump(dice.randrange(2**31))
        verdict.violations += ground.children.broken()
        ground.children.signal(signal.SIGCONT)
    done.touch()
    until = time.monotonic() + 30.0
    while ground.children.running and time.monotonic() < until:
        verdict.violations += ground.children.broken()
        time.sleep(0.01)
    verdict.violations += [Violation("a client hangs", "*", what) for what in ground.children.running.values()]
    seen = commands(ground.witnesses)
    for broken in (overlaps(seen), returns(seen), fences(seen)):
        verdict.violations += broken
    if not seen:
        verdict.violations.append(Violation("nothing happened", "*", "no device was ever driven"))
    took.sort()
    known = claims(ground.journals)
    verdict.figures |= {
        "daemons killed": size.kills,
        "grants answered": len(known),
        "released": sum(claim.state == "over" for claim in known),
        "leases standing after a restart, all kills": stood,
        "commands": len(seen),
        "restart, median s": round(took[len(took) // 2], 2),
        "restart, longest s": round(took[-1], 2),
    }


def sound_as_left(database: Path) -> list[Violation]:
    """Whether what a crash left is whole. A copy is asked: the next daemon must find the files untouched."""
    if not database.exists():
        return [Violation("corrupt", "*", "the database is gone")]
    with tempfile.TemporaryDirectory(prefix="ad-") as name:
        for path in database.parent.glob(f"{database.name}*"):
            if path.name in (database.name, f"{database.name}-wal"):
                shutil.copy(path, name)
        return sound(Path(name) / database.name)


def look(ground: Ground) -> tuple[list[Standing], frozenset[str], int, int]:
    """What the new daemon says: leases, names of sessions; and when it was asked and had answered (monotonic, ns)."""
    with Client(home=str(ground.home), cwd="/", environ={}, transport="cli") as client:
        asked = time.monotonic_ns()
        rows = standing(client)
        names = frozenset(row["name"] for row in client.host.status()["sessions"])
        return rows, names, asked, time.monotonic_ns()


def agree(ground: Ground, rows: list[Standing]) -> list[Violation]:
    """Whether the database has the leases the daemon says there are."""
    with closing(sqlite3.connect(f"file:{ground.database}?mode=ro", uri=True, timeout=5.0)) as connection:
        kept = {row[0] for row in connection.execute("SELECT lease_id FROM leases")}
    return [
        Violation("not in the database", row.device, row.lease) for row in rows if row.lease and row.lease not in kept
    ]
