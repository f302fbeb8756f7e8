"""Which commands are tools, in which toolsets, and under which schemas.

The default list is static: the same for every connection, sorted by name, chosen for the loop an agent runs (find
a device, open, look, act, check) and small enough to sit in every request. Whatever is not in it stays callable by
name and through `command-run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from anydevice.catalogue import Catalogue
from anydevice_schemas import WELL_KNOWN, Command
from anydevice_schemas.errors import InvalidArgument

from .schemas import hints, input_schema, output_schema

Mode = Literal["default", "full"]
"""Schemas: the common fields, or every field of every selector and switch."""
MODES: tuple[Mode, ...] = ("default", "full")

DEFAULT_TOOLS: frozenset[str] = frozenset(
    {
        # what there is, and starting on it
        "devices", "boot", "open", "close", "doctor",
        # looking
        "snapshot", "find", "get", "is", "wait", "screenshot",
        # acting
        "press", "longpress", "fill", "type", "key", "scroll", "gesture", "back", "alert",
        # several at once, and everything else
        "batch", "command-search", "command-read", "command-run",
    }
)  # fmt: skip
"""The default list. At most 25 names with `toolset`, where that works: hosts begin to drop or hide tools not far
above."""

ALWAYS: frozenset[str] = frozenset({"devices", "open", "close", "command-search", "command-read", "command-run"})
"""What every toolset has: where a device is chosen, and the way to everything else."""

TOOLSETS: dict[str, frozenset[str]] = {
    "core": DEFAULT_TOOLS,
    "apps": ALWAYS | {"apps", "appstate", "install", "reinstall", "uninstall", "install-from-source", "push",
                      "trigger-app-event", "boot", "shutdown", "settings", "orientation"},
    "files": ALWAYS | {"files", "file-search", "add-media", "clipboard", "trash", "tags"},
    "debug": ALWAYS | {"logs", "perf", "network", "record", "screenshot", "ocr", "forward", "capabilities", "doctor",
                       "appstate", "shell"},
    "desktop": DEFAULT_TOOLS - {"longpress", "gesture"} | {"window", "clipboard", "focus", "apps", "hover"},
    "tv": ALWAYS | {"boot", "snapshot", "find", "get", "is", "wait", "screenshot", "press", "fill", "type", "key",
                    "back", "home", "tv-remote", "appstate", "batch"},
    "ownership": ALWAYS | {"lease", "session", "capabilities", "doctor"},
}  # fmt: skip
"""Tools by what one wants to do. `all` is every command, `read` every one that only looks."""

WORDS_OF_ALL, WORDS_OF_READ = "all", "read"

PICTURES: frozenset[str] = frozenset({"screenshot", "command-run", "command-read"})
"""Tools whose answer may be a picture. They have no output schema: where a result carries structured content,
several hosts show the model nothing else, and the picture would be lost."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a client is shown.

    Attributes:
        schemas: How much of each tool.
        toolsets: Which tools; empty = the default list, or every command where the schemas are full.
        reads: Only what reads: the caller may do nothing else.
    """

    schemas: Mode = "default"
    toolsets: tuple[str, ...] = ()
    reads: bool = False

    def has(self, command: Command) -> bool:
        """Whether a command is in the list."""
        if self.reads and not _looks(command):
            return False
        if not self.toolsets:
            return self.schemas == "full" or command.name in DEFAULT_TOOLS
        return any(_in_set(command, word) for word in self.toolsets)


def _looks(command: Command) -> bool:
    return command.effect == "read" or bool(command.reads_when)


def _in_set(command: Command, word: str) -> bool:
    if word == WORDS_OF_ALL:
        return True
    if word == WORDS_OF_READ:
        return _looks(command)
    return command.name in TOOLSETS[word]


def definitions(
    catalogue: Catalogue, shown: Shown | Mode = "default", platforms: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """The tool definitions a client is shown, sorted by name, as the protocol carries them.

    Args:
        catalogue: Where the commands are.
        shown: What it is shown; a word for the schemas alone.
        platforms: Words `platform` may be; the well-known ones when None.
    """
    shown = shown if isinstance(shown, Shown) else Shown(shown)
    words = list(platforms) if platforms is not None else [word.name for word in WELL_KNOWN]
    return [definition(command, shown.schemas, words) for command in catalogue.commands() if shown.has(command)]


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


OPTIONS = ("schemas", "tools")
"""What a connection may ask for."""


def shown_to(options: Mapping[str, Any], *, reads: bool = False) -> Shown:
    """What a connection asks for by its options: `schemas`, and `tools`, words of `TOOLSETS` with commas between.

    Raises:
        InvalidArgument: An option that is unknown, or has no such value.
    """
    for name in options:
        if name not in OPTIONS:
            raise _bad_option(name, "there is no such option", " or ".join(OPTIONS))
    schemas = options.get("schemas", "default")
    if schemas not in MODES:
        raise _bad_option("schemas", "not one of the accepted values", " or ".join(MODES))
    known = (*TOOLSETS, WORDS_OF_READ, WORDS_OF_ALL)
    words = tuple(word for word in str(options.get("tools", "")).split(",") if word)
    if options.get("tools") is True or any(word not in known for word in words):
        raise _bad_option("tools", "not one of the toolsets", ", ".join(known))
    return Shown(schemas, words, reads)


def _bad_option(name: str, problem: str, expected: str) -> InvalidArgument:
    return InvalidArgument(
        f"mcp: option {name[:60]}: {problem} ({expected}).",
        param=name[:60],
        expected=expected,
        hint="Start it as: anydevice mcp [--schemas full] [--tools core,files]",
    )
