"""The catalogue of lease stores bites: sound stores pass it, and each case is failed by its mutant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anydevice.leases import MemoryStore
from anydevice_conformance.stores import StoreCase, run_store, store_cases
from anydevice_conformance.stores.judging import load_factory, try_case
from anydevice_schemas.report import CaseResult

from ..support.distributions import environ, install
from .stores.mutants import MUTANTS
from .stores.sound import FileStore

CASES = {case.id: case for case in store_cases()}
PACKAGE = "lease_stores_of_the_tests"
HERE = Path(__file__).parent / "stores"


@pytest.fixture(scope="module", autouse=True)
def importable(tmp_path_factory: pytest.TempPathFactory) -> object:
    """The tests' stores as a package that other processes can import."""
    folder = tmp_path_factory.mktemp("stores")
    install(folder, "lease-stores", modules={f"{PACKAGE}/{path.name}": path.read_text() for path in HERE.glob("*.py")})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
        yield folder


def sound_for(case: StoreCase) -> str:
    return "anydevice.leases:MemoryStore" if case.needs in (None, "threads") else f"{PACKAGE}.sound:FileStore"


def tried(case: StoreCase, name: str) -> CaseResult:
    return try_case(case, name, load_factory(name))


def test_every_case_has_a_mutant_and_every_mutant_a_case() -> None:
    assert set(MUTANTS) == set(CASES)


@pytest.mark.parametrize("case_id", sorted(CASES))
def test_each_case_is_passed_by_a_sound_store_and_failed_by_its_mutant(case_id: str) -> None:
    case = CASES[case_id]
    sound = tried(case, sound_for(case))
    assert sound.verdict == "passed", sound.reason
    mutant = tried(case, f"{PACKAGE}.mutants:{MUTANTS[case_id].__name__}")
    assert mutant.verdict == "failed", f"the mutant gets away with it: {mutant.verdict} {mutant.reason}"


@pytest.mark.parametrize("store", [MemoryStore, FileStore])
def test_sound_stores_pass_everything_they_offer(store: type) -> None:
    home = "anydevice.leases" if store is MemoryStore else f"{PACKAGE}.sound"
    rows = [tried(case, f"{home}:{store.__name__}") for case in CASES.values() if case.needs != "processes"]
    assert {row.id: row.reason for row in rows if row.verdict not in ("passed", "honestly_absent")} == {}
    absent = {row.bundle for row in rows if row.verdict == "honestly_absent"}
    assert absent == {"threads", "durable"} - set(getattr(store, "offers", ()))


def test_the_store_in_memory_is_judged_by_the_sealed_runner(tmp_path: Path) -> None:
    report = run_store("anydevice.leases:MemoryStore", report=tmp_path / "out", environ=environ())
    assert (report.level, report.ended, report.sealed) == ("extended", "finished", True), report.why
    assert report.subject.kind == "store" and report.subject.distribution == "anydevice"
    assert report.classes[0].bundles["durable"] == "absent"
    assert "Lease store" in (tmp_path / "out" / "index.html").read_text("utf-8")


def test_the_store_in_the_database_is_extended() -> None:
    report = run_store("anydevice.leases.sqlite:open_store", environ=environ())
    assert report.level == "extended", [(row.id, row.reason) for row in report.cases if row.verdict == "failed"]
    assert not [row.id for row in report.cases if row.verdict == "honestly_absent"]


def test_a_store_that_offers_everything_is_extended(importable: Path) -> None:
    report = run_store(f"{PACKAGE}.sound:FileStore", environ=environ(importable))
    assert report.level == "extended", [(row.id, row.reason) for row in report.cases if row.verdict == "failed"]


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
