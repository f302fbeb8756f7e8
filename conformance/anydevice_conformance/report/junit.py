"""The report as JUnit XML: a suite a class, a test a case, and one test more for the level itself."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from anydevice_schemas.report import CaseResult, ClassResult, ConformanceReport

from ..case import CORE

_UNSPEAKABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold (production 2, Char)."""


def junit(report: ConformanceReport) -> str:
    """The XML text. A case that is honestly absent is a failure only where its absence costs the level: in core.

    A run that was restricted on purpose has no level, which is no failure of it.
    """
    root = ElementTree.Element("testsuites", name=f"anydevice conformance of {report.subject.backend}")
    for verdict in report.classes:
        _suite(root, report, verdict)
    if not report.classes:
        suite = ElementTree.SubElement(root, "testsuite", name=report.subject.backend, tests="1", failures="1")
        test = ElementTree.SubElement(suite, "testcase", classname="conformance", name="level")
        ElementTree.SubElement(test, "failure", message=_clean(report.why))
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(root: ElementTree.Element, report: ConformanceReport, verdict: ClassResult) -> None:
    rows = [row for row in report.cases if row.device_class == verdict.device_class]
    suite = ElementTree.SubElement(root, "testsuite", name=f"{report.subject.backend}.{verdict.device_class}")
    counts = {"failure": 0, "error": 0}
    for row in rows:
        test = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"{verdict.device_class}.{row.id.partition('.')[0]}",
            name=row.id,
            time=f"{row.seconds:.3f}",
        )
        kind = _kind(row)
        if kind:
            counts[kind] += 1
            fault = ElementTree.SubElement(test, kind, type=row.verdict, message=_clean(row.reason or row.verdict))
            fault.text = _clean("\n".join([row.must, *(_step(step) for step in row.steps)]))
        elif row.verdict != "passed":
            ElementTree.SubElement(test, "system-out").text = _clean(f"{row.verdict}: {row.reason}")
    level = ElementTree.SubElement(suite, "testcase", classname=f"{verdict.device_class}.conformance", name="level")
    if verdict.level == "none" or (verdict.level == "partial" and not report.partial):
        counts["failure"] += 1
        ElementTree.SubElement(level, "failure", type=verdict.level, message=_clean(verdict.why))
    else:
        ElementTree.SubElement(level, "system-out").text = _clean(f"{verdict.level}: {verdict.why}")
    suite.set("tests", str(len(rows) + 1))
    suite.set("failures", str(counts["failure"]))
    suite.set("errors", str(counts["error"]))
    suite.set("time", f"{sum(row.seconds for row in rows):.3f}")
    suite.set("timestamp", report.started.removesuffix("Z"))


def _kind(row: CaseResult) -> str:
    if row.verdict == "failed":
        return "failure"
    if row.verdict in ("blocked", "engine_error", "not_run"):
        return "error"
    costs_the_level = row.bundle == CORE and not row.optional
    return "failure" if costs_the_level and row.verdict in ("honestly_absent", "experimental") else ""


def _step(step: object) -> str:
    call, outcome, ms = (getattr(step, name) for name in ("call", "outcome", "ms"))
    return f"{call}: {outcome} ({ms:g} ms)"


def _clean(text: str) -> str:
    return _UNSPEAKABLE.sub("\ufffd", text)
