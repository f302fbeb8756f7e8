"""Badges: a small file for each class, of the shape that badge services read from an address."""

from __future__ import annotations

import json

from anydevice_schemas.report import ClassResult, ConformanceReport, Level

COLOURS: dict[Level, str] = {"none": "red", "partial": "lightgrey", "core": "green", "extended": "brightgreen"}


def badges(report: ConformanceReport) -> dict[str, str]:
    """The badge files by name. Only a sealed run has any."""
    if not report.sealed:
        return {}
    return {f"badge-{verdict.device_class}.json": _badge(report, verdict) for verdict in report.classes}


def _badge(report: ConformanceReport, verdict: ClassResult) -> str:
    said: str = "partial run" if verdict.level == "partial" else verdict.level
    if verdict.level in ("core", "extended") and report.self_reported:
        said += " (self-reported)"
    return (
        json.dumps(
            {
                "schemaVersion": 1,
                "label": f"anydevice {report.contract} {verdict.device_class}",
                "message": said,
                "color": COLOURS[verdict.level],
                "isError": verdict.level == "none",
            }
        )
        + "\n"
    )
