"""docs/verified.md says of every backend what it ran on, and its table is the one its facts make."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_is_what_its_facts_make() -> None:
    done = subprocess.run([sys.executable, "tools/verified.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run: python tools/verified.py"


def test_every_backend_is_told_about() -> None:
    facts = tomllib.loads((ROOT / "tools" / "verified.toml").read_text("utf-8"))
    backends = {path.parent.name.removeprefix("anydevice_") for path in ROOT.glob("backends/*/backend.toml")}
    assert set(facts) == backends


def test_nothing_is_said_to_have_run_on_a_device_that_ran_on_none() -> None:
    facts = tomllib.loads((ROOT / "tools" / "verified.toml").read_text("utf-8"))
    assert all(row["missing"] for row in facts.values() if not row["real_devices"])
