"""Single cases as pytest tests: for developing, never a level."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ..support.distributions import environ, install_reference_backend
from .shelf import Member, lying

PRESS = "press.reaches-the-named-device"


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugins")
    install_reference_backend(folder, name="honest", classes=("tv",))
    for member in lying.MEMBERS:
        if member.name in ("pretends", "over-claims"):
            member.install(folder)
    Member("has-none", "def set_up(self):\n    self.rows.clear()\n").install(folder)
    return folder


def pytest_of(plugins: Path, cwd: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    given = environ(plugins, HOME=str(cwd), ANYDEVICE_HOME=str(cwd / "home"))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *argv],
        cwd=cwd, env=given, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def test_named_cases_are_collected_and_nothing_else(plugins: Path, tmp_path: Path) -> None:
    (tmp_path / "test_of_the_vendor.py").write_text("def test_fails():\n    assert 0\n")
    argv = ["--anydevice-backend", "honest", "--anydevice-case", PRESS, "--anydevice-case", "operation.touch.t*"]
    done = pytest_of(plugins, tmp_path, "-v", *argv)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout
    assert "reaches-the-named-device[tv]" in done.stdout
    assert "no level; `anydevice conformance honest` judges the backend" in done.stdout
    assert not list(tmp_path.rglob("conformance.json"))


def test_a_case_that_fails_says_why_and_how_it_came(plugins: Path, tmp_path: Path) -> None:
    done = pytest_of(plugins, tmp_path, "--anydevice-backend", "pretends", "--anydevice-case", PRESS)
    assert done.returncode == 1
    assert "failed: the app reported no press" in done.stdout and "A press MUST reach" in done.stdout
    assert "press {'target': 'Increment'} -> ok" in done.stdout and "Traceback" not in done.stdout


def test_what_is_blocked_fails_and_is_no_skip(plugins: Path, tmp_path: Path) -> None:
    done = pytest_of(plugins, tmp_path, "--anydevice-backend", "has-none", "--anydevice-case", PRESS)
    assert done.returncode == 1 and "blocked: two usable devices of class phone are needed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--anydevice-backend", "nobody"], "there is no backend 'nobody'"),
        (["--anydevice-backend", "honest", "--anydevice-case", "nothing.like-it"], "there is no case"),
        (["--anydevice-case", PRESS], "needs --anydevice-backend"),
    ],
)
def test_what_does_not_exist_is_a_usage_error(plugins: Path, tmp_path: Path, argv: list[str], says: str) -> None:
    done = pytest_of(plugins, tmp_path, *argv)
    assert done.returncode == 4 and says in done.stdout + done.stderr, done.stdout + done.stderr


def test_other_pytest_runs_pay_nothing_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    ours = [name for name in sys.modules if name.startswith('anydevice')]\n"
        "    assert ours == ['anydevice_conformance', 'anydevice_conformance.pytest_plugin'], ours\n"
        "    assert 'pydantic' not in sys.modules and 'structlog' not in sys.modules\n"
    )
    done = pytest_of(tmp_path, tmp_path, "-q", "-p", "no:hypothesispytest")
    assert done.returncode == 0, done.stdout
