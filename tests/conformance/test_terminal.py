"""What a person sees while a run goes on."""

from __future__ import annotations

import io

import pytest

from anydevice_conformance.findings import LEAVES_NOTHING
from anydevice_conformance.terminal import Bar, Lines, came_through, line, summary
from anydevice_conformance.verdict import judge_class
from anydevice_schemas.report import CaseResult

from .test_report import a_case, a_report


def rows() -> list[CaseResult]:
    return [
        a_case("a.one"),
        a_case("b.two", "failed", reason="it did\x1b[2J not"),
        a_case("c.three", "honestly_absent"),
    ]


def test_without_a_terminal_what_needs_attention_and_how_far_it_is() -> None:
    out = io.StringIO()
    show = Lines(out)
    show.begin(60)
    for row in [*rows(), *(a_case(f"d.{n}") for n in range(57))]:
        show.starting("tv", row.id)
        show.row(row)
    assert out.getvalue().splitlines() == [line(rows()[1]), "25/60, 1 not passed", "50/60, 1 not passed"]


def test_a_line_a_case_with_the_reason_where_it_matters() -> None:
    out = io.StringIO()
    show = Lines(out, every=True)
    show.begin(3)
    for row in rows():
        show.starting("tv", row.id)
        show.row(row)
    lines = out.getvalue().splitlines()
    assert lines[0] == "passed           tv       a.one"
    assert lines[1].startswith("failed           tv       b.two  it did") and "\x1b" not in lines[1]
    assert len(lines) == 3


def test_the_bar_leaves_only_what_needs_attention() -> None:
    out = io.StringIO()
    show = Bar(out)
    show.begin(3)
    for row in rows():
        show.starting("tv", row.id)
        show.row(row)
    show.close()
    left = [part.rpartition("\r\x1b[K")[2] for part in out.getvalue().split("\n")]
    assert left == [line(rows()[1]), ""]
    assert "3/3, 1 not passed" in out.getvalue()


def test_the_end_says_every_class_its_level_and_why() -> None:
    said = summary(a_report(*rows(), remarks=["odd"], not_judged=["phone"]))
    assert said.splitlines()[0] == "acme tv: core: because"
    assert "note: odd" in said and "note: declared and not judged: phone" in said
    assert summary(a_report(level="none", classes=[], why="x")) == "acme: no level: x"


def test_the_end_names_the_bundles_that_are_not_whole_and_those_that_are_absent() -> None:
    cases = [
        a_case("a.one"), a_case("keys.one", bundle="keys"), a_case("keys.two", "honestly_absent", bundle="keys"),
        a_case("media.one", "honestly_absent", bundle="media"),
        a_case("text.one", bundle="text"), a_case("text.two", "failed", bundle="text"),
    ]  # fmt: skip
    verdict = judge_class("tv", [], cases, [case.id for case in cases], partial=False)
    assert verdict.level == "core"
    said = summary(a_report(*cases, classes=[verdict])).splitlines()
    assert said[0].startswith("acme tv: core: not extended: text: failed (1 of 2: text.two)")
    assert said[2:] == ["    keys: partly declared (1 absent: keys.two)", "    absent: media"]


@pytest.mark.parametrize(
    ("verdicts", "good"),
    [
        (["passed"], True),
        (["passed", "honestly_absent"], True),
        (["passed", "failed"], False),
        (["blocked"], False),
        (["engine_error"], False),
        (["passed", "not_run"], False),
        ([], False),
    ],
)
def test_a_restricted_run_came_through_when_something_was_tried_and_nothing_failed(
    verdicts: list[str], good: bool
) -> None:
    rows = [*(a_case(f"a.{n}", verdict) for n, verdict in enumerate(verdicts)), a_case(LEAVES_NOTHING)]
    report = a_report(*rows, level="partial", partial=True)
    assert came_through(report) is good
    assert ("gives no level" in summary(report)) is good
    assert not came_through(a_report(*rows, level="partial"))  # cases that should have run did not
    assert not came_through(a_report(*rows, level="none", partial=True))  # it was cut short
