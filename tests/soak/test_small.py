"""The soak itself in small sizes: real daemons, real kills. `make soak` runs all of it.

The four runs go beside one another; each test waits for its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..support.distributions import install
from .conftest import ROOT

pytestmark = [
    pytest.mark.daemon,
    pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="stops and starts processes by /proc"),
]

CARELESS = """
from anydevice import ownership
from anydevice.leases import machine


async def admit(*_, **__):
    pass


machine.live = lambda lease, now: now < min(lease.expires_at, lease.granted_at + 0.15)
ownership.by_lease = lambda *_: None
ownership.admit = admit
"""
"""A plugin that ruins the daemon: leases run out early, and nobody checks whose turn it is."""


class Run:
    """One soak in a process of its own. The seed is fixed: chance is for `make soak`."""

    def __init__(self, part: str, folder: Path, *plugins: Path) -> None:
        self.part = part
        self.page = folder / f"{part}.md"
        self.page.write_text("# Before\n")
        paths = [*map(str, plugins), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "soak", part, "--small", "--seed", "small", "--write", str(self.page)],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)}, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def said(self) -> tuple[int, dict[str, Any], str]:
        """Its exit code, what it printed, and what it told a person."""
        out, err = self.process.communicate(timeout=220)
        assert out.count("\n") == 1, (out, err)
        assert self.page.read_text().startswith("# Before\n")
        assert out.strip() in self.page.read_text()
        return self.process.returncode, json.loads(out), err

    def figures(self) -> dict[str, Any]:
        """The figures of a run in which nothing may have happened that must not happen."""
        code, said, err = self.said()
        assert said["parts"][self.part]["violations"] == [], err
        assert (code, said["ok"]) == (0, True)
        found: dict[str, Any] = said["parts"][self.part]["figures"]
        return found

    def end(self) -> None:
        """Ends it if it still runs; it ends what it started itself."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=60)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    folder = tmp_path_factory.mktemp("soak")
    install(
        folder / "mutant",
        "mutant",
        modules={"soak_mutant/__init__.py": CARELESS},
        entry_points={"anydevice.plugins": {"mutant": "soak_mutant"}},
    )
    started = {part: Run(part, folder) for part in ("storm", "kills", "store")}
    (folder / "ruined").mkdir()
    started["ruined"] = Run("storm", folder / "ruined", folder / "mutant")
    yield started
    for run in started.values():
        run.end()


def test_nobody_drives_beside_the_holder_while_everything_fails(runs: dict[str, Run]) -> None:
    figures = runs["storm"].figures()
    assert figures["commands"] > 20  # a few hundred on an idle machine
    assert figures["grants driven"] >= 5
    assert (figures["daemon kills"], figures["takeovers"]) == (1, 1)


def test_what_was_answered_is_true_after_every_kill_of_the_daemon(runs: dict[str, Run]) -> None:
    figures = runs["kills"].figures()
    assert figures["daemons killed"] == 8
    assert figures["grants answered"] >= 4
    assert figures["leases standing after a restart, all kills"] >= 2


def test_processes_that_share_one_store_never_hold_one_device_at_once(runs: dict[str, Run]) -> None:
    assert runs["store"].figures()["grants"] >= 5


def test_a_daemon_that_admits_everybody_is_found(runs: dict[str, Run]) -> None:
    code, said, err = runs["ruined"].said()
    assert code == 1
    assert "came back" in {violation["rule"] for violation in said["parts"]["storm"]["violations"]}, err
