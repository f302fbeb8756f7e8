"""What a store must do for many: threads, processes, whoever opens it again. Only asked of a store that offers it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from typing import Any

from anydevice_schemas import Lease
from anydevice_schemas.errors import AnydeviceError

from ..racer import fence
from ..trial import CaseFailed
from .case import case
from .trial import StoreTrial

THREADS = 8
PROCESSES = 8
ROUNDS = 25
RACE_SECONDS = 30.0

RACER = "anydevice_conformance.racer"


def _winners(t: StoreTrial, won: list[dict[str, Any]]) -> None:
    """Every device has one winner, and no fence was given twice."""
    by_device = Counter(win["device"] for win in won)
    t.equal(dict(by_device), {f"b:r{n}": 1 for n in range(ROUNDS)}, "winners of each device")
    t.equal(len({tuple(win["fence"]) for win in won}), ROUNDS, "how many fences there are for that many grants")


@case(
    "threads-one-winner",
    "Of threads that race for a device exactly one MUST win, under a fence of its own.",
    needs="threads",
)
def threads_one_winner(t: StoreTrial) -> None:
    won: list[dict[str, Any]] = []
    odd: list[str] = []
    start = threading.Barrier(THREADS)

    def race(name: str) -> None:
        for number in range(ROUNDS):
            try:
                start.wait(RACE_SECONDS)
                lease, _ = t.store.grant(t.request(name, f"r{number}"), t.now)
                won.append({"device": lease.device, "fence": fence(lease)})
            except AnydeviceError as error:
                if error.code != "lease_held":
                    odd.append(error.code)
            except Exception as error:
                odd.append(type(error).__name__)
                start.abort()
                return

    threads = [threading.Thread(target=race, args=(f"t{n}",), daemon=True) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(RACE_SECONDS)
        t.require(not thread.is_alive(), "a thread never came back")
    t.equal(odd, [], "losers are refused as lease_held and nothing else")
    _winners(t, won)


@case(
    "threads-events-in-order",
    "Watchers MUST be told in the order of the fences, whichever thread was granted.",
    needs="threads",
)
def threads_events_in_order(t: StoreTrial) -> None:
    heard = t.listen()

    def work(name: str) -> None:
        for _ in range(ROUNDS):
            lease, _ = t.store.grant(t.request(name, name), t.now)
            t.store.release(lease.lease_id, t.now)

    threads = [threading.Thread(target=work, args=(f"t{n}",), daemon=True) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(RACE_SECONDS)
        t.require(not thread.is_alive(), "a thread never came back")
    grants = [event.lease for event in heard if event.kind == "granted" and event.lease is not None]
    t.equal(len(grants), THREADS * ROUNDS, "grants that were told")
    t.rise(grants)


def _racers(t: StoreTrial, jobs: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Processes that start at once; what each of them answers.

    Raises:
        CaseFailed: One did not answer in time, or failed.
    """
    running: list[subprocess.Popen[str]] = []
    watchdog = threading.Timer(RACE_SECONDS, _kill, (running,))
    watchdog.daemon = True
    watchdog.start()
    try:
        for job in jobs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", RACER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            running.append(process)
            assert process.stdin is not None
            process.stdin.write(json.dumps(job | {"store": t.name, "folder": str(t.folder), "now": t.now}) + "\n")
            process.stdin.flush()
        for process in running:
            assert process.stdout is not None
            if process.stdout.readline() != "ready\n":
                raise CaseFailed("a process could not open the store: " + _complaint(process))
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        answers = []
        for process in running:
            out, err = process.communicate(timeout=RACE_SECONDS)
            t.equal(process.returncode, 0, "exit status of a process, which said " + err[-300:])
            answers.append([json.loads(line) for line in out.splitlines()])
        return answers
    except subprocess.TimeoutExpired:
        raise CaseFailed(f"a process did not come back within {RACE_SECONDS:g} s") from None
    finally:
        watchdog.cancel()
        for process in running:
            if process.poll() is None:
                process.kill()
                process.communicate()


def _kill(running: list[subprocess.Popen[str]]) -> None:
    for process in running:
        process.kill()


def _complaint(process: subprocess.Popen[str]) -> str:
    process.kill()
    return process.communicate()[1][-300:]


@case(
    "processes-one-winner",
    "Of processes that race for a device exactly one MUST win, under a fence of its own.",
    needs="processes",
    seconds=60.0,
)
def processes_one_winner(t: StoreTrial) -> None:
    jobs = [{"who": f"p{n}", "devices": [f"r{number}" for number in range(ROUNDS)]} for n in range(PROCESSES)]
    answers = [line for answer in _racers(t, jobs) for line in answer]
    t.equal({line["code"] for line in answers} - {"ok", "lease_held"}, set(), "other refusals of the losers")
    _winners(t, [line for line in answers if line["code"] == "ok"])


@case(
    "processes-see-each-other",
    "What one process is granted MUST stand for every other, and what one releases MUST be free.",
    needs="processes",
    seconds=60.0,
)
def processes_see_each_other(t: StoreTrial) -> None:
    mine = t.grant("here", "d1")
    (answer,) = _racers(t, [{"who": "there", "devices": ["d1", "d2"]}])
    t.equal([line["code"] for line in answer], ["lease_held", "ok"], "what the other process was answered")
    t.equal(
        {name: lease.holder.session for name, lease in t.standing().items()}, {"d1": "here", "d2": "there"}, "holders"
    )
    t.release(mine)
    (answer,) = _racers(t, [{"who": "there", "devices": ["d1"]}])
    t.equal([line["code"] for line in answer], ["ok"], "what the other process was answered")


