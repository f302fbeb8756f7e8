"""Judging a backend: starts the sealed run, follows it, and hands back the report.

    report = run("acme", report=Path("out"))
    report.level        # none, partial, core or extended

Vendor code never runs in this process. A run that dies, hangs or does not tell the truth about itself gives a report
like any other, with the level `none` and the reason.
"""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import os
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from anydevice.discovery import BACKENDS, PLUGINS, PluginRecord, discover, manifest_path
from anydevice.inventory import IMPORT_DEADLINE
from anydevice.settings import Settings
from anydevice_schemas import Manifest
from anydevice_schemas.report import ConformanceReport, Subject

from .case import Case, catalogue, catalogue_hash
from .findings import Findings
from .job import Job, sealed_environment
from .listening import Show, follow, report_of
from .report import write
from .samples import SAMPLES
from .sealed import SCRATCH

TOTAL = 3600.0
"""Seconds a whole run may take unless told otherwise."""
SLACK = 30.0
"""Seconds of silence beyond what a step of the run may itself take, before the run is ended."""
STEP = 60.0
BOOT = 180.0


class UnknownSubject(LookupError):
    """There is no such backend or case; the message names the nearest."""


def run(
    backend: str,
    *,
    device: str | None = None,
    only: Sequence[str] = (),
    report: Path | None = None,
    passed: Iterable[str] = (),
    settings: Settings | None = None,
    environ: Mapping[str, str] | None = None,
    deadline: float = TOTAL,
    slack: float = SLACK,
    show: Show | None = None,
) -> ConformanceReport:
    """Judges a backend.

    Args:
        backend: Its name, as its entry point has it.
        device: Selector of the device under test (id, or unique name); only its class is judged.
        only: Ids of cases, or patterns such as `press.*`; such a run is partial and has no level.
        report: Folder the report is written into; None = none is written.
        passed: Names of variables of `environ` that the sealed run gets besides the usual ones.
        settings: Where `prefer` and the backend's own table are taken from; the configuration file unless given.
        environ: The outer environment; this process's unless given.
        deadline: Seconds for everything.
        slack: Seconds of silence beyond what a step may itself take.
        show: Told how far the run is.

    Raises:
        UnknownSubject: No backend, or no case, of that name.
    """
    settings = settings or Settings.load()
    environ = os.environ if environ is None else environ
    cases = catalogue()
    chosen = chosen_cases([case.id for case in cases], only)
    records = discover(BACKENDS, prefer=settings.prefer)
    record = record_of(records, backend)
    manifest = record.manifest
    declared: list[str] = list(manifest.device_classes) if manifest is not None else []
    table = settings.tables.get(backend)
    table = dict(table) if isinstance(table, dict) else {}
    findings = Findings(
        cases=[_excused(case, manifest) for case in cases if chosen is None or case.id in chosen],
        classes=declared if device is None else [],
        hash=catalogue_hash(cases),
        size=len(cases),
        partial=chosen is not None,
    )
    let_in = sorted({*passed, *(manifest.env if manifest is not None else ())} & set(environ))
    began, started, output = time.monotonic(), datetime.now(UTC), ""
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
        evidence, cwd = Path(folder, "evidence"), Path(folder, "cwd")
        evidence.mkdir()
        cwd.mkdir()
        if record.state != "ready" or manifest is None:
            findings.loaded = record.to_wire()
        else:
            job = Job(
                kind="backend",
                name=backend,
                home=str(Path(folder, "home")),
                evidence=str(evidence),
                cases=chosen,
                device=device,
                disabled=tuple(sorted(alone(backend, settings, Path(folder)).disabled)),
                prefer=settings.prefer,
                settings=table,
            )
            output = follow(
                job,
                sealed_environment(job.home, environ, let_in),
                str(cwd),
                findings,
                deadline=deadline,
                pause=lambda: slack + _may_take(findings, manifest),
                show=show or Show(),
            )
        if device is not None:
            findings.classes = list(findings.pairs)
        found = report_of(
            findings,
            subject=_subject(record),
            declared=declared,
            started=started,
            seconds=time.monotonic() - began,
            output=output,
            narrowed_to=device,
            passed_through=[*let_in, *(f"{backend}.{key}" for key in sorted(table))],
        )
        if report is not None:
            write(found, report, evidence)
    return found


