"""Commands are counted by what conformance saw done, never by what is declared."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from anydevice.commands import all_commands

TOOL = Path(__file__).parents[2] / "tools" / "count_commands.py"
SPEC = importlib.util.spec_from_file_location("count_commands", TOOL)
assert SPEC is not None and SPEC.loader is not None
counting = importlib.util.module_from_spec(SPEC)
sys.modules["count_commands"] = counting
SPEC.loader.exec_module(counting)


def case(
    verdict: str, *steps: tuple[str, str], id: str = "x.y", declared: bool = True, **arguments: Any
) -> dict[str, Any]:
    rows = [{"call": call, "outcome": outcome, "arguments": arguments} for call, outcome in steps]
    return {"id": id, "deviceClass": "phone", "verdict": verdict, "declared": declared, "steps": rows}


def of(name: str) -> Any:
    return next(command for command in counting.gated() if command.name == name)


def test_the_list_has_every_command_once_and_ours_exist() -> None:
    names = [command.name for command in counting.gated()]
    assert len(names) == len(set(names)) == 45
    ours = {spec.command.name for spec in all_commands()}
    assert {command.ours for command in counting.gated()} - {""} <= ours
    assert all(command.remark for command in counting.gated() if not command.ours)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([case("passed", ("fill", "ok"))], "yes"),
        ([case("passed", ("fill", "unsupported"))], ""),
        ([case("honestly_absent", ("fill", "ok"))], ""),
        ([case("passed", ("fill", "ok"), declared=False)], ""),
        ([case("passed", ("press", "ok"))], ""),
        ([case("passed", ("fill", "ok")), case("failed", ("fill", "timeout"))], "broken"),
        ([case("passed", ("fill", "ok")), case("failed", ("fill", "ok"), ("press", "timeout"))], "yes"),
        ([], ""),
    ],
)
def test_one_counts_where_a_case_that_passed_carried_it_out_and_none_failed_at_it(
    rows: list[dict[str, Any]], said: str
) -> None:
    assert counting.verdict(of("fill"), rows) == said


def test_what_is_one_kind_of_ours_counts_by_that_kind_only() -> None:
    assert counting.verdict(of("swipe"), [case("passed", ("gesture", "ok"), kind="drag")]) == ""
    assert counting.verdict(of("swipe"), [case("passed", ("gesture", "ok"), kind="swipe")]) == "yes"


def test_what_no_case_calls_counts_by_its_operation_and_says_so() -> None:
    rows = [case("passed", id="operation.navigation.home")]
    assert counting.verdict(of("home"), rows) == "yes*"
    assert counting.verdict(of("home"), [case("passed", id="operation.navigation.home", declared=False)]) == ""


def test_reports_of_one_class_are_taken_together() -> None:
    subject = {"backend": "b"}
    one = {"subject": subject, "cases": [case("passed", ("boot", "ok"))]}
    other = {"subject": subject, "cases": [case("passed", ("wait", "ok"))]}
    found = counting.counted([one, other])
    assert found["b phone"]["boot"] == found["b phone"]["wait"] == "yes"
    assert "**2**" in counting.table(found)
