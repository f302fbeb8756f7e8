"""One store a case, with one fault that this case is there to find."""

from __future__ import annotations

import atexit
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from secrets import token_hex
from typing import Any

from anydevice.leases import LeaseState, MemoryStore, Request, StateStore, Step, advance, live
from anydevice.leases.events import Event, Listener, Release, Renew, TakeOver
from anydevice.leases.refusals import same_holder
from anydevice.leases.state import plain
from anydevice_schemas import Fence, Lease
from anydevice_schemas.errors import LeaseHeld, LeaseLost

from .sound import FileStore


def changed(store: StateStore, lease: Lease, **fields: Any) -> Lease:
    """The lease with other values, put behind the machine's back."""
    lease = lease.model_copy(update=fields)
    store.state.put("leases", lease.lease_id, lease)
    return lease


def forced(store: StateStore, request: Request, now: float) -> Lease:
    """A lease that is granted whatever stands against it: made where nothing stands, and put here."""
    elsewhere = LeaseState(epoch=store.state.epoch, counter=store.state.counter)
    made: Lease
    made, _ = advance(elsewhere, replace(request, lease_id=None, fence=None), now, f"{id(request):x}{now}").result
    store.state.counter = elsewhere.counter
    return changed(store, made)


class CountedIds(MemoryStore):
    """Ids can be guessed."""

    _count = itertools.count(1)

    def _run(self, event: Event, now: float) -> Step:
        return advance(self.state, event, now, f"{next(self._count):032d}")


class LetsTwoIn(MemoryStore):
    """The second holder gets the device as well."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        try:
            return super().grant(request, now)
        except LeaseHeld:
            return forced(self, request, now), False


class TellsStrangers(MemoryStore):
    """A refusal names the holder to anybody."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        try:
            return super().grant(request, now)
        except LeaseHeld as error:
            held = self.state.near(request.device, request.group)[0]
            error.details["holder"] = {"session": held.holder.session}
            raise


class NewFenceOnUse(MemoryStore):
    """Using a device renews its fence."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        lease, regranted = super().grant(request, now)
        if request.lease_id == lease.lease_id:
            self.state.counter += 1
            lease = changed(self, lease, fence=Fence(epoch=self.state.epoch, counter=self.state.counter))
        return lease, regranted


class RenewsFromTheGrant(MemoryStore):
    """A renewal counts from when the lease was granted."""

    def renew(self, lease_id: str, now: float, *, until: float | None = None) -> Lease:
        lease = super().renew(lease_id, now, until=until)
        return changed(self, lease, expires_at=max(lease.granted_at + lease.ttl, until or 0.0))


class ForgetsPins(MemoryStore):
    """A lease lives for its TTL, whatever runs."""

    def _run(self, event: Event, now: float) -> Step:
        if isinstance(event, Request):
            event = replace(event, until=0.0)
        elif isinstance(event, Renew):
            event = replace(event, until=None)
        return super()._run(event, now)


class RenewsTheDead(MemoryStore):
    """A lease that ran out is renewed."""

    def renew(self, lease_id: str, now: float, *, until: float | None = None) -> Lease:
        lease = self.state.leases.get(lease_id)
        if lease is not None:
            changed(self, lease, expires_at=max(lease.expires_at, now + 1.0))
        return super().renew(lease_id, now, until=until)


class KeepsTheReleased(MemoryStore):
    """A release is forgotten."""

    def release(
        self, lease_id: str, now: float, *, reason: str = "released", clean_until: float | None = None
    ) -> Lease | None:
        lease = super().release(lease_id, now, reason=reason)
        if lease is not None and lease.holder.session == "a":
            changed(self, lease)
        return lease


class ListsTheDead(MemoryStore):
    """What ran out is listed still."""

    def leases(self, now: float) -> list[Lease]:
        return list(self.state.leases.values())


class NeverSaysRegranted(MemoryStore):
    """An earlier lease that ran out is papered over."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        return super().grant(request, now)[0], False


class SaysHeldForLost(MemoryStore):
    """Who lost a device that another drives is told that it is held."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        try:
            return super().grant(request, now)
        except LeaseLost as error:
            if "expires" not in error.details:
                raise
            raise LeaseHeld("Held.", holder={}, expires=error.details["expires"], device=request.device) from None


class ForgetsWhoHadIt(MemoryStore):
    """Once a device is free, who had it is forgotten."""

    def _run(self, event: Event, now: float) -> Step:
        done = super()._run(event, now)
        if isinstance(event, Release) and done.result is not None:
            device = done.result.device
            self.state.put("marks", device, replace(self.state.mark(device), last=None, last_holder=None))
        return done


class TakesAnyFence(MemoryStore):
    """Fences are not compared."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        return super().grant(replace(request, fence=None), now)


