"""Sound stores that offer what the one in memory does not: threads, processes, a file that outlives them."""

from __future__ import annotations

import fcntl
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anydevice.leases import LeaseEvent, MemoryStore, Request
from anydevice_schemas import Lease


class ThreadStore(MemoryStore):
    """In memory, behind one lock."""

    offers = ("threads",)

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        with self._lock:
            return super().grant(request, now)

    def release(self, lease_id: str, now: float, *, reason: str = "released") -> Lease | None:
        with self._lock:
            return super().release(lease_id, now, reason=reason)


class FileStore:
    """Leases in a JSON file under a file lock: everything it offers, at no speed worth mentioning."""

    offers = ("durable", "processes", "threads")

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock = threading.RLock()
        self.listeners: list[Callable[[LeaseEvent], None]] = []
        with self.opened() as state:
            state["epoch"] = self.epoch = state["epoch"] + 1

    @contextmanager
    def opened(self) -> Iterator[dict[str, Any]]:
        """The state, alone; written back at the end."""
        path = self.folder / "leases.json"
        with self.lock, open(self.folder / "lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            state = json.loads(path.read_text()) if path.exists() else {"epoch": 0, "counter": 0, "leases": []}
            try:
                yield state
            finally:
                path.with_suffix(".new").write_text(json.dumps(state))
                path.with_suffix(".new").replace(path)

    @contextmanager
    def model(self) -> Iterator[MemoryStore]:
        """A store in memory that holds what the file holds, and is written back."""
        with self.opened() as state:
            memory = MemoryStore(epoch=state["epoch"])
            memory._counter = state["counter"]
            for row in state["leases"]:
                memory._keep(Lease.model_validate(row))
            memory.watch(self.tell)
            yield memory
            state["counter"] = memory._counter
            state["leases"] = [lease.model_dump(mode="json") for lease in memory._by_id.values()]

    def tell(self, event: LeaseEvent) -> None:
        for listener in list(self.listeners):
            listener(event)

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        with self.model() as memory:
            return memory.grant(request, now)

    def renew(self, lease_id: str, now: float, *, until: float | None = None) -> Lease:
        with self.model() as memory:
            return memory.renew(lease_id, now, until=until)

    def release(self, lease_id: str, now: float, *, reason: str = "released") -> Lease | None:
        with self.model() as memory:
            return memory.release(lease_id, now, reason=reason)

    def take_over(self, request: Request, now: float, *, reason: str) -> Lease:
        with self.model() as memory:
            return memory.take_over(request, now, reason=reason)

    def watch(self, listener: Callable[[LeaseEvent], None]) -> Callable[[], None]:
        self.listeners.append(listener)

        def stop() -> None:
            if listener in self.listeners:
                self.listeners.remove(listener)

        return stop

    def leases(self, now: float) -> list[Lease]:
        with self.model() as memory:
            return memory.leases(now)
