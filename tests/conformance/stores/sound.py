"""A sound store that offers what the one in memory does not: a file that outlives it, and several processes."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anydevice.leases import LeaseState, StateStore, Step
from anydevice.leases.events import Event
from anydevice.leases.state import plain, restored
from anydevice_schemas import Lease


class FileStore(StateStore):
    """Ownership in a JSON file under a file lock: everything it offers, at no speed worth mentioning."""

    offers = ("durable", "processes", "threads")

    def __init__(self, folder: str) -> None:
        super().__init__(LeaseState(epoch=0))
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.opened():
            self.state.epoch += 1

    @contextmanager
    def opened(self) -> Iterator[None]:
        """The state as the file has it, for us alone; written back at the end."""
        with self._lock, open(self.folder / "lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.state = self.read()
            yield
            self.write()

    def read(self) -> LeaseState:
        path = self.folder / "leases.json"
        if not path.exists():
            return LeaseState(epoch=0)
        found = json.loads(path.read_text())
        state = LeaseState(epoch=found["epoch"], counter=found["counter"])
        for table, key, row in found["rows"]:
            state.put(table, key, restored(table, row))
        return state

    def write(self) -> None:
        rows = [(table, key, plain(row)) for table, key, row in self.state.rows()]
        part = self.folder / f"leases.{id(self)}"
        part.write_text(json.dumps({"epoch": self.state.epoch, "counter": self.state.counter, "rows": rows}))
        part.replace(self.folder / "leases.json")

    def refresh(self) -> None:
        self.state = self.read()

    def meet(self, now: float) -> None:
        """The clock may have been set back since: what was granted later than now ends after its TTL."""
        if "met" not in self.__dict__:
            self.__dict__["met"] = True
            for lease in [lease for lease in self.state.leases.values() if lease.granted_at > now]:
                ends = min(lease.expires_at, now + lease.ttl)
                bent = lease.model_copy(update={"granted_at": now, "expires_at": ends})
                self.state.put("leases", bent.lease_id, bent)

    def leases(self, now: float) -> list[Lease]:
        with self.opened():
            self.meet(now)
        return super().leases(now)

    def _run(self, event: Event, now: float) -> Step:
        with self.opened():
            self.meet(now)
            return super()._run(event, now)

    def _keep(self, step: Step) -> None:
        """Written as a whole, with the file still locked."""
