"""`anydevice new-backend`: what it writes is whole, is discovered as it is, and can be tested at once."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from anydevice.discovery import BACKENDS, discover
from anydevice_conformance.template import BadName, FolderNotEmpty, make
from anydevice_schemas import Manifest

from ..support.daemons import Home
from ..support.distributions import environ, install_made

BIN = Path(sys.executable).parent


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return make("acme-tv", tmp_path / "acme").folder


def test_everything_a_distribution_needs_is_written(made: Path) -> None:
    files = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}
    assert files == {
        "pyproject.toml", "README.md", ".gitignore", ".github/workflows/conformance.yml", "tests/test_backend.py",
        "acme_tv_anydevice/__init__.py", "acme_tv_anydevice/backend.py", "acme_tv_anydevice/driver.py",
        "acme_tv_anydevice/box.py", "acme_tv_anydevice/backend.toml", "acme_tv_anydevice/py.typed",
    }  # fmt: skip
    for path in made.rglob("*"):
        if path.is_file():
            assert "__NAME__" not in path.read_text("utf-8") and "__PACKAGE__" not in path.read_text("utf-8"), path
    project = tomllib.loads((made / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["anydevice.backends"] == {"acme-tv": "acme_tv_anydevice:AcmeTvBackend"}
    manifest = Manifest.from_toml((made / "acme_tv_anydevice" / "backend.toml").read_text("utf-8"))
    assert manifest.name == "acme-tv" and manifest.device_classes == ["tv"]


@pytest.mark.parametrize("name", ["", "Acme", "acme_tv", "1acme", "-acme", "acme-", "a" * 33, "acme tv", "../acme"])
def test_a_name_no_backend_can_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadName):
        make(name, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FolderNotEmpty):
        make("acme", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_it_keeps_the_rules_a_linter_asks_of_it(made: Path) -> None:
    rules = "E,F,W,I,UP,B,SIM,RUF,ASYNC,PERF"
    for argv in (
        ["check", "--isolated", "--line-length", "120", "--select", rules],
        ["format", "--isolated", "--check", "--line-length", "120"],
    ):
        done = subprocess.run([BIN / "ruff", *argv, "."], cwd=made, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_its_own_tests_pass(made: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=made, env=environ(made, HOME=str(made)), capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


@pytest.mark.daemon
def test_it_is_discovered_and_its_devices_are_listed_and_driven(made: Path) -> None:
    with Home.made() as home:
        install_made(home.plugins, made)
        rows = {row["id"]: row for row in home.json("devices", "--platform", "acme-tv")["data"]["devices"]}
        assert set(rows) == {"BOX-0001", "BOX-0002"} and {row["state"] for row in rows.values()} == {"ready"}
        opened = home.json("open", "dev.anydevice.practice", "--serial", "box-0002", "--device-target", "tv")
        assert opened["device"]["key"] == "acme-tv:BOX-0002"


def test_its_manifest_is_read_without_its_code(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install_made(tmp_path / "plugins", made)
    monkeypatch.syspath_prepend(str(folder))
    record = next(record for record in discover(BACKENDS) if record.name == "acme-tv")
    assert record.state == "ready" and record.distribution == "acme-tv-anydevice"
    assert not any(name.startswith("acme_tv_anydevice") for name in sys.modules)
    assert os.path.exists(folder / "acme_tv_anydevice" / "backend.toml")
