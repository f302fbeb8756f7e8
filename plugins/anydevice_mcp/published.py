"""Which commands are tools, and under which schemas.

The default list is static: the same for every connection, sorted by name, chosen for the loop an agent runs (find
a device, open, look, act, check) and small enough to sit in every request. Whatever is not in it stays callable by
name and through `command-run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from anydevice.catalogue import Catalogue
from anydevice_schemas import WELL_KNOWN, Command
from anydevice_schemas.errors import InvalidArgument

from .schemas import hints, input_schema, output_schema

Mode = Literal["default", "full"]
MODES: tuple[Mode, ...] = ("default", "full")

DEFAULT_TOOLS: frozenset[str] = frozenset(
    {
        # what there is, and starting on it
        "devices", "boot", "open", "close", "session", "doctor",
        # looking
        "snapshot", "find", "get", "is", "wait", "screenshot",
        # acting
        "press", "longpress", "hover", "fill", "type", "key", "scroll", "gesture", "back", "alert",
        # several at once, and everything else
        "batch", "command-search", "command-run",
    }
)  # fmt: skip
"""The default list. At most 25 names: hosts begin to drop or hide tools not far above."""

PICTURES: frozenset[str] = frozenset({"screenshot", "command-run"})
"""Tools whose answer may be a picture. They have no output schema: where a result carries structured content,
several hosts show the model nothing else, and the picture would be lost."""


def is_listed(name: str, mode: Mode) -> bool:
    """Whether a command is in the tool list of a mode."""
    return mode == "full" or name in DEFAULT_TOOLS


def chosen(catalogue: Catalogue, mode: Mode) -> list[Command]:
    """The commands that are tools in a mode, sorted by name."""
    return [command for command in catalogue.commands() if is_listed(command.name, mode)]


def definitions(catalogue: Catalogue, mode: Mode, platforms: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """The tool definitions of a mode, as the protocol carries them.

    Args:
        catalogue: Where the commands are.
        mode: `default` or `full` (every command, every selector and switch).
        platforms: Words `platform` may be; the well-known ones when None.
    """
    words = list(platforms) if platforms is not None else [word.name for word in WELL_KNOWN]
    return [definition(command, mode, words) for command in chosen(catalogue, mode)]


def definition(command: Command, mode: Mode, platforms: list[str]) -> dict[str, Any]:
    """One tool definition."""
    tool: dict[str, Any] = {
        "name": command.name,
        "description": command.summary,
        "inputSchema": input_schema(command, full=mode == "full", platforms=platforms),
        "annotations": hints(command),
    }
    if command.name not in PICTURES:
        tool["outputSchema"] = output_schema(command, full=mode == "full")
    return tool


def mode_of(options: Mapping[str, Any]) -> Mode:
    """The mode a connection asks for by its options.

    Raises:
        InvalidArgument: An option that is unknown, or has no such value.
    """
    for name, value in options.items():
        if name != "schemas":
            raise _bad_option(name, "there is no such option", "schemas")
        if value not in MODES:
            raise _bad_option(name, "not one of the accepted values", " or ".join(MODES))
    mode: Mode = options.get("schemas", "default")
    return mode


def _bad_option(name: str, problem: str, expected: str) -> InvalidArgument:
    return InvalidArgument(
        f"mcp: option {name[:60]}: {problem}.",
        param=name[:60],
        expected=expected,
        hint="Start it as: anydevice mcp [--schemas full]",
    )
