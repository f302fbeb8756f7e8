"""What was collected of HarmonyOS is all used: every fixture, every reported failure and every trap has its test."""

from __future__ import annotations

import ast
import csv
import json
from pathlib import Path

import pytest

import anydevice_harmonyos
from anydevice_lab.harmonyos import Lab

from .rig import Rig, lines

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures" / "harmonyos"
BACKEND = Path(str(anydevice_harmonyos.__file__)).parent


def rows(name: str) -> list[dict[str, str]]:
    with (FIXTURES / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_file_has_a_source_and_a_test_that_reads_it() -> None:
    kept = {path.name for path in FIXTURES.iterdir()} - {"README.md", "SOURCES.tsv", "reports.tsv"}
    assert kept == {row["file"] for row in rows("SOURCES.tsv")}
    texts = [path.read_text("utf-8") for path in (*HERE.glob("*.py"), *HERE.parent.glob("lab/*harmonyos*.py"))]
    assert not [name for name in kept if not any(name in text for text in texts)]


def test_every_reported_failure_has_its_test() -> None:
    found = rows("reports.tsv")
    assert {int(row["report"].split()[0]) for row in found if row["report"][0].isdigit()} == set(range(1, 8))
    for row in found:
        file, _, name = row["shown by"].partition("::")
        assert name in names_in(HERE / file), row


@pytest.mark.anyio
async def test_no_agent_is_started_and_nothing_is_pushed_for_one(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await router.do("snapshot", device=phone)
    await router.do("fill", device=phone, target="Name", text="Ada")
    await router.do("press", device=phone, target="General")
    await router.do("screenshot", device=phone)
    said = await lines(lab, phone)
    assert said and not [line for line in said if "start-daemon" in line or "agent.so" in line or "8012" in line]


def test_the_agents_own_protocol_is_spoken_nowhere() -> None:
    samples = [json.loads(line) for line in (FIXTURES / "uitest_rpc_samples.jsonl").read_text("utf-8").splitlines()]
    words = {str(one["send"][key]) for one in samples for key in ("module", "method")}
    assert "callHypiumApi" in words
    sources = [path.read_text("utf-8") for path in BACKEND.rglob("*.py")]
    assert not [word for word in words if any(word in source for source in sources)]