def alone(backend: str, settings: Settings, home: Path) -> Settings:
    """Settings under which a router has one backend and no plugin; of the configuration its own table is kept."""
    others = {record.name for group in (BACKENDS, PLUGINS) for record in discover(group)} - {backend}
    table = settings.tables.get(backend, {})
    return Settings(home=home, disabled=frozenset(others), prefer=settings.prefer, tables={backend: table})


def chosen_cases(known: Sequence[str], only: Sequence[str]) -> tuple[str, ...] | None:
    """The ids that `only` names; None when it names nothing, which means all.

    Raises:
        UnknownSubject: A word of it names no case.
    """
    if not only:
        return None
    chosen: list[str] = []
    for word in only:
        found = [name for name in known if name == word] or fnmatch.filter(known, word)
        if not found:
            near = difflib.get_close_matches(word, known, n=3, cutoff=0.4)
            raise UnknownSubject(f"there is no case {word[:80]!r}" + (f"; near it: {', '.join(near)}" if near else ""))
        chosen += found
    return tuple(name for name in known if name in chosen)


def record_of(records: Sequence[PluginRecord], backend: str) -> PluginRecord:
    """The plugin record of a backend: the one that is ready, if any is.

    Raises:
        UnknownSubject: There is none of that name.
    """
    found = [record for record in records if record.name == backend]
    if not found:
        known = sorted({record.name for record in records})
        says = f"installed are {', '.join(known)}" if known else "none is installed"
        raise UnknownSubject(f"there is no backend {backend[:80]!r}; {says}")
    return next((record for record in found if record.state == "ready"), found[0])


def _excused(case: Case, manifest: Manifest | None) -> Case:
    """A case, of which honest absence is enough where it is about something the platform's trees do not tell."""
    return replace(case, optional=True) if manifest is not None and case.unseen(manifest) else case


def _may_take(findings: Findings, manifest: Manifest) -> float:
    """Seconds the step that the run is at may take by its own deadlines."""
    boots = BOOT * 2 * len(manifest.device_classes) if "power.boot" in manifest.operations else 0.0
    if findings.loaded is None:
        return IMPORT_DEADLINE
    if not findings.pairs:
        return manifest.discovery_deadline + STEP * len(manifest.practice.prepare) + boots
    if findings.trying is not None:
        return next((case.seconds for case in findings.cases if case.id == findings.trying[1]), STEP)
    return STEP + STEP * len(manifest.practice.restore) + boots


def _subject(record: PluginRecord) -> Subject:
    manifest = record.manifest
    operations = manifest.operations if manifest is not None else {}
    return Subject(
        backend=record.name,
        distribution=record.distribution,
        version=record.version,
        contract=manifest.contract if manifest is not None else "",
        manifest_hash=_manifest_hash(record),
        distribution_hash=_distribution_hash(record.distribution),
        extra_operations=sorted(set(operations) - set(SAMPLES)),
    )


def _manifest_hash(record: PluginRecord) -> str:
    try:
        path = manifest_path(record.value.partition(":")[0].strip())
        return _hash(path.read_bytes()) if path is not None else ""
    except (OSError, ImportError):
        return ""


def _distribution_hash(name: str) -> str:
    try:
        return _hash((distribution(name).read_text("RECORD") or "").encode())
    except PackageNotFoundError:
        return ""


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16] if data else ""


def facts_of(report: ConformanceReport) -> dict[str, Any]:
    """The few facts of a report that a script wants."""
    return {
        "backend": report.subject.backend,
        "level": report.level,
        "why": report.why,
        "ended": report.ended,
        "classes": {verdict.device_class: verdict.level for verdict in report.classes},
    }
