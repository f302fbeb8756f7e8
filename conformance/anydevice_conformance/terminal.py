"""What a person sees while a run goes on, and its end: a line a case, or a bar where there is a terminal."""

from __future__ import annotations

import shutil
from typing import TextIO

from anydevice_schemas.report import CaseResult, ConformanceReport

from .listening import Show

FILLED, EMPTY = "█", "░"
BAR = 24
QUIET = ("passed", "honestly_absent", "not_yet_judged")
"""Verdicts that need nobody's attention."""


class Lines(Show):
    """A line a case."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        super().__init__(row=self._row)

    def _row(self, row: CaseResult) -> None:
        self._out.write(line(row) + "\n")
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
    """The end of a run: every class with its level and why."""
    from anydevice.text import visible

    lines = []
    if not report.classes:
        lines.append(f"{report.subject.backend}: no level: {visible(report.why)}")
    for verdict in report.classes:
        level = {"none": "no level", "partial": "partial run"}.get(verdict.level, verdict.level)
        counts = ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in sorted(verdict.totals.items()))
        lines.append(f"{report.subject.backend} {verdict.device_class}: {level}: {visible(verdict.why)}")
        lines.append(f"    {counts}")
    lines += [f"note: {visible(remark)}" for remark in report.remarks]
    if report.not_judged:
        lines.append(f"note: declared and not judged: {', '.join(report.not_judged)}")
    return "\n".join(lines)
