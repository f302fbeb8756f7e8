"""`anydevice apple selftest` asks a simulator, reports what it saw, and does not pass what fails."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from anydevice_apple.selftest import asked, written
from anydevice_lab.apple import Lab

pytestmark = pytest.mark.anyio


async def test_every_question_is_answered_and_the_report_written(lab: Lab, phone: str, tmp_path: Path) -> None:
    facts, rows = await asked("", {"xcrun": lab.xcrun, "devices": False})
    assert facts["udid"] == phone and "xcode" in facts
    # The rows of the lab's Settings lead nowhere, which is found out.
    assert {row.question for row in rows if row.verdict == "failed"} <= {"a press leads on, and back leads back"}, rows
    assert len([row for row in rows if row.verdict == "passed"]) >= 9, rows
    page = written(tmp_path / "report", facts, rows)
    told = json.loads(page.with_name("selftest.json").read_text("utf-8"))
    assert [row["question"] for row in told["rows"]] == [row.question for row in rows]
    assert all(row.question in page.read_text("utf-8") for row in rows)


async def test_what_does_not_work_is_a_failure_with_its_reason(lab: Lab, phone: str) -> None:
    await lab.fault(phone, "source_sparse")
    _, rows = await asked(phone, {"xcrun": lab.xcrun, "devices": False})
    verdicts = {row.question: row for row in rows}
    assert verdicts["its screen is read whole, in points"].verdict == "failed"
    assert verdicts["text goes to the clipboard and comes back"].verdict == "passed"


async def test_a_simulator_that_is_none_is_asked_for(lab: Lab, phone: str) -> None:
    with pytest.raises(click.UsageError):
        await asked("No such phone", {"xcrun": lab.xcrun, "devices": False})
