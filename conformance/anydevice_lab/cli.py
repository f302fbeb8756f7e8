"""The subcommand `anydevice lab`: devices that do not exist, for anyone's client programs."""

from __future__ import annotations

import json
from typing import Any

import anyio
import click

from anydevice_schemas.errors import ToolMissing

STOP = "anydevice stop    # a daemon that runs already looks for programs on the PATH it was started with"


@click.group("lab", short_help="Starts simulated devices behind the real wire protocols.")
def lab() -> None:
    """Starts devices that do not exist. They speak the real protocols of their platform, and run the practice app."""


@lab.command(epilog="A KIND may be followed by a number: phone:2 are two phones.")
@click.argument("kinds", nargs=-1, metavar="KIND...")
@click.option("--adb", metavar="PROGRAM", help="The adb program to serve with. [default: the one of adbutils, or PATH]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
@click.option("--list", "listed", is_flag=True, help="List the kinds there are.")
def android(kinds: tuple[str, ...], adb: str | None, as_json: bool, listed: bool) -> None:
    """Starts Android devices behind an adb server of their own, and keeps them until it is interrupted."""
    from .android import KINDS, Lab, LabFailed

    if listed:
        for kind in KINDS.values():
            click.echo(f"{kind.name:16} {kind.model}, Android {kind.release}, {kind.width}x{kind.height}, {kind.state}")
        return
    wanted = _counted(kinds or ("phone",), set(KINDS))

    async def run() -> None:
        async with Lab(adb) as running:
            await running.start(*wanted)
            rows = await running.devices()
            click.echo(json.dumps(_facts(running, rows)) if as_json else _told(running, rows))
            await running.last()

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        return
    except (LabFailed, ToolMissing) as error:
        raise click.ClickException(str(error)) from None


@lab.command(epilog="A KIND may be followed by a number: stick:2 are two sticks.")
@click.argument("kinds", nargs=-1, metavar="KIND...")
@click.option("--adb", metavar="PROGRAM", help="The adb program to serve with. [default: the one of adbutils, or PATH]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
@click.option("--list", "listed", is_flag=True, help="List the kinds there are.")
def vega(kinds: tuple[str, ...], adb: str | None, as_json: bool, listed: bool) -> None:
    """Starts Vega OS devices behind an adb server and a `vega` program of their own, until it is interrupted."""
    from .vega import KINDS, Lab, LabFailed

    if listed:
        for kind in KINDS.values():
            click.echo(f"{kind.name:16} {kind.model}, {kind.build}, {kind.width}x{kind.height}")
        return
    wanted = _counted(kinds or ("vvd",), set(KINDS))

    async def run() -> None:
        async with Lab(adb) as running:
            await running.start(*wanted)
            rows = await running.devices()
            facts = _facts(running, rows, "lab vega")
            facts["data"]["program"] = running.program
            told = _told(running, rows)
            first = f"    . {running.home}/vega/env\n    {STOP}\n"
            told = told.replace("    export ANDROID", f"{first}    export ANDROID", 1)
            click.echo(json.dumps(facts) if as_json else told)
            await running.last()

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        return
    except (LabFailed, ToolMissing) as error:
        raise click.ClickException(str(error)) from None


@lab.command(epilog="A KIND may be followed by a number: phone:2 are two phones.")
@click.argument("kinds", nargs=-1, metavar="KIND...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
@click.option("--list", "listed", is_flag=True, help="List the kinds there are.")
def harmonyos(kinds: tuple[str, ...], as_json: bool, listed: bool) -> None:
    """Starts HarmonyOS devices behind an hdc server of their own, and keeps them until it is interrupted."""
    from .harmonyos import KINDS, Lab, LabFailed

    if listed:
        for kind in KINDS.values():
            click.echo(f"{kind.name:16} {kind.product}, level {kind.api}, {kind.width}x{kind.height}, {kind.state}")
        return
    wanted = _counted(kinds or ("phone",), set(KINDS))

    async def run() -> None:
        async with Lab() as running:
            await running.start(*wanted)
            rows = await running.devices()
            facts = {"port": running.port, "hdc": running.hdc, "environment": running.environment, "devices": rows}
            if as_json:
                click.echo(json.dumps({"ok": True, "command": "lab harmonyos", "data": facts}))
            else:
                lines = [f"{row['serial']:20} {row['kind']:16} {row['product']} ({row['state']})" for row in rows]
                port = f"    export OHOS_HDC_SERVER_PORT={running.port}"
                lines += ["", "In another terminal:", port, f"    {running.hdc} list targets -v", "Ctrl-C ends them."]
                click.echo("\n".join(lines))
            await running.last()

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        return
    except LabFailed as error:
        raise click.ClickException(str(error)) from None


@lab.command(epilog="A KIND may be followed by a number: iphone:2 are two iPhones.")
@click.argument("kinds", nargs=-1, metavar="KIND...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
@click.option("--list", "listed", is_flag=True, help="List the kinds there are.")
def apple(kinds: tuple[str, ...], as_json: bool, listed: bool) -> None:
    """Starts Apple simulators and devices behind an `xcrun` and WebDriverAgent of their own, until interrupted."""
    from .apple import KINDS, Lab, LabFailed

    if listed:
        for kind in KINDS.values():
            what = "device" if kind.physical else "simulator"
            click.echo(f"{kind.name:22} {what:9} {kind.model}, {kind.platform} {kind.os}, {kind.state}")
        return
    wanted = _counted(kinds or ("iphone",), set(KINDS))

    async def run() -> None:
        async with Lab() as running:
            await running.start(*wanted)
            rows = await running.devices()
            data = {"xcrun": running.xcrun, "home": running.home, "environment": running.environment, "devices": rows}
            lines = [f"{row['serial']:36} {row['kind']:18} {row['name']} ({row['state']})" for row in rows]
            reach = [f"export PATH={running.bin}:$PATH", STOP, "xcrun simctl list devices"]
            reach = ["In another terminal:", *(f"    {line}" for line in reach)]
            told = "\n".join([*lines, "", *reach, f"Apps to install are in {running.home}. Ctrl-C ends them."])
            click.echo(json.dumps({"ok": True, "command": "lab apple", "data": data}) if as_json else told)
            await running.last()

    try:
        anyio.run(run)
    except KeyboardInterrupt:
        return
    except LabFailed as error:
        raise click.ClickException(str(error)) from None


def _counted(kinds: tuple[str, ...], known: set[str]) -> list[str]:
    wanted: list[str] = []
    for word in kinds:
        name, _, number = word.partition(":")
        if name not in known or (number and not number.isdigit()):
            raise click.UsageError(f"there is no kind {word!r}; there are {', '.join(sorted(known))}")
        wanted += [name] * int(number or 1)
    return wanted


def _facts(running: Any, rows: list[dict[str, Any]], command: str = "lab android") -> dict[str, Any]:
    data = {"port": running.port, "adb": running.adb, "environment": running.environment, "devices": rows}
    return {"ok": True, "command": command, "data": data}


def _told(running: Any, rows: list[dict[str, Any]]) -> str:
    lines = [f"{row['serial']:20} {row['kind']:16} {row['model']} ({row['state']})" for row in rows]
    return "\n".join([
        *lines,
        "",
        "In another terminal:",
        f"    export ANDROID_ADB_SERVER_PORT={running.port}",
        f"    {running.adb} devices -l",
        "Ctrl-C ends them.",
    ])  # fmt: skip
