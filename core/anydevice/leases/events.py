"""What can happen to ownership: the events the machine takes, and what it tells of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from anydevice_schemas import Health, Holder, Lease, LeaseKind
from anydevice_schemas.errors import AnydeviceError

from .state import Change, Ticket, Wish

CLEANER = Holder(principal="anydevice", session="clean-up")
"""Who holds a device while it is cleaned up after somebody."""


@dataclass(slots=True, frozen=True)
class Request:
    """Somebody wants a device, now.

    Attributes:
        device: Key of the device.
        group: Things it shares with others; the lease covers them as well.
        holder: Who asks.
        ttl: Seconds the lease should live without renewal.
        lease_id: The lease the caller believes to hold; None when it never had one.
        fence: The fence the caller last had; None when it never had one.
        kind: `implicit` for leases that come with a session.
        until: UTC seconds a running command needs the lease at least to.
    """

    device: str
    holder: Holder
    ttl: float
    group: frozenset[str] = frozenset()
    lease_id: str | None = None
    fence: tuple[int, int] | None = None
    kind: LeaseKind = "implicit"
    until: float = 0.0


@dataclass(slots=True, frozen=True)
class Renew:
    """A lease is used: it lives for its TTL from now, or to `until` if that is later."""

    lease_id: str
    until: float | None = None


@dataclass(slots=True, frozen=True)
class Release:
    """A holder gives a lease back. With `clean_until` the device is kept for its clean-up until then."""

    lease_id: str
    reason: str = "released"
    clean_until: float | None = None


@dataclass(slots=True, frozen=True)
class TakeOver:
    """A person takes a device and what it shares, whoever has them."""

    request: Request
    reason: str


@dataclass(slots=True, frozen=True)
class GiveBack:
    """A person ends a takeover: those who were interrupted have their leases again, under new fences."""

    lease_id: str


@dataclass(slots=True, frozen=True)
class Join:
    """Somebody wants any of some devices and may wait; asking again keeps the place."""

    holder: Holder
    asked: str
    wishes: tuple[Wish, ...]
    ttl: float
    priority: int = 0


@dataclass(slots=True, frozen=True)
class Wait:
    """Whoever waits is still there; `wishes` are the devices that would do by now (None = as before)."""

    ticket_id: str
    wishes: tuple[Wish, ...] | None = None


@dataclass(slots=True, frozen=True)
class Accept:
    """The one who waited takes what is offered; `holder` is the session that will drive, if it is not the ticket's."""

    ticket_id: str
    holder: Holder | None = None


@dataclass(slots=True, frozen=True)
class Leave:
    """Somebody waits no longer."""

    ticket_id: str


@dataclass(slots=True, frozen=True)
class Tick:
    """Time has passed."""


@dataclass(slots=True, frozen=True)
class SetHealth:
    """It was found how a device is, or a person says so; what a person said no finding changes."""

    device: str
    health: Health
    reason: str = ""
    said: bool = False


@dataclass(slots=True, frozen=True)
class Cleaned:
    """A device was cleaned up."""

    device: str


Event = Request | Renew | Release | TakeOver | GiveBack | Join | Wait | Accept | Leave | Tick | SetHealth | Cleaned


@dataclass(slots=True, frozen=True)
class LeaseEvent:
    """Something that happened to a lease (being renewed is not told), or to a place in the queue.

    Attributes:
        kind: `offered` and `passed` (an offer nobody took) are about a ticket, the others about a lease.
        lease: The lease; for `offered` and `passed` None.
        reason: Why, for those that have one.
        by: Who took it, for `taken`.
        ticket: The place in the queue, for `offered` and `passed`.
    """

    kind: Literal["granted", "released", "expired", "taken", "given_back", "offered", "passed"]
    lease: Lease | None
    reason: str = ""
    by: Holder | None = None
    ticket: Ticket | None = None


@dataclass(slots=True)
class Step:
    """What one event led to.

    Attributes:
        result: What the event asked for; its type goes with the event.
        error: Why it was refused. What was due anyway (leases that had run out) is in `changes` all the same.
        changes: Rows that were put or dropped, in order.
        told: What watchers are told, in order.
        counter: The fence counter before.
    """

    counter: int
    result: Any = None
    error: AnydeviceError | None = None
    changes: list[Change] | tuple[Change, ...] = ()
    told: list[LeaseEvent] | tuple[LeaseEvent, ...] = ()


Listener = Callable[[LeaseEvent], None]
