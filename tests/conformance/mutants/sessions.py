"""Mutants of the cases about sessions."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from anydevice.router import Router
from anydevice.sessions import Session, Sessions
from anydevice.testing import ReferenceBackend
from anydevice_schemas import Caller

from . import Mutant


def forgets_what_was_opened(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller's implicit sessions are not found again."""
    monkeypatch.setattr(Sessions, "implicit", lambda self, *whose: [])


def takes_any_session(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that does not exist falls through to a session that does."""
    sound = Sessions.named

    def named(self: Sessions, caller: Caller, name: str, tenant: str | None = None) -> Session:
        others = self.visible(caller)
        return self.find(caller, name, tenant) or (others[0] if others else sound(self, caller, name, tenant))

    monkeypatch.setattr(Sessions, "named", named)


def lets_a_device_win_over_the_session(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is named beside a session simply acts."""
    module = importlib.import_module("anydevice.resolution.resolve")
    sound = module._bound

    def bound(request: Any, binding: Any, asked: Any, inventory: Any) -> Any:
        if asked.identity:
            return module._named(request, asked, inventory, ())
        return sound(request, binding, asked, inventory)

    monkeypatch.setattr(module, "_bound", bound)


def keeps_one_scope_a_user(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """All connections of a user share their implicit sessions."""
    monkeypatch.setattr(Caller, "scope_key", property(lambda self: self.principal))


def shares_names_between_users(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session is found by its name alone, whoever asks."""
    sound = Sessions.find

    def find(self: Sessions, caller: Caller, name: str, tenant: str | None = None) -> Session | None:
        anybodys = [session for (_, _, known), session in self._named.items() if known == name]
        return anybodys[0] if anybodys else sound(self, caller, name, tenant)

    monkeypatch.setattr(Sessions, "find", find)


def keeps_the_lease_of_an_ended_session(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that ends leaves its lease to run out."""
    monkeypatch.setattr(Router, "_session_ended", lambda self, session, reason: None)


MUTANTS: dict[str, Mutant] = {
    "sessions.open-binds-the-caller": forgets_what_was_opened,
    "sessions.a-misspelt-name-is-refused": takes_any_session,
    "sessions.are-bound-for-life": lets_a_device_win_over_the_session,
    "sessions.two-callers-never-meet": keeps_one_scope_a_user,
    "sessions.a-name-is-its-users-own": shares_names_between_users,
    "sessions.an-end-gives-the-device-back": keeps_the_lease_of_an_ended_session,
}
