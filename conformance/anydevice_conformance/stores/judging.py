"""Judging a lease store: inside the sealed run, and from outside."""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from anydevice.discovery import describe
from anydevice_schemas import CONTRACT_VERSION
from anydevice_schemas.errors import AnydeviceError
from anydevice_schemas.report import CaseResult, ConformanceReport, Step, Subject, Verdict

from ..findings import Findings
from ..job import Job, sealed_environment
from ..listening import Show, follow, report_of
from ..racer import Factory, load_factory
from ..report import write
from ..runner import SLACK, TOTAL, chosen_cases
from ..sealed import SCRATCH
from ..trial import CaseFailed
from .case import CLASS, StoreCase, store_cases, store_catalogue_hash
from .trial import StoreTrial

LOADING = 15.0
"""Seconds importing the store's module may take."""

Tell = Callable[[dict[str, Any]], None]


def judge_store(job: Job, tell: Tell) -> None:
    """Inside the sealed run: tries every case on a store of its own, and tells what comes of it."""
    _tell_catalogue(tell)
    try:
        factory = load_factory(job.name)
    except BaseException as error:
        tell({"event": "loaded", "record": {"state": "broken", "reason": describe(error)}})
        return
    tell({"event": "loaded", "record": {"state": "ready"}})
    tell({"event": "pairs", "pairs": [{"class": CLASS, "devices": [], "facts": {}, "blocked": ""}]})
    for case in store_cases():
        if job.cases is None or case.id in job.cases:
            tell({"event": "starting", "case": case.id, "class": CLASS})
            row = try_case(case, job.name, factory)
            tell({"event": "row", "row": row.model_dump(mode="json", by_alias=True)})
    _tell_catalogue(tell)


def _tell_catalogue(tell: Tell) -> None:
    cases = store_cases()
    tell({"event": "catalogue", "hash": store_catalogue_hash(cases), "size": len(cases)})


def try_case(case: StoreCase, name: str, factory: Factory) -> CaseResult:
    """Tries one case and puts a verdict on it."""
    declared = case.needs is None or case.needs in getattr(factory, "offers", ())
    began = time.monotonic()
    verdict, reason, steps = (
        ("honestly_absent", f"it does not offer {case.needs}", []) if not declared else _try(case, name, factory)
    )
    return CaseResult(
        id=case.id,
        must=case.must,
        device_class=CLASS,
        bundle=case.bundle,
        declared=declared,
        verdict=verdict,
        reason=reason[:1000],
        seconds=round(time.monotonic() - began, 3),
        steps=steps[-200:],
    )


def _try(case: StoreCase, name: str, factory: Factory) -> tuple[Verdict, str, list[Step]]:
    with tempfile.TemporaryDirectory(prefix="anydevice-s-") as folder:
        trial: StoreTrial | None = None
        try:
            trial = StoreTrial(factory, name, Path(folder, "store"))
            case.run(trial)
            trial.close()
        except CaseFailed as failure:
            return "failed", str(failure), trial.steps if trial is not None else []
        except AnydeviceError as error:
            return "failed", f"{error.code}: {error.message}", trial.steps if trial is not None else []
        except Exception as error:  # the catalogue passes on a sound store, so it is the store that is not as promised
            where = traceback.extract_tb(error.__traceback__)[-1]
            reason = f"{describe(error)} ({Path(where.filename).name}:{where.lineno})"
            return "failed", reason, trial.steps if trial is not None else []
        return "passed", "", trial.steps


def run_store(
    name: str,
    *,
    only: Sequence[str] = (),
    report: Path | None = None,
    passed: Iterable[str] = (),
    environ: Mapping[str, str] | None = None,
    deadline: float = TOTAL,
    slack: float = SLACK,
    show: Show | None = None,
) -> ConformanceReport:
    """Judges a lease store.

    Args:
        name: `module:factory`; the module must be importable without the working directory's help.
        only, report, passed, environ, deadline, slack, show: As `anydevice_conformance.runner.run` has them.

    Raises:
        UnknownSubject: No case of that name.
    """
    cases = store_cases()
    chosen = chosen_cases([case.id for case in cases], only)
    environ = os.environ if environ is None else environ
    let_in = sorted(set(passed) & set(environ))
    findings = Findings(
        cases=[case for case in cases if chosen is None or case.id in chosen],
        classes=[CLASS],
        hash=store_catalogue_hash(cases),
        size=len(cases),
        partial=chosen is not None,
    )

    def pause() -> float:
        if findings.loaded is None:
            return slack + LOADING
        trying = findings.trying[1] if findings.trying is not None else ""
        return slack + next((case.seconds for case in cases if case.id == trying), 0.0)

    began, started = time.monotonic(), datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
        cwd = Path(folder, "cwd")
        cwd.mkdir()
        job = Job("store", name, str(Path(folder, "home")), str(cwd), cases=chosen)
        environment = sealed_environment(job.home, environ, let_in)
        output = follow(job, environment, str(cwd), findings, deadline=deadline, pause=pause, show=show or Show())
        found = report_of(
            findings,
            subject=_subject(name),
            declared=[CLASS],
            started=started,
            seconds=time.monotonic() - began,
            output=output,
            passed_through=let_in,
        )
        if report is not None:
            write(found, report)
    return found


def _subject(name: str) -> Subject:
    package = name.partition(":")[0].partition(".")[0]
    homes = packages_distributions().get(package, [package])
    try:
        home, its_version = homes[0], version(homes[0])
    except (PackageNotFoundError, ValueError):
        home, its_version = "unknown", "0"
    return Subject(
        kind="store",
        backend=name,
        distribution=home,
        version=its_version,
        contract=CONTRACT_VERSION,
        manifest_hash="",
    )
