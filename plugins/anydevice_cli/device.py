"""A command of the catalogue as a click command: options from its schema, selectors, switches, positional words."""

from __future__ import annotations

import mimetypes
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import click
from click.shell_completion import CompletionItem

from anydevice_schemas.errors import AnydeviceError, PathNotFound, PathRefused

from . import completing, output, remote
from .exits import FAILED, OK, exit_code
from .words import Words, WordsError, read_json

_OWN, _WHICH, _HOW = "Options", "Which device", "How it answers"
_TARGET_ALIAS = ("mobile", "tv", "desktop")
_BRINGS = {"screenshot": "picture", "record": "video"}
"""Commands whose file a person wants somewhere, and what it is."""
_NOT_OURS = {"mcpOutputFormat"}
"""Switches that would have no effect here."""


def kebab(name: str) -> str:
    """`timeoutMs` -> `timeout-ms`."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name)


class WireOption(click.Option):
    """An option that stands for one argument of the wire.

    Attributes:
        wire: The argument's name.
        section: Where help lists it.
    """

    def __init__(self, wire: str, schema: Mapping[str, Any], section: str, *, alias: str | None = None) -> None:
        self.wire = wire
        self.section = section
        self.schema = schema
        names = [f"--{kebab(wire)}", *([f"--{alias}"] if alias else [])]
        extra: dict[str, Any] = {}
        kind = schema.get("type")
        if "enum" in schema:
            extra["type"] = click.Choice([str(value) for value in schema["enum"]])
        elif kind == "boolean" and schema.get("default") is False and wire.startswith("no"):
            extra["flag_value"] = True  # `--no-record` has no sensible opposite
        elif kind == "boolean":
            names = [f"--{kebab(wire)}/--no-{kebab(wire)}"]
        elif kind in ("integer", "number"):
            extra["type"] = click.INT if kind == "integer" else click.FLOAT
        elif kind in ("array", "object"):
            extra["metavar"] = "JSON|@FILE"
            extra["multiple"] = kind == "array"
        if wire == "device":
            extra["shell_complete"] = completing.devices
        super().__init__([*names, f"wire_{wire}"], default=None, help=_help(schema), **extra)

    def value_of(self, given: Any) -> Any:
        """The argument as the wire has it.

        Raises:
            click.BadParameter: It is not what the schema asks for.
        """
        kind = self.schema.get("type")
        try:
            if kind == "object":
                return _of_type(read_json(given), dict, "a JSON object")
            if kind == "array":
                if len(given) == 1 and given[0][:1] in "[@":
                    return _of_type(read_json(given[0]), list, "a JSON array")
                plain = self.schema.get("items", {}).get("type") == "string"
                return [value if plain else read_json(value) for value in given]
        except WordsError as error:
            raise click.BadParameter(str(error), param=self) from error
        return given


def _of_type(value: Any, kind: type, expected: str) -> Any:
    if not isinstance(value, kind):
        raise WordsError(f"not {expected}")
    return value


def _help(schema: Mapping[str, Any]) -> str:
    text = str(schema.get("description", ""))
    default = schema.get("default")
    if default not in (None, [], {}, "", False):
        text += f" [default: {str(default).lower() if isinstance(default, bool) else default}]"
    return text.strip()


class DeviceCommand(click.Command):
    """A click command made of a published descriptor."""

    def __init__(self, descriptor: Mapping[str, Any], catalogue: remote.Catalogue) -> None:
        self.descriptor = descriptor
        self.catalogue = catalogue
        self.words = Words(descriptor)
        super().__init__(
            descriptor["name"],
            params=self._params(),
            callback=self._run,
            help=self._text(),
            short_help=in_short(descriptor["summary"]),
        )

    def _params(self) -> list[click.Parameter]:
        own: Mapping[str, Any] = self.descriptor["inputSchema"].get("properties", {})
        params: list[click.Parameter] = []
        if self.words.metavar:
            params.append(
                click.Argument(["words"], nargs=-1, metavar=self.words.metavar, shell_complete=self._complete)
            )
        params.extend(WireOption(name, schema, _OWN) for name, schema in own.items())
        if (file := _BRINGS.get(self.descriptor["name"])) is not None:
            copies = f"Also copy the {file} to this file, and replace what is there."
            params.append(_Ours(["--path"], _OWN, type=click.Path(dir_okay=False), help=copies))
        if self.descriptor["selectors"]:
            for name, schema in self.catalogue.selectors.items():
                if name not in own:
                    alias = "target" if name == "deviceTarget" and "target" not in own else None
                    params.append(WireOption(name, schema, _WHICH, alias=alias))
        taken = own.keys() | self.catalogue.selectors.keys()
        params.extend(
            WireOption(name, schema, _HOW)
            for name, schema in self.catalogue.switches.items()
            if name not in taken and name not in _NOT_OURS
        )
        params.append(
            _Ours(["--json", "as_json"], _HOW, is_flag=True, help="Print the whole answer as one JSON object.")
        )
        params.append(_Ours(["--yes", "-y"], _HOW, is_flag=True, help="Approve it where it asks for confirmation."))
        params.append(_Ours(["--deadline"], _HOW, type=click.FLOAT, help="Seconds until the call is ended."))
        return params

    def _text(self) -> str:
        lines = [str(self.descriptor["summary"])]
        if self.descriptor["aliases"]:
            lines.append("Also called: " + ", ".join(self.descriptor["aliases"]))
        if self.descriptor["origin"] != "anydevice":
            lines.append(f"Brought by {self.descriptor['origin']}.")
        return "\n\n".join(lines)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click's, with the wire's names of arguments as they are typed here."""
        from .hints import spoken

        self.help = spoken(self.help or "", self.catalogue)
        super().format_help(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Options in three sections: the command's own, which device, how it answers."""
        sections: dict[str, list[tuple[str, str]]] = {_OWN: [], _WHICH: [], _HOW: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                sections[getattr(param, "section", _HOW)].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def _complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        if ctx.params.get("words"):
            return []
        if self.words.of_device:
            return completing.devices(ctx, param, incomplete)
        return [CompletionItem(word) for word in self.words.first if word.startswith(incomplete)]

    def arguments(self, ctx: click.Context) -> dict[str, Any]:
        """The arguments of the wire, from words and options.

        Raises:
            click.UsageError: Something is given twice, or is not what is expected.
        """
        try:
            arguments = self.words.read(ctx.params.get("words") or ())
        except WordsError as error:
            raise click.UsageError(str(error), ctx) from error
        for param in self.params:
            if not isinstance(param, WireOption):
                continue
            given = ctx.params[param.name or ""]
            if given is None or given == ():
                continue
            if param.wire in arguments:
                raise click.UsageError(f"{param.wire} is given twice: as a word and as an option", ctx)
            arguments[param.wire] = param.value_of(given)
        return arguments

    def _copied_to(self, ctx: click.Context, arguments: dict[str, Any]) -> str | None:
        """Where the person wants the file, which is no argument of the wire: given as a word or as an option.

        Raises:
            click.UsageError: It is given twice, or the call brings no file.
        """
        if self.descriptor["name"] not in _BRINGS:
            return None
        word, option = arguments.pop("path", None), ctx.params.get("path")
        if word and option:
            raise click.UsageError("path is given twice: as a word and as an option", ctx)
        path: str | None = word or option
        actions = self.descriptor["inputSchema"].get("properties", {}).get("action", {}).get("enum", ())
        if path and "stop" in actions and arguments.get("action") != "stop":
            raise click.UsageError("the file comes with stop: give its path there", ctx)
        return path or None

    def _typed(
        self, ctx: click.Context, arguments: Mapping[str, Any], path: str | None
    ) -> tuple[dict[str, Any], list[str]]:
        """The arguments to write out in lines to be pasted, and the words to write as they were typed: files that were
        read, and options of the command line itself.
        """
        left, words = dict(arguments), list(ctx.params.get("words") or ())
        kept = ["--path", path] if path is not None else []
        if ctx.params["deadline"] is not None:
            kept += ["--deadline", f"{ctx.params['deadline']:g}"]
        if ctx.params["yes"]:
            kept.append("--yes")
        given = {param.wire: (param, ctx.params[param.name or ""]) for param in self.params if _is_wire(param)}
        for wire, (param, value) in given.items():
            file = value[0] if isinstance(value, tuple) and len(value) == 1 else value
            if param.schema.get("type") in ("array", "object") and isinstance(file, str) and file[:1] == "@":
                kept += [f"--{kebab(wire)}", file]
                left.pop(wire, None)
        if self.descriptor["name"] == "batch" and words and words[0][:1] not in "-[{":
            left = {wire: value for wire, value in left.items() if given[wire][1] not in (None, ())}
            kept.append(words[0])
        return left, kept

    def _run(self, **_: Any) -> int:
        ctx = click.get_current_context()
        arguments = self.arguments(ctx)
        path = self._copied_to(ctx, arguments)
        as_json = ctx.params["as_json"]
        name, progress = self.descriptor["name"], _progress(as_json, everywhere=self.descriptor["name"] == "lease")
        try:
            answer = remote.call(
                self.catalogue,
                name,
                arguments,
                yes=ctx.params["yes"],
                deadline=ctx.params["deadline"],
                progress=progress,
            )
        except AnydeviceError as error:
            output.refusal(error, self.catalogue, name, *self._typed(ctx, arguments, path), as_json=as_json)
            return exit_code(error.code)
        finally:
            if progress is not None and sys.stderr.isatty():
                sys.stderr.write("\r\x1b[K")
        if path is not None:
            copy_artefact(answer, path)
        output.answer(answer, self.catalogue, as_json=as_json)
        if path is not None and not as_json:
            click.echo(f"copied to {output.clean(path)}{_misnamed(answer['artefacts'][0]['mime'], path)}")
        # A yes-or-no question that was answered no, so that a shell can branch on it.
        asked = {"is": "result", "doctor": "ok"}.get(str(answer.get("command")), "")
        return FAILED if answer["data"].get(asked) is False else OK


def _is_wire(param: click.Parameter) -> TypeGuard[WireOption]:
    """Whether it stands for an argument of the wire."""
    return isinstance(param, WireOption)


class _Ours(click.Option):
    """An option of the command line itself.

    Attributes:
        section: Where help lists it.
    """

    def __init__(self, names: Sequence[str], section: str, **how: Any) -> None:
        super().__init__(names, **how)
        self.section = section


def in_short(text: str) -> str:
    """The first sentence of a summary without what explains it (in brackets, after a colon or semicolon); for lists."""
    sentence = re.split(r"\.(?: |$)", re.sub(r" \([^()]*\)", "", text), maxsplit=1)[0]
    return re.split(r"[:;](?: |$)", sentence, maxsplit=1)[0].rstrip(".") + "."


def _misnamed(mime: str, path: str) -> str:
    """What to add where a file's name says another kind than it is; programs go by the name."""
    said, _ = mimetypes.guess_type(path)
    return f" (the file is {mime}, though its name says {said})" if said is not None and said != mime else ""


def copy_artefact(answer: Mapping[str, Any], path: str) -> None:
    """Copies the first file an answer made to a path of the person's choice, replacing what is there.

    Raises:
        PathNotFound: There is no such folder, or the answer brings no file.
        PathRefused: It cannot be written there.
    """
    artefacts = answer.get("artefacts") or []
    if not artefacts or not artefacts[0].get("path"):
        raise PathNotFound("The answer brings no file to copy.", path=path)
    temporary = f"{path}.part"
    try:
        shutil.copyfile(artefacts[0]["path"], temporary)
        os.replace(temporary, path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise PathNotFound(f"{path}: {error.strerror}.", path=path) from error
    except OSError as error:
        raise PathRefused(f"{path}: {error.strerror}.", path=path, roots=[]) from error


def _progress(as_json: bool, *, everywhere: bool) -> Callable[[float | None, str], None] | None:
    """Progress goes to a person at a terminal.

    Args:
        as_json: A script is told nothing on the way.
        everywhere: What is waited for goes to files and pipes too, a line whenever it changes.
    """
    terminal, said = sys.stderr.isatty(), ""
    if as_json or not (terminal or everywhere):
        return None

    def show(done: float | None, message: str) -> None:
        nonlocal said
        text = (f"{done:4.0%} " if done is not None else "") + output.clean(message)
        if text == said:
            return
        said = text
        sys.stderr.write(f"\r\x1b[K{text}" if terminal else f"{text}\n")
        sys.stderr.flush()

    return show
