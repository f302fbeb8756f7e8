"""What the parent makes of what a run tells: levels are judged here, and nothing is taken on trust."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anydevice_conformance.case import Case
from anydevice_conformance.findings import LEAVES_NOTHING, Findings
from anydevice_conformance.verdict import judge_class
from anydevice_schemas.report import CaseResult, ClassResult, Verdict


async def _nothing(trial: object) -> None:
    return None


def case(id: str, **more: Any) -> Case:
    return Case(id=id, must=f"{id} MUST hold.", run=_nothing, **more)


CASES = [case("a.one"), case("a.two"), case("b.three", bundle="extras"), case("c.four", optional=True)]


def row(id: str, verdict: str = "passed", **more: Any) -> dict[str, Any]:
    fields = {"id": id, "must": "", "deviceClass": "tv", "bundle": "core", "declared": True, "verdict": verdict}
    return fields | more


def findings(*events: dict[str, Any], partial: bool = False, classes: tuple[str, ...] = ("tv",)) -> Findings:
    made = Findings(cases=CASES, classes=list(classes), hash="h", size=4, partial=partial)
    for event in events:
        made.take(json.dumps(event).encode())
    return made


START = [
    {"event": "started", "pid": 7},
    {"event": "catalogue", "hash": "h", "size": 4},
    {"event": "loaded", "record": {"state": "ready"}},
    {"event": "pairs", "pairs": [{"class": "tv", "devices": ["x:1", "x:2"], "facts": {"model": "m"}, "blocked": ""}]},
]
END = [
    {"event": "catalogue", "hash": "h", "size": 4},
    {"event": "finished"},
    {"event": "ended", "status": 0, "cut": False},
    {"event": "survivors", "processes": [], "complete": True},
]


def told(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for one in rows:
        out += [{"event": "starting", "case": one["id"], "class": one["deviceClass"]}, {"event": "row", "row": one}]
    return out


ALL = told(*(row(case.id) for case in CASES))


def level(found: Findings) -> tuple[str, str]:
    verdicts, _ = found.judge()
    return found.overall(verdicts, [])


def verdict_of(found: Findings) -> ClassResult:
    return found.judge()[0][0]


def test_a_whole_run_that_passes_has_the_level_it_earns() -> None:
    found = findings(*START, *ALL, *END)
    verdict = verdict_of(found)
    assert (verdict.level, verdict.devices, verdict.facts) == ("extended", ["x:1", "x:2"], {"model": "m"})
    assert found.how == "finished" and level(found)[0] == "extended" and found.oddities == []


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([*START, *ALL[:-2], *END], "left 1 cases out"),
        ([*START, *ALL, *told(row("a.one")), *END], "two results were told for a.one"),
        ([*START, *told(row("z.unknown")), *ALL, *END], "not asked for: z.unknown"),
        ([*START, {"event": "row", "row": row("a.one")}, *ALL[2:], *END], "a.one, which had not begun"),
        ([*START, *ALL, {"event": "row", "row": {"id": 1}}, *END], "no event was told"),
        ([*START, *ALL, {"event": "judge"}, *END], "no event was told"),
        ([*START, *ALL, {"no": "event"}, *END], "no event was told"),
        ([*START, *ALL, {"event": "catalogue", "hash": "g", "size": 4}, *END], "catalogue was another one"),
        ([*START, *ALL, {"event": "catalogue", "hash": "h", "size": 3}, *END], "catalogue was another one"),
    ],
)
def test_what_does_not_add_up_costs_every_level(events: list[dict[str, Any]], says: str) -> None:
    found = findings(*events)
    assert level(found)[0] == "none" and "cannot be trusted" in level(found)[1]
    assert any(says in odd for odd in found.oddities), found.oddities


def test_sentence_bundle_and_optional_are_the_parents_own() -> None:
    forged = row("a.one", "honestly_absent", must="nothing", bundle="extras", optional=True)
    found = findings(*START, *told(forged), *ALL[2:], *END)
    kept = found.judge()[1][0]
    assert (kept.must, kept.bundle, kept.optional) == ("a.one MUST hold.", "core", False)
    assert level(found)[0] == "none"


def test_the_case_in_which_a_run_dies_has_failed_and_the_rest_did_not_run() -> None:
    found = findings(
        *START, *ALL[:2], {"event": "starting", "case": "a.two", "class": "tv"},
        {"event": "ended", "status": -11, "cut": False}, {"event": "survivors", "processes": [], "complete": True},
    )  # fmt: skip
    assert found.how == "died"
    assert level(found) == ("none", "the process of the run ended by signal 11 in the middle of a.two on tv")
    assert [(one.id, one.verdict) for one in found.judge()[1]] == [
        ("a.one", "passed"), ("a.two", "failed"), ("b.three", "not_run"), ("c.four", "not_run"),
        (LEAVES_NOTHING, "passed"),
    ]  # fmt: skip


def test_a_run_that_was_partial_and_died_is_none_and_not_partial() -> None:
    found = findings(*START, {"event": "ended", "status": 0, "cut": False}, partial=True)
    assert level(found)[0] == verdict_of(found).level == "none"


def test_a_run_whose_keeper_is_gone_is_not_believed_to_have_finished() -> None:
    found = findings(*START, *ALL, {"event": "finished"})
    assert found.how == "died" and level(found)[0] == "none"
    assert "the process that keeps the run was ended" in level(found)[1]


def test_what_outlives_the_run_costs_the_level_and_is_named() -> None:
    end = [*END[:-1], {"event": "survivors", "processes": [{"pid": 9, "program": "adbd"}], "complete": True}]
    found = findings(*START, *ALL, *end)
    assert level(found)[0] == "none" and "adbd (9)" in level(found)[1]


def test_a_class_without_devices_says_why() -> None:
    pairs = {"event": "pairs", "pairs": [{"class": "tv", "devices": [], "facts": {}, "blocked": "two are needed"}]}
    blocked = told(*(row(one.id, "blocked", reason="two are needed") for one in CASES))
    assert level(findings(*START[:3], pairs, *blocked, *END)) == ("none", "tv: two are needed")


def test_the_level_of_several_classes_is_the_lowest() -> None:
    pairs = {
        "event": "pairs", "pairs": [{"class": n, "devices": [], "facts": {}, "blocked": ""} for n in ("tv", "phone")]
    }  # fmt: skip
    phone = told(*(row(one.id, "failed" if one.id == "a.two" else "passed", deviceClass="phone") for one in CASES))
    found = findings(*START[:3], pairs, *ALL, *phone, *END, classes=("tv", "phone"))
    assert level(found)[0] == "none" and level(found)[1].startswith("phone: 1 core case failed, the first is a.two")


# --- levels ---


def judged(*verdicts: Verdict, bundle: str = "core", optional: bool = False) -> ClassResult:
    rows = [
        CaseResult(
            id=f"a.{n}", must="", device_class="tv", bundle=bundle, optional=optional, declared=True, verdict=verdict
        )
        for n, verdict in enumerate(verdicts)
    ]
    core = CaseResult(id="z", must="", device_class="tv", bundle="core", declared=True, verdict="passed")
    return judge_class("tv", [], [*rows, core], [one.id for one in [*rows, core]], partial=False)


@pytest.mark.parametrize("verdict", ["failed", "blocked", "engine_error", "honestly_absent", "experimental"])
def test_core_stands_on_cases_that_passed_and_on_nothing_else(verdict: Verdict) -> None:
    assert judged("passed", verdict).level == "none"


@pytest.mark.parametrize(
    ("verdicts", "state", "level"),
    [
        (["passed", "passed"], "passed", "extended"),
        (["passed", "honestly_absent"], "failed", "core"),
        (["passed", "failed"], "failed", "core"),
        (["honestly_absent", "honestly_absent"], "absent", "core"),
        (["experimental", "experimental"], "absent", "core"),
        (["not_yet_judged", "passed"], "passed", "extended"),
        (["blocked"], "failed", "core"),
    ],
)
def test_a_bundle_is_all_or_nothing(verdicts: list[Verdict], state: str, level: str) -> None:
    found = judged(*verdicts, bundle="extras")
    assert (found.bundles["extras"], found.level) == (state, level)


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [
        (["passed", "honestly_absent"], "partly declared (1 absent: a.1)"),
        (["passed", *["honestly_absent"] * 4], "partly declared (4 absent: a.1, a.2, a.3 …)"),
        (["passed", "honestly_absent", "failed"], "failed (1 of 3: a.2)"),
        (["passed", "blocked", "engine_error"], "failed (2 of 3: a.1, a.2)"),
    ],
)
def test_what_stands_between_core_and_extended_is_named(verdicts: list[Verdict], says: str) -> None:
    assert judged(*verdicts, bundle="extras").why == f"not extended: extras: {says}"


def test_a_bundle_in_which_something_failed_is_named_before_one_that_is_partly_declared() -> None:
    def rows(bundle: str, *verdicts: Verdict) -> list[CaseResult]:
        return [
            CaseResult(id=f"{bundle}.{n}", must="", device_class="tv", bundle=bundle, declared=True, verdict=verdict)
            for n, verdict in enumerate(verdicts)
        ]

    every = [*rows("core", "passed"), *rows("a", "passed", "honestly_absent"), *rows("b", "passed", "failed")]
    found = judge_class("tv", [], every, [row.id for row in every], partial=False)
    assert (found.level, found.bundles) == ("core", {"a": "failed", "b": "failed", "core": "passed"})
    assert found.why == "not extended: b: failed (1 of 2: b.1); 1 more bundle is not passed whole"


@pytest.mark.parametrize("verdict", ["honestly_absent", "experimental"])
def test_where_absence_is_as_good_it_costs_nothing(verdict: Verdict) -> None:
    assert judged("passed", verdict, optional=True).level == "core"