@case(
    "openings-are-one-store",
    "Openings of one store side by side MUST be one: fences rise across them, and what one takes the other refuses.",
    needs="processes",
)
def openings_are_one_store(t: StoreTrial) -> None:
    here, there = t.store, t.open()
    first = t.grant("a", "d1", on=here)
    given = [first]
    given += [t.grant("b", f"e{number}", on=there if number % 2 else here) for number in range(4)]
    t.rise(given)
    t.refused("lease_held", lambda: t.grant("b", "d1", on=there))
    t.store = there
    human = t.take_over("human", "d1")
    t.rise([*given, human])
    error = t.refused("lease_lost", lambda: t.grant("a", "d1", lease_id=first.lease_id, on=here))
    t.equal(error.details.get("reason"), "test", "why")
    t.store = here
    t.release(human)
    last = t.grant("c", "d1", on=there)
    t.rise([*given, human, last])
    t.equal(t.standing(here), t.standing(there), "what stands, seen from both")


@case("reopening-keeps-leases", "A store that is opened again MUST know its leases and their expiry.", needs="durable")
def reopening_keeps_leases(t: StoreTrial) -> None:
    lease = t.grant("a", "d1", group=["focus"], ttl=60.0)
    gone = t.grant("a", "d2")
    t.release(gone)
    t.close()
    again = t.open()
    t.wait(30)
    kept = t.standing(again)
    t.equal(list(kept), ["d1"], "what stands")
    t.equal((kept["d1"].holder.session, kept["d1"].expires_at), ("a", lease.expires_at), "holder and expiry")
    t.refused("lease_held", lambda: t.grant("b", "d3", group=["focus"], on=again))
    t.wait(31)
    t.equal(t.standing(again), {}, "what stands after its expiry")


@case(
    "reopening-raises-the-epoch",
    "A store that is opened again MUST give only fences above all it ever gave.",
    needs="durable",
)
def reopening_raises_the_epoch(t: StoreTrial) -> None:
    leases: list[Lease] = [t.grant("a", f"d{n}") for n in range(5)]
    for number in range(3):
        t.close()
        again = t.open()
        leases.append(t.grant("b", f"e{number}", on=again))
        t.require(leases[-1].fence.epoch > leases[-2].fence.epoch, "the epoch must rise whenever the store is opened")
    t.rise(leases)


@case(
    "reopening-renews-fences",
    "A lease of an earlier opening MUST stand, and get a new fence as its holder uses it; the old one MUST be no good.",
    needs="durable",
)
def reopening_renews_fences(t: StoreTrial) -> None:
    given = [t.grant("a", "d1"), t.grant("b", "d2")]
    for number in range(3):
        old = given[-2]
        t.close()
        again = t.open()
        t.refused(
            ("lease_held", "lease_lost"),
            lambda again=again, old=old: t.grant("thief", "d1", lease_id=old.lease_id, fence=fence(old), on=again),  # type: ignore[misc]
        )
        other = t.grant("c", f"e{number}", on=again)
        first, regranted = t.granted("a", "d1", lease_id=old.lease_id, fence=fence(old), on=again)
        t.equal((first.lease_id, regranted), (old.lease_id, False), "the lease that its holder uses on")
        second = t.grant("b", "d2", on=again)  # it does not remember that it had one
        t.equal(second.lease_id, given[-1].lease_id, "the lease of a holder that names none")
        t.rise([*given, other, first, second])
        given += [other, first, second]
        kept = t.grant("a", "d1", lease_id=first.lease_id, fence=fence(first), on=again)
        t.equal(fence(kept), fence(first), "the fence, once it is new")
        t.refused(
            "lease_stale",
            lambda again=again, old=old: t.grant("a", "d1", lease_id=old.lease_id, fence=fence(old), on=again),  # type: ignore[misc]
        )


@case(
    "reopening-keeps-what-was-lost",
    "A store that is opened again MUST know who lost a lease, to whom and why, though the device is free.",
    needs="durable",
)
def reopening_keeps_what_was_lost(t: StoreTrial) -> None:
    taken, lapsed = t.grant("a", "d1"), t.grant("a", "d2")
    t.release(t.take_over("hands", "d1"))
    t.wait(61)
    t.release(t.grant("b", "d2"))
    t.close()
    again = t.open()
    error = t.refused("lease_lost", lambda: t.grant("a", "d1", lease_id=taken.lease_id, on=again))
    t.equal(
        (error.details.get("reason"), error.details.get("by", {}).get("session")), ("test", "hands"), "why, by whom"
    )
    error = t.refused("lease_lost", lambda: t.grant("a", "d2", lease_id=lapsed.lease_id, on=again))
    t.equal(error.details.get("by", {}).get("session"), "b", "by whom")
    t.equal(t.standing(again), {}, "what stands")


@case(
    "a-killed-process-loses-nothing",
    "A lease that was answered MUST be kept even when the process that asked is killed.",
    needs="durable",
    seconds=60.0,
)
def a_killed_process_loses_nothing(t: StoreTrial) -> None:
    t.close()
    (answer,) = _racers(t, [{"who": "killed", "devices": ["d1", "d2"], "dies": True}])
    t.equal([line["code"] for line in answer], ["ok", "ok"], "what it was answered before it was killed")
    again = t.open()
    t.equal(sorted(t.standing(again)), ["d1", "d2"], "what stands")
    new = t.grant("b", "d3", on=again)
    t.require(fence(new) > max(tuple(line["fence"]) for line in answer), "a fence was given again")
