"""What a person sees while a run goes on."""

from __future__ import annotations

import io

from anydevice_conformance.terminal import Bar, Lines, line, summary
from anydevice_schemas.report import CaseResult

from .test_report import a_case, a_report


def rows() -> list[CaseResult]:
    return [
        a_case("a.one"),
        a_case("b.two", "failed", reason="it did\x1b[2J not"),
        a_case("c.three", "honestly_absent"),
    ]


def test_a_line_a_case_with_the_reason_where_it_matters() -> None:
    out = io.StringIO()
    show = Lines(out)
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
