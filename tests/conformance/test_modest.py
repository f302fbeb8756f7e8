"""What is core, a modest device can pass: nothing of it asks for more than reading, pressing and opening."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from anydevice.driver import Environment
from anydevice.testing import FakeDriver, ReferenceBackend
from anydevice.testing.screen import FakeScreen
from anydevice_conformance.case import CORE
from anydevice_schemas import Device, Tree
from anydevice_schemas.manifest import Constraint

sys.path.insert(0, str(Path(__file__).parent))
from test_mutants import CASES, GOOD, engine

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

AREAS = ("press", "elements", "refs", "reading", "waiting", "lists", "pictures", "drivers")
CORE_CASES = [case for name, case in CASES.items() if case.bundle == CORE and name.partition(".")[0] in AREAS]
READS_AND_OPENS = frozenset({"screen.tree", "apps.open", "apps.state"})


class Modest(FakeDriver):
    """A driver that has nothing but the operations its backend declares."""

    def has(self, operation: str) -> bool:
        return operation in self.backend.manifest.operations and super().has(operation)


class ModestBackend(ReferenceBackend):
    """Two devices of one class with few operations."""

    def __init__(self, device_class: str, *operations: str) -> None:
        super().__init__(classes=(device_class,))
        declared = {op: Constraint() for op in {*READS_AND_OPENS, *operations}}
        self.manifest = self.manifest.model_copy(update={"operations": declared, "device_classes": [device_class]})

    async def connect(self, device: Device, env: Environment) -> FakeDriver:
        return Modest(self, device)


async def fallen(backend: ModestBackend) -> list[tuple[str, str, str]]:
    """The core cases of these areas that the backend does not pass, but for what is optional."""
    out = []
    async with engine(backend) as run:
        pair = (await run.subject.pairs())[0]
        assert pair.device is not None and pair.other is not None
        for case in CORE_CASES:
            if pair.device.device_class not in case.classes:
                continue
            row = await run.try_case(case, pair.device, pair.other)
            if row.verdict not in GOOD or (row.verdict == "honestly_absent" and not case.optional):
                out.append((row.id, row.verdict, row.reason))
    return out


async def test_a_tv_with_activate_and_keys_passes_what_is_core() -> None:
    assert await fallen(ModestBackend("tv", "elements.activate", "keys.press")) == []


async def test_a_phone_whose_elements_have_no_handle_passes_what_is_core(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = FakeScreen.tree

    def tree(self: FakeScreen, scope: Any) -> Tree:
        told = sound(self, scope)
        for node in told.nodes:
            node.key = None
        return told

    monkeypatch.setattr(FakeScreen, "tree", tree)
    assert await fallen(ModestBackend("phone", "touch.tap")) == []
