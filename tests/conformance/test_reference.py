"""The reference backend passes every case on a phone, a tablet and a desktop; in whole sealed runs it does on a TV."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from anydevice.testing import ReferenceBackend
from anydevice.testing.reference import FORMS

sys.path.insert(0, str(Path(__file__).parent))
from test_mutants import GOOD, engine

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

CLASSES = ("phone", "tablet", "desktop")
ELSEWHERE = {"tv"}
"""Passed twice in `test_whole_runs.py`."""


async def test_the_reference_backend_passes_every_case() -> None:
    """Each class in a router of its own, beside one another: nearly all of the time is waiting."""
    assert set(FORMS) == {*CLASSES} | ELSEWHERE
    async with anyio.create_task_group() as group:
        for device_class in CLASSES:
            group.start_soon(passes_every_case, device_class)


async def passes_every_case(device_class: str) -> None:
    backend = ReferenceBackend(classes=(device_class,))
    backend.manifest = backend.manifest.model_copy(update={"device_classes": [device_class]})
    async with engine(backend) as run:
        verdicts = await run.run()
        assert [(r.id, r.verdict, r.reason) for r in run.results if r.verdict not in GOOD] == []
        assert [(verdict.device_class, verdict.level) for verdict in verdicts] == [(device_class, "extended")]
