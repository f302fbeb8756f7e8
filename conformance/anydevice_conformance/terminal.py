"""What a person sees while a run goes on, and its end: what needs attention, and how far it is.

Where there is a terminal how far it is is a bar; elsewhere a line now and then. What passed or is honestly absent has
a line a case only where it is asked for.
"""

from __future__ import annotations

import shutil
from typing import TextIO

from anydevice_schemas.report import CaseResult, ConformanceReport

from .findings import LEAVES_NOTHING
from .listening import Show
from .verdict import BAD, bundle_says

FILLED, EMPTY = "█", "░"
BAR = 24
STRIDE = 25
"""Cases after which a run without a terminal says how far it is."""
QUIET = ("passed", "honestly_absent", "not_yet_judged")
"""Verdicts that need nobody's attention."""


class Lines(Show):
    """Lines: of what needs attention, and how far the run is; with `every`, one of every case."""

    def __init__(self, out: TextIO, *, every: bool = False) -> None:
        self._out = out
        self._every = every
        self._done = self._total = self._bad = 0
        super().__init__(begin=self._begin, row=self._row)

    def _begin(self, total: int) -> None:
        self._total = total

    def _row(self, row: CaseResult) -> None:
        self._done += 1
        self._bad += row.verdict not in QUIET
        if self._every or row.verdict not in QUIET:
            self._out.write(line(row) + "\n")
        if not self._every and self._done % STRIDE == 0:
            self._out.write(f"{self._done}/{self._total or '?'}, {self._bad} not passed\n")
        self._out.flush()


class Bar(Show):
    """A bar that is redrawn; only what needs attention stays."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._done = self._total = self._bad = 0
        super().__init__(begin=self._begin, starting=self._starting, row=self._row)

    def _begin(self, total: int) -> None:
        self._total = total
        self._draw("loading")

    def _starting(self, device_class: str, case: str) -> None:
        self._draw(f"{device_class} {case}")

    def _row(self, row: CaseResult) -> None:
        self._done += 1
        self._total = max(self._total, self._done)
        if row.verdict not in QUIET:
            self._bad += 1
            self._out.write(f"\r\x1b[K{line(row)}\n")
        self._draw("")

    def _draw(self, what: str) -> None:
        part = self._done / self._total if self._total else 0.0
        bar = FILLED * round(part * BAR) + EMPTY * (BAR - round(part * BAR))
        failing = f", {self._bad} not passed" if self._bad else ""
        text = f"{bar} {self._done}/{self._total or '?'}{failing}  {what}"
        self._out.write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}")
        self._out.flush()

    def close(self) -> None:
        """Takes the bar away."""
        self._out.write("\r\x1b[K")
        self._out.flush()


def line(row: CaseResult) -> str:
    """A result as one line."""
    from anydevice.text import visible

    reason = f"  {visible(row.reason)}" if row.reason and row.verdict not in QUIET else ""
    return f"{row.verdict.replace('_', ' '):<16} {row.device_class:<8} {row.id}{reason}"


def summary(report: ConformanceReport) -> str:
    """The end of a run: every class with its level and why, and the bundles that were not passed whole."""
    from anydevice.text import visible

    lines = []
    if not report.classes:
        lines.append(f"{report.subject.backend}: no level: {visible(report.why)}")
    for verdict in report.classes:
        level = {"none": "no level", "partial": "partial run"}.get(verdict.level, verdict.level)
        counts = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in sorted(verdict.totals.items()))
        lines.append(f"{report.subject.backend} {verdict.device_class}: {level}: {visible(verdict.why)}")
        lines.append(f"    {counts}")
        rows = [row for row in report.cases if row.device_class == verdict.device_class]
        said = [f"{name}: {bundle_says(name, rows)}" for name, state in verdict.bundles.items() if state == "failed"]
        lines += [f"    {bundle}" for bundle in said if bundle not in verdict.why]
        absent = [name for name, state in verdict.bundles.items() if state == "absent"]
        if absent:
            lines.append(f"    absent: {', '.join(absent)}")
    lines += [f"note: {visible(remark)}" for remark in report.remarks]
    if report.not_judged:
        lines.append(f"note: declared and not judged: {', '.join(report.not_judged)}")
    if came_through(report):
        lines.append("nothing failed of what was run; a run with --only gives no level")
    return "\n".join(lines)


def came_through(report: ConformanceReport) -> bool:
    """Whether a run that was restricted on purpose came to its end, tried something, and nothing of it failed."""
    tried = [row for row in report.cases if row.id != LEAVES_NOTHING]
    return (
        report.partial
        and report.level == "partial"
        and bool(tried)
        and not any(row.verdict in BAD for row in report.cases)
    )
