"""Mutants of the cases about measures and the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from anydevice.testing import ReferenceBackend, diagnosis

from . import Mutant


def tells(kind: str, numbers: dict[str, Any]) -> Mutant:
    """A measure tells these numbers, at once."""

    def mutant(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        async def measure(self: diagnosis.FakePerf, app: str | None = None, **how: object) -> Mapping[str, Any]:
            return numbers

        monkeypatch.setattr(diagnosis.FakePerf, kind, measure)

    return mutant


def measures_the_dead(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An app that was closed still has its numbers."""

    async def measured(self: diagnosis.FakePerf, operation: str, app: str | None) -> diagnosis.Diary:
        diagnosis._tag(app)
        return self.driver.model.diary

    monkeypatch.setattr(diagnosis.FakePerf, "_measured", measured)


def lists_everybodys(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What all devices sent is listed for each."""

    async def requests(
        self: diagnosis.FakeNetwork, *, app: str | None = None, most: int = 100
    ) -> Sequence[Mapping[str, Any]]:
        every = [row for screen in backend.screens.values() for row in screen.diary.requests]
        return every[-most:]

    monkeypatch.setattr(diagnosis.FakeNetwork, "requests", requests)


MUTANTS: dict[str, Mutant] = {
    "perf.memory-is-told": tells("memory", {"resident": 40_000}),
    "perf.cpu-is-measured-over-the-time-asked-for": tells("cpu", {"seconds": 0.2, "cpuPercent": 3.0}),
    "perf.frames-are-told": tells("frames", {"seconds": 0.2, "frames": 12}),
    "perf.an-app-that-does-not-run-has-no-numbers": measures_the_dead,
    "network.requests-of-the-app-are-listed": lists_everybodys,
}
