"""The copy of the catalogue on disk: help without a daemon, and never a stale answer."""

from __future__ import annotations

import json

import pytest

from ..support.daemons import Home
from ..support.distributions import install

pytestmark = pytest.mark.daemon


def test_help_lists_everything_without_starting_a_second_daemon(home: Home) -> None:
    first = home.cli("--help")
    assert first.returncode == 0
    assert "press" in first.stdout and "vendor-say" in first.stdout and "completion" in first.stdout
    home.json("stop")
    assert home.cli("--help").stdout == first.stdout
    assert not home.running()


def test_help_of_a_command_shows_inputs_selectors_and_switches(daemon: Home) -> None:
    text = daemon.cli("press", "--help").stdout
    assert text.startswith("Usage: anydevice press [OPTIONS] TARGET")
    for part in ("Options:", "--timeout-ms", "Which device:", "--lease-id", "How it answers:", "--no-record ", "--yes"):
        assert part in text
    assert "Brought by test-vendor." in daemon.cli("say", "--help").stdout


def test_a_command_that_came_with_a_new_plugin_is_found_once_the_daemon_knows_it(home: Home) -> None:
    assert home.json("later", code=2)["error"]["code"] == "unknown_command"
    install(
        home.plugins,
        "later-vendor",
        modules={
            "later_vendor.py": """
            from anydevice.catalogue import Input, command
            from anydevice.context import Outcome
            from anydevice.hooks import hookimpl

            class Inputs(Input):
                name: str

            @command(name="later", summary="Comes later.", effect="read", scope="host", selectors=False, input=Inputs)
            async def later(ctx, args):
                return Outcome(data={"hello": args.name})

            @hookimpl
            def anydevice_commands():
                return [later]
            """
        },
        entry_points={"anydevice.plugins": {"later": "later_vendor"}},
    )
    stale = (home.path / "data" / "catalogue.json").read_text()
    home.json("stop")
    home.serve()
    # The copy on disk is put back to what it was: the digest in the daemon's greeting must win over it.
    (home.path / "data" / "catalogue.json").write_text(stale)
    assert home.json("later", "you")["data"] == {"hello": "you"}


def test_arguments_are_read_again_when_the_copy_on_disk_was_another(home: Home) -> None:
    home.serve()
    path = home.path / "data" / "catalogue.json"
    document = json.loads(path.read_text())
    said = next(c for c in document["commands"] if c["name"] == "vendor-say")
    said["inputSchema"]["properties"]["times"]["type"] = "string"
    path.write_text(json.dumps(document | {"digest": "old"}))
    assert home.json("say", "x", "--times", "2")["data"]["said"] == "xx"


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"commands": [{}]}'])
def test_a_damaged_copy_on_disk_is_no_obstacle(home: Home, damage: str) -> None:
    home.serve()
    (home.path / "data" / "catalogue.json").write_text(damage)
    assert home.json("say", "x")["ok"]


def test_a_subcommand_of_another_distribution_is_found_by_its_entry_point(daemon: Home) -> None:
    install(
        daemon.plugins,
        "sub-vendor",
        modules={"sub_vendor.py": "import click\n\n@click.command()\ndef hello():\n    click.echo('from outside')\n"},
        entry_points={"anydevice.subcommands": {"hello-outside": "sub_vendor:hello"}},
    )
    done = daemon.cli("hello-outside")
    assert (done.returncode, done.stdout) == (0, "from outside\n")
