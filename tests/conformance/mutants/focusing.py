"""Mutants of the cases about focus."""

from __future__ import annotations

from typing import Any

import pytest
from faults import operation

from anydevice.driver import Acted
from anydevice.testing import ReferenceBackend

from . import Mutant


def presses_as_well(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An element is focused by a press on it."""

    async def focus(sound: Any, self: Any, key: str) -> Acted:
        element = self.model.by_key(key)
        self.model.report("press", element.identifier)
        acted: Acted = await sound(self, key)
        return acted

    operation(monkeypatch, "elements.focus", focus)


MUTANTS: dict[str, Mutant] = {
    "focus.takes-the-keyboard-there": presses_as_well,
}
