"""Commands work in the order a person types their words; what has to be chosen or mended is told as lines to paste."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ..support.daemons import Home
from ..support.distributions import install_fake_backend
from ..support.texts import changed

ON = ("--device", "fake-1")


def test_files_go_from_the_first_path_to_the_second(home: Home, tmp_path: Path) -> None:
    (tmp_path / "seed.db").write_text("rows")
    pushed = home.json("files", "push", "seed.db", "/storage/", *ON, cwd=tmp_path)
    assert pushed["data"]["devicePath"] == "/storage/seed.db"
    home.json("files", "pull", "/storage/seed.db", "back.db", *ON, cwd=tmp_path)
    assert (tmp_path / "back.db").read_text() == "rows"


def test_clipboard_write_takes_its_text_as_a_word(home: Home, tmp_path: Path) -> None:
    home.json("clipboard", "write", "two words", *ON, cwd=tmp_path)
    assert home.json("clipboard", *ON, cwd=tmp_path)["data"]["text"] == "two words"
    assert home.json("clipboard", "read", "text", *ON, cwd=tmp_path)["data"]["text"] == "two words"


@pytest.mark.parametrize("words", [["add", "PATH", "urgent"], ["PATH", "add", "urgent"]])
def test_tags_take_action_and_file_in_either_order(home: Home, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "a.txt").write_text("x")
    home.json("files", "push", "a.txt", "/storage/a.txt", *ON, cwd=tmp_path)
    given = [word.replace("PATH", "/storage/a.txt") for word in words]
    assert home.json("tags", *given, *ON, cwd=tmp_path)["data"]["tags"] == ["urgent"]
    assert home.json("tags", "/storage/a.txt", *ON, cwd=tmp_path)["data"]["tags"] == ["urgent"]


def test_a_device_that_has_to_be_chosen_is_told_as_one_line_to_paste_for_each(daemon: Home, tmp_path: Path) -> None:
    said = daemon.cli("appstate", cwd=tmp_path)
    assert said.returncode == 3
    lines = [line.strip() for line in said.stderr.splitlines() if line.startswith("    anydevice ")]
    assert len(lines) == 2 and all("appstate" in line for line in lines)
    for line in lines:
        assert daemon.cli(*shlex.split(line)[1:], cwd=tmp_path).returncode == 0, line


LACKS = """
    from anydevice.driver import Check

    async def check(self, env):
        return [Check("extra", False, "not installed", "Install it.", optional=OPTIONAL)]
    Backend.check = check
"""


@pytest.fixture(params=["True", "False"])
def lacking(request: pytest.FixtureRequest) -> Iterator[tuple[Home, bool]]:
    """A home whose only backends are fake, one of which lacks something, and whether that is optional."""
    others = sorted(found.name for found in entry_points(group="anydevice.backends"))
    with Home.made(f"[plugins]\ndisabled = {json.dumps(others)}\n") as home:
        install_fake_backend(home.plugins, name="lacking", ids=(), setup=changed(LACKS, ("OPTIONAL", request.param)))
        yield home, request.param == "True"


def test_doctor_warns_of_what_is_optional_and_fails_for_what_is_not(lacking: tuple[Home, bool]) -> None:
    home, optional = lacking
    said = home.cli("doctor")
    row = next(line for line in said.stdout.splitlines() if "lacking: extra" in line)
    assert row.split()[0] == ("WARN" if optional else "FAIL") and "Install it." in row
    assert said.returncode == (0 if optional else 1), said.stdout
    assert home.json("doctor", code=said.returncode)["data"]["ok"] is optional
