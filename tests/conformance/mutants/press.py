"""Mutants of the cases about acting on one element."""

from __future__ import annotations

import pytest

from anydevice.testing import ReferenceBackend

from . import Mutant


def acts_on_another_device(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every action lands on the second phone."""
    backend.fault.redirect = "phone-2"


def acts_though_disabled(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver hides that an element is disabled."""
    for screen in backend.screens.values():
        original = screen.node

        def node(element, parent=0, original=original):  # type: ignore[no-untyped-def]
            seen = original(element, parent)
            seen.states = seen.states - {"disabled"}
            return seen

        monkeypatch.setattr(screen, "node", node)


MUTANTS: dict[str, Mutant] = {
    "press.reaches-the-named-device": acts_on_another_device,
    "press.refuses-disabled": acts_though_disabled,
}
