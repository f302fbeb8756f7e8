"""What was collected of Vega is all used: every fixture, every reported failure and every trap has its test."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures" / "vega"


def rows(name: str) -> list[dict[str, str]]:
    with (FIXTURES / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_file_has_a_source_and_a_test_that_reads_it() -> None:
    kept = {path.name for path in FIXTURES.iterdir()} - {"README.md", "SOURCES.tsv", "reports.tsv"}
    assert kept == {row["file"] for row in rows("SOURCES.tsv")}
    texts = [path.read_text("utf-8") for path in (*HERE.glob("*.py"), *HERE.parent.glob("lab/*vega*.py"))]
    assert not [name for name in kept if not any(name in text for text in texts)]


def test_every_reported_failure_has_its_test() -> None:
    found = rows("reports.tsv")
    assert {int(row["report"].split()[0]) for row in found if row["report"][0].isdigit()} == {7, 8}
    for row in found:
        file, _, name = row["shown by"].partition("::")
        assert name in names_in(HERE / file), row
