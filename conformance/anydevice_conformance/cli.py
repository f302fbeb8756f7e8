"""The subcommands `anydevice conformance` and `anydevice new-backend`, and `python -m anydevice_conformance`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

BACKENDS = "anydevice.backends"
"""Entry points of backends, as `anydevice.discovery` looks them up."""

LABS = "anydevice.labs"
"""Entry points that bring simulated devices of a backend, by the backend's name (see `_lab`)."""


def _backends(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names of the backends that are installed, for completion."""
    return sorted({point.name for point in entry_points(group=BACKENDS) if point.name.startswith(incomplete)})


@click.command(
    short_help="Judges a backend by the conformance suite.",
    epilog="Exit codes: 0 core or better on every class that was asked for (with --only: nothing that ran failed), "
    "1 otherwise, 2 called wrongly.",
)
@click.argument("backend", required=False, shell_complete=_backends)
@click.option(
    "--device", metavar="SELECTOR", help="The device under test: its id or unique name. Only its class is judged."
)
@click.option("--lab", is_flag=True, help="Judge it on simulated devices, where a lab for it is installed.")
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the report. [default: conformance-BACKEND]",
)
@click.option(
    "--only", metavar="CASE", multiple=True, help="Only this case, or pattern; may be repeated. Gives no level."
)
@click.option("--store", metavar="MODULE:FACTORY", help="Judge a lease store instead of a backend.")
@click.option(
    "--env", "passed", metavar="NAME", multiple=True, help="Let this variable into the sealed run; may be repeated."
)
@click.option(
    "--deadline", type=click.FloatRange(min=1), default=3600.0, show_default=True, help="Seconds for everything."
)
@click.option("--list", "listed", is_flag=True, help="List the cases instead of running them.")
@click.option("--verbose", is_flag=True, help="A line for every case, also for what passed or is honestly absent.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON object.")
@click.pass_context
def conformance(
    ctx: click.Context,
    *,
    backend: str | None,
    device: str | None,
    lab: bool,
    report: Path | None,
    only: tuple[str, ...],
    store: str | None,
    passed: tuple[str, ...],
    deadline: float,
    listed: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Judges BACKEND: runs every case of the catalogue on its devices in a sealed process, and writes a report.

    Two devices of each class have to be ready. The report is a page (index.html), conformance.json, junit.xml and a
    badge for each class.
    """
    if (backend is None) == (store is None) and not listed:
        raise click.UsageError("name a backend, or a store with --store", ctx=ctx)
    if store is not None and (backend or device or lab):
        raise click.UsageError("--store goes without a backend, --device and --lab", ctx=ctx)
    if listed:
        _list(only, stores=store is not None, as_json=as_json)
        return 0
    from .runner import UnknownSubject, facts_of, run
    from .stores import run_store
    from .terminal import Bar, Lines, came_through, summary

    every = verbose or bool(only)
    show = Lines(sys.stderr, every=every) if verbose or not sys.stderr.isatty() else Bar(sys.stderr)
    folder = report or Path("conformance-" + (backend or "store").replace(":", "-"))
    with ExitStack() as stack:
        try:
            if store is not None:
                found = run_store(store, only=only, report=folder, deadline=deadline, show=show, passed=passed)
            else:
                assert backend is not None
                more = _lab(backend, stack) if lab else {}
                found = run(
                    backend,
                    device=device,
                    only=only,
                    report=folder,
                    deadline=deadline,
                    show=show,
                    passed=passed,
                    **more,
                )
        except UnknownSubject as error:
            raise click.UsageError(str(error), ctx=ctx) from None
        finally:
            if isinstance(show, Bar):
                show.close()
    if as_json:
        click.echo(
            json.dumps({"ok": True, "command": "conformance", "data": facts_of(found) | {"report": str(folder)}})
        )
    else:
        click.echo(summary(found))
        click.echo(f"report: {folder / 'index.html'}")
    return 0 if found.level in ("core", "extended") or came_through(found) else 1


def _list(only: Sequence[str], *, stores: bool, as_json: bool) -> None:
    from .findings import LEAVES_NOTHING, LEAVES_NOTHING_MUST
    from .runner import UnknownSubject, chosen_cases

    rows: list[dict[str, Any]] = []
    if stores:
        from .stores import store_cases

        rows = [{"id": case.id, "bundle": case.bundle, "must": case.must} for case in store_cases()]
    else:
        from .case import EVERY_CLASS, catalogue

        for case in catalogue():
            classes = "every class" if case.classes == EVERY_CLASS else ", ".join(sorted(case.classes))
            rows.append(
                {"id": case.id, "bundle": case.bundle, "classes": classes, "since": case.since, "must": case.must}
            )
    rows.append({"id": LEAVES_NOTHING, "bundle": "core", "must": LEAVES_NOTHING_MUST})
    try:
        chosen = chosen_cases([row["id"] for row in rows], only)
    except UnknownSubject as error:
        raise click.UsageError(str(error)) from None
    rows = [row for row in rows if chosen is None or row["id"] in chosen]
    if as_json:
        click.echo(json.dumps({"ok": True, "command": "conformance", "data": {"cases": rows}}))
        return
    for row in rows:
        where = f"  ({row['classes']})" if row.get("classes", "every class") != "every class" else ""
        click.echo(f"{row['id']}  [{row['bundle']}]{where}\n    {row['must']}")


def _lab(backend: str, stack: ExitStack) -> dict[str, Any]:
    """Starts the lab of a backend; returns what `run` has to be given besides.

    A lab is an entry point of the group `anydevice.labs`: a function without arguments that returns a context manager;
    it enters with the devices up and yields `{"settings": {...}}`, the backend's own table of the configuration.
    """
    from anydevice.settings import Settings

    points = list(entry_points(group=LABS, name=backend))
    if not points:
        known = sorted({point.name for point in entry_points(group=LABS)})
        says = f"labs are installed for {', '.join(known)}" if known else "no lab devices are installed yet"
        raise click.ClickException(
            f"there is no lab for {backend}: {says}; without --lab it is judged on its own devices"
        )
    devices = stack.enter_context(points[0].load()())
    settings = Settings.load()
    tables = {**settings.tables, backend: {**settings.tables.get(backend, {}), **devices.get("settings", {})}}
    from dataclasses import replace

    return {"settings": replace(settings, tables=tables)}


@click.command("new-backend", short_help="Writes a distribution of a backend to start from.")
@click.argument("name")
@click.option(
    "--dir", "folder", type=click.Path(file_okay=False, path_type=Path), help="Where to. [default: ./NAME-anydevice]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON object.")
@click.pass_context
def new_backend(ctx: click.Context, name: str, folder: Path | None, as_json: bool) -> int:
    """Writes a distribution with a backend NAME: it installs, is discovered and passes core on devices that do not
    exist, for you to replace line by line by yours.
    """
    from .template import BadName, FolderNotEmpty, make

    try:
        made = make(name, folder)
    except (BadName, FolderNotEmpty) as error:
        raise click.UsageError(str(error), ctx=ctx) from None
    if as_json:
        data = {"folder": str(made.folder), "files": made.files, "next": made.next}
        click.echo(json.dumps({"ok": True, "command": "new-backend", "data": data}))
        return 0
    click.echo(f"made {made.folder}:\n" + "\n".join(f"    {file}" for file in made.files))
    click.echo("next:\n" + "\n".join(f"    {step}" for step in made.next))
    return 0
