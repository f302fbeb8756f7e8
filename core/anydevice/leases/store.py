"""Where leases are kept: five verbs. The owner of the devices keeps the store and is the last judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from anydevice_schemas import Lease

from .machine import Request


@dataclass(slots=True, frozen=True)
class LeaseEvent:
    """Something that happened to a lease: granted, renewed is not told, released, expired, taken."""

    kind: Literal["granted", "released", "expired", "taken"]
    lease: Lease
    reason: str = ""


class LeaseStore(Protocol):
    """Keeps leases. Every verb is atomic; none of them blocks for longer than a local write.

    All times are UTC seconds on the owner's clock.
    """

    def grant(self, request: Request, now: float) -> tuple[Lease, bool]:
        """Gives or renews a lease as `machine.decide` says; True when an earlier one had run out untaken.

        Raises:
            LeaseHeld, LeaseLost, LeaseStale, InvalidArgument: As `machine.decide` refuses.
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
        """Gives the device and its group to the request's holder, whoever has them, with a new fence."""
        ...

    def watch(self, listener: Callable[[LeaseEvent], None]) -> Callable[[], None]:
        """Calls `listener` for every event from now on; returns the function that ends it."""
        ...

    def leases(self, now: float) -> list[Lease]:
        """Every lease that stands."""
        ...
