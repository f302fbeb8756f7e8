"""One store a case, with one fault that exactly this case is there to find."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from anydevice.leases import LeaseEvent, MemoryStore, Request
from anydevice.leases.machine import clashes
from anydevice_schemas import Fence, Lease
from anydevice_schemas.errors import AnydeviceError, LeaseHeld, LeaseLost

from .sound import FileStore, ThreadStore


def changed(lease: Lease, **fields: Any) -> Lease:
    return lease.model_copy(update=fields)


class CountedIds(MemoryStore):
    """Ids can be guessed."""

    def _new(self, request: Request, now: float) -> Lease:
        lease = super()._new(request, now)
        self._remove(lease)
        lease = changed(lease, lease_id=f"{self._counter:032d}")
        self._keep(lease)
        return lease


class LetsTwoIn(MemoryStore):
    """The second holder gets the device as well."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        try:
            return super().grant(request, now)
        except LeaseHeld:
            return self._new(request, now), False


class TellsStrangers(MemoryStore):
    """A refusal names the holder to anybody."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        try:
            return super().grant(request, now)
        except LeaseHeld as error:
            held = self._near(request)[0]
            error.details["holder"] = {"session": held.holder.session}
            raise


class NewFenceOnUse(MemoryStore):
    """Using a device renews its fence."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        lease, regranted = super().grant(request, now)
        if request.lease_id == lease.lease_id:
            self._counter += 1
            lease = changed(lease, fence=Fence(epoch=self.epoch, counter=self._counter))
            self._keep(lease)
        return lease, regranted


class RenewsFromTheGrant(MemoryStore):
    """A renewal counts from when the lease was granted."""

    def renew(self, lease_id: str, now: float, *, until: float | None = None) -> Lease:
        lease = super().renew(lease_id, now, until=until)
        longer = changed(lease, expires_at=max(lease.granted_at + lease.ttl, until or 0.0))
        self._keep(longer)
        return longer


class ForgetsPins(MemoryStore):
    """A lease lives for its TTL, whatever runs."""

    def _extend(self, lease: Lease, now: float, until: float | None) -> Lease:
        return super()._extend(lease, now, None)


class RenewsTheDead(MemoryStore):
    """A lease that ran out is renewed."""

    def renew(self, lease_id: str, now: float, *, until: float | None = None) -> Lease:
        lease = self._by_id.get(lease_id)
        return self._extend(lease, now, until) if lease is not None else super().renew(lease_id, now, until=until)


class KeepsTheReleased(MemoryStore):
    """A release is forgotten."""

    def release(self, lease_id: str, now: float, *, reason: str = "released") -> Lease | None:
        lease = super().release(lease_id, now, reason=reason)
        if lease is not None and lease.holder.session == "a":
            self._keep(lease)
        return lease


class ListsTheDead(MemoryStore):
    """What ran out is listed still."""

    def leases(self, now: float) -> list[Lease]:
        return list(self._by_id.values())


class NeverSaysRegranted(MemoryStore):
    """An earlier lease that ran out is papered over."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        return super().grant(request, now)[0], False


class SaysHeldForLost(MemoryStore):
    """Who lost the device is told that it is held."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        try:
            return super().grant(request, now)
        except LeaseLost as error:
            raise LeaseHeld("Held.", holder={}, expires=error.details["expires"], device=request.device) from None


class TakesAnyFence(MemoryStore):
    """Fences are not compared."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        from dataclasses import replace

        return super().grant(replace(request, fence=None), now)


class FencesPerDevice(MemoryStore):
    """Every device counts its own fences."""

    def _new(self, request: Request, now: float) -> Lease:
        counts: dict[str, int] = self.__dict__.setdefault("counts", {})
        counts[request.device] = self._counter = counts.get(request.device, 0) + 1
        self._counter -= 1
        return super()._new(request, now)


class TakesOverLate(MemoryStore):
    """The old lease stands beside the new one."""

    def take_over(self, request: Request, now: float, *, reason: str) -> Lease:
        return self._new(request, now)


class NoGroups(MemoryStore):
    """What devices share is not looked at."""

    def _near(self, request: Request) -> list[Lease]:
        return [lease for lease in super()._near(request) if lease.device == request.device]


class TakesTheDeviceOnly(MemoryStore):
    """A takeover leaves the group's other leases."""

    def take_over(self, request: Request, now: float, *, reason: str) -> Lease:
        for lease in [lease for lease in self._near(request) if lease.device == request.device]:
            self._remove(lease)
            self._tell(LeaseEvent("taken", lease, reason))
        return self._new(request, now)


