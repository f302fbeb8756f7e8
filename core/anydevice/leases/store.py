"""Where leases are kept: five verbs, and the room around them. The owner keeps the store and is the last judge."""

from __future__ import annotations

import abc
import secrets
import threading
from collections.abc import Callable
from typing import Any, Protocol

from anydevice_schemas import Health, Holder, Lease
from anydevice_schemas.errors import QuotaExceeded

from . import fairness
from .events import (
    Accept,
    Cleaned,
    Event,
    GiveBack,
    Join,
    LeaseEvent,
    Leave,
    Listener,
    Release,
    Renew,
    Request,
    SetHealth,
    Step,
    TakeOver,
    Tick,
    Wait,
)
from .machine import advance, live
from .state import Account, LeaseState, Mark, Ticket, Wish


class LeaseStore(Protocol):
    """Keeps leases. Every verb is atomic; none of them blocks for longer than a local write.

    All times are UTC seconds on the owner's clock.
    """

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        """Gives or renews a lease as the machine says; True when an earlier one had run out untaken.

        Raises:
            LeaseHeld, LeaseLost, LeaseStale, QuotaExceeded, DeviceUnhealthy, InvalidArgument: As it refuses.
        """
        ...

    def renew(self, lease_id: str, now: float, *, until: float | None = None) -> Lease:
        """The lease now lives for its TTL from `now`, or to `until` if that is later (a running command pins it).

        Raises:
            LeaseExpired, LeaseLost: It no longer stands.
        """
        ...

    def release(self, lease_id: str, now: float, *, reason: str = "released") -> Lease | None:
        """Ends a lease; None when it was gone already."""
        ...

    def take_over(self, request: Request, now: float, *, reason: str) -> Lease:
        """Gives the device and its group to the request's holder, whoever has them, with a new fence.

        When it runs out unused, those who were interrupted have their leases again.
        """
        ...

    def watch(self, listener: Callable[[LeaseEvent], None]) -> Callable[[], None]:
        """Calls `listener` for every event from now on; returns the function that ends it."""
        ...

    def leases(self, now: float) -> list[Lease]:
        """Every lease that stands."""
        ...


class StateStore(abc.ABC):
    """A store that runs the lease machine over a state of its own: the five verbs, the queue, and marks.

    A subclass says how changes are kept. Safe to use from several threads.

    Attributes:
        state: What is known; read it, never change it.
    """

    def __init__(self, state: LeaseState) -> None:
        self.state = state
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []

    # --- what a subclass says ---

    def _run(self, event: Event, now: float) -> Step:
        """Takes one step on the state and keeps what it changed, or neither."""
        done = advance(self.state, event, now, secrets.token_hex(16))
        try:
            self._keep(done)
        except BaseException:
            self.state.undo(done.changes, done.counter)
            raise
        return done

    @abc.abstractmethod
    def _keep(self, step: Step) -> None:
        """Keeps the changes of a step, all or none."""

    def refresh(self) -> None:
        """Takes in what other processes have written."""
        return None

    def close(self) -> None:
        """Lets go of what the store has open."""
        return None

    def _do(self, event: Event, now: float) -> Any:
        with self._lock:
            done = self._run(event, now)
            for told in done.told:
                for listener in list(self._listeners):
                    listener(told)
        if done.error is not None:
            raise done.error
        return done.result

    # --- the five verbs ---

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        """See `LeaseStore`."""
        granted: tuple[Lease, bool] = self._do(request, now)
        return granted

    def renew(self, lease_id: str, now: float, *, until: float | None = None) -> Lease:
        """See `LeaseStore`."""
        lease: Lease = self._do(Renew(lease_id, until), now)
        return lease

    def release(
        self, lease_id: str, now: float, *, reason: str = "released", clean_until: float | None = None
    ) -> Lease | None:
        """See `LeaseStore`. With `clean_until` the device stays kept for its clean-up, until then at most."""
        lease: Lease | None = self._do(Release(lease_id, reason, clean_until), now)
        return lease

    def take_over(self, request: Request, now: float, *, reason: str) -> Lease:
        """See `LeaseStore`."""
        lease: Lease = self._do(TakeOver(request, reason), now)
        return lease

    def watch(self, listener: Listener) -> Callable[[], None]:
        """See `LeaseStore`."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def leases(self, now: float) -> list[Lease]:
        """See `LeaseStore`."""
        with self._lock:
            self.refresh()
            return [lease for lease in self.state.leases.values() if live(lease, now)]

    # --- a takeover's end, the queue ---

    def give_back(self, lease_id: str, now: float) -> list[Lease]:
        """Ends a takeover; returns the leases that stand again, each under a new fence.

        Raises:
            LeaseExpired, LeaseLost, InvalidArgument: There is no such takeover (any more).
        """
        restored: list[Lease] = self._do(GiveBack(lease_id), now)
        return restored

    def join(
        self, holder: Holder, asked: str, wishes: tuple[Wish, ...], ttl: float, now: float, *, priority: int = 0
    ) -> Ticket | Lease:
        """A place in the queue (`offered` where a device is free for it), or the lease the holder has already.

        Raises:
            QuotaExceeded, InvalidArgument: As the machine refuses.
        """
        joined: Ticket | Lease = self._do(Join(holder, asked, wishes, ttl, priority), now)
        return joined

    def wait(self, ticket_id: str, now: float, *, wishes: tuple[Wish, ...] | None = None) -> Ticket | None:
        """Says that somebody still waits; the place as it is now, None when it was given up."""
        ticket: Ticket | None = self._do(Wait(ticket_id, wishes), now)
        return ticket

    def accept(self, ticket_id: str, now: float, *, holder: Holder | None = None) -> Lease | None:
        """Takes what is offered, for the session that will drive; None when it was too late.

        Raises:
            QuotaExceeded: The tenant has all it may have.
        """
        lease: Lease | None = self._do(Accept(ticket_id, holder), now)
        return lease

    def leave(self, ticket_id: str, now: float) -> None:
        """Gives a place in the queue up."""
        self._do(Leave(ticket_id), now)

    def queue(self, now: float) -> list[Ticket]:
        """Everybody who waits, the next one first."""
        with self._lock:
            self.refresh()
            return fairness.positions(self.state, now)

    def over_quota(self, holder: Holder, now: float) -> QuotaExceeded | None:
        """The refusal of one more lease to a tenant, or None."""
        with self._lock:
            self.refresh()
            return fairness.over_quota(fairness.View(self.state, now), holder)

    def tick(self, now: float) -> None:
        """Ends what has run out, and offers what became free."""
        self._do(Tick(), now)

    # --- devices ---

    def set_health(self, device: str, health: Health, reason: str, now: float, *, said: bool = False) -> Mark:
        """Remembers how a device is, apart from what its backend says. What a person `said` only a person changes."""
        mark: Mark = self._do(SetHealth(device, health, reason, said), now)
        return mark

    def cleaned(self, device: str, now: float) -> Mark:
        """Remembers that a device was cleaned up after its last user."""
        mark: Mark = self._do(Cleaned(device), now)
        return mark

    def mark(self, device: str) -> Mark:
        """What is remembered of a device."""
        with self._lock:
            self.refresh()
            return self.state.mark(device)

    def accounts(self) -> list[Account]:
        """What tenants have had."""
        with self._lock:
            self.refresh()
            return list(self.state.accounts.values())