class FencesPerDevice(MemoryStore):
    """Every device counts its own fences."""

    def _run(self, event: Event, now: float) -> Step:
        counts: dict[str, int] = self.__dict__.setdefault("counts", {})
        asked = event.request if isinstance(event, TakeOver) else event
        device = asked.device if isinstance(asked, Request) else ""
        self.state.counter = counts.get(device, 0)
        done = super()._run(event, now)
        counts[device] = self.state.counter
        return done


class TakesOverLate(MemoryStore):
    """The old lease stands beside the new one."""

    def take_over(self, request: Request, now: float, *, reason: str) -> Lease:
        return forced(self, request, now)


class SaysNotByWhom(MemoryStore):
    """Watchers are not told who took over."""

    def _run(self, event: Event, now: float) -> Step:
        done = super()._run(event, now)
        done.told = [replace(told, by=None) for told in done.told]
        return done


class NeverGivesBack(MemoryStore):
    """Who is interrupted by a takeover is so for good."""

    def _run(self, event: Event, now: float) -> Step:
        done = super()._run(event, now)
        for key in list(self.state.suspended):
            self.state.put("suspended", key, None)
        return done


class Blind(LeaseState):
    """A state that does not see what devices share, when it is told so."""

    def near(self, device: str, group: Iterable[str]) -> list[Lease]:
        return super().near(device, () if self.__dict__.get("blind", True) else group)


class NoGroups(MemoryStore):
    """What devices share is not looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.state = Blind()


class TakesTheDeviceOnly(MemoryStore):
    """A takeover leaves the group's other leases."""

    def __init__(self) -> None:
        super().__init__()
        self.state = Blind()

    def _run(self, event: Event, now: float) -> Step:
        self.state.__dict__["blind"] = isinstance(event, TakeOver)
        return super()._run(event, now)


class BendsTtls(MemoryStore):
    """A TTL out of bounds is bent into them without a word."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        return super().grant(replace(request, ttl=min(max(request.ttl, 5.0), 600.0)), now)


class TellsExpiryLate(MemoryStore):
    """The next grant is told before the expiry that made it possible."""

    def _run(self, event: Event, now: float) -> Step:
        done = super()._run(event, now)
        if [told.kind for told in done.told] == ["expired", "granted"]:
            done.told = done.told[::-1]
        return done


class WatchesOn(MemoryStore):
    """Ending a watch ends nothing."""

    def watch(self, listener: Listener) -> Callable[[], None]:
        super().watch(listener)
        return lambda: None


class RefusalsRenew(MemoryStore):
    """Asking for a held device lengthens its holder's lease."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        try:
            return super().grant(request, now)
        except LeaseHeld:
            for lease in self.state.near(request.device, request.group):
                changed(self, lease, expires_at=max(lease.expires_at, now + lease.ttl))
            raise


class WidensNothing(MemoryStore):
    """A lease never covers more than what it was granted with."""

    def _run(self, event: Event, now: float) -> Step:
        done = super()._run(event, now)
        if isinstance(event, Request) and done.error is None:
            lease, regranted = done.result
            before = next((c.before for c in done.changes if c.key == lease.lease_id and c.before is not None), None)
            if before is not None:
                done.result = (changed(self, lease, group=before.group), regranted)
        return done


class Unlocked(MemoryStore):
    """Looks, waits a little, and then takes: the window every race needs."""

    def _do(self, event: Event, now: float) -> Any:
        with self._lock:
            seen = self.state.copy()
        done = advance(seen, event, now, token_hex(16))
        time.sleep(0.001)
        with self._lock:
            for change in done.changes:
                self.state.put(change.table, change.key, change.value)
            self.state.counter = seen.counter
            for told, listener in itertools.product(done.told, list(self._listeners)):
                listener(told)
        if done.error is not None:
            raise done.error
        return done.result


class TellsOutsideTheLock(MemoryStore):
    """Events are told once the lock is gone."""

    def _do(self, event: Event, now: float) -> Any:
        with self._lock:
            done = self._run(event, now)
        time.sleep(0.0005 * (sum(map(ord, getattr(event, "device", ""))) % 5))
        for told, listener in itertools.product(done.told, list(self._listeners)):
            listener(told)
        if done.error is not None:
            raise done.error
        return done.result


class NoFileLock(FileStore):
    """Processes do not exclude each other."""

    @contextmanager
    def opened(self) -> Iterator[None]:
        with self._lock:
            self.state = self.read()
            time.sleep(0.002)
            yield
            self.write()


class OwnCopy(FileStore):
    """What others did is read once, at the beginning."""

    def read(self) -> LeaseState:
        if "copy" not in self.__dict__:
            self.__dict__["copy"] = super().read()
        return self.__dict__["copy"]  # type: ignore[no-any-return]


