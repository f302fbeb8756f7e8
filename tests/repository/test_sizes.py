"""The sizes of tests are said in one place, and are the ones that run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from soak.sizes import FULL, SMALL, Faults, Size

from ..support.sizes import SIZES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "tests" / "README.md"


def rows(of: str) -> list[tuple[str, str, str]]:
    """A table of the page."""
    found = re.search(rf"<!-- {of}: begin -->\n(.*?)<!-- {of}: end -->", PAGE.read_text("utf-8"), re.S)
    assert found is not None
    head, _, *lines = found[1].strip().splitlines()
    assert head == "| what | `make test` | `make soak` |"
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]  # type: ignore[misc]


def parts(of: Size | Faults) -> Iterator[tuple[str, str]]:
    """Every number of a soak, by the name it has there."""
    for field in fields(of):
        value = getattr(of, field.name)
        if isinstance(value, Faults):
            yield from parts(value)
        elif isinstance(value, tuple):
            yield field.name, " to ".join(f"{part:g}" for part in value)
        elif not isinstance(value, bool):
            yield field.name, f"{value:g}"


def test_the_page_has_every_size_and_no_other() -> None:
    assert rows("sizes") == [(what, f"{small:,}", f"{full:,}") for what, (small, full) in SIZES.items()]


def test_the_page_has_every_size_of_the_soak() -> None:
    said = [(name, small, full) for (name, small), (_, full) in zip(parts(SMALL), parts(FULL), strict=True)]
    assert rows("soak") == [(name.replace("_", " "), small, full) for name, small, full in said]


@pytest.mark.parametrize("full", [False, True])
def test_a_run_has_the_sizes_it_is_asked_for(full: bool) -> None:
    code = "from tests.support.sizes import SIZES, size; print(*map(size, SIZES))"
    given = {name: value for name, value in os.environ.items() if name != "ANYDEVICE_SIZES"}
    given |= {"PYTHONPATH": str(ROOT)} | ({"ANYDEVICE_SIZES": "full"} if full else {})
    done = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == [str(pair[full]) for pair in SIZES.values()]


def test_every_size_is_used_and_a_property_says_no_number_of_its_own() -> None:
    sources = {path: path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py")}
    for what in SIZES:
        assert any(f'size("{what}")' in text or f"size('{what}')" in text for text in sources.values()), what
    odd = [
        str(path) for path, text in sources.items() if path.parent.name != "mcp" and re.search(r"max_examples=\d", text)
    ]
    assert odd == []
