"""The command line itself: finds the command, runs it, and turns every way it can end into an exit code."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from anydevice_schemas.errors import AnydeviceError, UnknownCommand

from . import brought, exits, output, remote
from .device import DeviceCommand, in_short

_OWN: dict[str, str] = {
    "approve": "Approves a confirmation token, as a person.",
    "completion": "Prints the completion script of a shell.",
    "daemon-log": "Shows the end of the daemon's log.",
    "give-back": "Ends a takeover; whoever was interrupted goes on.",
    "help": "Shows what a command takes.",
    "mark": "Says how a device is: one that is not good is not given out.",
    "mcp": "Speaks MCP on stdin and stdout; what an MCP host starts.",
    "serve": "Starts the daemon.",
    "status": "Tells whether a daemon runs, who drives which device, and who waits.",
    "stop": "Stops the daemon and everything it holds.",
    "takeover": "Takes a device over for you: whoever drives it is interrupted and told why.",
    "version": "Prints the versions.",
}

WIDEST = 110
"""Columns of help, where the terminal has as many."""

_GIVEN = re.compile(r"'(.*)' is not one of ")
"""What was given, in the words of an option that takes one of several."""


class Root(click.Group):
    """All commands: the command line's own, the catalogue's, and those that plugins bring."""

    def __init__(self, catalogue: remote.Catalogue) -> None:
        super().__init__(
            name="anydevice",
            help="The right device, driven by one caller at a time, with answers that are checked.",
            epilog="anydevice COMMAND --help tells what a command takes. Exit codes: 0 done, 1 failed or answered no, "
            "2 usage, 3 device, 4 element, 5 confirmation, 6 not allowed, 124 timeout, 130 interrupted.",
            params=[
                click.Option(["--json", "as_json"], is_flag=True, hidden=True),
                # Only for help and completion: `run` makes it the command of that name.
                click.Option(["--version"], is_flag=True, expose_value=False, help="Print the versions and exit."),
            ],
            context_settings={"help_option_names": ["--help", "-h"], "max_content_width": WIDEST},
        )
        self.catalogue = catalogue

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names without aliases, in alphabetical order."""
        return sorted({*_OWN, *self.catalogue.commands, *brought.names()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Builds one command."""
        if cmd_name in _OWN:
            from . import own

            return own.COMMANDS.get(cmd_name)
        descriptor = self.catalogue.get(cmd_name)
        if descriptor is None and (command := brought.load(cmd_name)) is not None:
            return command
        if descriptor is None and not ctx.resilient_parsing:
            descriptor = self._look_again(cmd_name)
        return DeviceCommand(descriptor, self.catalogue) if descriptor is not None else None

    def _look_again(self, name: str) -> dict[str, Any] | None:
        """For a name the copy on disk does not know: the daemon may know it by now."""
        if self.catalogue.digest and not _daemon_has_another(self.catalogue.digest):
            return None
        self.catalogue = remote.fetch()
        return self.catalogue.get(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, with the nearest names for one that does not exist."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is not None:
            return name, command, args[1:]
        if ctx.resilient_parsing:
            return None, None, args[1:]
        if name.startswith("-"):
            raise click.NoSuchOption(name, ctx=ctx)
        known = [*_OWN, *self.catalogue.commands, *self.catalogue.aliases, *brought.names()]
        near = _near(name.replace("_", "-"), known)
        hint = f"Did you mean {near[0]}?" if near else "anydevice --help lists all commands."
        raise UnknownCommand(f"There is no command {name[:60]!r}.", nearest=near, hint=hint)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Three lists; made of summaries and names, without building or importing a single command."""
        if not self.catalogue.commands:
            try:
                self.catalogue = remote.fetch()
            except (AnydeviceError, OSError) as error:
                formatter.write_paragraph()
                formatter.write_text(f"(The device commands cannot be listed: {error})")
        commands = [(name, in_short(c["summary"])) for name, c in sorted(self.catalogue.commands.items())]
        lists = [("Commands on devices", commands), ("This host", list(_OWN.items())), ("More", brought.rows())]
        for title, rows in lists:
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _daemon_has_another(digest: str) -> bool:
    try:
        with remote.connect_host() as client:
            return bool(client.greeting["catalogue"] != digest)
    except (AnydeviceError, OSError):
        return False


def run(argv: Sequence[str]) -> int:
    """Runs one command line and returns its exit code."""
    if sys.stdout is None or sys.stderr is None:
        return exits.FAILED
    as_json = "--json" in (argv[: argv.index("--")] if "--" in argv else argv)
    if list(argv[:1]) == ["--json"]:
        argv = _json_after(list(argv[1:]))  # before the command is as good as after it
    if list(argv[:1]) == ["--version"]:
        argv = ["version", *argv[1:]]
    if not argv and not os.environ.get("_ANYDEVICE_COMPLETE"):
        argv = ["--help"]
    try:
        return _run(argv, as_json)
    except BrokenPipeError:
        # Whoever read our output has had enough; nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return exits.FAILED
    except KeyboardInterrupt:
        return exits.INTERRUPTED


def _json_after(words: list[str]) -> list[str]:
    """The words with --json where the command takes it: at the end, where it may be one of a group."""
    name = words[0] if words else ""
    if name in _OWN or remote.Catalogue.cached().get(name) is not None or name not in brought.names():
        return [*words[:1], "--json", *words[1:]]
    end = words.index("--") if "--" in words else len(words)
    return [*words[:end], "--json", *words[end:]]


def _run(argv: Sequence[str], as_json: bool) -> int:
    catalogue = remote.Catalogue.cached()
    tries = 0
    while True:
        try:
            code = Root(catalogue).main(args=list(argv), prog_name="anydevice", standalone_mode=False)
            return code if isinstance(code, int) else exits.OK
        except remote.Stale as stale:
            catalogue, tries = stale.catalogue, tries + 1
            if tries > 2:
                raise
        except AnydeviceError as error:
            output.refusal(error, catalogue, as_json=as_json)
            return exits.exit_code(error.code)
        except click.exceptions.Exit as end:
            return end.exit_code
        except click.Abort:
            return exits.INTERRUPTED
        except click.exceptions.NoArgsIsHelpError as error:
            if as_json:
                output.error(_usage(click.UsageError("a command is missing", error.ctx)), as_json=True)
            else:
                error.show()
            return exits.USAGE
        except click.UsageError as error:
            output.error(_usage(error), as_json=as_json)
            return exits.USAGE
        except click.ClickException as error:
            output.error(_failed(error.format_message()), as_json=as_json)
            return exits.FAILED


def _near(word: str, known: Sequence[str]) -> list[str]:
    import difflib  # slow to import, and nothing that succeeds needs it

    return difflib.get_close_matches(word, known, n=3, cutoff=0.5)


def _usage(error: click.UsageError) -> dict[str, Any]:
    path = error.ctx.command_path if error.ctx is not None else "anydevice"
    param = getattr(error, "param", None)
    name = getattr(error, "option_name", None) or (param.get_error_hint(error.ctx) if param is not None else "")
    details: dict[str, Any] = {"param": str(name).strip("'"), "expected": f"see {path} --help"}
    near = sorted(getattr(error, "possibilities", None) or ())
    choices = getattr(getattr(param, "type", None), "choices", None)
    if choices and (given := _GIVEN.match(error.message)):
        details["expected"] = "one of " + ", ".join(choices)
        near = _near(given[1].casefold(), choices)
    message = error.format_message()
    if near:
        details["nearest"] = near
    hint = f"Did you mean {near[0]}? " if near and "Did you mean" not in message else ""
    return {
        "code": "invalid_argument",
        "message": message,
        "retryable": False,
        "hint": f"{hint}{path} --help tells what it takes.",
        "details": details,
    }


def _failed(message: str) -> Mapping[str, Any]:
    """A subcommand's own words for why it did not do it: no defect, so no incident."""
    return {
        "code": "refused",
        "message": message,
        "retryable": False,
        "hint": "",
        "details": {"reason": message, "alternative": ""},
    }
