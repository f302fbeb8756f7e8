"""The command line's own commands: the daemon, confirmation, completion, versions."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import Any

import click
from click.shell_completion import CompletionItem

import anydevice
from anydevice.host import record, start
from anydevice.places import home_path
from anydevice_schemas.errors import AnydeviceError, CallTimeout, Refused, UpstreamUnavailable

from . import output, remote, takeover
from .status import status

STOP_SECONDS = 45.0
"""What a daemon may take to close everything it holds, and then some."""

UNANSWERED_SECONDS = 3.0
"""What it gets to answer, and after SIGTERM to end."""

HTTP_SECONDS = 15.0
"""What a new daemon gets to say where it serves HTTP."""

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.command(short_help="Starts the daemon.")
@click.option("--foreground", is_flag=True, help="Stay in this terminal and log to it.")
@click.option("--idle", type=click.FloatRange(min=0), help="Seconds without use after which it ends; 0 = never.")
@click.option("--http", metavar="[HOST:]PORT", help="Serve MCP over HTTP too; PORT 0 is any. See: anydevice token")
@click.option(
    "--set", "over", multiple=True, metavar="KEY=VALUE", help="A line of TOML that counts more than the file."
)
@_json
def serve(foreground: bool, idle: float | None, http: str | None, over: tuple[str, ...], as_json: bool) -> int:
    """Starts the daemon, if none runs. Other commands start it by themselves.

    In the foreground it does not end by idleness unless --idle says so.
    """
    lines = [*over, *(_http_lines(http) if http is not None else ())]
    asked = any(line.lstrip().startswith("mcp.http.port") for line in lines)
    if foreground:
        return _here(0.0 if idle is None else idle, lines, asked)
    home = home_path()
    started = start.start_daemon(home, time.monotonic() + start.START_DEADLINE, idle=idle, over=lines)
    if lines and not started:
        raise Refused(
            "A daemon runs already, with settings of its own.",
            reason="settings count when a daemon starts",
            alternative="anydevice stop",
            hint="Run: anydevice stop ; then the same line again.",
        )
    found = record.read_record(home) or {}
    data = {"started": started, "pid": found.get("pid"), "version": found.get("version")}
    what = "started" if started else "runs already"
    said = f"daemon {what}: process {data['pid']}, version {data['version']}"
    if asked:
        why = _listens(data)
        if why:
            raise _no_http(why, found)
        said += f"\nMCP over HTTP: {data['http']}"
    output.result("serve", data, said, as_json=as_json)
    return 0


def _here(idle: float, lines: list[str], asked: bool) -> int:
    """The daemon in this process; it ends again where HTTP was asked for and there is none."""
    from threading import Thread

    from anydevice.host.__main__ import run

    failed: list[str] = []

    def watch() -> None:
        until = time.monotonic() + start.START_DEADLINE
        while time.monotonic() < until:
            found = record.read_record(home_path()) or {}
            if (found.get("pid"), found.get("state")) == (os.getpid(), "ready"):
                with contextlib.suppress(AnydeviceError, OSError):  # it ends already
                    if why := _listens({}):
                        failed.append(why)
                        os.kill(os.getpid(), signal.SIGTERM)
                return
            time.sleep(0.05)

    if asked:
        Thread(target=watch, daemon=True).start()
    code = run(detached=False, idle=idle, over=lines)
    if failed:
        raise _no_http(failed[0], None)
    return code


def _no_http(why: str, found: dict[str, Any] | None) -> UpstreamUnavailable:
    """What `serve --http` ends with where there is no HTTP. Without it the daemon is not what was asked for, and would
    only be in the way of the line that is put right.

    Args:
        why: As the daemon said it.
        found: The record of the daemon that this very command started; None = it has ended already.
    """
    ended = True
    if found is not None:
        with contextlib.suppress(AnydeviceError, OSError), remote.connect_host(UNANSWERED_SECONDS) as client:
            client.host.stop()
        ended = _gone(found, STOP_SECONDS)
    said = "The daemon was stopped again" if ended else "The daemon still runs (anydevice stop ends it)"
    return UpstreamUnavailable(
        f"No MCP over HTTP: {why}. {said}.",
        upstream="http",
        enable_hint="anydevice serve --http 0",
        hint="Put right what it says and run the same line again; --http 0 takes any free port.",
    )


def _http_lines(word: str) -> list[str]:
    """The settings that `--http` stands for."""
    host, _, port = word.rpartition(":")
    host = host.strip("[]")
    if not (port.isascii() and port.isdigit()) or int(port) > 65535 or any(mark in host for mark in '"\\\n'):
        raise click.BadParameter("a port, or HOST:PORT", param_hint="--http")
    return [f"mcp.http.port = {port}", *([f'mcp.http.host = "{host}"'] if host else [])]


def _listens(data: dict[str, Any]) -> str:
    """Why the daemon does not serve HTTP; empty where it does, and then its address is put into the data."""
    until = time.monotonic() + HTTP_SECONDS
    while True:
        with remote.connect_host() as client:
            told = client.host.status().get("told", {}).get("mcp", {})
        if told or time.monotonic() > until:
            break
        time.sleep(0.05)
    data |= told
    return "" if "http" in told else str(told.get("httpFailed", "the daemon did not say where")).rstrip(".")


@click.command(short_help="Speaks MCP on stdin and stdout; what an MCP host starts.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def mcp(options: tuple[str, ...]) -> int:
    """Speaks MCP on stdin and stdout; what an MCP host starts."""
    from anydevice.host.pump import main

    return main("mcp", list(options))


@click.command(short_help="Stops the daemon and everything it holds.")
@click.option("--if-idle", is_flag=True, help="Only when nobody has a session.")
@click.option("--force", is_flag=True, help="End its process when it does not answer.")
@_json
def stop(if_idle: bool, force: bool, as_json: bool) -> int:
    """Stops the daemon. Its sessions end, and what they hold is given back."""
    home = home_path()
    found = record.read_record(home)
    if found is None or not record.lives(found):
        output.result("stop", {"stopped": False, "running": False}, "no daemon runs", as_json=as_json)
        return 0
    data: dict[str, Any] = {"stopped": True, "pid": found["pid"]}
    patience = STOP_SECONDS
    try:
        with remote.connect_host(deadline=UNANSWERED_SECONDS) as client:
            if if_idle and (sessions := client.host.status()["sessions"]):
                names = ", ".join(s["name"] for s in sessions)
                raise Refused(
                    f"The daemon has {len(sessions)} sessions: {names}.",
                    reason="sessions are open",
                    alternative="anydevice stop",
                )
            data["sessionsEnded"] = client.host.stop()["sessions"]
    except (CallTimeout, UpstreamUnavailable):
        # It does not answer. Its process is ours and the very one that wrote the record.
        _signal(found, signal.SIGTERM)
        patience = UNANSWERED_SECONDS
    if not _gone(found, patience):
        if not force:
            raise CallTimeout(
                f"The daemon (process {found['pid']}) does not end.",
                after=patience,
                waiting_for="daemon",
                hint="Run: anydevice stop --force",
            )
        _signal(found, signal.SIGKILL)
        _gone(found, 5.0)
        data["forced"] = True
    output.result("stop", data, f"daemon stopped: process {data['pid']}", as_json=as_json)
    return 0


def _signal(found: dict[str, Any], number: int) -> None:
    if record.lives(found):
        os.kill(found["pid"], number)


def _gone(found: dict[str, Any], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while record.lives(found):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@click.command(short_help="Approves a confirmation token, as a person.")
@click.argument("token")
@_json
def approve(token: str, as_json: bool) -> int:
    """Approves TOKEN of a confirmation_required answer; the call is then repeated with it."""
    with remote.connect_host() as client:
        data = client.host.approve(token)
    said = f"approved: {data['command']} {data['why']}: {data['what']}"
    output.result("approve", data, said, as_json=as_json)
    return 0


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Commands of the command line, for completion."""
    root = ctx.find_root()
    if ctx.params.get(param.name or "") or not isinstance(root.command, click.Group):
        return []
    return [CompletionItem(name) for name in root.command.list_commands(root) if name.startswith(incomplete)]


