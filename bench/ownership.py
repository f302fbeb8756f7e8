"""What ownership costs: a lease in the embedded store, the admission of a command, the end a takeover makes."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio

from anydevice import ownership
from anydevice.database import Database
from anydevice.leases import Desk, MemoryStore, Request, StateStore
from anydevice.leases.sqlite import SqliteStore
from anydevice.session import Session
from anydevice.testing import FakeBackend, FakeClock, call, caller, fake_router
from anydevice_schemas import Answer, Device, Holder

Report = Callable[..., float]


def _device(name: str) -> Device:
    return Device(
        id=name, name=name, platform="p", backend="b", device_target="mobile", device_class="phone", kind="virtual",
        state="ready",
    )  # fmt: skip


def _session(name: str) -> Session:
    return Session(
        name=name, principal="me", device_key=f"b:{name}", scope_key=None, connection=name, created=0.0, used=0.0
    )


def stores(report: Report) -> None:
    """Acquire, renew, release on the embedded store, with 100 other leases standing."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database.open(Path(folder) / "state.db")
        store, now = SqliteStore(database), time.time()
        for n in range(100):
            store.grant(Request(f"b:other-{n}", Holder(principal="p", session=f"s{n}"), 60.0), now)
        acquired, renewed, released = [], [], []
        for _ in range(1000):
            now += 6.0  # so that every renewal is one that is written
            request = Request("b:mine", Holder(principal="p", session="mine"), 60.0)
            began = time.perf_counter()
            lease, _ = store.grant(request, now)
            acquired.append(time.perf_counter() - began)
            now += 6.0
            began = time.perf_counter()
            store.renew(lease.lease_id, now)
            renewed.append(time.perf_counter() - began)
            began = time.perf_counter()
            store.release(lease.lease_id, now)
            released.append(time.perf_counter() - began)
        for what, samples in (("acquire", acquired), ("renew, written", renewed), ("release", released)):
            p99 = statistics.quantiles(samples, n=100)[98] * 1e3
            report(f"lease store (SQLite): {what}", samples, note=f"p99 {p99:.2f} ms")
        database.close()


def admission(report: Report) -> None:
    """What every command on a device pays: let in, checked on its lane, settled."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database.open(Path(folder) / "state.db")
        kinds: dict[str, StateStore] = {"memory": MemoryStore(), "SQLite": SqliteStore(database)}
        for name, store in kinds.items():
            clock, seat, device = FakeClock(), _session("mine"), _device("mine")
            desk = Desk(store, clock)
            samples = []
            for _ in range(5000):
                clock.advance(0.01)
                began = time.perf_counter()
                admitted = desk.admit(device, seat, pin=30.0)
                admitted = desk.begin(admitted, pin=30.0)
                desk.settle(admitted)
                samples.append(time.perf_counter() - began)
            report(f"admission of a command ({name})", samples, "µs")
        database.close()


async def takeover(report: Report) -> None:
    """From a person's takeover to the answer of the command it ended."""
    person = caller("hands", transport="cli", cwd="/", scopes=["read", "act", "admin"])
    async with fake_router(FakeBackend(["only"])) as (router, backend):
        backend.fault.operations["pointer.click"] = 30.0
        samples = []
        for _ in range(20):
            ended: list[float] = []

            async def press(ended: list[float] = ended) -> Answer:
                answer = await router.call(call("press", by=caller("one"), target="Increment", device="only"))
                ended.append(time.perf_counter())
                return answer

            async with anyio.create_task_group() as group:
                group.start_soon(press)
                await anyio.sleep(0.05)
                began = time.perf_counter()
                take = partial(ownership.take_over, router.services, person, backend.rows["only"])
                take(reason="bench", seconds=60)
            ownership.give_back(router.services, person, "fake:only")
            samples.append(ended[0] - began)
        report("takeover: until the command it ended has answered", samples)
