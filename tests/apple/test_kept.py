"""What was collected of Apple's tools is all used: every fixture and every reported failure has its test."""

from __future__ import annotations

import ast
import csv
import json
from pathlib import Path
from typing import Any

import pytest

from anydevice_apple import apps
from anydevice_apple.answers import answer, element_id, value

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures" / "apple"
REPORTS = 36


def rows(name: str) -> list[dict[str, str]]:
    with (FIXTURES / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_file_has_a_source_and_a_test_that_reads_it() -> None:
    kept = {path.name for path in FIXTURES.iterdir()} - {"README.md", "SOURCES.tsv"}
    assert kept == {row["file"] for row in rows("SOURCES.tsv")}
    texts = [path.read_text("utf-8") for path in (*HERE.glob("*.py"), *HERE.parent.glob("lab/*apple*.py"))]
    assert not [name for name in kept if not any(name in text for text in texts)]


def test_every_reported_failure_has_its_test() -> None:
    found = rows("reports.tsv")
    assert len({row["report"] for row in found}) == len(found) == REPORTS
    for row in found:
        file, _, name = row["shown by"].partition("::")
        assert name in names_in(HERE / file), row


def outputs() -> dict[str, dict[str, Any]]:
    """Captured outputs of simctl by their first words."""
    return {row["argv"].partition(" <")[0]: row for row in json.loads((FIXTURES / "simctl_outputs.json").read_text())}


def test_what_a_launch_prints_tells_the_process() -> None:
    found = apps._PID.search(outputs()["simctl launch"]["stdout"])
    assert found is not None and found[1] == "12345"


def samples() -> dict[str, Any]:
    told: dict[str, Any] = json.loads((FIXTURES / "wda_protocol_samples.json").read_text())
    return {name: row.get("response", row) for name, row in told.items()}


@pytest.mark.parametrize(
    ("request_", "path", "told"),
    [
        ("POST /session", "sessionId", "DE71FBC9-0000-4000-8000-B354CB4245BB"), ("GET /wda/screen", "scale", 3),
        ("GET /session/:id/window/size", "width", 402), ("GET /wda/activeAppInfo", "pid", 4187),
        ("POST /session/:id/wda/apps/state", "", 4),
    ],
)  # fmt: skip
def test_answers_of_an_agent_are_read_as_they_come(request_: str, path: str, told: object) -> None:
    found = value(200, answer(200, json.dumps(samples()[request_]).encode()))
    assert (found[path] if path else found) == told


def test_an_element_is_known_by_either_key() -> None:
    told = value(200, answer(200, json.dumps(samples()["POST /session/:id/element"]).encode()))
    assert element_id(told) == element_id({"ELEMENT": told["ELEMENT"]}) == told["ELEMENT"]


@pytest.mark.parametrize("said", ['{"value": "\\ud800"}', '{"value": ' + '{"children": [' * 300 + "]}" * 300 + "}"])
def test_answers_that_the_quick_reader_gives_up_are_read_all_the_same(said: str) -> None:
    assert answer(200, said.encode()) == json.loads(said)
