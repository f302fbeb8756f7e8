"""Following a sealed run to its end: what it tells, how long it may be silent, and the report that comes of it."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import anydevice
from anydevice_schemas import CONTRACT_VERSION
from anydevice_schemas.report import CaseResult, ConformanceReport, Subject

from . import __version__
from .findings import Findings
from .job import Job
from .pipes import SealedProcess

LOOK = 1.0
"""Seconds after which it is looked whether the keeper is still there."""
LINGER = 10.0
"""Seconds the run's process may take to end once it has said that it is finished."""


def _nothing(*_: object) -> None:
    """Shows nothing."""


@dataclass
class Show:
    """What is told while a run goes on. Every part may be left out.

    Attributes:
        begin: Called once with the number of results that will come, as far as that is known.
        starting: Called with device class and case id when a case begins.
        row: Called with every result.
    """

    begin: Callable[[int], None] = _nothing
    starting: Callable[[str, str], None] = _nothing
    row: Callable[[CaseResult], None] = _nothing


def follow(
    job: Job,
    environment: Mapping[str, str],
    cwd: str,
    findings: Findings,
    *,
    deadline: float,
    pause: Callable[[], float],
    show: Show,
) -> str:
    """Starts a sealed run and listens until it and everything it started have ended.

    Args:
        job: What it does.
        environment: Its whole environment.
        cwd: Its working directory.
        findings: Take what it tells.
        deadline: Seconds for everything.
        pause: How many seconds it may be silent at this point.
        show: Told how far it is.

    Returns:
        The end of what it printed.
    """
    over = time.monotonic() + deadline
    heard = time.monotonic()

    with SealedProcess(job, environment, cwd) as process:

        def take(line: bytes) -> None:
            nonlocal heard
            heard = time.monotonic()
            word = findings.take(line)
            process.run_pid = None if findings.ended else findings.run_pid
            if word == "starting" and findings.trying is not None:
                show.starting(*findings.trying)
            elif word == "row" and findings.rows:
                show.row(next(reversed(findings.rows.values())))

        show.begin(sum(name in case.classes for name in findings.classes for case in findings.cases))
        while process.listen(take, min(over, heard + _silence(findings, pause), time.monotonic() + LOOK)):
            now = time.monotonic()
            if process.gone:
                break
            if now < over and now < heard + _silence(findings, pause):
                continue
            if findings.finished:
                findings.lingered = not findings.ended
            else:
                where = f" in the middle of {findings.trying[1]} on {findings.trying[0]}" if findings.trying else ""
                long = f"took longer than {deadline:g} s" if now >= over else f"said nothing for {now - heard:.0f} s"
                findings.stopped = f"the run {long}{where or findings.stage}, and was ended"
            break
        process.end(take)
        return process.output.decode("utf-8", "replace")


def _silence(findings: Findings, pause: Callable[[], float]) -> float:
    return LINGER if findings.finished else pause()


def report_of(
    findings: Findings,
    *,
    subject: Subject,
    declared: Sequence[str],
    started: datetime,
    seconds: float,
    output: str = "",
    narrowed_to: str | None = None,
    passed_through: Sequence[str] = (),
) -> ConformanceReport:
    """The report on what was found.

    Args:
        findings: What the run told.
        subject: What was judged.
        declared: Every class the manifest declares.
        started, seconds: When it began (UTC), and how long it took.
        output: The end of what it printed.
        narrowed_to: The device that was asked for.
        passed_through: What was let into the sealed run besides the usual.
    """
    verdicts, rows = findings.judge()
    not_judged = [name for name in declared if name not in findings.classes]
    level, why = findings.overall(verdicts, not_judged)
    remarks = list(findings.oddities)
    if not findings.saw_everything:
        remarks.append("this system lets a process get away by losing its parent; only the others were looked for")
    return ConformanceReport(
        contract=CONTRACT_VERSION,
        suite_version=__version__,
        catalogue_hash=findings.hash,
        catalogue_size=findings.size,
        subject=subject,
        sealed=True,
        partial=findings.partial,
        level=level,
        why=why[:1000],
        ended=findings.how,
        started=started.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        seconds=round(seconds, 1),
        host={
            "anydevice": anydevice.__version__,
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        },
        narrowed_to=narrowed_to,
        not_judged=not_judged,
        passed_through=list(passed_through),
        remarks=remarks,
        output=output[-4000:],
        classes=verdicts,
        cases=rows,
    )
