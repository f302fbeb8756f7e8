"""Mutants of the cases about who drives a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anydevice.leases import Desk, MemoryStore, Request, machine
from anydevice.router import Router
from anydevice.testing import ReferenceBackend
from anydevice_schemas import Held, Lease

from . import Mutant


def leases_to_users(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease is held by a user, so that all of his sessions drive at once."""
    monkeypatch.setattr(machine, "same_holder", lambda one, other: one.principal == other.principal)


def lets_readers_in(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that only read are not asked for a lease."""
    sound = Router._admit

    def admit(self: Router, trail: Any, parsed: Any, *where: Any) -> None:
        if parsed.spec.command.effect != "read":
            sound(self, trail, parsed, *where)

    monkeypatch.setattr(Router, "_admit", admit)


def names_the_holder_to_everybody(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal tells whose session it is, whoever asks."""
    monkeypatch.setattr(
        machine, "visible_holder", lambda lease, viewer: {"session": lease.holder.session, "samePrincipal": True}
    )


def lists_no_holder(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listing says that a device is held, but not that it is the caller who holds it."""
    sound = Desk.held

    def held(self: Desk, viewer: Any = None) -> dict[str, Held]:
        return {key: Held(until=one.until) for key, one in sound(self, viewer).items()}

    monkeypatch.setattr(Desk, "held", held)


def renews_in_silence(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease that had run out is granted again and nobody is told."""
    sound = MemoryStore.grant
    monkeypatch.setattr(MemoryStore, "grant", lambda self, request, now: (sound(self, request, now)[0], False))


def forgets_who_had_a_lease(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who lost a lease is refused like one who never had any."""
    sound = machine._held
    monkeypatch.setattr(machine, "_held", lambda lease, request: sound(lease, replace(request, lease_id=None)))


def does_not_look_at_the_lease_named(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """`leaseId` is accepted and has no effect."""
    sound = Desk.admit

    def admit(self: Desk, *who: Any, **how: Any) -> Any:
        return sound(self, *who, **how | {"asked_lease": None})

    monkeypatch.setattr(Desk, "admit", admit)


def counts_session_leases_alone(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only leases that came with a session keep others out."""
    sound = machine.clashes
    monkeypatch.setattr(machine, "clashes", lambda lease, request: lease.kind == "implicit" and sound(lease, request))


def leaves_the_old_lease(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A takeover makes a new lease and leaves the old one standing."""

    def take_over(self: MemoryStore, request: Request, now: float, *, reason: str) -> Lease:
        return self._new(request, now)

    monkeypatch.setattr(MemoryStore, "take_over", take_over)


MUTANTS: dict[str, Mutant] = {
    "leases.a-second-caller-is-refused": leases_to_users,
    "leases.reads-are-refused-as-well": lets_readers_in,
    "leases.strangers-learn-only-that-it-is-held": names_the_holder_to_everybody,
    "leases.listings-tell-the-holder-and-the-end": lists_no_holder,
    "leases.a-lapsed-lease-is-renewed-and-told": renews_in_silence,
    "leases.a-lost-lease-is-told": forgets_who_had_a_lease,
    "leases.a-foreign-lease-id-is-stale": does_not_look_at_the_lease_named,
    "leases.a-run-keeps-sessions-out": counts_session_leases_alone,
    "leases.a-takeover-is-told": leaves_the_old_lease,
}
