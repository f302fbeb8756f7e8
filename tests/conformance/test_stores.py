"""The catalogue of lease stores bites: sound stores pass it, and each case is failed by its mutant."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from anydevice_conformance.racer import load_factory
from anydevice_conformance.stores import StoreCase, run_store, store_cases
from anydevice_conformance.stores.judging import try_case
from anydevice_schemas.report import CaseResult, ConformanceReport

from ..support.distributions import environ, install
from .stores.mutants import MUTANTS

CASES = {case.id: case for case in store_cases()}
PACKAGE = "lease_stores_of_the_tests"
HERE = Path(__file__).parent / "stores"
MEMORY, DATABASE, FILE = (
    "anydevice.leases:MemoryStore",
    "anydevice.leases.sqlite:open_store",
    f"{PACKAGE}.sound:FileStore",
)
SOUND = {MEMORY: {"threads"}, DATABASE: {"durable", "processes", "threads"}, FILE: {"durable", "processes", "threads"}}
"""Sound stores, and what each offers."""


@pytest.fixture(scope="module", autouse=True)
def importable(tmp_path_factory: pytest.TempPathFactory) -> object:
    """The tests' stores as a package that other processes can import."""
    folder = tmp_path_factory.mktemp("stores")
    install(folder, "lease-stores", modules={f"{PACKAGE}/{path.name}": path.read_text() for path in HERE.glob("*.py")})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
        yield folder


def tried(case: StoreCase, name: str) -> CaseResult:
    return try_case(case, name, load_factory(name))


def test_every_case_has_a_mutant_and_every_mutant_a_case() -> None:
    assert set(MUTANTS) == set(CASES)


@pytest.mark.parametrize("case_id", sorted(CASES))
def test_each_case_is_failed_by_its_mutant(case_id: str) -> None:
    mutant = tried(CASES[case_id], f"{PACKAGE}.mutants:{MUTANTS[case_id].__name__}")
    assert mutant.verdict == "failed", f"the mutant gets away with it: {mutant.verdict} {mutant.reason}"


@dataclass(frozen=True)
class Judged:
    """What the sealed runner made of a sound store."""

    report: ConformanceReport
    page: str


@pytest.fixture(scope="module")
def sound(importable: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Future[Judged]]]:
    """The sound stores, each judged in a sealed run by the whole catalogue, beside one another."""
    out = tmp_path_factory.mktemp("sound")

    def judged(name: str) -> Judged:
        folder = out / name.rpartition(":")[2]
        report = run_store(name, report=folder, environ=environ(importable))
        return Judged(report, (folder / "index.html").read_text("utf-8"))

    with ThreadPoolExecutor(len(SOUND)) as pool:
        yield {name: pool.submit(judged, name) for name in SOUND}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_store_passes_everything_it_offers_and_is_asked_nothing_else(
    name: str, sound: Mapping[str, Future[Judged]]
) -> None:
    report = sound[name].result().report
    assert [case for case in CASES if case not in {row.id for row in report.cases}] == []
    odd = {row.id: row.reason for row in report.cases if row.verdict not in ("passed", "honestly_absent")}
    assert odd == {} and (report.level, report.ended, report.sealed) == ("extended", "finished", True), report.why
    absent = {row.bundle for row in report.cases if row.verdict == "honestly_absent"}
    assert absent == {"threads", "durable", "processes"} - SOUND[name]
    assert {bundle for bundle, said in report.classes[0].bundles.items() if said == "absent"} == absent


def test_the_report_of_a_store_says_that_it_is_one_and_whose(sound: Mapping[str, Future[Judged]]) -> None:
    judged = sound[MEMORY].result()
    assert judged.report.subject.kind == "store" and judged.report.subject.distribution == "anydevice"
    assert "Lease store" in judged.page


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no_such_module:Store", "ModuleNotFoundError"),
        ("anydevice.leases:NoSuchStore", "AttributeError"),
        ("anydevice.leases:__all__", "TypeError"),
    ],
)
def test_a_store_that_cannot_be_made_is_judged_so(name: str, says: str) -> None:
    report = run_store(name, only=["store.fences-rise"], environ=environ())
    assert (report.level, report.ended) == ("none", "not_loaded") and says in report.why


def test_a_store_that_is_none_fails_every_core_case(importable: Path) -> None:
    report = run_store("builtins:dict", environ=environ())
    core = {row.verdict for row in report.cases if row.bundle == "core" and row.id.startswith("store.")}
    assert report.level == "none" and core == {"failed"}
