"""Whole runs of the catalogue: the reference twice, the generated template as a person would, one that over-claims."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from anydevice.settings import Settings
from anydevice_conformance.case import catalogue
from anydevice_conformance.findings import LEAVES_NOTHING
from anydevice_conformance.runner import run
from anydevice_conformance.template import make
from anydevice_schemas.report import ConformanceReport

from ..support.distributions import environ, install_made, install_reference_backend
from .shelf import lying

pytestmark = pytest.mark.timeout(600)
PROGRAM = str(Path(sys.executable).parent / "anydevice")
SECONDS = 400.0


@dataclass
class Whole:
    """What came of the runs; each is waited for where it is looked at."""

    first: Future[ConformanceReport]
    second: Future[ConformanceReport]
    claims: Future[ConformanceReport]
    template: Future[tuple[int, str, ConformanceReport]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    plugins, out = tmp_path_factory.mktemp("plugins"), tmp_path_factory.mktemp("out")
    install_reference_backend(plugins, name="honest", classes=("tv",))
    next(member for member in lying.MEMBERS if member.name == "over-claims").install(plugins)
    install_made(plugins, make("acme-box", out / "acme").folder)
    settings = Settings(home=out / "home")

    def judged(name: str, report: str, **more: str) -> ConformanceReport:
        return run(name, report=out / report, settings=settings, environ=environ(plugins), deadline=SECONDS, **more)  # type: ignore[arg-type]

    def by_command_line() -> tuple[int, str, ConformanceReport]:
        done = subprocess.run(
            [PROGRAM, "conformance", "acme-box", "--report", "acme-report"],
            cwd=out, env=environ(plugins, ANYDEVICE_HOME=str(out / "home")), capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
        report = ConformanceReport.model_validate_json((out / "acme-report" / "conformance.json").read_text("utf-8"))
        return done.returncode, done.stdout, report

    pool = ThreadPoolExecutor(4)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(plugins))
        found = Whole(
            pool.submit(judged, "honest", "first"),
            pool.submit(judged, "honest", "second"),
            pool.submit(judged, "over-claims", "claims", device="phone-2"),
            pool.submit(by_command_line),
        )
        pool.shutdown(wait=True)
    return found


def test_the_same_backend_is_judged_the_same_in_the_same_order(whole: Whole) -> None:
    first, second = whole.first.result(), whole.second.result()
    assert [(row.id, row.verdict, row.reason) for row in first.cases] == [
        (row.id, row.verdict, row.reason) for row in second.cases
    ]
    assert first.classes[0].bundles == second.classes[0].bundles
    assert first.catalogue_hash == second.catalogue_hash and first.subject == second.subject


def test_a_whole_sealed_run_gives_a_level_and_holds_every_case_of_the_catalogue(whole: Whole) -> None:
    report = whole.first.result()
    assert (report.level, report.partial, report.sealed) == ("extended", False, True), report.why
    assert report.ended == "finished"
    due = [case.id for case in catalogue() if "tv" in case.classes]
    assert [row.id for row in report.cases] == [*due, LEAVES_NOTHING]
    assert [(r.id, r.reason) for r in report.cases if r.verdict not in ("passed", "honestly_absent")] == []
    assert report.remarks == [] and report.not_judged == []


def test_the_template_passes_core_as_it_is_written(whole: Whole) -> None:
    code, said, report = whole.template.result()
    assert report.level in ("core", "extended"), [
        (row.id, row.reason) for row in report.cases if row.verdict not in ("passed", "honestly_absent")
    ]
    assert code == 0 and f"acme-box tv: {report.level}" in said
    assert [row.reason for row in report.cases if row.verdict in ("failed", "blocked", "engine_error")] == []


def test_one_operation_too_many_costs_the_level_and_is_named(whole: Whole) -> None:
    report = whole.claims.result()
    assert report.level == "none" and not report.partial
    assert "core cases failed" in report.why and "app-switcher is not offered" in report.why
    failed = {row.id: row.reason for row in report.cases if row.verdict == "failed"}
    assert failed["operation.navigation.app_switcher"] == "navigation.app_switcher is declared and not implemented"
    assert len(failed) == 3, failed
    assert all("app-switcher" in reason or "navigation.app_switcher" in reason for reason in failed.values()), failed


def test_a_device_that_is_asked_for_makes_no_partial_run(whole: Whole) -> None:
    report = whole.claims.result()
    assert report.narrowed_to == "phone-2" and report.classes[0].devices[0] == "over-claims:phone-2"
    assert {row.verdict for row in report.cases}.isdisjoint({"not_run", "engine_error", "blocked"})


def test_pictures_of_the_cases_are_beside_the_report(whole: Whole, tmp_path_factory: pytest.TempPathFactory) -> None:
    report = whole.first.result()
    folder = next(tmp_path_factory.getbasetemp().glob("out*")) / "first"
    written = json.loads((folder / "conformance.json").read_text("utf-8"))
    named = {name for row in written["cases"] for name in row.get("evidence", [])}
    assert named and all((folder / name).is_file() for name in named)
    assert report.cases