class OwnEpoch(FileStore):
    """Whoever has the store open goes on under the epoch of that opening."""

    def read(self) -> LeaseState:
        state = super().read()
        state.epoch = self.__dict__.get("own", state.epoch)
        return state

    def write(self) -> None:
        self.__dict__.setdefault("own", self.state.epoch)
        super().write()


class ForgetsGroups(FileStore):
    """A store that is opened again has lost what the devices share."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        with self.opened():
            for lease in list(self.state.leases.values()):
                changed(self, lease, group=[])


class ForgetsThePast(FileStore):
    """A store that is opened again knows what stands and nothing of what did."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        with self.opened():
            for table, key, _ in list(self.state.rows()):
                if table in ("ended", "marks"):
                    self.state.put(table, key, None)


class ForgetsWhoWasInterrupted(FileStore):
    """Once the store was opened again, takeovers are for good."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        with self.opened():
            for key in list(self.state.suspended):
                self.state.put("suspended", key, None)


class SameEpoch(FileStore):
    """Opening the store again goes on counting where it was."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        with self.opened():
            self.state.epoch = 1


class KeepsOldFences(FileStore):
    """A lease of an earlier opening is used on under its old fence."""

    def _run(self, event: Event, now: float) -> Step:
        with self.opened():
            epoch = self.state.epoch
            mine = self.state.of_device(event.device) if isinstance(event, Request) else None
            if mine is not None and live(mine, now) and same_holder(mine.holder, event.holder):  # type: ignore[union-attr]
                self.state.epoch = mine.fence.epoch
            done = StateStore._run(self, event, now)
            self.state.epoch = epoch
            return done


class WritesLater(FileStore):
    """What was answered is written when the store is closed, or the process ends properly."""

    def read(self) -> LeaseState:
        return self.__dict__.get("state") if "late" in self.__dict__ else super().read()  # type: ignore[return-value]

    def write(self) -> None:
        if "late" not in self.__dict__:
            self.__dict__["late"] = atexit.register(self.close)

    def close(self) -> None:
        atexit.unregister(self.close)
        if self.folder.exists():
            super().write()


class HalfWritten(FileStore):
    """The file is written where it is, in two halves."""

    def write(self) -> None:
        rows = [(table, key, plain(row)) for table, key, row in self.state.rows()]
        whole = json.dumps({"epoch": self.state.epoch, "counter": self.state.counter, "rows": rows})
        with open(self.folder / "leases.json", "w", encoding="utf-8") as file:
            file.write(whole[: len(whole) // 2])
            file.flush()
            time.sleep(0.005)
            file.write(whole[len(whole) // 2 :])


class TrustsItsMemory(FileStore):
    """Who was granted a lease once has it, whatever happened meanwhile."""

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        known: dict[str | None, Lease] = self.__dict__.setdefault("known", {})
        if request.lease_id in known:
            return known[request.lease_id], False
        lease, regranted = super().grant(request, now)
        known[lease.lease_id] = lease
        return lease, regranted


class TrustsAnyClock(FileStore):
    """An expiry is an expiry, however far away the clock says it is."""

    def meet(self, now: float) -> None:
        return None


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
    "store.a-lost-lease-stays-lost": ForgetsWhoHadIt,
    "store.an-old-fence-is-stale": TakesAnyFence,
    "store.fences-rise": FencesPerDevice,
    "store.a-takeover-is-at-once": TakesOverLate,
    "store.a-takeover-says-why": SaysNotByWhom,
    "store.a-takeover-that-runs-out-is-given-back": NeverGivesBack,
    "store.a-group-is-one": NoGroups,
    "store.a-takeover-takes-the-group": TakesTheDeviceOnly,
    "store.ttl-is-bounded": BendsTtls,
    "store.events-in-order": TellsExpiryLate,
    "store.watching-ends": WatchesOn,
    "store.a-refusal-changes-nothing": RefusalsRenew,
    "store.any-story-ends-well": WidensNothing,
    "store.any-story-goes-on-after-reopening": ForgetsWhoWasInterrupted,
    "store.threads-one-winner": Unlocked,
    "store.threads-events-in-order": TellsOutsideTheLock,
    "store.processes-one-winner": NoFileLock,
    "store.processes-see-each-other": OwnCopy,
    "store.openings-are-one-store": OwnEpoch,
    "store.reopening-keeps-leases": ForgetsGroups,
    "store.reopening-keeps-what-was-lost": ForgetsThePast,
    "store.reopening-raises-the-epoch": SameEpoch,
    "store.reopening-renews-fences": KeepsOldFences,
    "store.a-killed-process-loses-nothing": WritesLater,
    "store.killed-in-the-middle": HalfWritten,
    "store.a-stalled-process-holds-nothing": TrustsItsMemory,
    "store.a-clock-set-back-lengthens-nothing": TrustsAnyClock,
}
