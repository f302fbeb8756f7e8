"""From results to levels: pure, so that it can be read and checked apart from any run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from anydevice_schemas.report import CaseResult, ClassResult, Level

from .case import CORE

BundleState = Literal["passed", "failed", "absent"]
BAD = ("failed", "blocked", "engine_error", "not_run")
"""Verdicts of cases that were to be tried and did not come through."""
NAMED = 3
"""Cases that are named where several are of one kind."""


def judge_class(
    device_class: str,
    devices: list[str],
    results: Iterable[CaseResult],
    expected: Iterable[str],
    *,
    partial: bool,
) -> ClassResult:
    """The verdict on a device class.

    Args:
        device_class: Its name.
        devices: Keys of the devices that took part.
        results: What came of each case on this class.
        expected: Ids of every case of the frozen catalogue for this class and contract version.
        partial: Something of the catalogue was left out on purpose.

    Returns:
        `none`, `core`, `extended` (core and every bundle the backend has anything of), or `partial`.
    """
    rows = {row.id: row for row in results}
    missing = [name for name in expected if name not in rows or rows[name].verdict == "not_run"]
    totals = Counter(row.verdict for row in rows.values())
    bundles = {name: _bundle(name, rows.values()) for name in sorted({row.bundle for row in rows.values()})}
    level, why = _level(rows.values(), bundles, missing, partial)
    return ClassResult(
        device_class=device_class, devices=devices, level=level, why=why, bundles=bundles, totals=dict(totals)
    )


def _bundle(name: str, rows: Iterable[CaseResult]) -> BundleState:
    """A bundle is passed when every case of it passed; absent when every one that counts is honestly absent."""
    mine = [row for row in rows if row.bundle == name and row.verdict not in ("not_yet_judged", "experimental")]
    if name != CORE and all(row.verdict == "honestly_absent" for row in mine):
        return "absent"
    good = all(row.verdict == "passed" or (row.optional and row.verdict == "honestly_absent") for row in mine)
    return "passed" if mine and good else "failed"


PARTLY = "partly declared"


def bundle_says(name: str, rows: Iterable[CaseResult]) -> str:
    """A bundle's state as people read it: where nothing failed and cases of it are absent, that it is partly declared.

    Args:
        name: The bundle.
        rows: The results of one class.

    Returns:
        `passed`, `absent`, `failed (2 of 9: the.case, the.other)`, or `partly declared (1 absent: the.case)`.
    """
    rows = [row for row in rows if row.bundle == name]
    state = _bundle(name, rows)
    if state != "failed":
        return state
    bad = [row.id for row in rows if row.verdict in BAD]
    if bad:
        return f"failed ({len(bad)} of {len(rows)}: {_named(bad)})"
    absent = [row.id for row in rows if row.verdict == "honestly_absent" and not row.optional]
    if absent and name != CORE:
        return f"{PARTLY} ({len(absent)} absent: {_named(absent)})"
    return "failed"


def _named(ids: list[str]) -> str:
    return ", ".join(ids[:NAMED]) + (" …" if len(ids) > NAMED else "")


def _excused(row: CaseResult) -> bool:
    """A case of the truth table itself: honest absence is as good as presence."""
    return row.optional and row.verdict in ("honestly_absent", "experimental")


def _first(bad: list[CaseResult], says: str) -> str:
    count = "1 core case" if len(bad) == 1 else f"{len(bad)} core cases"
    reason = f" ({bad[0].reason[:300]})" if bad[0].reason and bad[0].verdict != "honestly_absent" else ""
    return f"{count} {says}, the first is {bad[0].id}{reason}"


def _level(
    rows: Iterable[CaseResult], bundles: dict[str, BundleState], missing: list[str], partial: bool
) -> tuple[Level, str]:
    if partial:
        return "partial", "parts of the catalogue were left out, so there is no level"
    if missing:
        return "partial", f"{len(missing)} cases did not run, the first is {missing[0]}"
    rows = list(rows)
    for verdict, says in (
        ("failed", "failed"),
        ("blocked", "could not be tried"),
        ("engine_error", "met an error of the suite itself"),
        ("honestly_absent", "asked for what the backend does not declare"),
        ("experimental", "rested on operations declared as experimental, which count for no level"),
    ):
        bad = [row for row in rows if row.bundle == CORE and row.verdict == verdict and not _excused(row)]
        if bad:
            return "none", _first(bad, says)
    failing = [name for name, state in bundles.items() if name != CORE and state == "failed"]
    if failing:
        said = {name: bundle_says(name, rows) for name in failing}
        first = next((name for name in failing if not said[name].startswith(PARTLY)), failing[0])
        others = len(failing) - 1
        more = f"; {others} more bundle{'s are' if others > 1 else ' is'} not passed whole" if others else ""
        return "core", f"not extended: {first}: {said[first]}{more}"
    has = [name for name, state in bundles.items() if name != CORE and state == "passed"]
    if not has:
        return "core", "core passed; no bundle besides"
    return "extended", "core and the bundles " + ", ".join(has)
