"""The catalogue bites: each case is failed by its mutant. That sound backends pass is in `test_reference.py`.

What a mutant never reports would be waited for by every case in vain; here it is waited for less long. Sound backends
are judged with the catalogue's own patience.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from anydevice.driver import CAPABILITIES
from anydevice.testing import ReferenceBackend, fake_router
from anydevice_conformance.case import Case, catalogue
from anydevice_conformance.catalogue import forwarding, media
from anydevice_conformance.engine import Engine
from anydevice_conformance.subject import Subject
from anydevice_conformance.witness import Report, Witness
from anydevice_schemas.report import CaseResult

sys.path.insert(0, str(Path(__file__).parent))
from mutants import Mutant, all_mutants

pytestmark = pytest.mark.anyio

CASES = {case.id: case for case in catalogue()}
MUTANTS = all_mutants()
JUDGED = [name for name in CASES if not name.startswith("operation.")]
GOOD = ("passed", "honestly_absent")
PATIENCE = 1.0
"""Seconds that a mutant's report is waited for; the reports of a fake are there within milliseconds."""


class Impatient(Witness):
    """A witness that waits no longer than that."""

    async def until(self, token: str, wanted: Callable[[list[Report]], bool], seconds: float) -> list[Report]:
        return await super().until(token, wanted, min(seconds, PATIENCE))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cases wait otherwise than for reports."""
    monkeypatch.setattr(media, "WITHIN", 3.0)
    monkeypatch.setattr(forwarding, "WITHIN", 2.0)


@asynccontextmanager
async def engine(backend: ReferenceBackend, patience: type[Witness] = Witness) -> AsyncIterator[Engine]:
    witness = patience()
    try:
        async with fake_router(backend) as (router, _):
            yield Engine(router, Subject(router, "reference"), witness, list(CASES.values()))
    finally:
        witness.close()


def home_class(case: Case) -> str:
    """The class on which a case is tried against its mutant: the first one that the reference declares it for."""
    backend = ReferenceBackend()
    from anydevice.commands import all_commands

    commands = {spec.command.name: spec.command for spec in all_commands()}
    for name in ("phone", "desktop", "tv", "tablet"):
        device = backend.rows[f"{name}-1"]
        command = commands[case.command] if case.command is not None else None
        if name in case.classes and case.declared(backend.manifest, device, command):
            return name
    raise AssertionError(f"the reference declares {case.id} for no class")


async def one(case: Case, backend: ReferenceBackend, device_class: str) -> CaseResult:
    async with engine(backend, Impatient) as run:
        pair = next(p for p in await run.subject.pairs() if p.device_class == device_class)
        assert pair.device is not None and pair.other is not None, pair.blocked
        return await run.try_case(case, pair.device, pair.other)


def test_every_case_has_a_mutant_and_every_mutant_a_case() -> None:
    assert set(MUTANTS) == set(JUDGED)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("case_id", JUDGED)
async def test_each_case_is_failed_by_its_mutant(case_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[case_id]
    device_class = home_class(case)
    backend = ReferenceBackend()
    mutant: Mutant = MUTANTS[case_id]
    mutant(backend, monkeypatch)
    caught = await one(case, backend, device_class)
    assert caught.verdict == "failed", f"the mutant gets away with it: {caught.verdict} {caught.reason}"


@pytest.mark.parametrize("operation", sorted(name.removeprefix("operation.") for name in CASES if name not in JUDGED))
async def test_an_operation_that_is_declared_and_lacking_or_there_and_undeclared_is_caught(
    operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[f"operation.{operation}"]
    backend = ReferenceBackend()
    declared = case.declared(backend.manifest, backend.rows["phone-1"], None)
    if declared:
        backend.down = {operation: "out of order"}
        caught = await one(case, backend, "phone")
        assert caught.verdict == "failed" and "down" in caught.reason
        return
    kind = next(kind for kind in CAPABILITIES if kind.name == operation.partition(".")[0])

    async def works(self: object, *args: object, **kwargs: object) -> None:
        return None

    monkeypatch.setattr(kind, operation.partition(".")[2], works)
    driver = await backend.connect(backend.rows["phone-1"], None)  # type: ignore[arg-type]
    part = type(getattr(driver, kind.name))
    monkeypatch.setattr(part, operation.partition(".")[2], works)
    caught = await one(case, backend, "phone")
    assert caught.verdict == "failed" and "works on the driver" in caught.reason
