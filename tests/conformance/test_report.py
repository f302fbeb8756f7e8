"""The report's files: complete, valid, safe to open, and without anything of an earlier run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from anydevice.testing.driver import blank_png
from anydevice_conformance.report import write
from anydevice_conformance.verdict import judge_class
from anydevice_schemas.report import CaseResult, ClassResult, ConformanceReport, Level, Step, Subject

EVIL = "<script>alert(1)</script>&\"'\u202e\x00\x1b[2J"


def a_case(id: str, verdict: str = "passed", **more: Any) -> CaseResult:
    fields = {"id": id, "must": f"{id} MUST hold.", "device_class": "tv", "bundle": "core", "declared": True}
    return CaseResult.model_validate(fields | {"verdict": verdict} | more)


def a_report(*cases: CaseResult, level: Level = "core", **more: Any) -> ConformanceReport:
    subject = Subject(
        backend="acme", distribution="acme-anydevice", version="1.2", contract=">=1.0,<2", manifest_hash="abc"
    )
    verdict = ClassResult(
        device_class="tv", devices=["acme:1", "acme:2"], level=level, why="because", facts={"model": "Box"},
        bundles={"core": "passed"}, totals={},
    )  # fmt: skip
    fields: dict[str, Any] = {
        "contract": "1.0", "suite_version": "1.0", "catalogue_hash": "0123", "catalogue_size": len(cases),
        "subject": subject, "sealed": True, "partial": False, "level": level, "why": "because",
        "started": "2026-01-02T03:04:05Z", "seconds": 1.5, "classes": [verdict], "cases": list(cases),
    }  # fmt: skip
    return ConformanceReport.model_validate(fields | more)


EVERY = [
    a_case("a.passed"),
    a_case("b.failed", "failed", reason="it did not", seconds=1.25, steps=[
        Step(call="press", arguments={"target": "Go"}, device="acme:1", outcome="timeout", ms=12.5)
    ]),
    a_case("c.blocked", "blocked", reason="no device"),
    a_case("d.engine", "engine_error", reason="KeyError"),
    a_case("e.absent", "honestly_absent", reason="not declared"),
    a_case("f.absent-is-fine", "honestly_absent", optional=True),
    a_case("g.extra", "honestly_absent", bundle="extras"),
    a_case("h.later", "not_yet_judged"),
    a_case("i.experiment", "experimental"),
    a_case("j.not-run", "not_run"),
]  # fmt: skip


def test_the_json_is_the_report_and_fits_its_schema(tmp_path: Path) -> None:
    write(a_report(*EVERY), tmp_path)
    data = json.loads((tmp_path / "conformance.json").read_text("utf-8"))
    jsonschema.validate(data, ConformanceReport.model_json_schema(by_alias=True))
    assert data["classes"][0]["deviceClass"] == "tv" and data["selfReported"] is True
    assert ConformanceReport.model_validate(data) == a_report(*EVERY)


def test_junit_fails_what_costs_the_level_and_nothing_else(tmp_path: Path) -> None:
    write(a_report(*EVERY, level="none"), tmp_path)
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    found = {test.get("name"): [child.tag for child in test] for test in suite}
    assert {name for name, tags in found.items() if "failure" in tags} == {
        "b.failed", "e.absent", "i.experiment", "level"
    }  # fmt: skip
    assert {name for name, tags in found.items() if "error" in tags} == {"c.blocked", "d.engine", "j.not-run"}
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("11", "4", "3")
    assert not suite.findall(".//skipped")


def test_junit_of_a_level_that_was_reached_passes_the_level(tmp_path: Path) -> None:
    write(a_report(a_case("a.passed")), tmp_path)
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    assert suite.get("failures") == "0" and "core: because" in (suite[-1][0].text or "")


@pytest.mark.parametrize(("on_purpose", "failures"), [(True, "0"), (False, "1")])
def test_junit_of_a_run_that_was_restricted_on_purpose_fails_no_level(
    on_purpose: bool, failures: str, tmp_path: Path
) -> None:
    write(a_report(a_case("a.passed"), level="partial", partial=on_purpose), tmp_path)
    assert ElementTree.parse(tmp_path / "junit.xml").getroot()[0].get("failures") == failures


def test_a_bundle_that_is_partly_declared_is_not_shown_as_one_that_failed(tmp_path: Path) -> None:
    cases = [
        a_case("a.one"), a_case("keys.one", bundle="keys"), a_case("keys.two", "honestly_absent", bundle="keys"),
        a_case("text.one", bundle="text"), a_case("text.two", "failed", bundle="text"),
    ]  # fmt: skip
    verdict = judge_class("tv", [], cases, [case.id for case in cases], partial=False)
    write(a_report(*cases, classes=[verdict]), tmp_path)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert '<span class="chip partly">keys: partly declared (1 absent: keys.two)</span>' in page
    assert '<span class="chip failed">text: failed (1 of 2: text.two)</span>' in page
    assert '<span class="chip passed">core: passed</span>' in page


def test_a_backend_that_could_not_be_loaded_has_a_report_all_the_same(tmp_path: Path) -> None:
    write(a_report(level="none", classes=[], why="the backend cannot be loaded", ended="not_loaded"), tmp_path)
    assert "cannot be loaded" in (tmp_path / "index.html").read_text("utf-8")
    assert ElementTree.parse(tmp_path / "junit.xml").getroot()[0].get("failures") == "1"
    assert not list(tmp_path.glob("badge-*"))


@pytest.mark.parametrize(
    ("level", "message", "colour"),
    [
        ("extended", "extended (self-reported)", "brightgreen"),
        ("core", "core (self-reported)", "green"),
        ("partial", "partial run", "lightgrey"),
        ("none", "none", "red"),
    ],
)
def test_a_badge_says_level_and_who_reports_it(level: Level, message: str, colour: str, tmp_path: Path) -> None:
    write(a_report(a_case("a.passed"), level=level), tmp_path)
    badge = json.loads((tmp_path / "badge-tv.json").read_text())
    assert badge["schemaVersion"] == 1 and badge["label"] == "anydevice 1.0 tv"
    assert (badge["message"], badge["color"]) == (message, colour)


def test_a_run_that_was_not_sealed_has_no_badge(tmp_path: Path) -> None:
    write(a_report(a_case("a.passed"), sealed=False), tmp_path)
    assert not list(tmp_path.glob("badge-*"))


def test_text_of_a_device_is_text_in_the_page_and_in_the_xml(tmp_path: Path) -> None:
    step = Step(call=EVIL, arguments={"text": EVIL}, device=EVIL, outcome=EVIL, ms=1, note=EVIL)
    report = a_report(
        a_case("a.one", "failed", reason=EVIL, steps=[step]), why=EVIL, remarks=[EVIL], output=EVIL, narrowed_to=EVIL
    )
    write(report, tmp_path)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "<script>alert" not in page and page.count("<script>") == 1
    assert "\x1b" not in page and "\u202e" not in page and "\x00" not in page
    ElementTree.parse(tmp_path / "junit.xml")


def test_the_page_needs_no_other_file_and_no_network(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "tv-a.one.png").write_bytes(blank_png(4, 4))
    write(a_report(a_case("a.one", evidence=["tv-a.one.png"])), tmp_path / "out", tmp_path / "pictures")
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert len(sources) == 1 and sources[0].startswith("data:image/png;base64,")
    assert "http://" not in page and "https://" not in page


def test_only_pictures_are_taken_over_and_only_by_their_own_names(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "good.png").write_bytes(blank_png(4, 4))
    (pictures / "page.png").write_text("<html>")
    (pictures / "wrong.jpg").write_bytes(blank_png(4, 4))
    (tmp_path / "secret.png").write_bytes(blank_png(4, 4))
    (pictures / "link.png").symlink_to(tmp_path / "secret.png")
    names = ["good.png", "page.png", "wrong.jpg", "link.png", "../secret.png", "absent.png"]
    written = write(a_report(a_case("a.one", evidence=names)), tmp_path / "out", pictures)
    assert written.cases[0].evidence == ["evidence/good.png"]
    assert sorted(path.name for path in (tmp_path / "out" / "evidence").iterdir()) == ["good.png"]


def test_what_an_earlier_report_left_is_replaced(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "old.png").write_bytes(blank_png(4, 4))
    out = tmp_path / "out"
    write(a_report(a_case("a.one", evidence=["old.png"])), out, pictures)
    (out / "of-the-user.txt").write_text("keep")
    write(a_report(level="none", classes=[], why="x"), out)
    assert sorted(path.name for path in out.rglob("*") if path.is_file()) == [
        "conformance.json", "index.html", "junit.xml", "of-the-user.txt"
    ]  # fmt: skip
