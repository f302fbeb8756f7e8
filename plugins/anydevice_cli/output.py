"""What a person or a script reads: results on stdout, errors on stderr, one JSON object with `--json`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from anydevice_schemas.errors import AnydeviceError

if TYPE_CHECKING:
    from .remote import Catalogue


def plain() -> bool:
    """Whether stdout gets no colours: it is no terminal, or NO_COLOR is set."""
    return bool(os.environ.get("NO_COLOR")) or not sys.stdout.isatty()


def width() -> int | None:
    """Columns of the terminal; None where nothing is to be cut."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return None
    return shutil.get_terminal_size().columns


def clean(text: str) -> str:
    """Text that may come from a screen, with everything that could steer the terminal made visible."""
    if text.isprintable():
        return text
    from anydevice.text import visible

    return "\n".join(line if line.isprintable() else visible(line) for line in text.split("\n"))


def json_line(value: Mapping[str, Any]) -> None:
    """One JSON object on stdout."""
    click.echo(json.dumps(value, ensure_ascii=True))


def answer(found: Mapping[str, Any], catalogue: Catalogue, *, as_json: bool) -> None:
    """Prints an answer; for people, what it says to do in the words of the command line."""
    if as_json:
        json_line(found)
        return
    from .hints import spoken
    from .render import render

    found = with_fixes(found, lambda text: spoken(text, catalogue))
    click.echo(render(found, colour=not plain()), color=not plain())


def with_fixes(found: Mapping[str, Any], said: Callable[[str], str]) -> dict[str, Any]:
    """An answer, or the details of a refusal, with every `fix` (what somebody says to do) put otherwise."""

    def walked(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {k: said(v) if k == "fix" and isinstance(v, str) else walked(v) for k, v in value.items()}
        return [walked(item) for item in value] if isinstance(value, list) else value

    return dict(walked(found))


def result(command: str, data: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    """Prints the result of a command of the command line itself."""
    if as_json:
        json_line({"ok": True, "command": command, "data": dict(data)})
    elif text:
        click.echo(text, color=not plain())


def refusal(
    found: AnydeviceError, catalogue: Catalogue, name: str = "", arguments: Mapping[str, Any] | None = None,
    kept: Sequence[str] = (), *, as_json: bool,
) -> None:  # fmt: skip
    """Prints why something was refused, for people with command lines that go on from there.

    Args:
        catalogue: What the command line knows of commands.
        name: The command on devices that was refused, if it was one.
        arguments: Its arguments.
        kept: Words of its line besides.
        as_json: For a script, which gets it as the wire has it.
    """
    wire, lines = found.to_wire(), []
    if not as_json:
        from .hints import typed, ways

        lines = ways(wire, name, arguments or {}, kept)
        wire = typed(wire, name, catalogue)
    error(wire, as_json=as_json, whole=found.answer, ways=lines)


def error(
    wire: Mapping[str, Any], *, as_json: bool, whole: Mapping[str, Any] | None = None, ways: Sequence[str] = ()
) -> None:
    """Prints an error: on stderr for people; as the whole answer, or `{ok: false, error}`, on stdout for scripts.

    Args:
        ways: Command lines that may be run next.
    """
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if as_json:
        json_line(whole if whole is not None else {"ok": False, "error": dict(wire)})
        return
    from .render import render_error

    coloured = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    click.echo(render_error(wire, whole, ways, colour=coloured), err=True, color=coloured)
