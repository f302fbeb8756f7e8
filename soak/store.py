"""The store alone: many processes on one database file without any daemon, killed, stalled, with clocks that jump."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from anydevice.leases.events import Request
from anydevice_schemas import Holder
from anydevice_schemas.errors import AnydeviceError

from .ground import Children
from .journals import Journal, lines, read_fence
from .judge import SECOND, Verdict, Violation
from .sizes import TTL, Size

STALL = (1.0, 7.0)
"""Seconds a process is stopped; some stalls outlast a lease, and some stop a process inside a transaction."""

INSIDE = signal.SIGUSR1
"""Tells a process to stop itself inside its next transaction."""

QUIET = 30.0
"""Seconds processes have to end afterwards."""

STILL = 20.0
"""Seconds a device may go without a grant: a stall inside a transaction, then the TTL of who was killed."""


@dataclass(frozen=True)
class Stood:
    """One lease as its holder saw it: it certainly stood from `start` to `end` (CLOCK_MONOTONIC, ns).

    Attributes:
        fence, later: Its fence when it was granted, and the last one it had.
    """

    device: str
    lease: str
    fence: tuple[int, int]
    start: int
    end: int
    later: tuple[int, int] = (0, 0)


# --- one process ---


@dataclass(frozen=True)
class Orders:
    """What a process is told; as `client.Orders`."""

    folder: Path
    journals: Path
    seed: str
    number: int
    incarnation: int
    devices: int
    until: float


def contend(orders: Orders) -> None:
    """A process that takes devices, uses them, gives them back, straight from the store."""
    from anydevice.database import StoreBusy
    from anydevice.leases.sqlite import open_store

    dice = random.Random(f"{orders.seed}/{orders.number}/{orders.incarnation}")
    journal = Journal(orders.journals / f"p{orders.number:02}.jsonl")
    told: list[int] = []
    signal.signal(INSIDE, lambda number, frame: told.append(number))
    store: Any = None
    while store is None:
        try:
            store = open_store(str(orders.folder))
        except (StoreBusy, sqlite3.OperationalError, AnydeviceError) as error:
            journal.note("not opened", why=f"{type(error).__name__}: {error}"[:300])
            if time.monotonic() > orders.until:
                return
            time.sleep(dice.uniform(0.05, 0.3))
    offset = store.database.offset
    turn = 0
    while time.monotonic() < orders.until:
        turn += 1
        holder = Holder(
            principal="soak", session=f"p{orders.number}.{orders.incarnation}.{turn}", tenant=f"t{orders.number % 4}"
        )
        wanted = Request(f"soak:d{dice.randrange(orders.devices):02}", holder, TTL, kind="run")
        try:
            if told:
                told.clear()
                journal.note("inside")
                _stop_inside(store, wanted, offset)
                continue
            _one_turn(store, wanted, offset, journal, dice)
        except StoreBusy:
            journal.note("busy")
        except AnydeviceError as error:
            journal.note("refused", code=error.code)
            time.sleep(dice.uniform(0.002, 0.05))
    store.close()


def _stop_inside(store: Any, wanted: Request, offset: float) -> None:
    """Stops in the middle of a transaction that has changed something and is not committed; killed there, or woken."""
    with store.database.write():
        try:
            store.grant(wanted, time.monotonic() + offset)
        finally:
            os.kill(os.getpid(), signal.SIGSTOP)


def _one_turn(store: Any, wanted: Request, offset: float, journal: Journal, dice: random.Random) -> None:
    lease, _ = store.grant(wanted, time.monotonic() + offset)
    fence = (lease.fence.epoch, lease.fence.counter)
    journal.note(
        "granted",
        device=wanted.device,
        lease=lease.lease_id,
        fence=str(lease.fence),
        expires=int((lease.expires_at - offset) * SECOND),
    )
    mine = replace(wanted, lease_id=lease.lease_id, fence=fence)
    for _ in range(dice.randint(0, 6)):
        time.sleep(dice.choice((0.0, 0.005, 0.02, 0.2)))
        before = time.monotonic_ns()
        used, again = store.grant(mine, time.monotonic() + offset)
        if again or used.lease_id != lease.lease_id:
            # It had run out untaken and this is another lease, under another fence; left to run out.
            journal.note("regranted", device=wanted.device, lease=used.lease_id, fence=str(used.fence))
            return
        # Once somebody has opened the store anew, a lease has another fence from its next use on.
        mine = replace(mine, fence=(used.fence.epoch, used.fence.counter))
        journal.note("used", lease=lease.lease_id, asked=before, fence=str(used.fence))
    if dice.random() < 0.97:
        journal.note("releasing", lease=lease.lease_id)
        store.release(lease.lease_id, time.monotonic() + offset)


# --- the verdict ---


def stood(journals: Path) -> list[Stood]:
    """Every lease, for the time it certainly stood: from the answer to the last use that was let in, and from the
    answer to its first expiry if it was not given back before (later expiries may be known to its process only)."""
    found: dict[str, Stood] = {}
    expires: dict[str, int] = {}
    for path in journals.glob("p*.jsonl"):
        for line in lines(path):
            lease = line.get("lease", "")
            if line["what"] in ("granted", "regranted"):
                fence = read_fence(line["fence"]) or (0, 0)
                found[lease] = Stood(line["device"], lease, fence, line["t"], line["t"])
                expires[lease] = line.get("expires", line["t"])
            elif line["what"] == "used" and lease in found:
                used = max(found[lease].end, line["asked"])
                now = read_fence(line["fence"]) or (0, 0)
                found[lease] = replace(found[lease], end=used, later=max(now, found[lease].later))
            elif line["what"] == "releasing":
                expires[lease] = min(expires.get(lease, 0), line["t"])
    whole = [replace(row, end=max(row.end, expires[row.lease])) for row in found.values()]
    return sorted(whole, key=lambda row: row.start)


def judge(rows: Iterable[Stood]) -> list[Violation]:
    """No two leases of a device stand at once, and the later one has the higher fence."""
    out = []
    before: dict[str, Stood] = {}
    latest: dict[str, Stood] = {}
    fences: dict[tuple[int, int], str] = {}
    for row in sorted(rows, key=lambda row: row.start):
        if row.fence in fences:
            out.append(Violation("fence twice", row.device, f"{row.fence}"))
        fences[row.fence] = row.lease
        last, longest = before.get(row.device), latest.get(row.device)
        if longest is not None and row.start < longest.end:
            early = (longest.end - row.start) / 1e6
            out.append(Violation("two leases", row.device, f"{row.fence} {early:.1f} ms before {longest.fence} ended"))
        if last is not None and row.fence <= max(last.fence, last.later):
            out.append(Violation("fence fell", row.device, f"{row.fence} after {max(last.fence, last.later)}"))
        before[row.device] = row
        if longest is None or row.end > longest.end:
            latest[row.device] = row
    return out


def sound(database: Path) -> list[Violation]:
    """Whether SQLite finds the file whole. One that is not there yet is no fault."""
    if not database.exists():
        return []
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10.0)) as connection:
            rows = connection.execute("PRAGMA quick_check").fetchall()
    except sqlite3.OperationalError as error:
        return [] if "locked" in str(error) else [Violation("corrupt", "*", str(error))]
    except sqlite3.DatabaseError as error:
        return [Violation("corrupt", "*", str(error))]
    return [] if rows == [("ok",)] else [Violation("corrupt", "*", str(rows[:3]))]


# --- all of them ---


def run(size: Size, seed: str, keep: Path | None = None) -> Verdict:
    """Many processes for a while, and the verdict."""
    signal.signal(INSIDE, signal.SIG_IGN)  # for children who have not said yet what they do about it
    with tempfile.TemporaryDirectory(prefix="ad-") as name:
        folder = Path(name)
        journals = folder / "clients"
        journals.mkdir()
        (folder / "store").mkdir(mode=0o700)
        with Children(folder, size.processes + 1) as children:
            verdict = _run(size, seed, folder, journals, children)
        if keep is not None:
            shutil.copytree(folder, keep, dirs_exist_ok=True)
        return verdict


def _run(size: Size, seed: str, folder: Path, journals: Path, children: Children) -> Verdict:
    dice = random.Random(f"{seed}/store")
    verdict = Verdict()
    began = time.monotonic()
    until = began + size.store_seconds
    incarnations: dict[int, int] = defaultdict(int)
    pids: dict[int, int] = {}
    due: list[tuple[float, str, int]] = []
    plans: dict[int, float] = {}  # seconds a process stays stopped, by its id; 0 = it is killed where it stopped
    since: dict[int, float] = {}

    def launch(number: int) -> None:
        orders = Orders(folder / "store", journals, seed, number, incarnations[number], size.store_devices, until)
        incarnations[number] += 1
        pids[number] = children.fork(f"process {number}", number, partial(contend, orders))

    def shoot(number: int) -> None:
        children.kill(pids[number])
        due.append((time.monotonic() + 0.1, "start", number))
        due.sort()

    for number in range(size.processes):
        launch(number)
    planned = [(size.store_kills // 2, "kill"), (size.store_kills - size.store_kills // 2, "kill inside")]
    planned += [(size.store_stalls, "stall"), (size.store_stalls // 2, "stall inside"), (20, "jump"), (20, "check")]
    for count, kind in planned:
        span = size.store_seconds * 0.9 / max(1, count)
        due += [(began + span * (n + dice.random()), kind, dice.randrange(size.processes)) for n in range(count)]
    due.sort()
    while (now := time.monotonic()) < until:
        while due and due[0][0] <= now:
            _, kind, number = due.pop(0)
            pid = pids[number]
            if kind == "jump":
                children.jump(dice.randrange(2**31))
            elif kind == "check":
                verdict.violations += sound(folder / "store" / "state.db")
            elif kind == "start":
                launch(number)
            elif pid in children.running and kind == "kill":
                shoot(number)
            elif pid in children.running and kind == "stall":
                os.kill(pid, signal.SIGSTOP)
                plans[pid] = dice.uniform(*STALL)
            elif pid in children.running:
                os.kill(pid, INSIDE)
                plans[pid] = 0.0 if kind == "kill inside" else dice.uniform(*STALL)
            due.sort()
        for number, pid in pids.items():
            if pid in children.running and stopped(pid):
                since.setdefault(pid, now)
                if plans.get(pid) == 0.0:
                    shoot(number)
                elif now - since[pid] > plans.get(pid, 1.0):
                    since.pop(pid)
                    os.kill(pid, signal.SIGCONT)
        verdict.violations += children.broken()
        time.sleep(0.02)
    quiet = time.monotonic() + QUIET
    while children.running and time.monotonic() < quiet:
        children.signal(signal.SIGCONT)
        verdict.violations += children.broken()
        time.sleep(0.01)
    verdict.violations += [Violation("a process hangs", "*", what) for what in children.running.values()]
    end = int(until * SECOND)
    rows = stood(journals)
    verdict.violations += judge(rows) + sound(folder / "store" / "state.db") + _reopened(folder / "store")
    if not rows:
        verdict.violations.append(Violation("nothing happened", "*", "nobody was ever granted a device"))
    verdict.violations += _still(rows, size, int(began * SECOND), end)
    busy = sum(line["what"] == "busy" for path in journals.glob("p*.jsonl") for line in lines(path))
    used = sum(line["what"] == "used" for path in journals.glob("p*.jsonl") for line in lines(path))
    verdict.figures |= {
        "grants": len(rows),
        "uses": used,
        "kills": size.store_kills,
        "stalls": size.store_stalls + size.store_stalls // 2,
        "stopped inside a transaction": sum(
            line["what"] == "inside" for path in journals.glob("p*.jsonl") for line in lines(path)
        ),
        "waited too long for another process's write": busy,
        "could not open at first": sum(
            line["what"] == "not opened" for path in journals.glob("p*.jsonl") for line in lines(path)
        ),
    }
    return verdict


def stopped(pid: int) -> bool:
    """Whether a process is stopped at the moment."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


def _still(rows: list[Stood], size: Size, start: int, end: int) -> list[Violation]:
    """No device goes without a grant for long while everybody wants one."""
    out = []
    for number in range(size.store_devices):
        device = f"soak:d{number:02}"
        times = [start, *(row.start for row in rows if row.device == device and row.start < end), end]
        longest = max(b - a for a, b in pairwise(times)) / SECOND
        if longest > STILL:
            out.append(Violation("busy for ever", device, f"not granted for {longest:.1f} s"))
    return out


def _reopened(folder: Path) -> list[Violation]:
    """Whether the store is there and opens again."""
    from anydevice.leases.sqlite import open_store

    if not (folder / "state.db").exists():
        return [Violation("corrupt", "*", "the database is gone")]
    try:
        open_store(str(folder)).close()
    except AnydeviceError as error:
        return [Violation("corrupt", "*", str(error))]
    return []
