"""Subcommands of other distributions: listed by name, imported when asked for, and none spoils another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..support.daemons import Home
from ..support.distributions import install

pytestmark = pytest.mark.daemon

GROUP = "anydevice.subcommands"
HELLO = "import click\n\n@click.command()\ndef hello():\n    click.echo('hello from {name}')\n"


def bring(home: Home, name: str, command: str, source: str) -> None:
    package = name.replace("-", "_")
    install(home.plugins, name, modules={f"{package}.py": source}, entry_points={GROUP: {command: f"{package}:hello"}})


def test_it_needs_no_daemon_and_starts_none(home: Home) -> None:
    bring(home, "outside", "greet", HELLO.format(name="outside"))
    done = home.cli("greet")
    assert (done.returncode, done.stdout) == (0, "hello from outside\n")
    assert home.record is None


def test_help_lists_names_without_importing_anything(home: Home, tmp_path: Path) -> None:
    mark = tmp_path / "was-imported"
    bring(home, "broken-vendor", "broken", f"open({str(mark)!r}, 'w').close()\nraise RuntimeError('out of order')\n")
    help = home.cli("--help").stdout
    assert "broken " in help and "from broken-vendor" in help
    assert "conformance" in help and "new-backend" in help
    assert not mark.exists()


def test_one_that_cannot_be_imported_says_so_and_nothing_else_is_affected(home: Home) -> None:
    bring(home, "broken-vendor", "broken", "raise RuntimeError('out of order')\n")
    bring(home, "exits-vendor", "exits", "import sys\n\nsys.exit(0)\n")
    bring(home, "odd-vendor", "odd", "hello = 1\n")
    for name, reason in (("broken", "out of order"), ("exits", "SystemExit"), ("odd", "no click command")):
        done = home.cli("--json", name)
        message = json.loads(done.stdout)["error"]["message"]
        assert done.returncode == 1 and reason in message and f"{name}-vendor" in message
    assert home.json("say", "hi")["data"]["said"] == "hi"


def test_two_that_bring_one_name_are_told_and_neither_is_run(home: Home) -> None:
    bring(home, "one-vendor", "same", HELLO.format(name="one"))
    bring(home, "two-vendor", "same", HELLO.format(name="two"))
    done = home.cli("same")
    assert done.returncode == 1 and "one-vendor and two-vendor all bring a subcommand same" in done.stderr


def test_nobody_replaces_a_command_of_the_house(home: Home) -> None:
    bring(home, "cuckoo", "status", HELLO.format(name="cuckoo"))
    bring(home, "cuckoo-two", "conformance", HELLO.format(name="cuckoo"))
    bring(home, "cuckoo-three", "devices", HELLO.format(name="cuckoo"))
    home.serve()
    home.cli("devices")
    for argv in (["status"], ["conformance", "--list"], ["devices"]):
        assert "cuckoo" not in home.cli(*argv).stdout


def test_the_nearest_name_may_be_one_of_them(home: Home) -> None:
    home.serve()
    done = home.json("conformanse", code=2)
    assert done["error"]["details"]["nearest"][0] == "conformance"


def test_json_in_front_reaches_the_command_of_a_group(home: Home) -> None:
    made = home.json("token", "add", "ci")
    assert made["data"]["token"].startswith("adt_")
    again = json.loads(home.cli("--json", "token", "add", "ci").stdout)["error"]
    assert again["code"] == "refused" and "already" in again["message"] and "incident" not in again["details"]
    front = home.cli("--json", "token", "list")
    assert json.loads(front.stdout)["data"]["tokens"][0]["name"] == "ci"


def test_a_group_lists_its_commands_by_whole_sentences(home: Home) -> None:
    sentence = "Greets everybody who is in the room by name, one after the other, and sits down again"
    source = "import click\n\n@click.group()\ndef hello(): ...\n\n@hello.command()\ndef all():\n"
    source += f"    '''{sentence}.\n\n    More.'''\n"
    bring(home, "polite", "greet", source)
    help = " ".join(home.cli("greet", "--help").stdout.split())
    assert f"{sentence}." in help and "..." not in help.partition("Commands:")[2] and "More." not in help
