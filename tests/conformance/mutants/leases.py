"""Mutants of the cases about who drives a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from anydevice import ownership
from anydevice.choosing import Choosing
from anydevice.leases import Desk, LeaseState, MemoryStore, Request, draft, machine, refusals
from anydevice.leases.draft import Draft
from anydevice.leases.state import Wish
from anydevice.testing import ReferenceBackend
from anydevice_schemas import Held, Lease

from . import Mutant


def leases_to_users(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease is held by a user, so that all of his sessions drive at once."""
    for module in (machine, draft):
        monkeypatch.setattr(module, "same_holder", lambda one, other: one.principal == other.principal)


def lets_readers_in(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that only read are not asked for a lease."""
    sound = Choosing.admit

    async def admit(self: Choosing, trail: Any, parsed: Any, *where: Any, **how: Any) -> None:
        if parsed.spec.command.effect != "read":
            await sound(self, trail, parsed, *where, **how)

    monkeypatch.setattr(Choosing, "admit", admit)


def names_the_holder_to_everybody(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal tells whose session it is, whoever asks."""
    monkeypatch.setattr(
        refusals, "visible_holder", lambda holder, viewer: {"session": holder.session, "samePrincipal": True}
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
    sound = refusals.held
    monkeypatch.setattr(
        refusals, "held", lambda lease, request, ended: sound(lease, replace(request, lease_id=None), ended)
    )


def does_not_look_at_the_lease_named(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """`leaseId` is accepted and has no effect."""
    sound = Desk.admit

    def admit(self: Desk, *who: Any, **how: Any) -> Any:
        return sound(self, *who, **how | {"asked_lease": None})

    monkeypatch.setattr(Desk, "admit", admit)
    monkeypatch.setattr(ownership, "by_lease", lambda services, caller, selector: None)


def counts_session_leases_alone(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only leases that came with a session keep others out."""
    sound = LeaseState.near

    def near(self: LeaseState, device: str, group: Any) -> list[Lease]:
        return [lease for lease in sound(self, device, group) if lease.kind == "implicit"]

    monkeypatch.setattr(LeaseState, "near", near)


def leaves_the_old_lease(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A takeover makes a new lease and leaves the old one standing."""

    def take_over(self: MemoryStore, request: Request, now: float, *, reason: str) -> Lease:
        made = Draft(self.state, now, "f" * 32)
        wish = Wish(request.device, request.group)
        return made.grant(wish, request.holder, "human", ttl=request.ttl, until=request.until)

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
