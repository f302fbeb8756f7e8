"""Mutants of the cases about settings and orientation."""

from __future__ import annotations

import pytest

from anydevice.commands import settings
from anydevice.driver import Setting
from anydevice.testing import ReferenceBackend, upkeep
from anydevice_conformance.catalogue.settings import CHANGES

from . import Mutant


def takes_it_and_does_nothing(method: str) -> Mutant:
    """The device says that it was changed, and it was not."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        backend.fault.swallow.add(f"settings.{method}")
        monkeypatch.setattr(settings, "SETTLE", 0.05)

    return mutant


def never_put_back(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a holder changed stays."""
    monkeypatch.setattr(upkeep.Upkeep, "clean", lambda self, screen: None)


def takes_any_value(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are handed on as they are."""
    monkeypatch.setattr(settings, "_checked", lambda ctx, method, value: value)
    monkeypatch.setattr(upkeep, "CHOICES", {})


def tells_one_it_cannot_change(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of everything it has, one is told as it never was."""
    sound = upkeep.FakeSettings.read
    asked: list[str] = []

    async def read(self: upkeep.FakeSettings, area: str, **of: str | None) -> Setting:
        asked.append(area)
        told = await sound(self, area, **of)
        return Setting("dark") if area == "appearance" and len(asked) == 1 else told

    monkeypatch.setattr(upkeep.FakeSettings, "read", read)


MUTANTS: dict[str, Mutant] = {
    **{f"settings.{area}-is-read-back": takes_it_and_does_nothing(method) for area, (method, _, _) in CHANGES.items()},
    "settings.given-back-as-it-was": never_put_back,
    "settings.a-value-that-is-none-is-refused": takes_any_value,
    "settings.all-that-can-be-told-is-told": tells_one_it_cannot_change,
    "settings.app-data-go-with-a-persons-word-only": takes_it_and_does_nothing("app_data"),
    "orientation.turning-shows": takes_it_and_does_nothing("orientation"),
}