@click.command(short_help="Prints the completion script of a shell.", no_args_is_help=True)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Prints the completion script of SHELL. For bash: eval "$(anydevice completion bash)"."""
    from click.shell_completion import get_completion_class

    from .app import Root

    kind = get_completion_class(shell)
    assert kind is not None, shell
    click.echo(kind(Root(remote.Catalogue.cached()), {}, "anydevice", "_ANYDEVICE_COMPLETE").source())
    return 0


@click.command(short_help="Prints the versions.")
@_json
def version(as_json: bool) -> int:
    """Prints the version of this program and of the daemon that runs."""
    data: dict[str, Any] = {"version": anydevice.__version__, "python": ".".join(map(str, sys.version_info[:3]))}
    found = record.read_record(home_path())
    if found is not None and record.lives(found):
        data["daemon"] = found["version"]
    text = f"anydevice {data['version']} (Python {data['python']})"
    if data.get("daemon", data["version"]) != data["version"]:
        text += f"; the daemon that runs is {data['daemon']}"
    output.result("version", data, text, as_json=as_json)
    return 0


@click.command("help", short_help="Shows what a command takes.")
@click.argument("command", nargs=-1, metavar="[COMMAND]", shell_complete=_names)
@click.option("--json", "as_json", is_flag=True, hidden=True)
@click.pass_context
def help_(ctx: click.Context, command: tuple[str, ...], as_json: bool) -> int:
    """Shows what COMMAND takes, or all commands: the same as COMMAND --help."""
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    code = root.command.main(args=[*command, "--help"], prog_name=root.info_name, standalone_mode=False)
    return code if isinstance(code, int) else 0


@click.command("daemon-log", short_help="Shows the end of the daemon's log.")
@click.option("--lines", "-n", type=click.IntRange(1, 10_000), default=50, show_default=True, help="How many.")
@_json
def daemon_log(lines: int, as_json: bool) -> int:
    """Shows the end of the daemon's log."""
    path = os.path.join(record.run_path(home_path()), record.LOG)
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 1024 * 1024))
            found = file.read().decode("utf-8", "replace").splitlines()[-lines:]
    except FileNotFoundError:
        found = []
    output.result("daemon-log", {"lines": found}, "\n".join(map(output.clean, found)) or "no log yet", as_json=as_json)
    return 0


COMMANDS: dict[str, click.Command] = {
    command.name or "": command
    for command in (approve, completion, daemon_log, help_, mcp, serve, status, stop, version)
} | takeover.COMMANDS
