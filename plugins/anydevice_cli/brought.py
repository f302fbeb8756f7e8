"""Subcommands that installed distributions bring: entry points, imported only when one of them is asked for.

    [project.entry-points."anydevice.subcommands"]
    conformance = "anydevice_conformance.cli:conformance"      # a click.Command

Names of the command line's own commands and of commands on devices come first; nothing here can replace one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SUBCOMMANDS = "anydevice.subcommands"
OWN_DISTRIBUTION = "anydevice"


def names() -> list[str]:
    """Their names, without importing anything of theirs."""
    return sorted({point.name for point in _points()})


def rows() -> list[tuple[str, str]]:
    """Names, and who brings each; for lists of commands."""
    homes: dict[str, set[str]] = {}
    for point in _points():
        homes.setdefault(point.name, set()).add(_home(point))
    return [(name, "from " + " and ".join(sorted(homes[name]))) for name in sorted(homes)]


def load(name: str) -> click.Command | None:
    """The subcommand of a name; None when nobody brings one.

    Raises:
        click.ClickException: Several distributions bring it, or it cannot be imported.
    """
    by_home = {_home(point): point for point in _points() if point.name == name}
    point = by_home.get(OWN_DISTRIBUTION) or next(iter(by_home.values()), None)
    if point is None:
        return None
    if len(by_home) > 1 and OWN_DISTRIBUTION not in by_home:
        raise click.ClickException(f"{' and '.join(sorted(by_home))} all bring a subcommand {name}; uninstall one")
    try:
        loaded = point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"[:300]
        raise click.ClickException(f"the subcommand {name} of {_home(point)} cannot be imported: {reason}") from error
    if not isinstance(loaded, click.Command):
        raise click.ClickException(f"the subcommand {name} of {_home(point)} is no click command")
    _say_whole(loaded)
    return loaded


def _say_whole(command: click.Command) -> None:
    """Has a group list its commands by whole sentences, where it says nothing else: click would cut them."""
    from .device import in_short

    for below in command.commands.values() if isinstance(command, click.Group) else ():
        if not below.short_help and below.help:
            below.short_help = in_short(" ".join(below.help.partition("\n\n")[0].split()))
        _say_whole(below)


def _points() -> list[EntryPoint]:
    from importlib.metadata import entry_points  # slow to import; commands on devices do not need it

    return list(entry_points(group=SUBCOMMANDS))


def _home(point: EntryPoint) -> str:
    return str(point.dist.name) if point.dist is not None else "unknown"
