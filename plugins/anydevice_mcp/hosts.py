"""`anydevice install-host`: writes this server into the configuration of a program that talks MCP, and takes it out.

Places and shapes are those the vendors document (looked up in November 2026). Nothing but our own entry is touched, to
the letter (`entries`): a file that cannot be read so is left alone, and the lines to add are printed instead.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from . import entries

NAME, HOME_VARIABLE = "anydevice", "ANYDEVICE_HOME"
Entry = dict[str, Any]


class HostError(click.ClickException):
    """The file is left as it is; the message says why, and what to do by hand."""


@dataclass(frozen=True)
class Program:
    """A program that talks MCP.

    Attributes:
        title: What people call it.
        user: Its file for one user, below the home folder.
        project: Its file for one project, below the project's folder; empty = it has none.
        key: Under which key it lists servers.
        shape: Makes its kind of entry from command, arguments and environment.
        again: What makes it see the change.
    """

    title: str
    user: Callable[[], Path]
    project: str
    key: str
    shape: Callable[[str, list[str], dict[str, str]], Entry]
    again: str = "start it anew"

    @property
    def toml(self) -> bool:
        """Whether its file is TOML; else it is JSON."""
        return self.key == "mcp_servers"


def _plain(command: str, arguments: list[str], environment: dict[str, str]) -> Entry:
    return {"command": command, "args": arguments, **({"env": environment} if environment else {})}


def _typed(command: str, arguments: list[str], environment: dict[str, str]) -> Entry:
    return {"type": "stdio", **_plain(command, arguments, environment)}


def _local(command: str, arguments: list[str], environment: dict[str, str]) -> Entry:
    more = {"environment": environment} if environment else {}
    return {"type": "local", "command": [command, *arguments], "enabled": True, **more}


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _application(*parts: str) -> Callable[[], Path]:
    """A file where the system keeps settings of applications."""

    def place() -> Path:
        if sys.platform == "darwin":
            return Path.home().joinpath("Library", "Application Support", *parts)
        return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config").joinpath(*parts)

    return place


def _codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"


PROGRAMS: dict[str, Program] = {
    "claude": Program("Claude Code", _home(".claude.json"), ".mcp.json", "mcpServers", _typed, "start a new session"),
    "claude-desktop": Program(
        "Claude Desktop", _application("Claude", "claude_desktop_config.json"), "", "mcpServers", _plain
    ),
    "codex": Program("Codex", _codex, ".codex/config.toml", "mcp_servers", _plain, "start a new session"),
    "cursor": Program("Cursor", _home(".cursor", "mcp.json"), ".cursor/mcp.json", "mcpServers", _plain),
    "gemini": Program("Gemini CLI", _home(".gemini", "settings.json"), ".gemini/settings.json", "mcpServers", _plain),
    "opencode": Program("opencode", _application("opencode", "opencode.json"), "opencode.json", "mcp", _local),
    "vscode": Program("VS Code", _application("Code", "User", "mcp.json"), ".vscode/mcp.json", "servers", _typed),
    "windsurf": Program("Windsurf", _home(".codeium", "windsurf", "mcp_config.json"), "", "mcpServers", _plain),
}
"""Programs by the word one types."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a file would become.

    Attributes:
        before, after: Its text.
        foreign: The entry of our name that is there starts another program.
    """

    before: str
    after: str
    foreign: bool


@click.command("install-host", short_help="Writes this server into a program's MCP configuration.")
@click.argument("program", type=click.Choice(sorted(PROGRAMS)), metavar="|".join(PROGRAMS))
@click.option("--project", is_flag=True, help="The file of the project in this directory, not the user's.")
@click.option("--tools", default="", metavar="TOOLSETS", help="Which tools it is shown, with commas between.")
@click.option("--remove", is_flag=True, help="Take it out again.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--show", is_flag=True, help="Only show what would change.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; needs --yes or --show.")
def install_host(
    program: str, *, project: bool, tools: str, remove: bool, yes: bool, show: bool, as_json: bool
) -> None:
    """Writes this server into the MCP configuration of a program, after showing what changes.

    Only the entry `anydevice` is touched. --remove takes it out again.
    """
    chosen = PROGRAMS[program]
    if project and not chosen.project:
        raise click.UsageError(f"{chosen.title} has no file for a project")
    if as_json and not (yes or show):
        raise click.UsageError("--json needs --yes or --show: nobody can be asked")
    place = Path.cwd() / chosen.project if project else chosen.user()
    entry = None if remove else _entry(chosen, tools)
    change = _changed(chosen, place, entry)
    before, after = change.before, change.after
    wanted = before != after
    if wanted and change.foreign and yes and not show:
        raise HostError(
            f"{place} has a server {NAME} that does not start this program; --yes leaves it alone. Without --yes it is "
            "shown and asked for."
        )
    done = wanted and not show and (yes or _agreed(chosen, place, before, after, as_json=as_json))
    if done:
        if _text(place) != before:  # somebody wrote it while a person thought
            raise HostError(f"{place} has changed meanwhile; it is left as it is now. Run this again.")
        _write(place, after)
    if as_json:
        data = {"program": program, "file": str(place), "changed": done, "wouldChange": wanted, "text": after}
        click.echo(json.dumps({"ok": True, "command": "install-host", "data": data}))
        return
    if not wanted:
        click.echo(f"nothing to do: {place} {'has no entry' if remove else 'says so already'}")
    elif show:
        click.echo(_difference(place, before, after))
    elif done:
        click.echo(f"{'taken out of' if remove else 'written to'} {place}; {chosen.again}")
    else:
        click.echo("left as it is")


def _entry(program: Program, tools: str) -> Entry:
    from .published import shown_to

    arguments = ["mcp"]
    if tools:
        try:
            shown_to({"tools": tools})
        except Exception as error:  # a toolset that is none, by its typed error
            raise click.UsageError(str(error)) from None
        arguments += ["--tools", tools]
    home = os.environ.get(HOME_VARIABLE)
    return program.shape(_executable(), arguments, {HOME_VARIABLE: os.path.abspath(home)} if home else {})


def _executable() -> str:
    """The whole path of this command: programs with windows have another PATH than a terminal."""
    beside = Path(sys.executable).with_name(NAME)
    found = str(beside) if beside.exists() else shutil.which(NAME)
    if found is None:
        raise HostError("the command anydevice was not found beside this Python, nor on PATH")
    return found


def _agreed(program: Program, place: Path, before: str, after: str, *, as_json: bool) -> bool:
    if not sys.stdin.isatty():
        raise HostError(f"nobody can be asked here; --show says what would change in {place}, --yes changes it")
    click.echo(_difference(place, before, after))
    return click.confirm(f"Change this file of {program.title}?", default=False)


def _difference(place: Path, before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(place), str(place), lineterm="")
    return "\n".join(lines)


# --- the file ---


def _changed(program: Program, place: Path, entry: Entry | None) -> Change:
    """The file's text, and what it becomes with the entry, or without where it is None.

    Raises:
        HostError: It cannot be changed without harm.
    """
    try:
        before = _text(place)
    except UnicodeDecodeError:
        raise HostError(f"{place} is no text in UTF-8. {_by_hand(program, entry)}") from None
    except OSError as error:
        raise HostError(f"{place} cannot be read: {error.strerror}") from None
    edit = entries.toml if program.toml else entries.json_
    try:
        now = edit.entry(before, program.key, NAME)
        foreign = now is not None and not _ours(now)
        wanted = entry if entry is None or now is None or foreign else _merged(now, entry)
        return Change(before, edit.changed(before, program.key, NAME, wanted), foreign)
    except entries.Unfit as error:
        raise HostError(f"{place} {error}. {_by_hand(program, entry)}") from None


def _text(place: Path) -> str:
    """What a file says, its line ends as they are; nothing where there is none."""
    try:
        return place.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""


def _ours(entry: Entry) -> bool:
    """Whether an entry of our name starts this program, however it is installed."""
    command, arguments = entry.get("command"), entry.get("args", [])
    words = [
        *(command if isinstance(command, list) else [command]),
        *(arguments if isinstance(arguments, list) else []),
    ]
    return any(isinstance(word, str) and re.split(r"[\\/]", word)[-1].startswith(NAME) for word in words)


def _merged(now: Entry, entry: Entry) -> Entry:
    """Our entry with what a person has added to the one there is."""
    out = {**now, **entry}
    for name in ("env", "environment"):
        kept = {key: value for key, value in dict(now.get(name) or {}).items() if key != HOME_VARIABLE}
        values = kept | dict(entry.get(name) or {})
        if values:
            out[name] = values
        else:
            out.pop(name, None)
    return out


def _by_hand(program: Program, entry: Entry | None) -> str:
    if entry is None:
        return f"Take the entry {NAME} out of {program.key} by hand."
    edit = entries.toml if program.toml else entries.json_
    return f"Add this by hand:\n{edit.changed('', program.key, NAME, entry)}"


def _write(place: Path, text: str) -> None:
    """Puts the text in place in one step: a program that reads meanwhile sees the old or the new one. Where the file is
    a link, what it leads to is replaced; its mode stays."""
    real = Path(os.path.realpath(place))
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        new = real.with_name(f".{real.name}.{secrets.token_hex(4)}")
        mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
        new.chmod(mode)
        new.replace(real)
    except OSError as error:
        raise HostError(f"{place} cannot be written: {error.strerror}") from None
