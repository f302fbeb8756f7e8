"""What a soak says: one line, a section that is replaced as a whole, an exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import soak.__main__ as command
from soak import faults, report
from soak.judge import Verdict, Violation
from soak.sizes import FULL, SMALL, Size

ABOUT = {"date": "d", "commit": "c", "seed": "s", "cores": 2, "system": "x", "python": "3", "sqlite": "3"}
BAD = Verdict([Violation("two drivers", "d0", "b began")], {"commands": 3})


@pytest.mark.parametrize(("verdict", "code"), [(Verdict(figures={"commands": 9}), 0), (BAD, 1)])
def test_any_violation_makes_the_exit_code_one(
    verdict: Verdict, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def part(size: Size, seed: str, keep: Path | None) -> Verdict:
        return verdict

    monkeypatch.setattr(command, "PARTS", {"storm": part})
    assert command.main(["storm", "--small", "--seed", "s"]) == code
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] is (code == 0)
    assert said["parts"]["storm"]["count"] == code


def test_a_section_is_replaced_and_the_page_around_it_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\ntext\n")
    report.write(page, "first")
    page.write_text(page.read_text() + "\nafter\n")
    report.write(page, "second")
    text = page.read_text()
    assert text.startswith("# Title\n\ntext\n")
    assert text.endswith("\nafter\n")
    assert ("first" in text, text.count("second"), text.count(report.BEGIN)) == (False, 1, 1)


def test_violations_are_in_the_table_and_in_the_line() -> None:
    verdicts: dict[str, Any] = {"storm": BAD}
    assert "**violations** | **1**" in report.text(ABOUT, verdicts)
    assert "two drivers, d0: b began" in report.text(ABOUT, verdicts)
    assert json.loads(report.line(ABOUT, verdicts))["parts"]["storm"]["violations"][0]["rule"] == "two drivers"


def test_one_seed_gives_one_schedule() -> None:
    assert faults.schedule("a", FULL) == faults.schedule("a", FULL)
    assert faults.schedule("a", FULL) != faults.schedule("b", FULL)


@pytest.mark.parametrize("size", [FULL, SMALL])
def test_every_kind_of_fault_is_in_a_schedule_and_tenants_are_hit_alike(size: Size) -> None:
    planned = faults.schedule("a", size)
    assert {fault.kind for fault in planned} == {
        "client_kill", "client_stall", "daemon_kill", "daemon_stall", "hang", "slow", "drop", "jump", "takeover",
    }  # fmt: skip
    hit = [fault.target % size.tenants for fault in planned if fault.kind == "client_kill"]
    assert max(map(hit.count, range(size.tenants))) - min(map(hit.count, range(size.tenants))) <= 1
    assert all(0 <= fault.at <= size.seconds for fault in planned)