class BendsTtls(MemoryStore):
    """A TTL out of bounds is bent into them without a word."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        from dataclasses import replace

        return super().grant(replace(request, ttl=min(max(request.ttl, 5.0), 600.0)), now)


class TellsExpiryLate(MemoryStore):
    """The next grant is told before the expiry that made it possible."""

    def _drop_expired(self, request: Request, now: float) -> None:
        late: list[LeaseEvent] = []
        tell, self._tell = self._tell, late.append  # type: ignore[method-assign]
        try:
            super()._drop_expired(request, now)
        finally:
            self._tell = tell  # type: ignore[method-assign]
        self.__dict__["late"] = late

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        found = super().grant(request, now)
        for event in self.__dict__.pop("late", ()):
            self._tell(event)
        return found


class WatchesOn(MemoryStore):
    """Ending a watch ends nothing."""

    def watch(self, listener: Callable[[LeaseEvent], None]) -> Callable[[], None]:
        super().watch(listener)
        return lambda: None


class RefusalsRenew(MemoryStore):
    """Asking for a held device lengthens its holder's lease."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        try:
            return super().grant(request, now)
        except AnydeviceError:
            for lease in self._near(request):
                self._extend(lease, now, None)
            raise


class ForgetsAShare(MemoryStore):
    """Releasing a device frees everything its neighbours share."""

    def release(self, lease_id: str, now: float, *, reason: str = "released") -> Lease | None:
        lease = super().release(lease_id, now, reason=reason)
        for share in lease.group if lease is not None else ():
            self._by_share.pop(share, None)
        return lease


class Unlocked(ThreadStore):
    """Looks, waits a little, and then takes: the window every race needs."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        held = next((lease for lease in self.leases(now) if clashes(lease, request)), None)
        time.sleep(0.001)
        if held is None:
            with self._lock:
                return self._new(request, now), False
        with self._lock:
            return MemoryStore.grant(self, request, now)


class TellsOutsideTheLock(ThreadStore):
    """Events are told once the lock is gone."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        with self._lock:
            lease, regranted = MemoryStore.grant(self, request, now)
        time.sleep(0.0005 * (hash(request.device) % 5))
        for listener in list(self._listeners):
            listener(LeaseEvent("granted", lease))
        return lease, regranted

    def _tell(self, event: LeaseEvent) -> None:
        if event.kind != "granted":
            super()._tell(event)


class NoFileLock(FileStore):
    """Processes do not exclude each other."""

    @contextmanager
    def opened(self) -> Iterator[dict[str, Any]]:
        import json

        path = self.folder / "leases.json"
        state = json.loads(path.read_text()) if path.exists() else {"epoch": 0, "counter": 0, "leases": []}
        time.sleep(0.002)
        yield state
        part = path.with_suffix(f".{id(state)}")
        part.write_text(json.dumps(state))
        part.replace(path)


class OwnCopy(FileStore):
    """What others did is read once, at the beginning."""

    @contextmanager
    def model(self) -> Iterator[MemoryStore]:
        if "copy" not in self.__dict__:
            with super().model() as memory:
                self.__dict__["copy"] = memory
        yield self.__dict__["copy"]


class ForgetsGroups(FileStore):
    """A store that is opened again has lost what the devices share."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        with self.opened() as state:
            for lease in state["leases"]:
                lease["group"] = []


class SameEpoch(FileStore):
    """Opening the store again goes on counting where it was."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        with self.opened() as state:
            state["epoch"] = self.epoch = 1


class WritesLater(FileStore):
    """What was answered is written when the process ends properly."""

    _pending = itertools.count(1)

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        import atexit

        memory = self.__dict__.get("memory")
        if memory is None:
            with super().model() as memory:
                self.__dict__["memory"] = memory
            atexit.register(self._write)
        return memory.grant(request, now)  # type: ignore[no-any-return]

    def _write(self) -> None:
        with self.opened() as state:
            state["leases"] = [lease.model_dump(mode="json") for lease in self.__dict__["memory"].leases(0.0)]


MUTANTS: dict[str, type] = {
    "store.a-grant-is-whole": CountedIds,
    "store.a-second-holder-is-refused": LetsTwoIn,
    "store.a-stranger-learns-nothing": TellsStrangers,
    "store.use-renews": NewFenceOnUse,
    "store.renewing-lengthens": RenewsFromTheGrant,
    "store.a-pin-holds": ForgetsPins,
    "store.what-is-gone-is-not-renewed": RenewsTheDead,
    "store.a-release-frees": KeepsTheReleased,
    "store.expiry-frees": ListsTheDead,
    "store.a-lapsed-lease-is-granted-anew": NeverSaysRegranted,
    "store.a-lost-lease-is-told": SaysHeldForLost,
    "store.an-old-fence-is-stale": TakesAnyFence,
    "store.fences-rise": FencesPerDevice,
    "store.a-takeover-is-at-once": TakesOverLate,
    "store.a-group-is-one": NoGroups,
    "store.a-takeover-takes-the-group": TakesTheDeviceOnly,
    "store.ttl-is-bounded": BendsTtls,
    "store.events-in-order": TellsExpiryLate,
    "store.watching-ends": WatchesOn,
    "store.a-refusal-changes-nothing": RefusalsRenew,
    "store.any-story-ends-well": ForgetsAShare,
    "store.threads-one-winner": Unlocked,
    "store.threads-events-in-order": TellsOutsideTheLock,
    "store.processes-one-winner": NoFileLock,
    "store.processes-see-each-other": OwnCopy,
    "store.reopening-keeps-leases": ForgetsGroups,
    "store.reopening-raises-the-epoch": SameEpoch,
    "store.a-killed-process-loses-nothing": WritesLater,
}
